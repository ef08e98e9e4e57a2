//! What is inside a sealed body: compression first, then padding that hides the length.
//!
//! Layout before sealing: one byte (0 stored, 1 deflate), the length of the payload as `u32`
//! big-endian, the payload, zeros up to [`padded_length`].

use std::io::{Read, Write};

use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use zeroize::Zeroizing;

use crate::wire::Reader;

/// Bytes before the payload.
const PREFIX: usize = 5;
/// Nothing is shorter than this once padded, so that single keystrokes look alike.
const SMALLEST: usize = 128;

/// The length to which `length` bytes are padded: Padmé (Nikitin et al., "Reducing Metadata
/// Leakage from Encrypted Files and Communication with PURBs", 2019, algorithm 1), at least 128.
/// Overhead is at most 12 % and an observer learns O(log log length) bits.
pub fn padded_length(length: usize) -> usize {
    if length <= SMALLEST {
        return SMALLEST;
    }
    let exponent = length.ilog2();
    let kept = exponent.ilog2() + 1;
    let mask = (1_usize << (exponent - kept)) - 1;
    (length + mask) & !mask
}

/// Compresses when that helps, and pads.
pub(crate) fn pack(plaintext: &[u8]) -> Zeroizing<Vec<u8>> {
    let compressed = deflate(plaintext);
    let (kind, payload) = match &compressed {
        Some(payload) if payload.len() < plaintext.len() => (1, payload.as_slice()),
        _ => (0, plaintext),
    };
    let mut out = Zeroizing::new(vec![0; padded_length(PREFIX + payload.len())]);
    out[0] = kind;
    out[1..PREFIX].copy_from_slice(&(payload.len() as u32).to_be_bytes());
    out[PREFIX..PREFIX + payload.len()].copy_from_slice(payload);
    out
}

fn deflate(plaintext: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(plaintext).ok()?;
    encoder.finish().ok().map(Zeroizing::new)
}

/// Undoes [`pack`]. `None` for anything it would not have written, or more than `limit` bytes:
/// inflation stops at the limit, whatever the stream claims.
pub(crate) fn unpack(packed: &[u8], limit: usize) -> Option<Vec<u8>> {
    let mut reader = Reader::new(packed);
    let kind = reader.byte()?;
    let length = u32::from_be_bytes(reader.array()?) as usize;
    if packed.len() != padded_length(PREFIX.checked_add(length)?) {
        return None;
    }
    let payload = reader.take(length)?;
    let padding = reader.take(reader.remaining())?;
    if padding.iter().any(|byte| *byte != 0) {
        return None;
    }
    match kind {
        0 if length <= limit => Some(payload.to_vec()),
        1 => {
            let mut out = Vec::new();
            let mut decoder = DeflateDecoder::new(payload).take(limit as u64 + 1);
            decoder.read_to_end(&mut out).ok()?;
            (out.len() <= limit).then_some(out)
        }
        _ => None,
    }
}
