//! all-MiniLM-L6-v2 as one deterministic kernel: a text in, a unit vector of 384 numbers out, and
//! **the same bits on every machine**.
//!
//! The network is the published one (6 layers, 12 heads, 384 wide, mean pooling, unit length) with
//! its weight matrices in int8. What makes the bits portable:
//!
//! - linear layers multiply int8 weights by 14-bit activations and sum exactly in `i32`;
//! - everything else uses `+ - × ÷ √` on `f32` in a fixed order, which IEEE 754 defines to the
//!   last bit: no fused multiply-add, no library functions such as `exp`;
//! - the vector width of a machine only decides how many of those operations happen at once.
//!
//! So a replica can reuse or check a vector that another one computed, provided that both name the
//! same [`Model::id`]. `docs/models.md` has the rules and the weights file to the byte.
//!
//! ```no_run
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let model = lore_embed::Model::from_bytes(&std::fs::read("minilm-l6-v2.lore")?)?;
//! let wells = model.embed("The wells of Low Mallow are tainted.");
//! let sick = model.embed("why do people in the river villages keep getting sick?");
//! let closeness: f32 = wells.iter().zip(&sick).map(|(a, b)| a * b).sum();
//! # Ok(()) }
//! ```

mod batch;
mod forward;
mod kernel;
mod math;
mod model;
#[cfg(feature = "pack")]
pub mod pack;
mod tokens;
mod weights;

pub use kernel::Kernel;
pub use model::{MODEL_ID, Model};
pub use tokens::{MAX_TEXT_BYTES, MAX_TOKENS, TOKENIZER_VERSION};
pub use weights::{FORMAT_VERSION, PACKED_BYTES, PACKED_SHA256, WeightsError};

/// Numbers in a vector.
pub const DIMENSIONS: usize = 384;

/// A text's place in meaning: length 1, so that the dot product of two is their cosine.
pub type Vector = [f32; DIMENSIONS];

/// Version of the arithmetic. Any change that can change one bit of one vector raises it.
pub const KERNEL_VERSION: u32 = 1;
