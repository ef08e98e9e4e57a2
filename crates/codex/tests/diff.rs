//! From one text to another in few splices.
#![allow(clippy::unwrap_used)]

use lore_codex::Splice;
use proptest::prelude::*;

/// The text that the splices, all in the coordinates of `old`, lead to.
fn followed(old: &str, splices: &[Splice]) -> String {
    let mut units: Vec<u16> = old.encode_utf16().collect();
    for s in splices.iter().rev() {
        units.splice(s.at..s.at + s.delete, s.insert.encode_utf16());
    }
    String::from_utf16(&units).unwrap()
}

#[test]
fn only_what_differs_is_spliced() {
    let splices = Splice::between("the 🐉 cat sat on a mat", "the 🐉 cats sat upon a mat");
    let told: Vec<_> = splices
        .iter()
        .map(|s| (s.at, s.delete, s.insert.as_str()))
        .collect();
    assert_eq!(told, [(10, 0, "s"), (15, 0, "up")]);
}

#[test]
fn equal_texts_need_no_splice() {
    assert_eq!(Splice::between("same", "same"), []);
    assert_eq!(Splice::between("", ""), []);
}

#[test]
fn texts_that_share_nothing_are_replaced_at_once() {
    let text = |word: &str| {
        (0..40_000)
            .map(|n| format!("{word}{n}"))
            .collect::<Vec<_>>()
    };
    let (a, b) = (text("a").join(" "), text("b").join("\n"));
    let splices = Splice::between(&a, &b);
    assert_eq!(splices.len(), 1);
    assert_eq!(followed(&a, &splices), b);
}

proptest! {
    #[test]
    fn the_splices_lead_to_the_new_text(
        old in "[ab é🐉.\n]{0,40}",
        new in "[ab é🐉.\n]{0,40}",
    ) {
        let splices = Splice::between(&old, &new);
        prop_assert_eq!(followed(&old, &splices), new);
        for pair in splices.windows(2) {
            prop_assert!(pair[0].at + pair[0].delete <= pair[1].at);
        }
    }
}
