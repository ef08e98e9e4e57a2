//! Sans-I/O replication: frames, cursors, both ends' state machines.
//!
//! Nothing here opens a socket, reads a clock or makes randomness: a driver hands in bytes and the
//! time in milliseconds, and takes out bytes and events. So the browser, the native peer, the
//! relay and the simulator run the same code.
//!
//! * [`PeerSession`] is a replica's end of one connection, over a [`PeerStore`].
//! * [`TableCore`] is the relay's end of every connection of one campaign; it asks its driver for
//!   storage by [`Effect`]s.
//! * [`Frame`] is what they say to each other, [`FrameBuffer`] how it is cut from a byte stream.
//! * [`Cursor`] is how either says what it has.
//!
//! Both ends say what they have and send what the other lacks; every frame may be lost, repeated
//! or overtaken without harm. The byte-level specification is `docs/protocol.md`.

mod cursor;
mod frame;
mod intake;
mod limits;
mod session;
#[cfg(feature = "sim")]
pub mod sim;
mod store;
mod table;

pub use cursor::{Cursor, MAX_STREAMS, Stream};
pub use frame::{
    Frame, FrameBuffer, FrameError, MAX_FRAME, PREFIX, PROTOCOL, Refusal, length_prefix,
    proof_message,
};
pub use limits::{Limits, Timing};
pub use session::{Event, PeerSession, SessionError};
pub use store::{Head, PeerStore, Received, Rejection};
pub use table::{CloseReason, ConnId, Effect, Record, TableCore, TableState, Token};
