//! Words, folding and stems.

use lore_recall::{MAX_QUERY_WORDS, MAX_WORD_CHARS, content_words, fold, stem, words};
use proptest::prelude::*;

fn split(text: &str) -> Vec<&str> {
    words(text).map(|range| &text[range]).collect()
}

#[test]
fn words_end_at_everything_but_letters_and_digits() {
    assert_eq!(
        split("The half-elf's oath (year 312), \"sworn\"—twice"),
        [
            "The", "half", "elf", "oath", "year", "312", "sworn", "twice"
        ]
    );
    assert_eq!(split("Mirela’s wells"), ["Mirela", "wells"]);
    assert_eq!(
        split("O'Brien isn't s'mores' s"),
        ["O", "Brien", "isn", "t", "s", "mores", "s"]
    );
    assert_eq!(split("竜の谷 valley"), ["竜", "の", "谷", "valley"]);
}

#[test]
fn folding_removes_case_and_diacritics_however_they_are_encoded() {
    assert_eq!(fold("Éowyn"), "eowyn");
    assert_eq!(fold("E\u{301}owyn"), "eowyn");
    assert_eq!(split("E\u{301}owyn rides"), ["E\u{301}owyn", "rides"]);
    assert_eq!(fold("STRAẞE"), "strasse");
    assert_eq!(fold("Ærøskøbing"), "aeroskobing");
    assert_eq!(fold("İstanbul"), "istanbul");
    assert_eq!(fold("Łódź"), "lodz");
}

#[test]
fn stems_join_the_forms_of_a_word() {
    assert_eq!(stem("villages"), stem("village"));
    assert_eq!(stem("poisoned"), stem("poisoning"));
    assert_ne!(stem("tavern"), stem("cavern"));
}

#[test]
fn a_question_keeps_only_its_topic_unless_it_has_none() {
    assert_eq!(
        content_words("Why do people in the river villages keep getting sick?"),
        ["people", "river", "villages", "sick"]
    );
    assert_eq!(content_words("Who are they?"), ["who", "are", "they"]);
    assert!(content_words(" ?! -- ''").is_empty());
}

proptest! {
    #[test]
    fn any_text_is_safe_and_bounded(text in any::<String>()) {
        let mut end = 0;
        for range in words(&text) {
            prop_assert!(range.start >= end && range.end > range.start);
            end = range.end;
            let folded = fold(&text[range]);
            // A ligature of the table may stand for two letters.
            prop_assert!(folded.chars().count() <= 2 * MAX_WORD_CHARS);
            let _ = stem(&folded);
        }
        prop_assert!(content_words(&text).len() <= MAX_QUERY_WORDS);
    }

    #[test]
    fn folding_twice_changes_nothing(word in "\\PC{0,80}") {
        let once = fold(&word);
        prop_assert_eq!(fold(&once), once);
    }
}
