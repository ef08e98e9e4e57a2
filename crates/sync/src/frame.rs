//! What the two ends say to each other.
//!
//! A frame is one version byte and a postcard-encoded [`Frame`]. On a byte stream each is preceded
//! by its length as `u32` big-endian; on a transport with messages it is one message.

use bytes::{Buf, Bytes, BytesMut};
use lore_seal::{CampaignId, DeviceId, MAX_PRESENCE, Role, Signature};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::cursor::Cursor;

/// The version of frames and handshake that this program speaks.
pub const PROTOCOL: u16 = 1;
/// The most bytes of one frame: 2 MiB.
pub const MAX_FRAME: usize = 2 << 20;
/// Bytes of the length before each frame on a byte stream.
pub const PREFIX: usize = 4;
/// The most envelopes or statements in one frame.
pub(crate) const MAX_ITEMS: usize = 4096;
/// The most characters of a refusal's message.
const MAX_MESSAGE: usize = 512;

const VERSION: u8 = 1;

/// Why the other end will not go on, or not with this.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Refusal {
    /// The other end speaks another protocol version. Ends the session.
    Version,
    /// Not a member, or no such campaign, or the proof failed: no more is said. Ends the session.
    NotAMember,
    /// The invitation behind the joiner's claim has expired. Ends the session.
    InvitationExpired,
    /// The invitation behind the joiner's claim is used up. Ends the session.
    InvitationUsedUp,
    /// The table has as many connections, or as many bytes, as the relay allows.
    Full,
    /// The relay's storage failed; connect again later. Ends the session.
    Unavailable,
    /// A frame or envelope that no program of ours would send. Ends the session.
    Malformed,
    /// This device's role may not write there; the envelope was not taken.
    NotAllowed,
    /// The device's log goes two ways from one number; the envelope was not taken.
    Forked,
    /// Too much at once; what was not taken will be taken later.
    RateLimited,
    /// The reader could not keep up even with a bounded queue. Ends the session.
    TooSlow,
}

impl Refusal {
    /// Whether the session is over with it.
    pub const fn is_final(self) -> bool {
        !matches!(self, Self::NotAllowed | Self::Forked | Self::RateLimited)
    }
}

/// One message between a peer and a relay, or between two peers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Frame {
    /// Peer: who I say I am, and which table I want.
    Hello {
        /// [`PROTOCOL`].
        protocol: u16,
        /// The campaign.
        campaign: CampaignId,
        /// The peer's device.
        device: DeviceId,
        /// 32 random bytes of this connection.
        nonce: [u8; 32],
    },
    /// Relay: prove it.
    Challenge {
        /// 32 random bytes of this connection.
        nonce: [u8; 32],
    },
    /// Peer: the proof, and what its membership rests on.
    Prove {
        /// Over [`proof_message`], under the label `lore/prove/1`.
        signature: Signature,
        /// [`Membership::digest`](lore_seal::Membership::digest) of what the peer holds.
        statements: [u8; 32],
        /// Encoded statements: genesis, invites and claims up to the peer's own.
        credentials: Vec<Bytes>,
    },
    /// Relay: you are in.
    Welcome {
        /// The peer's role.
        role: Role,
        /// Digest of the statements that the relay holds.
        statements: [u8; 32],
    },
    /// Encoded statements that the receiver may lack.
    Statements(Vec<Bytes>),
    /// What the sender has, of what the receiver may read; the receiver sends what is missing.
    Have {
        /// Highest number in a row of each stream.
        cursor: Cursor,
        /// Digest of the statements that the sender holds.
        statements: [u8; 32],
        /// Whether the sender wants the receiver's own `Have` in return. An answer never does.
        answer: bool,
    },
    /// Encoded envelopes; of each stream in ascending order.
    Envelopes(Vec<Bytes>),
    /// Relay: these are durable here.
    Ack(Cursor),
    /// What a device shows of itself, sealed for the table.
    Presence {
        /// Whose.
        device: DeviceId,
        /// [`seal_presence`](lore_seal::seal_presence)'s result.
        sealed: Bytes,
    },
    /// The device has no connection any more.
    Gone {
        /// Whose presence ends.
        device: DeviceId,
    },
    /// Why the sender does not go on, or not with what was sent.
    Refused {
        /// For programs.
        code: Refusal,
        /// For people; at most 512 characters.
        message: String,
    },
    /// Are you there? Answered by a pong with the same number.
    Ping(u64),
    /// I am.
    Pong(u64),
}

/// Bytes that are not a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum FrameError {
    /// Longer than [`MAX_FRAME`].
    #[error("the frame is larger than the limit")]
    TooLarge,
    /// Written by a newer program.
    #[error("the frame has version {0}, which this program does not know; update it")]
    Version(u8),
    /// Not a frame, or one with more items than a program of ours would send.
    #[error("the frame is malformed")]
    Malformed,
}

impl Frame {
    /// The frame's bytes, without the length prefix.
    ///
    /// # Errors
    /// [`FrameError::TooLarge`] beyond [`MAX_FRAME`].
    pub fn encode(&self) -> Result<Bytes, FrameError> {
        let out = postcard::to_extend(self, vec![VERSION]).map_err(|_| FrameError::Malformed)?;
        if out.len() > MAX_FRAME {
            return Err(FrameError::TooLarge);
        }
        Ok(out.into())
    }

    /// Reads one frame and checks its limits. What is inside is not believed yet.
    pub fn decode(bytes: &[u8]) -> Result<Self, FrameError> {
        if bytes.len() > MAX_FRAME {
            return Err(FrameError::TooLarge);
        }
        let (version, body) = bytes.split_first().ok_or(FrameError::Malformed)?;
        if *version != VERSION {
            return Err(FrameError::Version(*version));
        }
        let (frame, rest) =
            postcard::take_from_bytes::<Self>(body).map_err(|_| FrameError::Malformed)?;
        if rest.is_empty() && frame.is_sound() {
            Ok(frame)
        } else {
            Err(FrameError::Malformed)
        }
    }

    fn is_sound(&self) -> bool {
        match self {
            Self::Statements(items) | Self::Envelopes(items) => items.len() <= MAX_ITEMS,
            Self::Prove { credentials, .. } => credentials.len() <= MAX_ITEMS,
            Self::Have { cursor, .. } | Self::Ack(cursor) => cursor.is_sound(),
            Self::Presence { sealed, .. } => sealed.len() <= MAX_PRESENCE,
            Self::Refused { message, .. } => message.len() <= MAX_MESSAGE,
            _ => true,
        }
    }
}

/// What a peer signs to prove that it holds its device's secret: campaign ‖ device ‖ its own nonce
/// ‖ the other end's nonce.
pub fn proof_message(
    campaign: CampaignId,
    device: DeviceId,
    own_nonce: &[u8; 32],
    their_nonce: &[u8; 32],
) -> Vec<u8> {
    let mut message = campaign.to_bytes().to_vec();
    message.extend_from_slice(device.as_bytes());
    message.extend_from_slice(own_nonce);
    message.extend_from_slice(their_nonce);
    message
}

/// The label under which [`proof_message`] is signed.
pub(crate) const PROOF_LABEL: &str = "lore/prove/1";

/// The bytes that precede a frame on a byte stream.
pub fn length_prefix(frame: &[u8]) -> [u8; PREFIX] {
    (frame.len() as u32).to_be_bytes()
}

/// Cuts frames from a byte stream, however it was split on the way.
#[derive(Debug, Default)]
pub struct FrameBuffer {
    bytes: BytesMut,
}

impl FrameBuffer {
    /// An empty buffer.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes in what the transport delivered. Call [`FrameBuffer::next`] until it has no more
    /// before pushing again, and the buffer never holds more than a frame and a read.
    pub fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// The next whole frame, if there is one.
    ///
    /// # Errors
    /// [`FrameError::TooLarge`] as soon as a length beyond [`MAX_FRAME`] is announced; the stream
    /// is then useless and must be closed.
    #[allow(clippy::should_implement_trait)] // an iterator would end at the first `None`
    pub fn next(&mut self) -> Result<Option<Bytes>, FrameError> {
        let Some(prefix) = self.bytes.first_chunk::<PREFIX>() else {
            return Ok(None);
        };
        let length = u32::from_be_bytes(*prefix) as usize;
        if length > MAX_FRAME {
            return Err(FrameError::TooLarge);
        }
        if self.bytes.len() < PREFIX + length {
            return Ok(None);
        }
        self.bytes.advance(PREFIX);
        Ok(Some(self.bytes.split_to(length).freeze()))
    }
}
