//! What a body becomes when it is cut into spans.

use lore_recall::{MAX_SPAN_CHARS, MAX_SPAN_LINES, Span, spans};
use proptest::prelude::*;

fn anchors(body: &str) -> Vec<Option<String>> {
    spans(body).into_iter().map(|span| span.anchor).collect()
}

fn some(anchors: &[&str]) -> Vec<Option<String>> {
    anchors
        .iter()
        .map(|anchor| Some((*anchor).to_owned()))
        .collect()
}

#[test]
fn an_empty_body_is_one_span() {
    for body in ["", "\n", " \r\n\t\r\n"] {
        let spans = spans(body);
        assert_eq!(spans.len(), 1, "{body:?}");
        assert_eq!((spans[0].start_line, spans[0].end_line), (1, 1));
        assert_eq!(spans[0].text, "");
    }
}

#[test]
fn headings_anchor_their_section_and_stay_out_of_its_text() {
    let body = "Before.\n\n# The wells\n\nTainted.\n\n## Since when\nSpring.\n# After\nNothing.";
    let found = spans(body);
    let expected = |anchor: Option<&str>, trail: &[&str], lines: (u32, u32), text: &str| Span {
        anchor: anchor.map(str::to_owned),
        trail: trail.iter().map(|title| (*title).to_owned()).collect(),
        start_line: lines.0,
        end_line: lines.1,
        text: text.to_owned(),
    };
    assert_eq!(
        found,
        [
            expected(None, &[], (1, 1), "Before."),
            expected(Some("The wells"), &[], (5, 5), "Tainted."),
            expected(Some("Since when"), &["The wells"], (8, 8), "Spring."),
            expected(Some("After"), &[], (10, 10), "Nothing."),
        ]
    );
    assert_eq!(found[2].headings(), ["The wells", "Since when"]);
}

#[test]
fn windows_line_ends_change_neither_headings_nor_line_numbers() {
    let unix = "# One\ntext\n\nTwo\n===\n```\n# no\n```\n\n## Three ##\nend\n";
    let windows = unix.replace('\n', "\r\n");
    assert_eq!(spans(unix), spans(&windows));
    assert_eq!(anchors(&windows), some(&["One", "Two", "Three"]));
}

#[test]
fn closing_hashes_are_marks_only_after_a_space() {
    assert_eq!(
        anchors("# A #\nx\n# B ###  \nx\n# C#\nx\n# D \\#x\nx"),
        some(&["A", "B", "C#", "D \\#x"])
    );
}

#[test]
fn what_only_looks_like_a_heading_is_text() {
    for body in [
        "#tag is no heading",
        "    # indented code",
        "####### seven",
        "\t# tab",
        "- item\n---",
        "1. item\n===",
        "> quote\n---",
        "a | b\n--- | ---\n1 | 2",
        "two lines\nof a paragraph\n---",
        "\n---\n",
        "***\n---",
    ] {
        assert!(
            spans(body).iter().all(|span| span.anchor.is_none()),
            "{body:?} gave {:?}",
            spans(body)
        );
    }
}

#[test]
fn fences_hide_headings_until_they_close() {
    let body = "# Real\n````sh\n# comment\n```\n# still code\n````\n# Next\n~~~\n# a\n```\n# b\n~~~\n# Last\nx";
    assert_eq!(anchors(body), some(&["Real", "Next", "Last"]));
    // An unclosed fence runs to the end; `x` in backticks opens none.
    assert_eq!(anchors("# A\n```\n# b\n"), some(&["A"]));
    assert_eq!(anchors("# A\n```x```\n# B\ny"), some(&["A", "B"]));
    assert_eq!(anchors("# A\n~~~ rust `x`\n# b\n"), some(&["A"]));
}

#[test]
fn a_heading_with_nothing_below_it_is_still_a_span() {
    let found = spans("# Rumours\n## The drowned bell\n## The miller lies\nHe does.");
    let short: Vec<_> = found
        .iter()
        .map(|span| (span.anchor.as_deref(), span.start_line, span.text.as_str()))
        .collect();
    assert_eq!(
        short,
        [
            (Some("The drowned bell"), 2, ""),
            (Some("The miller lies"), 4, "He does."),
        ]
    );
}

#[test]
fn a_long_section_is_cut_at_blank_lines() {
    let paragraph = "word ".repeat(100);
    let body = [paragraph.trim(); 5].join("\n\n");
    let found = spans(&body);
    assert!(found.len() >= 2);
    for span in &found {
        assert!(
            span.text
                .lines()
                .all(|line| line.is_empty() || line == paragraph.trim())
        );
    }
    assert_eq!(found.last().map(|span| span.end_line), Some(9));
}

#[test]
fn one_endless_line_is_cut_after_sentences_and_keeps_its_number() {
    let body = format!("short\n{}", "The river runs on and on. ".repeat(200));
    let found = spans(&body);
    assert!(found.len() > 3);
    let long: Vec<_> = found
        .iter()
        .filter(|span| span.start_line == 2 || span.end_line == 2)
        .collect();
    assert!(long.len() > 3);
    assert!(long[1].text.starts_with("The river"));
    assert!(long[1].text.trim_end().ends_with("on."));
}

/// Lines that meet at the corners of the grammar.
fn line() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-zé🜁' ]{0,40}",
        1 => Just(String::new()),
        1 => Just("   ".to_owned()),
        1 => "#{1,7} ?[a-z]{0,5} ?#{0,2}",
        1 => " {0,4}[`~]{2,5}[a-z]{0,2}",
        1 => "=+|-+|- [a-z]*|> [a-z]*",
        1 => "[a-z. ]{1000,4000}",
        1 => any::<String>().prop_map(|text| text.replace(['\n', '\r'], "")),
    ]
}

proptest! {
    #[test]
    fn every_line_that_is_no_heading_is_covered_once_with_its_number(
        lines in prop::collection::vec(line(), 0..120),
        ends in prop::collection::vec(any::<bool>(), 120),
    ) {
        let mut body = String::new();
        for (line, windows) in lines.iter().zip(&ends) {
            body.push_str(line);
            body.push_str(if *windows { "\r\n" } else { "\n" });
        }
        let mut rebuilt = vec![String::new(); lines.len() + 2];
        let mut last = 0;
        for span in spans(&body) {
            prop_assert!(span.start_line <= span.end_line && span.start_line >= last);
            last = span.end_line;
            prop_assert!(span.text.chars().count() <= MAX_SPAN_CHARS);
            let covered: Vec<&str> = span.text.split('\n').collect();
            prop_assert!(covered.len() <= MAX_SPAN_LINES);
            prop_assert_eq!(covered.len() as u32, span.end_line - span.start_line + 1);
            for (offset, text) in covered.iter().enumerate() {
                rebuilt[span.start_line as usize + offset].push_str(text);
            }
        }
        // Every line is whole in the spans, or blank, or part of a heading.
        for (number, line) in lines.iter().enumerate() {
            let found = &rebuilt[number + 1];
            if found.is_empty() {
                let next = lines.get(number + 1).map_or("", |next| next.trim());
                let mark = |text: &str| {
                    text.starts_with('#')
                        || (!text.is_empty()
                            && (text.chars().all(|c| c == '=') || text.chars().all(|c| c == '-')))
                };
                prop_assert!(
                    line.trim().is_empty() || mark(line.trim()) || mark(next),
                    "line {} is lost: {:?}", number + 1, line
                );
            } else {
                prop_assert_eq!(found, line);
            }
        }
    }
}
