//! Makes the weights file out of the published model.
//!
//! Matrices become int8 with one scale per output column (per row for the word and position
//! tables): scale = largest size / 127, value = nearest integer of weight / scale, ties to even.
//! The rest stays `f32`. Inputs and output are pinned by hash, so the file has one possible
//! content wherever it is made.

mod safetensors;

use sha2::{Digest, Sha256};

use crate::DIMENSIONS;
use crate::kernel::BLOCK;
use crate::weights::{
    FLOATS, FORMAT_VERSION, HEADER_BYTES, INNER, LAYERS, MAGIC, MATRIX_BYTES, PACKED_SHA256,
    POSITIONS, SHAPE, VOCABULARY, checksum,
};
use safetensors::Tensors;

/// SHA-256 of the published model's `model.safetensors`.
pub const SAFETENSORS_SHA256: &str =
    "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db";
/// SHA-256 of the published model's `vocab.txt`.
pub const VOCAB_SHA256: &str = "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3";

/// Why no weights file was made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PackError {
    /// An input is not the pinned one.
    #[error("{what} has SHA-256 {found}, expected {expected}")]
    OtherInput {
        /// The input's usual file name.
        what: &'static str,
        /// The pinned hash.
        expected: &'static str,
        /// The hash of what was given.
        found: String,
    },
    /// The tensor file cannot be read.
    #[error("model.safetensors is malformed: {0}")]
    Malformed(String),
    /// A tensor is missing or of another shape.
    #[error("model.safetensors has no tensor {name} of {len} numbers")]
    NoTensor {
        /// The tensor's name.
        name: String,
        /// Numbers it should have.
        len: usize,
    },
    /// The output differs from the pinned one: a fault in this program.
    #[error("packed to SHA-256 {found}, expected {PACKED_SHA256}")]
    OtherOutput {
        /// The hash of what was made.
        found: String,
    },
}

/// Packs the published `model.safetensors` and `vocab.txt` into a weights file, whose SHA-256 is
/// then [`PACKED_SHA256`]. About a second.
pub fn pack(safetensors: &[u8], vocab: &[u8]) -> Result<Vec<u8>, PackError> {
    require("model.safetensors", safetensors, SAFETENSORS_SHA256)?;
    require("vocab.txt", vocab, VOCAB_SHA256)?;
    let file = write(&Tensors::parse(safetensors)?, vocab)?;
    let found = hex(&file);
    if found != PACKED_SHA256 {
        return Err(PackError::OtherOutput { found });
    }
    Ok(file)
}

fn require(what: &'static str, bytes: &[u8], expected: &'static str) -> Result<(), PackError> {
    let found = hex(bytes);
    if found == expected {
        Ok(())
    } else {
        Err(PackError::OtherInput {
            what,
            expected,
            found,
        })
    }
}

/// SHA-256 in lower-case hexadecimal.
fn hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes)
        .iter()
        .fold(String::with_capacity(64), |text, byte| {
            text + &format!("{byte:02x}")
        })
}

fn write(tensors: &Tensors<'_>, vocab: &[u8]) -> Result<Vec<u8>, PackError> {
    let mut parts = Parts::default();
    let table = |name: &str, rows: usize, kept: usize| -> Result<Vec<f32>, PackError> {
        let mut values = tensors.get(name, rows * DIMENSIONS)?;
        values.truncate(kept * DIMENSIONS);
        Ok(values)
    };
    let words = table("embeddings.word_embeddings.weight", VOCABULARY, VOCABULARY)?;
    // The published table has 512 rows, of which the model was trained to use 256.
    let positions = table("embeddings.position_embeddings.weight", 512, POSITIONS)?;
    for values in [&words, &positions] {
        for row in values.chunks_exact(DIMENSIONS) {
            let scale = scale(row);
            parts.floats.push(scale);
            parts.bytes.extend(
                row.iter()
                    .map(|value| quantised(*value, scale).cast_unsigned()),
            );
        }
    }
    // Row 0: every token of a text that is not a pair.
    parts
        .floats
        .extend(table("embeddings.token_type_embeddings.weight", 2, 1)?);
    parts.norm(tensors, "embeddings.LayerNorm")?;
    for layer in 0..LAYERS {
        let mut linear = |part: &str, inputs: usize, outputs: usize| {
            parts.linear(
                tensors,
                &format!("encoder.layer.{layer}.{part}"),
                inputs,
                outputs,
            )
        };
        linear("attention.self.query", DIMENSIONS, DIMENSIONS)?;
        linear("attention.self.key", DIMENSIONS, DIMENSIONS)?;
        linear("attention.self.value", DIMENSIONS, DIMENSIONS)?;
        linear("attention.output.dense", DIMENSIONS, DIMENSIONS)?;
        parts.norm(
            tensors,
            &format!("encoder.layer.{layer}.attention.output.LayerNorm"),
        )?;
        let mut linear = |part: &str, inputs: usize, outputs: usize| {
            parts.linear(
                tensors,
                &format!("encoder.layer.{layer}.{part}"),
                inputs,
                outputs,
            )
        };
        linear("intermediate.dense", DIMENSIONS, INNER)?;
        linear("output.dense", INNER, DIMENSIONS)?;
        parts.norm(tensors, &format!("encoder.layer.{layer}.output.LayerNorm"))?;
    }
    Ok(parts.assemble(vocab))
}

/// The two sections under way.
#[derive(Default)]
struct Parts {
    floats: Vec<f32>,
    bytes: Vec<u8>,
}

impl Parts {
    /// A linear layer, published as one row per output, written in the kernel's order.
    fn linear(
        &mut self,
        tensors: &Tensors<'_>,
        name: &str,
        inputs: usize,
        outputs: usize,
    ) -> Result<(), PackError> {
        let weights = tensors.get(&format!("{name}.weight"), inputs * outputs)?;
        let scales: Vec<f32> = weights.chunks_exact(inputs).map(scale).collect();
        for block in (0..outputs).step_by(BLOCK) {
            for pair in (0..inputs).step_by(2) {
                for output in block..block + BLOCK {
                    for input in [pair, pair + 1] {
                        let value = quantised(weights[output * inputs + input], scales[output]);
                        self.bytes.push(value.cast_unsigned());
                    }
                }
            }
        }
        self.floats.extend(scales);
        self.floats
            .extend(tensors.get(&format!("{name}.bias"), outputs)?);
        Ok(())
    }

    fn norm(&mut self, tensors: &Tensors<'_>, name: &str) -> Result<(), PackError> {
        for part in ["weight", "bias"] {
            self.floats
                .extend(tensors.get(&format!("{name}.{part}"), DIMENSIONS)?);
        }
        Ok(())
    }

    fn assemble(self, vocab: &[u8]) -> Vec<u8> {
        debug_assert_eq!(
            (self.floats.len(), self.bytes.len()),
            (FLOATS, MATRIX_BYTES)
        );
        let mut file = Vec::with_capacity(HEADER_BYTES + FLOATS * 4 + MATRIX_BYTES + vocab.len());
        file.extend(MAGIC);
        file.extend(FORMAT_VERSION.to_le_bytes());
        file.extend(0_u32.to_le_bytes());
        file.extend(SHAPE.iter().flat_map(|number| number.to_le_bytes()));
        for length in [self.floats.len() * 4, self.bytes.len(), vocab.len()] {
            file.extend((length as u64).to_le_bytes());
        }
        let at = file.len();
        file.resize(HEADER_BYTES, 0);
        file.extend(self.floats.iter().flat_map(|number| number.to_le_bytes()));
        file.extend(self.bytes);
        file.extend(vocab);
        let checksum = checksum(&file);
        file[at..HEADER_BYTES].copy_from_slice(&checksum);
        file
    }
}

/// The scale by which a row's largest number becomes ±127.
fn scale(row: &[f32]) -> f32 {
    let largest = row
        .iter()
        .fold(0.0_f32, |largest, value| largest.max(value.abs()));
    if largest > 0.0 { largest / 127.0 } else { 1.0 }
}

fn quantised(value: f32, scale: f32) -> i8 {
    (value / scale).round_ties_even().clamp(-127.0, 127.0) as i8
}
