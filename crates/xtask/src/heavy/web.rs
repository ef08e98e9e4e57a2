//! Bindings and compression of the page (feature `web`).

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

pub(super) fn glue(wasm: &Path, name: &str, out: &Path, names: bool) -> Result<()> {
    let mut bindgen = wasm_bindgen_cli_support::Bindgen::new();
    bindgen.input_path(wasm).out_name(name).typescript(true);
    bindgen
        .remove_name_section(!names)
        .remove_producers_section(true);
    bindgen.web(true)?.generate(out)
}

/// Below this many bytes compression saves nothing worth a second file.
const SMALLEST_COMPRESSED: u64 = 512;
/// Extensions of formats that are compressed already, or quantized weights, which hardly shrink.
const INCOMPRESSIBLE: [&str; 8] = ["br", "gz", "png", "jpg", "webp", "woff", "woff2", "lore"];

pub(super) fn compress_folder(folder: &Path) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let entry = entry?;
        let path = entry.path();
        if path.is_dir() {
            compress_folder(&path)?;
            continue;
        }
        let extension = path
            .extension()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if INCOMPRESSIBLE.contains(&&*extension) || entry.metadata()?.len() < SMALLEST_COMPRESSED {
            continue;
        }
        let bytes = fs::read(&path)?;
        for (suffix, packed) in [("br", brotli(&bytes)?), ("gz", gzip(&bytes)?)] {
            let beside = PathBuf::from(format!("{}.{suffix}", path.display()));
            if packed.len() < bytes.len() {
                fs::write(beside, packed)?;
            }
        }
    }
    Ok(())
}

fn brotli(bytes: &[u8]) -> Result<Vec<u8>> {
    let params = brotli::enc::BrotliEncoderParams {
        quality: 11,
        lgwin: 22,
        size_hint: bytes.len(),
        ..Default::default()
    };
    let mut packed = Vec::new();
    brotli::BrotliCompress(&mut &bytes[..], &mut packed, &params)?;
    Ok(packed)
}

fn gzip(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(bytes)?;
    Ok(encoder.finish()?)
}
