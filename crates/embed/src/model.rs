//! The model as callers see it.

use crate::tokens::{TOKENIZER_VERSION, Tokenizer};
use crate::weights::{Weights, WeightsError};
use crate::{KERNEL_VERSION, Kernel, Vector};

/// The [`Model::id`] of the pinned weights with this build's tokenizer and kernel.
pub const MODEL_ID: &str = "minilm-l6-v2.c2989c8b920fa19d.t1.k1";

/// Weights, tokenizer and kernel, ready to embed. Shared freely between threads.
pub struct Model {
    weights: Weights,
    tokenizer: Tokenizer,
    kernel: Kernel,
    id: String,
}

impl Model {
    /// Checks a weights file and keeps a copy of it.
    pub fn from_bytes(file: &[u8]) -> Result<Self, WeightsError> {
        Self::from_vec(file.to_vec())
    }

    /// Checks a weights file and takes it over, without a second copy in memory.
    pub fn from_vec(file: Vec<u8>) -> Result<Self, WeightsError> {
        let weights = Weights::parse(file)?;
        let tokenizer = Tokenizer::parse(weights.vocabulary())?;
        let hash = weights.checksum()[..8]
            .iter()
            .fold(String::with_capacity(16), |text, byte| {
                text + &format!("{byte:02x}")
            });
        let id = format!("minilm-l6-v2.{hash}.t{TOKENIZER_VERSION}.k{KERNEL_VERSION}");
        Ok(Self {
            weights,
            tokenizer,
            kernel: Kernel::best(),
            id,
        })
    }

    /// The same model on given instructions; it is the same vectors at another speed. Plain Rust
    /// takes over where the machine lacks them.
    #[must_use]
    pub fn with_kernel(mut self, kernel: Kernel) -> Self {
        self.kernel = kernel;
        self
    }

    /// Which instructions compute.
    pub fn kernel(&self) -> Kernel {
        self.kernel
    }

    /// Names everything that decides a vector's bits: the first 8 bytes of the weights file's
    /// checksum, the tokenizer's version, the kernel's version. Vectors of different ids must
    /// not be compared.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The tokens that [`embed`](Self::embed) reads of a text: numbers of vocabulary lines, with
    /// the marks at both ends, at most [`MAX_TOKENS`](crate::MAX_TOKENS).
    pub fn tokenize(&self, text: &str) -> Vec<u16> {
        self.tokenizer.tokens(self.weights.vocabulary(), text)
    }

    /// A text's unit vector. Any text is fine, the empty one too; what lies beyond
    /// [`MAX_TOKENS`](crate::MAX_TOKENS) does not count.
    pub fn embed(&self, text: &str) -> Vector {
        self.kernel.forward(&self.weights, &self.tokenize(text))
    }
}

impl std::fmt::Debug for Model {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Model")
            .field("id", &self.id)
            .field("kernel", &self.kernel)
            .finish_non_exhaustive()
    }
}
