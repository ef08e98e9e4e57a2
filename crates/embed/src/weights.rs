//! The weights file: one flat, checked file that holds the matrices and the vocabulary.
//!
//! All integers and floats are little-endian. `docs/models.md` describes the file to the byte.

use std::ops::Range;

use sha2::{Digest, Sha256};

use crate::DIMENSIONS;

/// First bytes of every weights file.
pub(crate) const MAGIC: [u8; 8] = *b"LOREMLM\n";
/// The file layout that this build reads and writes.
pub const FORMAT_VERSION: u32 = 1;
/// Header including the checksum; the payload follows.
pub(crate) const HEADER_BYTES: usize = 96;
/// The checksum's place in the header.
const CHECKSUM: Range<usize> = 64..96;

/// SHA-256 of the whole weights file that the pinned inputs pack to.
pub const PACKED_SHA256: &str = "4a0f97c9100684f9fd261b42f539ad84a87a9c6c9889cdea2ccf6b17500baae8";
/// Length of that file in bytes.
pub const PACKED_BYTES: usize = HEADER_BYTES + FLOATS * 4 + MATRIX_BYTES + 231_508;

pub(crate) const LAYERS: usize = 6;
pub(crate) const HEADS: usize = 12;
pub(crate) const INNER: usize = 1536;
/// Entries of the vocabulary.
pub(crate) const VOCABULARY: usize = 30_522;
/// Positions kept: the model was trained on at most this many tokens of a text.
pub(crate) const POSITIONS: usize = 256;
/// The numbers in the header by which a file says what network it holds.
pub(crate) const SHAPE: [u32; 6] = [
    DIMENSIONS as u32,
    LAYERS as u32,
    HEADS as u32,
    INNER as u32,
    VOCABULARY as u32,
    POSITIONS as u32,
];

const SQUARE: usize = DIMENSIONS * DIMENSIONS;
const WIDE: usize = DIMENSIONS * INNER;
/// Floats of one layer: scale and bias of four square and two wide matrices, two normalisations.
const LAYER_FLOATS: usize = 4 * 2 * DIMENSIONS + 2 * INNER + 2 * DIMENSIONS + 4 * DIMENSIONS;
const EMBEDDING_FLOATS: usize = VOCABULARY + POSITIONS + 3 * DIMENSIONS;
const LAYER_BYTES: usize = 4 * SQUARE + 2 * WIDE;
const EMBEDDING_BYTES: usize = (VOCABULARY + POSITIONS) * DIMENSIONS;
/// Floats in the file.
pub(crate) const FLOATS: usize = EMBEDDING_FLOATS + LAYERS * LAYER_FLOATS;
/// Signed bytes in the file.
pub(crate) const MATRIX_BYTES: usize = EMBEDDING_BYTES + LAYERS * LAYER_BYTES;
/// A vocabulary beyond this is not ours.
const MAX_VOCABULARY_BYTES: usize = 1 << 20;

/// Why bytes are not usable weights.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WeightsError {
    /// The first bytes are another kind of file's.
    #[error("not a weights file of this project")]
    Foreign,
    /// Written by a later version of the program.
    #[error("weights file of format {found}; this program reads up to format {FORMAT_VERSION}")]
    Newer {
        /// The format version that the file names.
        found: u32,
    },
    /// A weights file, but of a network with other dimensions.
    #[error("weights of another network: {found:?}, expected {SHAPE:?}")]
    OtherShape {
        /// Width, layers, heads, inner width, vocabulary, positions.
        found: [u32; 6],
    },
    /// Shorter or longer than its header says, as after an interrupted download.
    #[error("weights file is torn: {found} bytes of {expected}")]
    Torn {
        /// Bytes that the header calls for (the header's own length if even that is cut).
        expected: u64,
        /// Bytes there are.
        found: u64,
    },
    /// The length is right and the content is not what was written.
    #[error("weights file is damaged: its checksum does not match")]
    Damaged,
    /// The checksum matches content that no packer of ours writes.
    #[error("weights file is malformed: {0}")]
    Malformed(&'static str),
}

/// A weights file in memory, checked, with its parts addressable.
pub(crate) struct Weights {
    file: Vec<u8>,
    floats: Vec<f32>,
    checksum: [u8; 32],
}

/// A linear layer: `out = x · W + bias`, with a scale per output column.
pub(crate) struct Linear<'a> {
    /// `[outputs / 16][inputs / 2][16][2]` signed bytes.
    pub(crate) weights: &'a [u8],
    pub(crate) inputs: usize,
    pub(crate) scale: &'a [f32],
    pub(crate) bias: &'a [f32],
}

/// A layer normalisation's gain and bias.
#[derive(Clone, Copy)]
pub(crate) struct Norm<'a> {
    pub(crate) gain: &'a [f32],
    pub(crate) bias: &'a [f32],
}

/// One transformer layer.
pub(crate) struct Layer<'a> {
    pub(crate) query: Linear<'a>,
    pub(crate) key: Linear<'a>,
    pub(crate) value: Linear<'a>,
    pub(crate) attention_out: Linear<'a>,
    pub(crate) attention_norm: Norm<'a>,
    pub(crate) widen: Linear<'a>,
    pub(crate) narrow: Linear<'a>,
    pub(crate) out_norm: Norm<'a>,
}

impl Weights {
    /// Takes the file's bytes over and checks all of them.
    pub(crate) fn parse(file: Vec<u8>) -> Result<Self, WeightsError> {
        let header = file.get(..HEADER_BYTES).ok_or_else(|| {
            let prefix = file.len().min(MAGIC.len());
            if file[..prefix] == MAGIC[..prefix] {
                torn(HEADER_BYTES as u64, file.len())
            } else {
                WeightsError::Foreign
            }
        })?;
        if header[..8] != MAGIC {
            return Err(WeightsError::Foreign);
        }
        let version = u32_at(header, 8);
        if version > FORMAT_VERSION {
            return Err(WeightsError::Newer { found: version });
        }
        if version != FORMAT_VERSION || u32_at(header, 12) != 0 {
            return Err(WeightsError::Malformed("header"));
        }
        let found = std::array::from_fn(|i| u32_at(header, 16 + 4 * i));
        if found != SHAPE {
            return Err(WeightsError::OtherShape { found });
        }
        let lengths: [u64; 3] = std::array::from_fn(|i| u64_at(header, 40 + 8 * i));
        if lengths[0] != FLOATS as u64 * 4
            || lengths[1] != MATRIX_BYTES as u64
            || lengths[2] > MAX_VOCABULARY_BYTES as u64
        {
            return Err(WeightsError::Malformed("section lengths"));
        }
        let expected = HEADER_BYTES as u64 + lengths.iter().sum::<u64>();
        if file.len() as u64 != expected {
            return Err(torn(expected, file.len()));
        }
        let checksum = checksum(&file);
        if header[CHECKSUM] != checksum {
            return Err(WeightsError::Damaged);
        }
        let floats: Vec<f32> = file[HEADER_BYTES..HEADER_BYTES + FLOATS * 4]
            .as_chunks::<4>()
            .0
            .iter()
            .map(|bytes| f32::from_le_bytes(*bytes))
            .collect();
        if floats.iter().any(|value| !value.is_finite()) {
            return Err(WeightsError::Malformed("a number is not finite"));
        }
        Ok(Self {
            file,
            floats,
            checksum,
        })
    }

    /// SHA-256 over everything in the file but the checksum itself.
    pub(crate) fn checksum(&self) -> &[u8; 32] {
        &self.checksum
    }

    /// The vocabulary: one piece a line, line number = token.
    pub(crate) fn vocabulary(&self) -> &[u8] {
        &self.file[HEADER_BYTES + FLOATS * 4 + MATRIX_BYTES..]
    }

    fn matrices(&self) -> &[u8] {
        let start = HEADER_BYTES + FLOATS * 4;
        &self.file[start..start + MATRIX_BYTES]
    }

    /// A token's row and its scale.
    pub(crate) fn word(&self, token: u16) -> (&[u8], f32) {
        let token = usize::from(token).min(VOCABULARY - 1);
        (
            &self.matrices()[token * DIMENSIONS..][..DIMENSIONS],
            self.floats[token],
        )
    }

    /// A position's row and its scale.
    pub(crate) fn position(&self, position: usize) -> (&[u8], f32) {
        let row = VOCABULARY + position;
        (
            &self.matrices()[row * DIMENSIONS..][..DIMENSIONS],
            self.floats[row],
        )
    }

    /// The row that is added for a text that is not a pair.
    pub(crate) fn token_type(&self) -> &[f32] {
        &self.floats[VOCABULARY + POSITIONS..][..DIMENSIONS]
    }

    pub(crate) fn embedding_norm(&self) -> Norm<'_> {
        let mut parts = Parts {
            floats: &self.floats[VOCABULARY + POSITIONS + DIMENSIONS..],
            bytes: &[],
        };
        parts.norm()
    }

    pub(crate) fn layer(&self, number: usize) -> Layer<'_> {
        let mut parts = Parts {
            floats: &self.floats[EMBEDDING_FLOATS + number * LAYER_FLOATS..],
            bytes: &self.matrices()[EMBEDDING_BYTES + number * LAYER_BYTES..],
        };
        Layer {
            query: parts.linear(DIMENSIONS, DIMENSIONS),
            key: parts.linear(DIMENSIONS, DIMENSIONS),
            value: parts.linear(DIMENSIONS, DIMENSIONS),
            attention_out: parts.linear(DIMENSIONS, DIMENSIONS),
            attention_norm: parts.norm(),
            widen: parts.linear(DIMENSIONS, INNER),
            narrow: parts.linear(INNER, DIMENSIONS),
            out_norm: parts.norm(),
        }
    }
}

/// Cuts sections off in file order.
struct Parts<'a> {
    floats: &'a [f32],
    bytes: &'a [u8],
}

impl<'a> Parts<'a> {
    fn take(&mut self, count: usize) -> &'a [f32] {
        let (part, rest) = self.floats.split_at(count);
        self.floats = rest;
        part
    }

    fn linear(&mut self, inputs: usize, outputs: usize) -> Linear<'a> {
        let (weights, rest) = self.bytes.split_at(inputs * outputs);
        self.bytes = rest;
        Linear {
            weights,
            inputs,
            scale: self.take(outputs),
            bias: self.take(outputs),
        }
    }

    fn norm(&mut self) -> Norm<'a> {
        Norm {
            gain: self.take(DIMENSIONS),
            bias: self.take(DIMENSIONS),
        }
    }
}

/// SHA-256 over a file of at least a header, leaving out the checksum's own bytes.
pub(crate) fn checksum(file: &[u8]) -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update(&file[..CHECKSUM.start]);
    hash.update(&file[CHECKSUM.end..]);
    hash.finalize().into()
}

fn torn(expected: u64, found: usize) -> WeightsError {
    WeightsError::Torn {
        expected,
        found: found as u64,
    }
}

/// The caller has checked that the header is whole.
fn u32_at(header: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(std::array::from_fn(|i| header[at + i]))
}

fn u64_at(header: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(std::array::from_fn(|i| header[at + i]))
}
