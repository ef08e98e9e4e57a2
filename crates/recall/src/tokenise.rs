//! From text to index terms: words, folding, stems, and the words that a question can do without.

use std::ops::Range;

use rust_stemmers::{Algorithm, Stemmer};
use unicode_normalization::{
    UnicodeNormalization,
    char::{canonical_combining_class, is_combining_mark},
};

/// A word longer than this many characters is cut: no real word is, and it bounds the vocabulary.
pub const MAX_WORD_CHARS: usize = 64;
/// A query wording is read up to this many words.
pub const MAX_QUERY_WORDS: usize = 128;

/// Words that carry no topic in a question. They are indexed (a title may be made of them) but
/// dropped from a wording in which another word remains. Sorted for binary search.
#[rustfmt::skip]
const STOP_WORDS: &[&str] = &[
    "a", "about", "again", "all", "also", "am", "an", "and", "any", "anyone", "anything", "are",
    "as", "at", "be", "because", "been", "before", "being", "but", "by", "can", "could", "d",
    "did", "do", "does", "doing", "done", "during", "each", "else", "ever", "every", "few", "for",
    "from", "get", "give", "had", "has", "have", "having", "he", "her", "here", "hers", "him",
    "his", "how", "i", "if", "in", "into", "is", "it", "its", "just", "keep", "know", "let", "ll",
    "m", "many", "me", "more", "most", "much", "my", "no", "nor", "not", "now", "of", "off", "on",
    "once", "only", "or", "other", "our", "ours", "out", "over", "own", "please", "re", "really",
    "s", "same", "say", "she", "should", "so", "some", "such", "t", "tell", "than", "that", "the",
    "their", "theirs", "them", "then", "there", "these", "they", "this", "those", "to", "too",
    "us", "ve", "very", "was", "we", "were", "what", "whatever", "when", "where", "which",
    "while", "who", "whom", "whose", "why", "will", "with", "would", "you", "your", "yours",
];

/// The words of `text` with their byte ranges, in order.
///
/// A word is a run of letters, digits and combining marks; everything else separates. Ideographs
/// and kana, written without spaces, are one word each. A possessive `'s` is left out of its word.
pub fn words(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut rest = text.char_indices().peekable();
    let mut possessive_at = None;
    std::iter::from_fn(move || {
        loop {
            let (start, first) = rest.next()?;
            if !is_word(first) {
                continue;
            }
            let mut end = start + first.len_utf8();
            if !is_alone(first) {
                while let Some(&(at, next)) = rest.peek() {
                    if !(is_word(next) || is_combining_mark(next)) || is_alone(next) {
                        break;
                    }
                    end = at + next.len_utf8();
                    rest.next();
                }
            }
            // "Mirela's": the lone s after an apostrophe belongs to no word.
            if possessive_at == Some(start) && matches!(&text[start..end], "s" | "S") {
                continue;
            }
            possessive_at = match rest.peek() {
                Some(&(at, mark @ ('\'' | '\u{2019}'))) => Some(at + mark.len_utf8()),
                _ => None,
            };
            return Some(start..end);
        }
    })
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric()
}

/// Scripts without spaces between words: every character stands for itself.
fn is_alone(character: char) -> bool {
    matches!(character as u32,
        0x3040..=0x30ff | 0x3400..=0x4dbf | 0x4e00..=0x9fff | 0xf900..=0xfaff
        | 0x2_0000..=0x3_ffff)
}

/// A word in the form in which words are compared: decomposed, without diacritics, lowercase, at
/// most [`MAX_WORD_CHARS`] characters. Empty when nothing of it can be compared.
pub fn fold(word: &str) -> String {
    let mut folded = String::with_capacity(word.len());
    fold_into(word, &mut folded);
    folded
}

/// [`fold`] into a buffer that is cleared first.
pub(crate) fn fold_into(word: &str, folded: &mut String) {
    folded.clear();
    if word.is_ascii() {
        folded.extend(
            word.bytes()
                .take(MAX_WORD_CHARS)
                .map(|byte| byte.to_ascii_lowercase() as char),
        );
        return;
    }
    let plain = word
        .nfkd()
        .flat_map(char::to_lowercase)
        // Lowercasing can bring a mark back (İ becomes i and a dot), so marks go afterwards.
        .nfd()
        .filter(|character| canonical_combining_class(*character) == 0);
    let mut left = MAX_WORD_CHARS;
    for character in plain {
        if left == 0 {
            break;
        }
        left -= 1;
        // Letters that no decomposition takes apart, as they are usually typed without them.
        match character {
            'ß' => folded.push_str("ss"),
            'æ' => folded.push_str("ae"),
            'œ' => folded.push_str("oe"),
            'ø' => folded.push('o'),
            'ł' => folded.push('l'),
            'đ' | 'ð' => folded.push('d'),
            'þ' => folded.push_str("th"),
            'ı' => folded.push('i'),
            other if other.is_alphanumeric() || is_combining_mark(other) => folded.push(other),
            _ => {}
        }
    }
}

/// The English (Porter 2) stem of a folded word. Words with anything but ASCII letters are their
/// own stem.
pub fn stem(folded: &str) -> String {
    if folded.len() < 3 || !folded.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return folded.to_owned();
    }
    Stemmer::create(Algorithm::English)
        .stem(folded)
        .into_owned()
}

/// The folded words of a question that are searched for: without stop words, unless there is
/// nothing else; at most [`MAX_QUERY_WORDS`].
pub fn content_words(wording: &str) -> Vec<String> {
    let all: Vec<String> = words(wording)
        .map(|range| fold(&wording[range]))
        .filter(|word| !word.is_empty())
        .take(MAX_QUERY_WORDS)
        .collect();
    let content: Vec<String> = all
        .iter()
        .filter(|word| !is_stop_word(word))
        .cloned()
        .collect();
    if content.is_empty() { all } else { content }
}

fn is_stop_word(folded: &str) -> bool {
    STOP_WORDS.binary_search(&folded).is_ok()
}

#[cfg(test)]
mod tests {
    use super::{STOP_WORDS, is_stop_word};

    #[test]
    fn stop_words_are_sorted_so_that_each_is_found() {
        assert!(STOP_WORDS.is_sorted());
        assert!(STOP_WORDS.iter().all(|word| is_stop_word(word)));
    }
}
