//! Identities, membership, epoch keys, sealed envelopes, invitations.
//!
//! Everything a relay may see and everything it may not is decided here. The crate is pure:
//! randomness, time and bytes are arguments, so the same code runs natively, in a browser and
//! under simulation, and every result can be reproduced.
//!
//! * [`DeviceSecret`] / [`DeviceId`]: who signs.
//! * [`Statement`] / [`Membership`]: who belongs to a campaign, in which role. A relay reads and
//!   verifies it; it holds no lore.
//! * [`EpochKey`], lockboxes: who can read an [`Audience`].
//! * [`Envelope`]: one signed, sealed batch of changes, chained to the device's previous one.
//! * [`Invitation`]: the link that lets a device join while the keeper is away.
//! * [`seal_presence`] / [`open_presence`]: the fleeting "who is here".
//!
//! The byte-level specification is `docs/protocol.md`; what it protects against, and what it does
//! not, is `docs/threats.md`.

mod device;
mod envelope;
mod error;
mod ids;
mod invitation;
mod keys;
mod membership;
mod packing;
mod presence;
mod statement;
mod wire;

pub use device::{AgreementKey, DeviceSecret};
pub use envelope::{Envelope, Header, MAX_PLAINTEXT, MAX_SEALED};
pub use error::{
    EnvelopeError, IdError, InvitationError, LockboxError, MembershipError, PresenceError,
    StatementError,
};
pub use ids::{Audience, CampaignId, DeviceId, Role, Signature, StatementId};
pub use invitation::{Invitation, InviteSeed, MAX_BASE};
pub use keys::EpochKey;
pub use membership::{
    Change, MAX_CLAIMS, MAX_INVITES, MAX_LOCKBOXES, MAX_MEMBERS, Member, Membership,
};
pub use packing::padded_length;
pub use presence::{MAX_PRESENCE, open_presence, seal_presence};
pub use statement::{Assertion, Claim, Genesis, Invite, Lockbox, MAX_STATEMENT, Statement};

/// The epoch that every audience starts with, and the only one until removal is built.
pub const FIRST_EPOCH: u32 = 1;
