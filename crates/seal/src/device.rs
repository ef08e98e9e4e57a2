//! A device's keys: one Ed25519 pair to sign, one X25519 pair to receive lockboxes.

use std::fmt;

use ed25519_dalek::{Signer, SigningKey, VerifyingKey};
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use crate::error::LockboxError;
use crate::ids::{Audience, CampaignId, DeviceId, Signature, base32};
use crate::keys::{EpochKey, agreement_public, derive, open_lockbox};

/// An X25519 public key: whom a lockbox is for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct AgreementKey([u8; 32]);

impl AgreementKey {
    /// The key with these bytes.
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Its bytes.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Debug for AgreementKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AgreementKey({}…)", &base32().encode(&self.0)[..8])
    }
}

/// A pair of secrets derived from one seed: a device's, or an invitation's.
///
/// Secrets are wiped when dropped and never printed.
#[derive(Clone)]
pub(crate) struct KeyPairs {
    signing: SigningKey,
    agreement: Zeroizing<[u8; 32]>,
}

impl KeyPairs {
    /// Derives both pairs by HKDF under `label`, so that one seed never serves two purposes.
    pub(crate) fn derive(seed: &[u8; 32], label: &str) -> Self {
        Self {
            signing: SigningKey::from_bytes(&derive::<32>(seed, label, b"sign")),
            agreement: derive::<32>(seed, label, b"agree"),
        }
    }

    pub(crate) fn id(&self) -> DeviceId {
        DeviceId::from_bytes(self.signing.verifying_key().to_bytes())
    }

    pub(crate) fn agreement(&self) -> AgreementKey {
        AgreementKey(agreement_public(&self.agreement))
    }

    pub(crate) fn sign(&self, label: &str, message: &[u8]) -> Signature {
        Signature(self.signing.sign(&labelled(label, message)).to_bytes())
    }

    pub(crate) fn open(
        &self,
        campaign: CampaignId,
        audience: Audience,
        epoch: u32,
        sealed: &[u8],
    ) -> Result<EpochKey, LockboxError> {
        open_lockbox(campaign, audience, epoch, sealed, &self.agreement)
    }
}

/// Domain separation: what is signed is the label's length, the label, the message.
fn labelled(label: &str, message: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(1 + label.len() + message.len());
    // Labels are this project's own constants, all far below 256 bytes.
    out.push(label.len() as u8);
    out.extend_from_slice(label.as_bytes());
    out.extend_from_slice(message);
    out
}

/// The secrets of one device. Cloning copies them; each copy wipes itself when dropped.
#[derive(Clone)]
pub struct DeviceSecret {
    keys: KeyPairs,
    id: DeviceId,
}

impl DeviceSecret {
    /// The device that this seed (32 bytes from a cryptographic source) stands for.
    pub fn from_seed(seed: [u8; 32]) -> Self {
        let seed = Zeroizing::new(seed);
        let keys = KeyPairs::derive(&seed, "lore/device/1");
        let id = keys.id();
        Self { keys, id }
    }

    /// The device's public name.
    pub fn id(&self) -> DeviceId {
        self.id
    }

    /// The public key to which lockboxes for this device are sealed.
    pub fn agreement(&self) -> AgreementKey {
        self.keys.agreement()
    }

    /// Signs `message` under a label that says what is being signed (domain separation).
    pub fn sign(&self, label: &str, message: &[u8]) -> Signature {
        self.keys.sign(label, message)
    }

    pub(crate) fn pairs(&self) -> &KeyPairs {
        &self.keys
    }
}

impl fmt::Debug for DeviceSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DeviceSecret(of {})", self.id)
    }
}

impl DeviceId {
    /// Whether `signature` is this device's over `message` under `label`.
    ///
    /// Strict verification: malleable signatures, weak and malformed keys are refused.
    pub fn verify(&self, label: &str, message: &[u8], signature: &Signature) -> bool {
        VerifyingKey::from_bytes(self.as_bytes()).is_ok_and(|key| {
            key.verify_strict(
                &labelled(label, message),
                &ed25519_dalek::Signature::from_bytes(&signature.0),
            )
            .is_ok()
        })
    }
}
