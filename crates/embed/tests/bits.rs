//! One text, one vector, to the last bit: whatever the instructions, the threads, the build.

mod common;

use std::num::NonZeroUsize;

use common::{hex, model, weights};
use lore_embed::{Kernel, MODEL_ID, Model, Vector};
use serde_json::Value;
use sha2::{Digest, Sha256};

/// The list that browsers are compared on too.
fn golden() -> (Value, Vec<String>) {
    let golden: Value = serde_json::from_str(include_str!("golden.json")).expect("JSON");
    let texts = golden["texts"].as_array().expect("a list");
    let texts = texts
        .iter()
        .map(|text| text.as_str().expect("text").to_owned())
        .collect();
    (golden, texts)
}

/// Texts of every length in tokens that takes another path: 2 to 50, and up to the limit.
fn varied() -> Vec<String> {
    let mut texts = golden().1;
    let words = [
        "ash",
        "Mallow",
        "ferrymen",
        "7",
        "tide—",
        "unquenchable",
        "été",
        "wyrm's",
    ];
    for length in (0..50).chain([63, 64, 65, 100, 127, 128, 129, 200, 253, 254, 255, 300]) {
        let text: Vec<&str> = (0..length)
            .map(|i| words[(i * i + length) % words.len()])
            .collect();
        texts.push(text.join(" "));
    }
    texts
}

fn bits(vectors: &[Vector]) -> Vec<u32> {
    vectors
        .iter()
        .flatten()
        .map(|value| value.to_bits())
        .collect()
}

#[test]
fn the_fixed_texts_have_the_recorded_bits() {
    let (golden, texts) = golden();
    let mut hash = Sha256::new();
    for text in &texts {
        for value in model().embed(text) {
            hash.update(value.to_le_bytes());
        }
    }
    let hash = hex(&hash.finalize());
    assert_eq!(golden["modelId"], MODEL_ID);
    assert_eq!(golden["sha256"], hash.as_str());
}

#[test]
fn plain_rust_and_vector_instructions_agree() {
    let plain = Model::from_vec(weights())
        .expect("sound")
        .with_kernel(Kernel::Portable);
    assert_eq!(plain.kernel(), Kernel::Portable);
    if model().kernel() == Kernel::Portable {
        eprintln!("this machine has no vector kernel: nothing to compare");
    }
    for text in varied() {
        assert_eq!(
            bits(&[plain.embed(&text)]),
            bits(&[model().embed(&text)]),
            "{text:?}"
        );
    }
}

#[test]
fn threads_change_nothing() {
    let texts = varied();
    let alone: Vec<Vector> = texts.iter().map(|text| model().embed(text)).collect();
    for threads in [1, 2, 3, 200] {
        let threads = NonZeroUsize::new(threads).expect("not zero");
        assert_eq!(
            bits(&model().embed_batch(&texts, threads)),
            bits(&alone),
            "{threads}"
        );
    }
    let none: [&str; 0] = [];
    assert!(model().embed_batch(&none, NonZeroUsize::MIN).is_empty());
}

#[test]
fn every_text_has_a_vector_of_length_one() {
    for text in varied() {
        let vector = model().embed(&text);
        let length: f64 = vector.iter().map(|value| f64::from(*value).powi(2)).sum();
        assert!((length - 1.0).abs() < 1e-5, "{text:?}: {length}");
    }
}

#[test]
fn only_what_the_tokenizer_sees_counts() {
    let embed = |text: &str| bits(&[model().embed(text)]);
    assert_eq!(embed("Tainted  WELLS\n"), embed("tainted wells"));
    assert_ne!(embed("tainted wells"), embed("wells tainted"));
    let long = "the salt road ".repeat(400);
    assert_eq!(embed(&long), embed(&long[..1_400]));
}
