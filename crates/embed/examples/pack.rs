//! Packs the published model by hand: `pack <model.safetensors> <vocab.txt> <out>`.

use std::error::Error;
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn Error>> {
    let paths: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let [safetensors, vocab, out] = paths.as_slice() else {
        return Err("usage: pack <model.safetensors> <vocab.txt> <out>".into());
    };
    let file = lore_embed::pack::pack(&std::fs::read(safetensors)?, &std::fs::read(vocab)?)?;
    std::fs::write(out, &file)?;
    println!("{} bytes in {}", file.len(), out.display());
    Ok(())
}
