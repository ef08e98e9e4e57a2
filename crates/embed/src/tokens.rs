//! WordPiece, uncased: the tokenizer that the network was trained with.
//!
//! Text is cleaned (control characters dropped, any white space a space, CJK ideographs apart),
//! decomposed (NFD) and stripped of accents, lower-cased, cut at white space and punctuation;
//! each word becomes the longest pieces of the vocabulary from the left, or `[UNK]`. The names
//! of special tokens in a text are ordinary text.

use std::cmp::Ordering;

use unicode_categories::UnicodeCategories;
use unicode_normalization::UnicodeNormalization;

use crate::weights::{POSITIONS, VOCABULARY, WeightsError};

/// Tokens of a text that count, the two that mark its ends among them; the rest is not read.
pub const MAX_TOKENS: usize = POSITIONS;
/// Bytes of a text that are looked at, cut at a character. 254 pieces of ordinary writing are
/// about 1.2 KB; this bounds the work on a text of endless words.
pub const MAX_TEXT_BYTES: usize = 64 * 1024;
/// Version of the cut from text to tokens. Any change that can change one token raises it.
pub const TOKENIZER_VERSION: u32 = 1;

const UNKNOWN: u16 = 100;
const START: u16 = 101;
const END: u16 = 102;
/// Longer words are `[UNK]` unseen, as in the published tokenizer.
const MAX_WORD_CHARS: usize = 100;

/// The vocabulary, as ranges into the weights file's text, in token order and sorted by piece.
pub(crate) struct Tokenizer {
    /// `VOCABULARY + 1` offsets; piece `i` is `starts[i]..starts[i + 1] - 1` (the line's end).
    starts: Vec<u32>,
    sorted: Vec<u16>,
}

impl Tokenizer {
    /// Reads one piece a line. The special tokens must be where the network expects them.
    pub(crate) fn parse(text: &[u8]) -> Result<Self, WeightsError> {
        if std::str::from_utf8(text).is_err() || text.last() != Some(&b'\n') {
            return Err(WeightsError::Malformed("vocabulary is not lines of text"));
        }
        let ends = text.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
        let starts: Vec<u32> = std::iter::once(0)
            .chain(ends.map(|(at, _)| at as u32 + 1))
            .collect();
        if starts.len() != VOCABULARY + 1 {
            return Err(WeightsError::Malformed(
                "vocabulary has another number of pieces",
            ));
        }
        let mut tokenizer = Self {
            starts,
            sorted: (0..VOCABULARY as u16).collect(),
        };
        let mut sorted = std::mem::take(&mut tokenizer.sorted);
        sorted.sort_unstable_by_key(|token| tokenizer.piece(text, *token));
        if sorted
            .windows(2)
            .any(|two| tokenizer.piece(text, two[0]) == tokenizer.piece(text, two[1]))
        {
            return Err(WeightsError::Malformed("vocabulary repeats a piece"));
        }
        tokenizer.sorted = sorted;
        for (token, piece) in [(UNKNOWN, "[UNK]"), (START, "[CLS]"), (END, "[SEP]")] {
            if tokenizer.piece(text, token) != piece.as_bytes() {
                return Err(WeightsError::Malformed("vocabulary lacks a special token"));
            }
        }
        Ok(tokenizer)
    }

    fn piece<'a>(&self, text: &'a [u8], token: u16) -> &'a [u8] {
        let token = usize::from(token);
        &text[self.starts[token] as usize..self.starts[token + 1] as usize - 1]
    }

    /// The piece that reads `prefix` followed by `rest`.
    fn find(&self, vocabulary: &[u8], prefix: &[u8], rest: &[u8]) -> Option<u16> {
        let order = |token: &u16| -> Ordering {
            let piece = self.piece(vocabulary, *token);
            let head = &piece[..piece.len().min(prefix.len())];
            head.cmp(prefix).then_with(|| piece[head.len()..].cmp(rest))
        };
        self.sorted
            .binary_search_by(order)
            .ok()
            .map(|at| self.sorted[at])
    }

    /// Tokens of a text, with the marks at both ends: 2 to [`MAX_TOKENS`].
    pub(crate) fn tokens(&self, vocabulary: &[u8], text: &str) -> Vec<u16> {
        let mut words = Words {
            tokenizer: self,
            vocabulary,
            word: String::new(),
            tokens: vec![START],
        };
        let text = &text[..text.floor_char_boundary(MAX_TEXT_BYTES)];
        let characters = text
            .chars()
            .filter(|c| !is_dropped(*c))
            .flat_map(|c| Apart::new(if c.is_whitespace() { ' ' } else { c }))
            .nfd()
            .filter(|c| !c.is_mark_nonspacing())
            .flat_map(char::to_lowercase);
        for c in characters {
            if c.is_whitespace() {
                words.flush();
            } else if c.is_ascii_punctuation() || c.is_punctuation() {
                words.flush();
                words.word.push(c);
                words.flush();
            } else {
                words.word.push(c);
            }
            if words.tokens.len() >= MAX_TOKENS {
                break;
            }
        }
        words.flush();
        let mut tokens = words.tokens;
        tokens.truncate(MAX_TOKENS - 1);
        tokens.push(END);
        tokens
    }
}

/// A word under way and the tokens so far.
struct Words<'a> {
    tokenizer: &'a Tokenizer,
    vocabulary: &'a [u8],
    word: String,
    tokens: Vec<u16>,
}

impl Words<'_> {
    /// Ends the word: its pieces, longest first from the left, or `[UNK]` if one is missing.
    fn flush(&mut self) {
        let word = std::mem::take(&mut self.word);
        if word.is_empty() {
            return;
        }
        let before = self.tokens.len();
        if word.chars().nth(MAX_WORD_CHARS).is_some() || !self.split(&word) {
            self.tokens.truncate(before);
            self.tokens.push(UNKNOWN);
        }
        self.word = word;
        self.word.clear();
    }

    fn split(&mut self, word: &str) -> bool {
        let mut rest = word;
        while !rest.is_empty() {
            let prefix: &[u8] = if rest.len() == word.len() { b"" } else { b"##" };
            let mut end = rest.len();
            let token = loop {
                let piece = &rest[..end];
                if let Some(token) = self
                    .tokenizer
                    .find(self.vocabulary, prefix, piece.as_bytes())
                {
                    break token;
                }
                match piece.char_indices().next_back() {
                    Some((at, _)) if at > 0 => end = at,
                    _ => return false,
                }
            };
            self.tokens.push(token);
            rest = &rest[end..];
        }
        true
    }
}

/// A character, with spaces around it if it is an ideograph.
struct Apart {
    parts: [Option<char>; 3],
    at: usize,
}

impl Apart {
    fn new(c: char) -> Self {
        let space = is_ideograph(c).then_some(' ');
        Self {
            parts: [space, Some(c), space],
            at: 0,
        }
    }
}

impl Iterator for Apart {
    type Item = char;

    fn next(&mut self) -> Option<char> {
        while let Some(part) = self.parts.get(self.at) {
            self.at += 1;
            if part.is_some() {
                return *part;
            }
        }
        None
    }
}

/// Control, format, private and unassigned characters, and what decoders put for broken bytes.
fn is_dropped(c: char) -> bool {
    matches!(c, '\0' | '\u{fffd}') || (c.is_other() && !matches!(c, '\t' | '\n' | '\r'))
}

/// The published tokenizer's ranges of CJK ideographs.
fn is_ideograph(c: char) -> bool {
    matches!(u32::from(c),
        0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xF900..=0xFAFF | 0x20000..=0x2A6DF
        | 0x2A700..=0x2B73F | 0x2B740..=0x2B81F | 0x2B920..=0x2CEAF | 0x2F800..=0x2FA1F)
}
