//! Packing the sentence model (feature `pack`).

use std::fs;
use std::path::Path;

use anyhow::Result;

pub(super) fn pack(safetensors: &Path, vocab: &Path, out: &Path) -> Result<()> {
    let packed = lore_embed::pack::pack(&fs::read(safetensors)?, &fs::read(vocab)?)?;
    // Written whole or not at all: a file under the final name is always complete.
    let partial = out.with_extension("partial");
    fs::write(&partial, packed)?;
    fs::rename(&partial, out)?;
    Ok(())
}
