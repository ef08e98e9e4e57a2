//! The cut from text to tokens.

mod common;

use common::model;
use lore_embed::{MAX_TEXT_BYTES, MAX_TOKENS};
use proptest::prelude::*;

const UNKNOWN: u16 = 100;

/// Tokens between the marks.
fn inner(text: &str) -> Vec<u16> {
    let tokens = model().tokenize(text);
    assert_eq!(
        (tokens.first(), tokens.last()),
        (Some(&101), Some(&102)),
        "{text:?}"
    );
    tokens[1..tokens.len() - 1].to_vec()
}

#[test]
fn known_texts_have_the_published_tokens() {
    // As the published tokenizer.json gives them.
    for (text, tokens) in KNOWN {
        assert_eq!(inner(text), *tokens, "{text:?}");
    }
}

#[test]
fn accents_case_and_white_space_do_not_count() {
    let plain = inner("the muller of saint elodie");
    for text in [
        "The Müller of Saint Élodie",
        "THE MÜLLER OF SAINT ÉLODIE",
        "  the\tmu\u{308}ller\r\nof\u{a0}saint\u{3000}e\u{301}lodie ",
        "the mu\u{200b}ller of sa\u{ad}int elodie\0",
    ] {
        assert_eq!(inner(text), plain, "{text:?}");
    }
}

#[test]
fn a_word_of_more_than_a_hundred_characters_is_unknown() {
    assert!(!inner(&"a".repeat(100)).contains(&UNKNOWN));
    assert_eq!(inner(&"a".repeat(101)), [UNKNOWN]);
    assert_eq!(inner("well 🜚 well"), [2092, UNKNOWN, 2092]);
}

#[test]
fn names_of_special_tokens_are_ordinary_text() {
    for text in ["[SEP]", "[CLS] [MASK]", "[PAD][UNK]"] {
        assert!(inner(text).iter().all(|token| *token > 103), "{text}");
    }
}

#[test]
fn what_lies_beyond_the_limit_does_not_count() {
    let long = "salt ".repeat(1_000);
    assert_eq!(model().tokenize(&long).len(), MAX_TOKENS);
    assert_eq!(model().tokenize(&long), model().tokenize(&long[..2_000]));
    assert_eq!(inner(&"salt ".repeat(253)).len(), 253);
    // A word that never ends, and marks that never stop, are cut at the stated length.
    let endless = "\u{301}".repeat(MAX_TEXT_BYTES) + " well";
    assert!(inner(&endless).is_empty());
}

proptest! {
    #[test]
    fn any_text_gives_bounded_tokens_between_marks(text in "\\PC{0,400}|.{0,400}") {
        let tokens = model().tokenize(&text);
        prop_assert!((2..=MAX_TOKENS).contains(&tokens.len()));
        prop_assert_eq!(tokens[0], 101);
        prop_assert_eq!(tokens[tokens.len() - 1], 102);
        prop_assert!(tokens.iter().all(|token| *token < 30_522));
    }

    #[test]
    fn words_are_cut_independently(words in prop::collection::vec("[a-z]{1,12}", 1..12)) {
        let apart: Vec<u16> = words.iter().flat_map(|word| inner(word)).collect();
        prop_assert_eq!(inner(&words.join(" ")), apart);
    }
}

/// The published tokenizer's own answers, without the marks at the ends.
#[rustfmt::skip]
const KNOWN: &[(&str, &[u16])] = &[
    ("Why do people in the river villages keep getting sick?",
     &[2339, 2079, 2111, 1999, 1996, 2314, 4731, 2562, 2893, 5305, 1029]),
    ("The wells of Low Mallow are tainted.",
     &[1996, 7051, 1997, 2659, 6670, 5004, 2024, 26392, 1012]),
    ("Grüße, Señor—Ærøskøbing's smørrebrød!",
     &[24665, 2226, 17499, 1010, 12411, 2953, 1517, 1097, 2099, 16415, 6711, 16415, 10472, 1005, 1055, 15488, 16415, 14343, 19892, 16415, 2094, 999]),
    ("東京の井戸 毒",
     &[1879, 1755, 1671, 1754, 1857, 100]),
    ("Vaelthorn-upon-Wyre (pop. 3,412)",
     &[12436, 20042, 9769, 1011, 2588, 1011, 1059, 16363, 1006, 3769, 1012, 1017, 1010, 25873, 1007]),
    ("naïve café\u{301} Ångström İstanbul ΣΑΣ",
     &[15743, 7668, 17076, 15687, 9960, 1173, 14608, 29733]),
    ("Ça va? 50% & $3 <tag> «oui»",
     &[6187, 12436, 1029, 2753, 1003, 1004, 1002, 1017, 1026, 6415, 1028, 1077, 15068, 2072, 1090]),
    ("ह\u{93f}न\u{94d}द\u{940} and עברית and العربية",
     &[1339, 29877, 29863, 29861, 29878, 1998, 1259, 29789, 29811, 29796, 29813, 1998, 1270, 23673, 29830, 17149, 29816, 14498, 19433]),
    ("a\u{200d}b\u{feff}c \u{2028} d",
     &[5925, 1040]),
    ("ǅ ﬁ ½ ² \u{2167}",
     &[100, 1984, 1092, 1082, 100]),
    ("don't o'clock rock'n'roll",
     &[2123, 1005, 1056, 1051, 1005, 5119, 2600, 1005, 1050, 1005, 4897]),
    ("한국어 도시",
     &[1469, 30006, 30021, 29991, 30014, 30020, 29999, 30008, 1457, 30011, 29997, 30019]),
];
