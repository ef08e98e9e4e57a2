//! ONNX Runtime on one thread, with the same int8 weights and the kernel's own tokenizer, so that
//! only the network's arithmetic is compared.

use std::time::Instant;

use anyhow::{Context, Result};
use ort::session::Session;
use ort::value::Tensor;

fn main() -> Result<()> {
    let begun = Instant::now();
    let quick = std::env::args().any(|argument| argument == "--quick");
    let library = std::env::var("LORE_ONNXRUNTIME")
        .unwrap_or_else(|_| "target/onnxruntime/libonnxruntime.so.1.32.0".to_owned());
    let environment = ort::init_from(library)?.with_telemetry(false).build()?;
    let mut session = Session::builder(&environment)?
        .with_intra_threads(1)
        .map_err(|error| anyhow::anyhow!("{error}"))?
        .commit_from_file("target/model/minilm-int8.onnx")?;
    let model = lore_embed::Model::from_vec(std::fs::read("target/model/minilm-l6-v2.lore")?)?;
    lore_bench::embedding::run(
        "ort",
        quick,
        begun,
        |text| model.tokenize(text).len(),
        |text| embed(&mut session, &model.tokenize(text)).expect("the network runs"),
    );
    Ok(())
}

/// Mean pooling of the network's last states, scaled to length one.
fn embed(session: &mut Session, tokens: &[u16]) -> Result<Vec<f32>> {
    let row = |values: Vec<i64>| Tensor::from_array(([1, tokens.len()], values));
    let outputs = session.run(ort::inputs![
        "input_ids" => row(tokens.iter().map(|token| i64::from(*token)).collect())?,
        "attention_mask" => row(vec![1; tokens.len()])?,
        "token_type_ids" => row(vec![0; tokens.len()])?,
    ])?;
    let (_, states) = outputs.get("last_hidden_state").context("no states")?.try_extract_tensor::<f32>()?;
    let mut mean = vec![0.0; lore_embed::DIMENSIONS];
    for state in states.chunks_exact(lore_embed::DIMENSIONS) {
        for (sum, value) in mean.iter_mut().zip(state) {
            *sum += value;
        }
    }
    let length = mean.iter().map(|value| value * value).sum::<f32>().sqrt();
    for value in &mut mean {
        *value /= length;
    }
    Ok(mean)
}
