//! Signed statements: what a campaign's membership is made of.
//!
//! Layout: version (1) ‖ length of the assertion (`u16` big-endian) ‖ the assertion in postcard ‖
//! one signature (64), or two for a claim. Only the one canonical encoding is read.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::device::{AgreementKey, DeviceSecret};
use crate::error::{LockboxError, StatementError};
use crate::ids::{Audience, CampaignId, DeviceId, Role, Signature, StatementId};
use crate::invitation::InviteSeed;
use crate::keys::{EpochKey, LOCKBOX_LENGTH, seal_lockbox};
use crate::wire::Reader;

/// The most bytes of one encoded statement.
pub const MAX_STATEMENT: usize = 1024;

const VERSION: u8 = 1;
const LABEL_SIGN: &str = "lore/statement/1";

/// The first statement of a campaign, signed by its keeper: the campaign's identifier is its hash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Genesis {
    /// The keeper's device.
    pub keeper: DeviceId,
    /// Where lockboxes for the keeper's device are sealed to.
    pub agreement: AgreementKey,
    /// 16 random bytes: one keeper can have many campaigns.
    pub nonce: [u8; 16],
}

/// A keeper's or co-keeper's offer to whoever holds the link.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Invite {
    /// The campaign.
    pub campaign: CampaignId,
    /// The invitation's public key ([`InviteSeed::id`]).
    pub invite: DeviceId,
    /// The role that it gives; never [`Role::Keeper`].
    pub role: Role,
    /// When it ends, in milliseconds since 1970; `None` for never.
    pub expires_at: Option<i64>,
    /// How many devices may claim it, at least one.
    pub uses: u32,
    /// The epoch of the `table` key in the lockbox.
    pub epoch: u32,
    /// The `table` key, sealed to [`InviteSeed::agreement`] (HPKE, RFC 9180).
    pub lockbox: Vec<u8>,
    /// Who invites and signs.
    pub by: DeviceId,
}

/// A device's joining, signed by the invitation's key and by the device's own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// The campaign.
    pub campaign: CampaignId,
    /// The invitation's public key.
    pub invite: DeviceId,
    /// Who joins.
    pub device: DeviceId,
    /// Where lockboxes for the device are sealed to.
    pub agreement: AgreementKey,
    /// When, in milliseconds since 1970, by the joiner's clock.
    pub at: i64,
}

/// An audience's key for one device, from a keeper or co-keeper.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lockbox {
    /// The campaign.
    pub campaign: CampaignId,
    /// Whose key it is.
    pub audience: Audience,
    /// The key's epoch.
    pub epoch: u32,
    /// Who can open it.
    pub to: DeviceId,
    /// The key, sealed to that device's agreement key (HPKE, RFC 9180).
    pub sealed: Vec<u8>,
    /// Who made and signed it.
    pub by: DeviceId,
}

/// What a statement says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Assertion {
    /// The campaign begins.
    Genesis(Genesis),
    /// An offer to join.
    Invite(Invite),
    /// A device joins.
    Claim(Claim),
    /// A key for one device.
    Lockbox(Lockbox),
}

impl Assertion {
    fn encode(&self) -> Result<Vec<u8>, StatementError> {
        postcard::to_allocvec(self).map_err(|_| StatementError::Malformed)
    }

    fn signatures(&self) -> usize {
        if matches!(self, Self::Claim(_)) { 2 } else { 1 }
    }

    fn check(&self) -> Result<(), StatementError> {
        let sensible = match self {
            Self::Genesis(_) | Self::Claim(_) => true,
            Self::Invite(invite) => {
                invite.role != Role::Keeper
                    && invite.uses > 0
                    && invite.lockbox.len() == LOCKBOX_LENGTH
            }
            Self::Lockbox(lockbox) => lockbox.sealed.len() == LOCKBOX_LENGTH,
        };
        sensible.then_some(()).ok_or(StatementError::Nonsense)
    }
}

/// An assertion with the signatures that its kind asks for, all verified: a `Statement` exists
/// only for genuine ones. Whether its signer had the authority is [`Membership`]'s to say.
///
/// [`Membership`]: crate::Membership
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    assertion: Assertion,
    id: StatementId,
    bytes: Vec<u8>,
}

impl Statement {
    fn signed(
        assertion: Assertion,
        sign: impl FnOnce(&[u8]) -> Vec<Signature>,
    ) -> Result<Self, StatementError> {
        assertion.check()?;
        let body = assertion.encode()?;
        let length = u16::try_from(body.len()).map_err(|_| StatementError::TooLarge)?;
        let mut bytes = vec![VERSION];
        bytes.extend_from_slice(&length.to_be_bytes());
        bytes.extend_from_slice(&body);
        for signature in sign(&body) {
            bytes.extend_from_slice(&signature.0);
        }
        if bytes.len() > MAX_STATEMENT {
            return Err(StatementError::TooLarge);
        }
        Ok(Self {
            assertion,
            id: StatementId::from_bytes(Sha256::digest(&body).into()),
            bytes,
        })
    }

    /// Begins a campaign. `nonce` must be 16 random bytes.
    pub fn genesis(keeper: &DeviceSecret, nonce: [u8; 16]) -> Result<Self, StatementError> {
        let genesis = Genesis {
            keeper: keeper.id(),
            agreement: keeper.agreement(),
            nonce,
        };
        Self::signed(Assertion::Genesis(genesis), |body| {
            vec![keeper.sign(LABEL_SIGN, body)]
        })
    }

    /// Invites whoever holds `seed`. The `table` key travels in the statement, sealed to the
    /// seed, so that joining works while everyone else is away.
    ///
    /// `randomness` must be 32 fresh random bytes.
    ///
    /// # Errors
    /// [`StatementError::Nonsense`] for [`Role::Keeper`] or zero uses.
    #[allow(clippy::too_many_arguments)] // each is one field of the statement
    pub fn invite(
        campaign: CampaignId,
        by: &DeviceSecret,
        seed: &InviteSeed,
        role: Role,
        expires_at: Option<i64>,
        uses: u32,
        table: (u32, &EpochKey),
        randomness: [u8; 32],
    ) -> Result<Self, StatementError> {
        let (epoch, key) = table;
        let lockbox = seal_lockbox(
            campaign,
            Audience::Table,
            epoch,
            key,
            seed.agreement(),
            randomness,
        )
        .map_err(|_| StatementError::Nonsense)?;
        let invite = Invite {
            campaign,
            invite: seed.id(),
            role,
            expires_at,
            uses,
            epoch,
            lockbox,
            by: by.id(),
        };
        Self::signed(Assertion::Invite(invite), |body| {
            vec![by.sign(LABEL_SIGN, body)]
        })
    }

    /// Joins: `device` takes up the invitation with this seed, at `at` (milliseconds since 1970).
    pub fn claim(
        campaign: CampaignId,
        seed: &InviteSeed,
        device: &DeviceSecret,
        at: i64,
    ) -> Result<Self, StatementError> {
        let claim = Claim {
            campaign,
            invite: seed.id(),
            device: device.id(),
            agreement: device.agreement(),
            at,
        };
        Self::signed(Assertion::Claim(claim), |body| {
            vec![
                seed.pairs().sign(LABEL_SIGN, body),
                device.sign(LABEL_SIGN, body),
            ]
        })
    }

    /// Gives one device an audience's key. `randomness` must be 32 fresh random bytes.
    ///
    /// # Errors
    /// [`StatementError::Nonsense`] when `agreement` is not a usable public key.
    pub fn lockbox(
        campaign: CampaignId,
        by: &DeviceSecret,
        to: (DeviceId, AgreementKey),
        audience: Audience,
        (epoch, key): (u32, &EpochKey),
        randomness: [u8; 32],
    ) -> Result<Self, StatementError> {
        let (to, agreement) = to;
        let sealed = seal_lockbox(campaign, audience, epoch, key, agreement, randomness)
            .map_err(|_| StatementError::Nonsense)?;
        let lockbox = Lockbox {
            campaign,
            audience,
            epoch,
            to,
            sealed,
            by: by.id(),
        };
        Self::signed(Assertion::Lockbox(lockbox), |body| {
            vec![by.sign(LABEL_SIGN, body)]
        })
    }

    /// Reads one encoded statement and verifies every signature on it.
    pub fn decode(bytes: &[u8]) -> Result<Self, StatementError> {
        if bytes.len() > MAX_STATEMENT {
            return Err(StatementError::TooLarge);
        }
        let malformed = StatementError::Malformed;
        let mut reader = Reader::new(bytes);
        match reader.byte().ok_or(malformed)? {
            VERSION => {}
            other => return Err(StatementError::Version(other)),
        }
        let length = u16::from_be_bytes(reader.array().ok_or(malformed)?);
        let body = reader.take(usize::from(length)).ok_or(malformed)?;
        let assertion: Assertion = postcard::from_bytes(body).map_err(|_| malformed)?;
        // Postcard accepts overlong integers and trailing bytes; identifiers are hashes of the
        // one encoding that a writer produces.
        if assertion.encode()? != body
            || reader.remaining() != assertion.signatures() * size_of::<Signature>()
        {
            return Err(malformed);
        }
        assertion.check()?;
        let signers = match &assertion {
            Assertion::Genesis(genesis) => vec![genesis.keeper],
            Assertion::Invite(invite) => vec![invite.by],
            Assertion::Claim(claim) => vec![claim.invite, claim.device],
            Assertion::Lockbox(lockbox) => vec![lockbox.by],
        };
        for signer in signers {
            let signature = Signature(reader.array().ok_or(malformed)?);
            if !signer.verify(LABEL_SIGN, body, &signature) {
                return Err(StatementError::Signature);
            }
        }
        Ok(Self {
            id: StatementId::from_bytes(Sha256::digest(body).into()),
            assertion,
            bytes: bytes.to_vec(),
        })
    }

    /// The encoded bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The encoded bytes, owned.
    pub fn encode(&self) -> Vec<u8> {
        self.bytes.clone()
    }

    /// What it says.
    pub fn assertion(&self) -> &Assertion {
        &self.assertion
    }

    /// Its name: the hash of the assertion, whatever the signatures.
    pub fn id(&self) -> StatementId {
        self.id
    }

    /// The campaign it speaks of; a genesis names its own.
    pub fn campaign(&self) -> CampaignId {
        match &self.assertion {
            Assertion::Genesis(_) => {
                let mut campaign = [0; 16];
                campaign.copy_from_slice(&self.id.as_bytes()[..16]);
                CampaignId::from_bytes(campaign)
            }
            Assertion::Invite(invite) => invite.campaign,
            Assertion::Claim(claim) => claim.campaign,
            Assertion::Lockbox(lockbox) => lockbox.campaign,
        }
    }
}

impl Invite {
    /// Opens the `table` key with the invitation's seed: its epoch and the key.
    pub fn open(&self, seed: &InviteSeed) -> Result<(u32, EpochKey), LockboxError> {
        seed.pairs()
            .open(self.campaign, Audience::Table, self.epoch, &self.lockbox)
            .map(|key| (self.epoch, key))
    }
}

impl Lockbox {
    /// Opens the key with the device's secret: its epoch and the key.
    pub fn open(&self, secret: &DeviceSecret) -> Result<(u32, EpochKey), LockboxError> {
        secret
            .pairs()
            .open(self.campaign, self.audience, self.epoch, &self.sealed)
            .map(|key| (self.epoch, key))
    }
}
