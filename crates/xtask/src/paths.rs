//! Where things are in the checkout.

use std::path::PathBuf;

/// The root of the checkout.
///
/// Taken from the variable that `cargo run` sets, so that a checkout that was moved after
/// building still finds itself.
pub fn root() -> PathBuf {
    let manifest = std::env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    let mut root = manifest;
    root.pop();
    root.pop();
    root
}

/// `target/`, which holds everything that is built or fetched.
pub fn target() -> PathBuf {
    root().join("target")
}

/// The folder of the TypeScript app.
pub fn web() -> PathBuf {
    root().join("web")
}

/// The built page, as the relay serves it.
pub fn dist() -> PathBuf {
    web().join("dist")
}

/// The folder of the Playwright package.
pub fn browser_tests() -> PathBuf {
    root().join("tests/browser")
}

/// The packed weights of the sentence model.
pub fn model() -> PathBuf {
    target().join("model/minilm-l6-v2.lore")
}
