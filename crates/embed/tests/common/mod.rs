//! What several test files need: the packed weights.
#![allow(dead_code, reason = "each test file uses a part")]

use std::path::PathBuf;
use std::sync::LazyLock;

use lore_embed::Model;

/// A file that `cargo xtask setup` puts below `target/`, or where `variable` says.
pub(crate) fn file(variable: &str, below_target: &str) -> PathBuf {
    std::env::var_os(variable).map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../target")).join(below_target),
        PathBuf::from,
    )
}

/// The bytes of the packed weights file.
pub(crate) fn weights() -> Vec<u8> {
    let path = file("LORE_MODEL", "model/minilm-l6-v2.lore");
    std::fs::read(&path)
        .unwrap_or_else(|error| panic!("{}: {error}; run `cargo xtask setup`", path.display()))
}

static MODEL: LazyLock<Model> =
    LazyLock::new(|| Model::from_vec(weights()).expect("the packed weights are sound"));

/// The packed model, loaded once per test program.
pub(crate) fn model() -> &'static Model {
    &MODEL
}

pub(crate) fn cosine(a: &[f32], b: &[f32]) -> f64 {
    let dot = |x: &[f32], y: &[f32]| -> f64 {
        x.iter()
            .zip(y)
            .map(|(x, y)| f64::from(*x) * f64::from(*y))
            .sum()
    };
    dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
}

/// Lower-case hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("a string takes everything");
        text
    })
}
