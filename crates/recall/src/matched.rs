//! Where in a span's text the question's words stand.

use serde::{Deserialize, Serialize};

use crate::{
    lexical::{Lexicon, Terms},
    tokenise::words,
};

/// At most this many ranges are reported for a hit.
pub const MAX_MATCHED: usize = 64;

/// A whole word of a span's text that matched, in UTF-16 code units (as browsers count), end
/// exclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MatchedRange {
    /// First code unit.
    pub start: u32,
    /// One past the last code unit.
    pub end: u32,
}

/// The words of `text` that belong to one of the wordings, in order, at most [`MAX_MATCHED`].
pub(crate) fn matched(lexicon: &Lexicon, wordings: &[Terms], text: &str) -> Vec<MatchedRange> {
    let mut ranges = Vec::new();
    let mut scratch = String::new();
    let (mut byte, mut unit) = (0, 0);
    for range in words(text) {
        if ranges.len() == MAX_MATCHED {
            break;
        }
        let Some(term) = lexicon.term_of(&text[range.clone()], &mut scratch) else {
            continue;
        };
        if wordings.iter().any(|terms| terms.contains(term)) {
            unit += utf16_len(&text[byte..range.start]);
            let start = unit;
            unit += utf16_len(&text[range.clone()]);
            byte = range.end;
            ranges.push(MatchedRange { start, end: unit });
        }
    }
    ranges
}

fn utf16_len(text: &str) -> u32 {
    text.chars()
        .map(|character| character.len_utf16() as u32)
        .sum()
}
