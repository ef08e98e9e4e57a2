//! The unit of replication: one signed, sealed batch of changes by one device in one audience.
//!
//! Layout: header ‖ length of body (`u32`) ‖ body ‖ signature (64). Body: commitment (32) ‖ nonce
//! (24) ‖ ciphertext. Integers are big-endian. The signature covers the header and the SHA-256 of
//! the body; the chain hash covers the header, that hash and the signature. So a body can later be
//! dropped while the chain over it stays verifiable.

use std::ops::Range;

use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{Key, XChaCha20Poly1305, XNonce};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use crate::device::DeviceSecret;
use crate::error::EnvelopeError;
use crate::ids::{Audience, CampaignId, DeviceId, Signature};
use crate::keys::{EpochKey, derive};
use crate::packing::{pack, unpack};
use crate::wire::Reader;

/// The most bytes of one encoded envelope: 1 MiB.
pub const MAX_SEALED: usize = 1 << 20;
/// The most bytes that an envelope holds once opened and inflated: 4 MiB.
pub const MAX_PLAINTEXT: usize = 4 << 20;

const VERSION: u8 = 1;
const COMMITMENT: usize = 32;
const NONCE: usize = 24;
const TAG: usize = 16;
const SIGNATURE: usize = 64;
const LABEL_SIGN: &str = "lore/envelope/sign/1";
const LABEL_KEY: &str = "lore/envelope/key/1";
const LABEL_CHAIN: &[u8] = b"lore/envelope/chain/1";

/// What everyone on the way may read of an envelope, and nobody may alter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Header {
    /// The campaign it belongs to.
    pub campaign: CampaignId,
    /// Who can open it.
    pub audience: Audience,
    /// Which of the audience's keys sealed it.
    pub epoch: u32,
    /// Who wrote and signed it.
    pub device: DeviceId,
    /// Its place in the device's log of this audience, from 1.
    pub number: u64,
    /// [`Envelope::chain_hash`] of the device's envelope before it; zeros for the first.
    pub prev: [u8; 32],
}

impl Header {
    fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(128);
        out.push(VERSION);
        out.extend_from_slice(self.campaign.as_bytes());
        self.audience.encode_into(&mut out);
        out.extend_from_slice(&self.epoch.to_be_bytes());
        out.extend_from_slice(self.device.as_bytes());
        out.extend_from_slice(&self.number.to_be_bytes());
        out.extend_from_slice(&self.prev);
        out
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, EnvelopeError> {
        let cut = EnvelopeError::Truncated;
        match reader.byte().ok_or(cut)? {
            VERSION => {}
            other => return Err(EnvelopeError::Version(other)),
        }
        let campaign = CampaignId::from_bytes(reader.array().ok_or(cut)?);
        let audience = match reader.byte().ok_or(cut)? {
            0 => Audience::Table,
            1 => Audience::Keeper,
            2 => Audience::Private(reader.array().ok_or(cut)?),
            _ => return Err(EnvelopeError::Header),
        };
        let header = Self {
            campaign,
            audience,
            epoch: u32::from_be_bytes(reader.array().ok_or(cut)?),
            device: DeviceId::from_bytes(reader.array().ok_or(cut)?),
            number: u64::from_be_bytes(reader.array().ok_or(cut)?),
            prev: reader.array().ok_or(cut)?,
        };
        // The store's integers are signed; a number beyond them is nobody's.
        let first = header.number == 1;
        if header.number == 0
            || header.number > i64::MAX as u64
            || first != (header.prev == [0; 32])
        {
            return Err(EnvelopeError::Header);
        }
        Ok(header)
    }
}

/// A sealed envelope, well-formed but not yet believed: [`Envelope::verify`] checks who signed it,
/// [`Envelope::open`] that it was sealed for us.
#[derive(Clone, PartialEq, Eq)]
pub struct Envelope {
    bytes: Vec<u8>,
    header: Header,
    header_length: usize,
    body: Range<usize>,
    body_hash: [u8; 32],
}

impl std::fmt::Debug for Envelope {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Envelope")
            .field("header", &self.header)
            .field("length", &self.bytes.len())
            .finish_non_exhaustive()
    }
}

/// The cipher's key and the commitment to the epoch key, for one header.
fn keys(epoch_key: &EpochKey, header: &[u8]) -> (Zeroizing<[u8; 32]>, [u8; COMMITMENT]) {
    let derived = derive::<64>(epoch_key.expose(), LABEL_KEY, header);
    let mut key = Zeroizing::new([0; 32]);
    key.copy_from_slice(&derived[..32]);
    let mut commitment = [0; COMMITMENT];
    commitment.copy_from_slice(&derived[32..]);
    (key, commitment)
}

fn signed_part(header: &[u8], body_hash: &[u8; 32]) -> Vec<u8> {
    [header, body_hash.as_slice()].concat()
}

impl Envelope {
    /// Compresses, pads, seals and signs `plaintext`.
    ///
    /// `nonce` must be 24 random bytes. The cipher's key is derived for this one header, so a
    /// repeated nonce is harmless as long as no number is used twice for different contents.
    ///
    /// # Errors
    /// [`EnvelopeError::WrongDevice`], [`EnvelopeError::Header`] for number 0 or a `prev` that
    /// does not fit the number, [`EnvelopeError::TooLarge`] beyond [`MAX_PLAINTEXT`] or when what
    /// is left after compression is beyond [`MAX_SEALED`].
    pub fn seal(
        header: Header,
        epoch_key: &EpochKey,
        secret: &DeviceSecret,
        plaintext: &[u8],
        nonce: [u8; 24],
    ) -> Result<Self, EnvelopeError> {
        if header.device != secret.id() {
            return Err(EnvelopeError::WrongDevice);
        }
        if plaintext.len() > MAX_PLAINTEXT {
            return Err(EnvelopeError::TooLarge);
        }
        let head = header.encode();
        Header::read(&mut Reader::new(&head))?;
        let packed = pack(plaintext);
        let (key, commitment) = keys(epoch_key, &head);
        let ciphertext = XChaCha20Poly1305::new(&Key::from(*key))
            .encrypt(
                &XNonce::from(nonce),
                Payload {
                    msg: &packed,
                    aad: &head,
                },
            )
            .map_err(|_| EnvelopeError::TooLarge)?;
        let length = COMMITMENT + NONCE + ciphertext.len();
        let total = head.len() + 4 + length + SIGNATURE;
        if total > MAX_SEALED {
            return Err(EnvelopeError::TooLarge);
        }
        let mut bytes = Vec::with_capacity(total);
        bytes.extend_from_slice(&head);
        bytes.extend_from_slice(&(length as u32).to_be_bytes());
        let start = bytes.len();
        bytes.extend_from_slice(&commitment);
        bytes.extend_from_slice(&nonce);
        bytes.extend_from_slice(&ciphertext);
        let body = start..bytes.len();
        let body_hash: [u8; 32] = Sha256::digest(&bytes[body.clone()]).into();
        let signature = secret.sign(LABEL_SIGN, &signed_part(&head, &body_hash));
        bytes.extend_from_slice(&signature.0);
        Ok(Self {
            bytes,
            header,
            header_length: head.len(),
            body,
            body_hash,
        })
    }

    /// Reads one encoded envelope and checks its form and size, not its signature.
    pub fn decode(bytes: &[u8]) -> Result<Self, EnvelopeError> {
        Self::from_vec(bytes.to_vec())
    }

    /// As [`Envelope::decode`], without copying.
    pub fn from_vec(bytes: Vec<u8>) -> Result<Self, EnvelopeError> {
        if bytes.len() > MAX_SEALED {
            return Err(EnvelopeError::TooLarge);
        }
        let mut reader = Reader::new(&bytes);
        let header = Header::read(&mut reader)?;
        let header_length = bytes.len() - reader.remaining();
        let cut = EnvelopeError::Truncated;
        let length = u32::from_be_bytes(reader.array().ok_or(cut)?) as usize;
        let start = header_length + 4;
        let body = reader.take(length).ok_or(cut)?;
        if length < COMMITMENT + NONCE + TAG || reader.remaining() != SIGNATURE {
            return Err(cut);
        }
        let body_hash = Sha256::digest(body).into();
        Ok(Self {
            header,
            header_length,
            body: start..start + length,
            body_hash,
            bytes,
        })
    }

    /// Reads only the header of an encoded envelope that is known to be well-formed: what it is,
    /// without hashing its body.
    pub fn peek(bytes: &[u8]) -> Result<Header, EnvelopeError> {
        Header::read(&mut Reader::new(bytes))
    }

    /// The encoded bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The encoded bytes, owned.
    pub fn encode(&self) -> Vec<u8> {
        self.bytes.clone()
    }

    /// The encoded bytes, without copying.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// What it says about itself.
    pub fn header(&self) -> &Header {
        &self.header
    }

    fn head(&self) -> &[u8] {
        &self.bytes[..self.header_length]
    }

    fn signature(&self) -> Signature {
        let mut signature = [0; SIGNATURE];
        signature.copy_from_slice(&self.bytes[self.body.end..]);
        Signature(signature)
    }

    /// What the device's next envelope in this audience names as its `prev`.
    pub fn chain_hash(&self) -> [u8; 32] {
        let mut hash = Sha256::new();
        hash.update(LABEL_CHAIN);
        hash.update(self.head());
        hash.update(self.body_hash);
        hash.update(self.signature().0);
        hash.finalize().into()
    }

    /// Checks that the header's device signed exactly these bytes.
    pub fn verify(&self) -> Result<(), EnvelopeError> {
        let message = signed_part(self.head(), &self.body_hash);
        if self
            .header
            .device
            .verify(LABEL_SIGN, &message, &self.signature())
        {
            Ok(())
        } else {
            Err(EnvelopeError::Signature)
        }
    }

    /// Opens it with the epoch key of its audience. Does not check the signature.
    pub fn open(&self, epoch_key: &EpochKey) -> Result<Vec<u8>, EnvelopeError> {
        let mut reader = Reader::new(&self.bytes[self.body.clone()]);
        let cut = EnvelopeError::Truncated;
        let committed: [u8; COMMITMENT] = reader.array().ok_or(cut)?;
        let nonce: [u8; NONCE] = reader.array().ok_or(cut)?;
        let ciphertext = reader.take(reader.remaining()).ok_or(cut)?;
        let (key, commitment) = keys(epoch_key, self.head());
        if !bool::from(commitment.ct_eq(&committed)) {
            return Err(EnvelopeError::WrongKey);
        }
        let packed = XChaCha20Poly1305::new(&Key::from(*key))
            .decrypt(
                &XNonce::from(nonce),
                Payload {
                    msg: ciphertext,
                    aad: self.head(),
                },
            )
            .map(Zeroizing::new)
            .map_err(|_| EnvelopeError::Sealed)?;
        unpack(&packed, MAX_PLAINTEXT).ok_or(EnvelopeError::Contents)
    }
}
