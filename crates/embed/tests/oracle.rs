//! The kernel against ONNX Runtime: the same int8 weights, its own arithmetic.
#![cfg(not(target_arch = "wasm32"))]

mod common;

use common::{cosine, file, model};
use ort::session::Session;
use ort::value::Tensor;

/// What each vector must reach at least.
const CLOSE: f64 = 0.9999;

/// Seven hundred texts from one word to the token limit, built from written parts.
fn texts() -> Vec<String> {
    let who = [
        "The ferrywoman",
        "An old abbot",
        "Captain Brask",
        "Nobody in Harrow",
        "The tanners' guild",
        "My grandmother's ghost",
        "A child with grey eyes",
        "Queen Ysolde the Younger",
        "Osric, once a priest,",
        "The last of the giants",
    ];
    let what = [
        "poisoned the wells below the mill",
        "owes forty marks to the lantern guild",
        "never saw the sea",
        "keeps a dragon's egg warm in the crypt",
        "lied about the seal on the letter",
        "promised us a map of the undercroft",
        "is buried under the third arch of the bridge",
        "sings to the drowned bells",
        "refused the crown twice",
        "sold 1,200 bushels of blighted rye",
    ];
    let when = [
        ".",
        " before the flood.",
        " — or so the reeve's book claims!",
        ", and everyone knows it.",
        " on the night without a moon?",
        " (see session 12).",
        " while the king slept; no one woke him.",
    ];
    let mut texts: Vec<String> = who
        .iter()
        .flat_map(|who| what.iter().map(move |what| format!("{who} {what}")))
        .flat_map(|start| when.iter().map(move |when| format!("{start}{when}")))
        .collect();
    texts.extend(
        [
            "well",
            "Why?",
            "Grüße aus Ærø, señor",
            "東京の井戸",
            "a 🜚 b",
            "- x\n- y\n\n# z",
        ]
        .map(String::from),
    );
    // Long ones: paragraphs of several of these, up to and beyond the limit.
    let long: Vec<String> = texts
        .chunks(7)
        .step_by(4)
        .map(|some| some.join(" "))
        .collect();
    let longer: Vec<String> = texts
        .chunks(35)
        .step_by(5)
        .map(|some| some.join("\n"))
        .collect();
    texts.extend(long);
    texts.extend(longer);
    texts
}

struct Oracle(Session);

impl Oracle {
    fn open() -> Self {
        let library = file("LORE_ONNXRUNTIME", "onnxruntime/libonnxruntime.so.1.32.0");
        let network = file("LORE_ORACLE_ONNX", "model/minilm-int8.onnx");
        for path in [&library, &network] {
            assert!(
                path.is_file(),
                "{} is missing; run `cargo xtask setup`",
                path.display()
            );
        }
        let environment = ort::init_from(&library)
            .expect("ONNX Runtime loads")
            .with_telemetry(false)
            .build()
            .expect("ONNX Runtime starts");
        let session = Session::builder(&environment)
            .and_then(|mut builder| builder.commit_from_file(&network))
            .expect("ONNX Runtime reads the network");
        Self(session)
    }

    /// Mean pooling of the network's last states.
    fn embed(&mut self, tokens: &[u16]) -> Vec<f32> {
        let row = |values: Vec<i64>| {
            Tensor::from_array(([1, tokens.len()], values)).expect("a row of numbers")
        };
        let outputs = self
            .0
            .run(ort::inputs![
                "input_ids" => row(tokens.iter().map(|token| i64::from(*token)).collect()),
                "attention_mask" => row(vec![1; tokens.len()]),
                "token_type_ids" => row(vec![0; tokens.len()]),
            ])
            .expect("the network runs");
        let (_, states) = outputs["last_hidden_state"]
            .try_extract_tensor::<f32>()
            .expect("floats");
        let mut mean = vec![0.0; lore_embed::DIMENSIONS];
        for state in states.chunks_exact(lore_embed::DIMENSIONS) {
            for (sum, value) in mean.iter_mut().zip(state) {
                *sum += value / tokens.len() as f32;
            }
        }
        mean
    }
}

#[test]
fn vectors_agree_with_onnx_runtime() {
    let mut oracle = Oracle::open();
    let texts = texts();
    assert!(texts.len() >= 500, "{}", texts.len());
    let mut worst = (1.0_f64, "");
    for text in &texts {
        let close = cosine(&model().embed(text), &oracle.embed(&model().tokenize(text)));
        if close < worst.0 || close.is_nan() {
            worst = (close, text);
        }
    }
    println!(
        "{} texts, least cosine {:.7} at {:?}",
        texts.len(),
        worst.0,
        worst.1
    );
    assert!(worst.0 >= CLOSE, "cosine {} for {:?}", worst.0, worst.1);
}
