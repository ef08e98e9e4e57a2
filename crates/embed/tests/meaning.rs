//! Vectors mean what the network's do: close in meaning is close in angle.

mod common;

use common::{cosine, model};

#[test]
fn a_question_finds_its_answer_without_a_common_word() {
    let question = model().embed("why do people in the river villages keep getting sick?");
    let lore = [
        "Tainted wells. The tanners upstream empty their vats into the water by night; whoever \
         drinks from the shared pumps downstream falls ill within a week.",
        "Captain Brask commands the night watch of Harrow Gate and takes bribes in candle wax.",
        "The Lantern Guild lends money at three parts in ten and collects on moonless nights.",
        "A dragon's egg lies in the crypt below the abbey, warm as bread.",
        "Sister Ysolde promised the party a map of the Undercroft if they bring back her bell.",
        "The river fair: boat races, eel pies, and a mayor who falls in every year.",
        "Villages of the high moor pay their tithe in wool and send their sons to the quarries.",
        "The sword Grief-of-Kings hums in the presence of liars.",
    ];
    let scores: Vec<f64> = lore
        .iter()
        .map(|text| cosine(&question, &model().embed(text)))
        .collect();
    let best = scores.iter().copied().fold(f64::MIN, f64::max);
    assert!(scores[0] >= best, "{scores:?}");
}

#[test]
fn a_paraphrase_is_closer_than_another_subject() {
    for (text, same, other) in [
        (
            "The king is dead.",
            "Our monarch has died.",
            "The soup is cold.",
        ),
        (
            "She sold the ship.",
            "The vessel was sold by her.",
            "He planted an orchard.",
        ),
        (
            "The bridge collapsed in the flood.",
            "High water destroyed the crossing.",
            "Wolves stole two lambs.",
        ),
    ] {
        let [text, same, other] = [text, same, other].map(|text| model().embed(text));
        assert!(cosine(&text, &same) > cosine(&text, &other) + 0.2);
    }
}
