//! Epoch keys, key derivation with labels, and lockboxes (HPKE, RFC 9180).

use std::fmt;

use chacha20::ChaCha20Rng;
use chacha20::rand_core::SeedableRng;
use hkdf::Hkdf;
use hpke::aead::ChaCha20Poly1305;
use hpke::kdf::HkdfSha256;
use hpke::kem::X25519HkdfSha256;
use hpke::{Deserializable, Kem, OpModeR, OpModeS, Serializable};
use sha2::Sha256;
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use crate::device::AgreementKey;
use crate::error::LockboxError;
use crate::ids::{Audience, CampaignId};

/// Length of a sealed lockbox: the encapsulated key, the epoch key, the tag.
pub(crate) const LOCKBOX_LENGTH: usize = 32 + 32 + 16;

/// The symmetric key of one audience in one epoch: 32 random bytes. Never printed.
#[derive(Clone, PartialEq, Eq, Zeroize, ZeroizeOnDrop)]
pub struct EpochKey([u8; 32]);

impl EpochKey {
    /// The key with these bytes, which must come from a cryptographic source.
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The key itself, for the replica's own store. Handle with care.
    pub fn expose(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Debug for EpochKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("EpochKey(…)")
    }
}

/// HKDF-SHA256 (RFC 5869) with the label as salt and `info` binding the context.
pub(crate) fn derive<const N: usize>(
    secret: &[u8],
    label: &str,
    info: &[u8],
) -> Zeroizing<[u8; N]> {
    let mut out = Zeroizing::new([0; N]);
    let bound = Hkdf::<Sha256>::new(Some(label.as_bytes()), secret).expand(info, out.as_mut());
    // HKDF-SHA256 yields up to 8,160 bytes; this crate asks for at most 64.
    debug_assert!(bound.is_ok());
    out
}

/// What a lockbox is bound to: it opens for no other campaign, audience or epoch.
fn context(campaign: CampaignId, audience: Audience, epoch: u32) -> Vec<u8> {
    let mut info = b"lore/lockbox/1".to_vec();
    info.extend_from_slice(campaign.as_bytes());
    audience.encode_into(&mut info);
    info.extend_from_slice(&epoch.to_be_bytes());
    info
}

/// Seals `key` so that only the holder of `to`'s secret can open it.
///
/// `randomness` must be 32 fresh bytes from a cryptographic source. It seeds the generator that
/// makes the ephemeral key; using it twice for two recipients links them.
pub(crate) fn seal_lockbox(
    campaign: CampaignId,
    audience: Audience,
    epoch: u32,
    key: &EpochKey,
    to: AgreementKey,
    randomness: [u8; 32],
) -> Result<Vec<u8>, LockboxError> {
    let recipient = <X25519HkdfSha256 as Kem>::PublicKey::from_bytes(to.as_bytes())
        .map_err(|_| LockboxError::Recipient)?;
    let mut generator = ChaCha20Rng::from_seed(randomness);
    let (encapsulated, sealed) =
        hpke::single_shot_seal_with_rng::<ChaCha20Poly1305, HkdfSha256, X25519HkdfSha256>(
            &OpModeS::Base,
            &recipient,
            &context(campaign, audience, epoch),
            key.expose(),
            &[],
            &mut generator,
        )
        .map_err(|_| LockboxError::Recipient)?;
    let mut out = encapsulated.to_bytes().to_vec();
    out.extend_from_slice(&sealed);
    Ok(out)
}

/// Opens what [`seal_lockbox`] made.
pub(crate) fn open_lockbox(
    campaign: CampaignId,
    audience: Audience,
    epoch: u32,
    sealed: &[u8],
    secret: &[u8; 32],
) -> Result<EpochKey, LockboxError> {
    if sealed.len() != LOCKBOX_LENGTH {
        return Err(LockboxError::Sealed);
    }
    let (encapsulated, ciphertext) = sealed.split_at(32);
    let secret = <X25519HkdfSha256 as Kem>::PrivateKey::from_bytes(secret)
        .map_err(|_| LockboxError::Sealed)?;
    let encapsulated = <X25519HkdfSha256 as Kem>::EncappedKey::from_bytes(encapsulated)
        .map_err(|_| LockboxError::Sealed)?;
    let opened = Zeroizing::new(
        hpke::single_shot_open::<ChaCha20Poly1305, HkdfSha256, X25519HkdfSha256>(
            &OpModeR::Base,
            &secret,
            &encapsulated,
            &context(campaign, audience, epoch),
            ciphertext,
            &[],
        )
        .map_err(|_| LockboxError::Sealed)?,
    );
    let key: [u8; 32] = opened
        .as_slice()
        .try_into()
        .map_err(|_| LockboxError::Sealed)?;
    Ok(EpochKey(key))
}

/// The X25519 public key of a secret.
pub(crate) fn agreement_public(secret: &[u8; 32]) -> [u8; 32] {
    let mut public = [0; 32];
    // Any 32 bytes are an X25519 secret (they are clamped), so this always succeeds.
    if let Ok(secret) = <X25519HkdfSha256 as Kem>::PrivateKey::from_bytes(secret) {
        public.copy_from_slice(&X25519HkdfSha256::sk_to_pk(&secret).to_bytes());
    }
    public
}
