//! The cases of the suite `embed`, run over any way to embed a text.

use std::time::Instant;

use crate::{Seeded, lore, ms, peak_rss_mb, quantile, row};

/// Cases by tokens, the two that every text begins and ends with included.
const CASES: [(&str, usize); 3] = [("short-16", 16), ("mid-64", 64), ("long-256", 256)];

/// Measures `embed` on every case and prints the rows. `begun` is when the program started: the
/// first vector counts loading too. `tokens` says how many tokens a text has.
pub fn run(
    who: &str,
    quick: bool,
    begun: Instant,
    tokens: impl Fn(&str) -> usize,
    mut embed: impl FnMut(&str) -> Vec<f32>,
) {
    std::hint::black_box(embed("The wells of Low Mallow are tainted."));
    row("embed", "short-16", who, "first_vector_ms", "ms", ms(begun.elapsed()));
    for (case, length) in CASES {
        let text = text_of(length, &tokens);
        let rounds = if quick { 2_000 } else { 6_000 } / length;
        let mut samples: Vec<_> = (0..rounds)
            .map(|_| {
                let begun = Instant::now();
                std::hint::black_box(embed(std::hint::black_box(&text)));
                begun.elapsed()
            })
            .collect();
        row("embed", case, who, "ms_p50", "ms", ms(quantile(&mut samples, 0.5)));
    }
    let mut random = Seeded(11);
    let corpus: Vec<String> =
        (0..if quick { 40 } else { 200 }).map(|number| lore::entry(&mut random, number).1).collect();
    let begun = Instant::now();
    for text in &corpus {
        std::hint::black_box(embed(text));
    }
    let rate = corpus.len() as f64 / begun.elapsed().as_secs_f64();
    row("embed", "corpus", who, "sentences_per_s", "1/s", rate);
    if let Some(rss) = peak_rss_mb() {
        row("embed", "corpus", who, "rss_mb", "MB", rss);
    }
}

/// A text of exactly `length` tokens.
fn text_of(length: usize, tokens: &impl Fn(&str) -> usize) -> String {
    let words = ["the", "old", "mill", "by", "the", "river", "has", "a", "locked", "door"];
    let mut text = String::from("the");
    for word in words.iter().cycle().skip(1) {
        if tokens(&text) >= length {
            break;
        }
        text.push(' ');
        text.push_str(word);
    }
    text
}
