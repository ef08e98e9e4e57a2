//! Bindings of the embedding worker: a text in, a vector out. Errors are JavaScript `Error`s with
//! the typed error's own words.

use lore_embed::Model;
use lore_recall::QuantizedVector;
use wasm_bindgen::prelude::{JsError, wasm_bindgen};

/// The model, loaded.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Embedder(Model);

#[wasm_bindgen]
impl Embedder {
    /// Checks the bytes of a weights file and keeps them. Throws if they are torn, damaged, of
    /// another kind or of a later format.
    #[wasm_bindgen(constructor)]
    pub fn new(weights: Vec<u8>) -> Result<Embedder, JsError> {
        Ok(Self(Model::from_vec(weights)?))
    }

    /// Names every bit of every vector: weights, tokenizer, kernel.
    pub fn id(&self) -> String {
        self.0.id().to_owned()
    }

    /// A text's unit vector: 384 numbers.
    pub fn embed(&self, text: &str) -> Vec<f32> {
        self.0.embed(text).to_vec()
    }

    /// A text's vector as it is stored: scale (`f32`, little-endian), then 384 signed bytes.
    pub fn quantized(&self, text: &str) -> Vec<u8> {
        QuantizedVector::from_f32(&self.0.embed(text))
            .to_bytes()
            .to_vec()
    }
}

/// The id of the model that this module was built for.
#[wasm_bindgen(js_name = pinnedId)]
pub fn pinned_id() -> String {
    lore_embed::MODEL_ID.to_owned()
}

/// SHA-256, in hexadecimal, of the weights file that this module was built for.
#[wasm_bindgen(js_name = weightsSha256)]
pub fn weights_sha256() -> String {
    lore_embed::PACKED_SHA256.to_owned()
}

/// Length of that file in bytes.
#[wasm_bindgen(js_name = weightsLength)]
pub fn weights_length() -> usize {
    lore_embed::PACKED_BYTES
}
