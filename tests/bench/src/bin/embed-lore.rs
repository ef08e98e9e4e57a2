//! The kernel, on one thread.

use std::time::Instant;

fn main() -> anyhow::Result<()> {
    let begun = Instant::now();
    let quick = std::env::args().any(|argument| argument == "--quick");
    let model = lore_embed::Model::from_vec(std::fs::read("target/model/minilm-l6-v2.lore")?)?;
    lore_bench::embedding::run(
        "lorekeeper",
        quick,
        begun,
        |text| model.tokenize(text).len(),
        |text| model.embed(text).to_vec(),
    );
    Ok(())
}
