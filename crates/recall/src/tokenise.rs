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

/// Words that carry no topic in a question: function words, question words, and the light verbs
/// that lean on another word for their meaning (get sick, make a promise). They are indexed (a title may be made of them) but
/// dropped from a wording in which another word remains. Sorted for binary search.
#[rustfmt::skip]
const STOP_WORDS: &[&str] = &[
    "a", "about", "again", "all", "also", "am", "an", "and", "any", "anybody", "anyone", "anything",
    "are", "aren", "as", "at", "be", "because", "been", "before", "being", "between", "but", "by",
    "came", "can", "cannot", "come", "comes", "coming", "could", "couldn", "d", "did", "didn", "do",
    "does", "doesn", "doing", "don", "done", "during", "each", "else", "ever", "every", "everyone",
    "everything", "few", "for", "from", "gave", "get", "gets", "getting", "give", "given", "gives",
    "giving", "go", "goes", "going", "gone", "got", "gotten", "had", "hadn", "happen", "happened",
    "happening", "happens", "has", "hasn", "have", "haven", "having", "he", "her", "here", "hers",
    "herself", "him", "himself", "his", "how", "i", "if", "in", "into", "is", "isn", "it", "its",
    "itself", "just", "keep", "keeping", "keeps", "kept", "know", "let", "lets", "ll", "m", "made",
    "make", "makes", "making", "many", "may", "me", "might", "more", "most", "much", "must", "my",
    "need", "needs", "no", "nobody", "nor", "not", "nothing", "now", "of", "off", "on", "once",
    "only", "or", "other", "our", "ours", "out", "over", "own", "please", "put", "puts", "putting",
    "re", "really", "s", "same", "say", "shall", "she", "should", "shouldn", "so", "some",
    "somebody", "someone", "something", "such", "t", "take", "taken", "takes", "taking", "tell",
    "than", "that", "the", "their", "theirs", "them", "themselves", "then", "there", "these",
    "they", "this", "those", "to", "too", "took", "us", "ve", "very", "want", "wanted", "wants",
    "was", "wasn", "we", "went", "were", "weren", "what", "whatever", "when", "where", "which",
    "while", "who", "whom", "whose", "why", "will", "with", "won", "would", "wouldn", "you", "your",
    "yours",
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
