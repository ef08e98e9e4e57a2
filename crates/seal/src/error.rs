//! What can be wrong with bytes, keys and claims that come from outside.

use thiserror::Error;

/// Text or bytes that are not an identifier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum IdError {
    /// Not the number of characters or bytes that this identifier has.
    #[error("an identifier of the wrong length")]
    Length,
    /// A character outside the lower-case base32 alphabet, or non-zero spare bits.
    #[error("an identifier with a character that does not belong")]
    Alphabet,
    /// A role or audience with an unknown name.
    #[error("an unknown role or audience")]
    Unknown,
}

/// An envelope that is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum EnvelopeError {
    /// Shorter than a header and a signature, or its stated length is not its length.
    #[error("the envelope is cut short or has trailing bytes")]
    Truncated,
    /// Written by a newer program; nothing was changed.
    #[error("the envelope has version {0}, which this program does not know; update it")]
    Version(u8),
    /// A header field with a value that no writer produces.
    #[error("the envelope's header is malformed")]
    Header,
    /// More than [`MAX_SEALED`](crate::MAX_SEALED) sealed or
    /// [`MAX_PLAINTEXT`](crate::MAX_PLAINTEXT) opened bytes.
    #[error("the envelope is larger than the limit")]
    TooLarge,
    /// The signature is not the named device's over these bytes.
    #[error("the envelope's signature does not verify")]
    Signature,
    /// The device's secret is not the one of the header's device.
    #[error("the header names another device than the one that signs")]
    WrongDevice,
    /// The commitment says that another epoch key sealed it.
    #[error("the envelope was sealed under another key")]
    WrongKey,
    /// The ciphertext or its header were altered.
    #[error("the envelope does not open")]
    Sealed,
    /// It opened, but the padding or compression inside is not what a writer produces.
    #[error("the envelope's contents are malformed")]
    Contents,
}

/// A statement whose bytes or signatures are refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum StatementError {
    /// Cut short, trailing bytes, or not the one canonical encoding.
    #[error("the statement is malformed")]
    Malformed,
    /// Written by a newer program; nothing was changed.
    #[error("the statement has version {0}, which this program does not know; update it")]
    Version(u8),
    /// More than [`MAX_STATEMENT`](crate::MAX_STATEMENT) bytes.
    #[error("the statement is larger than the limit")]
    TooLarge,
    /// A signature does not verify.
    #[error("the statement's signature does not verify")]
    Signature,
    /// A value that no writer produces: an invitation for the keeper's role, zero uses.
    #[error("the statement says something that cannot be said")]
    Nonsense,
}

/// A statement that the membership does not take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum MembershipError {
    /// The bytes or signatures are wrong.
    #[error(transparent)]
    Statement(#[from] StatementError),
    /// It speaks of another campaign.
    #[error("the statement belongs to another campaign")]
    ForeignCampaign,
    /// One of the stated limits is reached.
    #[error("the campaign has reached its limit of {0}")]
    Full(&'static str),
    /// Only from [`Membership::admit`](crate::Membership::admit): nobody with the authority
    /// stands behind it.
    #[error("the statement has no authority behind it")]
    NoAuthority,
    /// Only from [`Membership::admit`](crate::Membership::admit): the invitation has expired.
    #[error("the invitation has expired")]
    Expired,
    /// Only from [`Membership::admit`](crate::Membership::admit): every use of the invitation is
    /// taken.
    #[error("the invitation has been used up")]
    UsedUp,
    /// The device that acts holds no role that may do this.
    #[error("this device may not do that")]
    NotAllowed,
}

/// A lockbox that does not open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum LockboxError {
    /// The recipient's public key is not one.
    #[error("the recipient's agreement key is not valid")]
    Recipient,
    /// Not for this key, campaign, audience or epoch, or altered.
    #[error("the lockbox does not open")]
    Sealed,
}

/// A presence message that is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum PresenceError {
    /// More than [`MAX_PRESENCE`](crate::MAX_PRESENCE) bytes.
    #[error("the presence message is larger than the limit")]
    TooLarge,
    /// Another key, campaign or device, or altered.
    #[error("the presence message does not open")]
    Sealed,
}

/// Text that is not an invitation link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum InvitationError {
    /// The part before `/j/` is not an http(s) address within the limit.
    #[error("the link does not start with an http or https address")]
    Base,
    /// There is no `/j/<campaign>` in it.
    #[error("the link names no campaign")]
    Campaign,
    /// The part after `#` is missing or is not 32 bytes of base64url.
    #[error("the link's secret part is missing or damaged; copy the whole link")]
    Seed,
}
