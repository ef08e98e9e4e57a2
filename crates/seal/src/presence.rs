//! Presence: sealed for the table, unacknowledged, never stored.

use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{Key, XChaCha20Poly1305, XNonce};

use crate::error::PresenceError;
use crate::ids::{CampaignId, DeviceId};
use crate::keys::{EpochKey, derive};
use crate::packing::{pack, unpack};

/// The most bytes of one presence message, before and after sealing: 4 KiB.
pub const MAX_PRESENCE: usize = 4096;

const NONCE: usize = 24;

fn context(campaign: CampaignId, device: DeviceId) -> Vec<u8> {
    let mut info = campaign.to_bytes().to_vec();
    info.extend_from_slice(device.as_bytes());
    info
}

fn cipher(key: &EpochKey, context: &[u8]) -> XChaCha20Poly1305 {
    XChaCha20Poly1305::new(&Key::from(*derive::<32>(
        key.expose(),
        "lore/presence/1",
        context,
    )))
}

/// Seals what `device` shows of itself right now, for everyone who holds the `table` key.
///
/// `nonce` must be 24 random bytes, fresh for each message. Layout: nonce ‖ ciphertext of the
/// padded bytes. It is not signed: the relay admits it only from the device's own proven
/// connection, and what it says expires within seconds.
pub fn seal_presence(
    key: &EpochKey,
    campaign: CampaignId,
    device: DeviceId,
    nonce: [u8; 24],
    bytes: &[u8],
) -> Result<Vec<u8>, PresenceError> {
    let context = context(campaign, device);
    let packed = pack(bytes);
    let sealed = cipher(key, &context)
        .encrypt(
            &XNonce::from(nonce),
            Payload {
                msg: &packed,
                aad: &context,
            },
        )
        .map_err(|_| PresenceError::TooLarge)?;
    let out = [nonce.as_slice(), &sealed].concat();
    if bytes.len() > MAX_PRESENCE || out.len() > MAX_PRESENCE {
        return Err(PresenceError::TooLarge);
    }
    Ok(out)
}

/// Opens what [`seal_presence`] made for the same key, campaign and device.
pub fn open_presence(
    key: &EpochKey,
    campaign: CampaignId,
    device: DeviceId,
    sealed: &[u8],
) -> Result<Vec<u8>, PresenceError> {
    if sealed.len() > MAX_PRESENCE {
        return Err(PresenceError::TooLarge);
    }
    let (nonce, ciphertext) = sealed
        .split_first_chunk::<NONCE>()
        .ok_or(PresenceError::Sealed)?;
    let context = context(campaign, device);
    let packed = cipher(key, &context)
        .decrypt(
            &XNonce::from(*nonce),
            Payload {
                msg: ciphertext,
                aad: &context,
            },
        )
        .map_err(|_| PresenceError::Sealed)?;
    unpack(&packed, MAX_PRESENCE).ok_or(PresenceError::Sealed)
}
