//! What a session asks of a replica.

use bytes::Bytes;
use lore_seal::{Audience, DeviceSecret, Envelope, Membership, Statement};

use crate::cursor::{Cursor, Stream};

/// Where a stream stands: the last number in a row, and that envelope's chain hash.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Head {
    /// 0 when there is none.
    pub number: u64,
    /// Zeros when there is none.
    pub hash: [u8; 32],
}

/// An envelope that the replica will not take, though its signature and place are right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejection {
    /// Whose log, in which audience.
    pub stream: Stream,
    /// Its number there.
    pub number: u64,
    /// For people.
    pub why: String,
}

/// What became of a batch of envelopes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Received {
    /// Applied and durable, in order.
    pub accepted: Vec<(Stream, u64)>,
    /// How many were there already.
    pub duplicates: usize,
    /// Refused for good. The session asks for nothing more of these streams; all others go on.
    pub rejected: Vec<Rejection>,
}

/// A replica, as a session sees it. Nothing here may block on the network.
pub trait PeerStore {
    /// What can go wrong in the store itself. It ends the session; a bad envelope is no error but
    /// a [`Rejection`].
    type Error: std::error::Error + Send + Sync + 'static;

    /// The campaign's membership, with every statement heard so far. A joiner's holds only its
    /// own claim at first.
    fn membership(&self) -> &Membership;

    /// This device's secret, to prove who it is.
    fn secret(&self) -> &DeviceSecret;

    /// What the replica has, durably, its own envelopes included.
    fn cursor(&self) -> Result<Cursor, Self::Error>;

    /// Where one stream stands.
    fn head(&self, stream: Stream) -> Result<Head, Self::Error>;

    /// Encoded envelopes beyond `after`: of each stream in ascending order without a gap, at most
    /// `max_bytes` in all, but at least one if there is any.
    fn envelopes_after(&self, after: &Cursor, max_bytes: usize) -> Result<Vec<Bytes>, Self::Error>;

    /// Whether the replica holds the key of this audience and epoch. Envelopes that it could not
    /// open wait, bounded, until a statement brings the key.
    fn has_key(&self, audience: Audience, epoch: u32) -> bool {
        let _ = (audience, epoch);
        true
    }

    /// Opens and applies envelopes, durably, in one transaction. Each is verified, by a member
    /// who may write there, and the next of its stream at this point of the list. `now` is in
    /// milliseconds since 1970.
    fn receive(&mut self, envelopes: Vec<Envelope>, now: i64) -> Result<Received, Self::Error>;

    /// Takes in statements that are genuine ([`Membership::apply`] them) and makes them durable.
    /// Those the membership does not take are left out. How many of them were new. The store may
    /// add statements of its own in turn, which are not counted: the session offers them at once.
    fn receive_statements(
        &mut self,
        statements: Vec<Statement>,
        now: i64,
    ) -> Result<usize, Self::Error>;
}
