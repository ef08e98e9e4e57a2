//! The link that lets a device join, and the key pair that it carries.

use std::fmt;
use std::str::FromStr;

use data_encoding::BASE64URL_NOPAD;
use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::device::{AgreementKey, KeyPairs};
use crate::error::InvitationError;
use crate::ids::{CampaignId, DeviceId};

/// The most characters of an invitation's address before `/j/`.
pub const MAX_BASE: usize = 512;

/// The secret of an invitation: 32 random bytes, from which its two key pairs are derived.
/// Never printed, except in the link.
#[derive(Clone, PartialEq, Eq, Zeroize, ZeroizeOnDrop)]
pub struct InviteSeed([u8; 32]);

impl InviteSeed {
    /// The seed with these bytes, which must come from a cryptographic source.
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The seed itself, for a store of one's own invitations. Handle with care.
    pub fn expose(&self) -> &[u8; 32] {
        &self.0
    }

    pub(crate) fn pairs(&self) -> KeyPairs {
        KeyPairs::derive(&self.0, "lore/invite/1")
    }

    /// The invitation's public signing key: its name in [`Invite`](crate::Invite) and
    /// [`Claim`](crate::Claim).
    pub fn id(&self) -> DeviceId {
        self.pairs().id()
    }

    /// The public key to which the invitation's lockbox is sealed.
    pub fn agreement(&self) -> AgreementKey {
        self.pairs().agreement()
    }
}

impl fmt::Debug for InviteSeed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("InviteSeed(…)")
    }
}

/// An invitation link: `{base}/j/{campaign}#{seed}`.
///
/// The part after `#` never leaves the browser in a request. `Display` writes the whole secret
/// link; `Debug` does not show the seed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invitation {
    base: String,
    campaign: CampaignId,
    seed: InviteSeed,
}

impl Invitation {
    /// A link to `base` (an http or https address of at most [`MAX_BASE`] characters without
    /// `#`, whitespace or control characters; a trailing slash is dropped).
    pub fn new(
        base: &str,
        campaign: CampaignId,
        seed: InviteSeed,
    ) -> Result<Self, InvitationError> {
        let base = base.trim_end_matches('/');
        let host = base
            .strip_prefix("https://")
            .or_else(|| base.strip_prefix("http://"))
            .ok_or(InvitationError::Base)?;
        let odd = |c: char| c == '#' || c == '?' || c.is_whitespace() || c.is_control();
        if host.is_empty() || base.len() > MAX_BASE || base.contains(odd) {
            return Err(InvitationError::Base);
        }
        Ok(Self {
            base: base.to_owned(),
            campaign,
            seed,
        })
    }

    /// Where the relay and the page are, without a trailing slash.
    pub fn base(&self) -> &str {
        &self.base
    }

    /// The campaign it leads to.
    pub fn campaign(&self) -> CampaignId {
        self.campaign
    }

    /// Its secret.
    pub fn seed(&self) -> &InviteSeed {
        &self.seed
    }
}

impl fmt::Display for Invitation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seed = BASE64URL_NOPAD.encode(self.seed.expose());
        write!(f, "{}/j/{}#{seed}", self.base, self.campaign)
    }
}

impl FromStr for Invitation {
    type Err = InvitationError;

    fn from_str(text: &str) -> Result<Self, InvitationError> {
        let (address, secret) = text.trim().split_once('#').ok_or(InvitationError::Seed)?;
        let (base, campaign) = address
            .rsplit_once("/j/")
            .ok_or(InvitationError::Campaign)?;
        let campaign = campaign.parse().map_err(|_| InvitationError::Campaign)?;
        let seed = BASE64URL_NOPAD
            .decode(secret.as_bytes())
            .ok()
            .and_then(|bytes| bytes.try_into().ok())
            .ok_or(InvitationError::Seed)?;
        Self::new(base, campaign, InviteSeed(seed))
    }
}
