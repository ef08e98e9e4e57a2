//! The word index: fielded BM25 with incremental insertion and removal.
//!
//! Field weights multiply term counts before saturation (the "simple BM25 extension" of Robertson,
//! Zaragoza and Taylor, 2004), so a title's word counts as if it had been written that many times.

use std::collections::HashMap;

use crate::{
    ordinary::is_ordinary,
    tokenise::{content_words, fold_into, stem, words},
};

/// Saturation of repeated words. With [`B`], the pair that short texts want (the defaults of the
/// Anserini toolkit); abstracts, whose length varies little, hardly mind.
const K1: f32 = 0.9;
/// How much a long span is discounted.
const B: f32 = 0.4;
/// Counts and lengths are kept in halves so that weights of one half stay whole numbers.
const UNIT: u32 = 2;

/// A word that the vocabulary lacks stands for at most this many that it has.
const MAX_EXPANSIONS: usize = 6;
/// At most this many unknown words of a wording are looked up by prefix and typo.
const MAX_UNKNOWN_WORDS: usize = 8;
/// Shorter unknown words are neither corrected nor completed: too much is one letter away from
/// them or begins with them.
const MIN_BENT_CHARS: usize = 5;
/// What a match by one typo is worth, next to the word itself.
const TYPO_WEIGHT: f32 = 0.6;
/// What a match by completion is worth, next to the word itself.
const PREFIX_WEIGHT: f32 = 0.5;

/// Where in a document a word stands, and what it is worth there (in [`UNIT`]ths).
#[derive(Clone, Copy)]
pub(crate) enum Field {
    Title,
    Aliases,
    Threads,
    Kind,
    Headings,
    Body,
}

impl Field {
    const fn weight(self) -> u32 {
        match self {
            Self::Title | Self::Aliases => 2 * UNIT,
            Self::Threads | Self::Headings | Self::Body => UNIT,
            Self::Kind => UNIT / 2,
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Posting {
    slot: u32,
    count: u32,
}

#[derive(Clone, Debug)]
struct Term {
    stem: Box<str>,
    /// Live documents that hold the term; `postings` may name dead ones too.
    documents: u32,
    /// Ascending by slot.
    postings: Vec<Posting>,
}

/// Words, and which slots hold them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lexicon {
    /// Folded word → term, so that each spelling is stemmed once.
    forms: HashMap<Box<str>, u32>,
    stems: HashMap<Box<str>, u32>,
    terms: Vec<Term>,
    /// Weighted length by slot; what a dead slot says is not read.
    lengths: Vec<u32>,
    documents: u32,
    total_length: u64,
    scratch: String,
}

/// One word of a wording: the term itself, or what stands in for it.
struct Group {
    /// How often the wording says it.
    repeats: f32,
    /// For a word that nothing matches, what it would have weighed.
    idf: f32,
    terms: Vec<(u32, f32)>,
}

/// A wording, resolved against the vocabulary.
pub(crate) struct Terms(Vec<Group>);

impl Terms {
    pub(crate) fn contains(&self, term: u32) -> bool {
        self.0
            .iter()
            .any(|group| group.terms.iter().any(|(known, _)| *known == term))
    }
}

/// A document while it is being taken in.
#[derive(Default)]
pub(crate) struct Intake {
    counts: Vec<(u32, u32)>,
    length: u32,
}

impl Lexicon {
    /// Reads one field. Calls `each` with every folded word in order.
    pub(crate) fn read(
        &mut self,
        intake: &mut Intake,
        field: Field,
        text: &str,
        mut each: impl FnMut(&str),
    ) {
        for range in words(text) {
            let Some(term) = self.intern(&text[range]) else {
                continue;
            };
            intake.counts.push((term, field.weight()));
            intake.length = intake.length.saturating_add(field.weight());
            each(&self.scratch);
        }
    }

    /// Enters a document under the next slot number, which must be `self.slots()`, and returns
    /// its distinct terms for [`Self::remove`].
    pub(crate) fn insert(&mut self, intake: Intake) -> Box<[u32]> {
        let slot = self.lengths.len() as u32;
        let Intake { mut counts, length } = intake;
        counts.sort_unstable_by_key(|(term, _)| *term);
        counts.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                kept.1 = kept.1.saturating_add(next.1);
            }
            same
        });
        for (term, count) in &counts {
            let term = &mut self.terms[*term as usize];
            term.documents += 1;
            term.postings.push(Posting {
                slot,
                count: *count,
            });
        }
        self.lengths.push(length);
        self.documents += 1;
        self.total_length += u64::from(length);
        counts.into_iter().map(|(term, _)| term).collect()
    }

    /// Takes a document out of all statistics. Its postings stay until [`Self::compact`]; the
    /// caller skips dead slots.
    pub(crate) fn remove(&mut self, slot: u32, terms: &[u32]) {
        for term in terms {
            self.terms[*term as usize].documents -= 1;
        }
        self.documents -= 1;
        self.total_length -= u64::from(self.lengths[slot as usize]);
    }

    /// Drops dead slots and words that no document holds any more. `slots` says where each slot
    /// went; returns the same for terms.
    pub(crate) fn compact(&mut self, slots: &[Option<u32>]) -> Vec<Option<u32>> {
        let mut moved = Vec::with_capacity(self.terms.len());
        let mut kept = 0;
        for term in &self.terms {
            moved.push((term.documents > 0).then(|| {
                kept += 1;
                kept - 1
            }));
        }
        self.terms.retain_mut(|term| {
            term.postings.retain_mut(|posting| {
                let slot = slots[posting.slot as usize];
                posting.slot = slot.unwrap_or(posting.slot);
                slot.is_some()
            });
            term.documents > 0
        });
        for map in [&mut self.forms, &mut self.stems] {
            map.retain(|_, term| {
                let to = moved[*term as usize];
                *term = to.unwrap_or(*term);
                to.is_some()
            });
        }
        let mut slot = 0;
        self.lengths.retain(|_| {
            slot += 1;
            slots[slot - 1].is_some()
        });
        moved
    }

    /// The term of a word, new if need be; leaves the folded word in `scratch`.
    fn intern(&mut self, word: &str) -> Option<u32> {
        let mut folded = std::mem::take(&mut self.scratch);
        fold_into(word, &mut folded);
        let term = if folded.is_empty() {
            None
        } else if let Some(&term) = self.forms.get(folded.as_str()) {
            Some(term)
        } else {
            let stem = stem(&folded).into_boxed_str();
            let term = *self.stems.entry(stem.clone()).or_insert_with(|| {
                self.terms.push(Term {
                    stem,
                    documents: 0,
                    postings: Vec::new(),
                });
                (self.terms.len() - 1) as u32
            });
            self.forms.insert(folded.as_str().into(), term);
            Some(term)
        };
        self.scratch = folded;
        term
    }

    /// The term of a word as it stands in a text, if the vocabulary has it.
    pub(crate) fn term_of(&self, word: &str, scratch: &mut String) -> Option<u32> {
        fold_into(word, scratch);
        self.forms.get(scratch.as_str()).copied()
    }

    /// Resolves a wording: its content words, each as its term or, when no document holds it, as
    /// the nearest words by completion or one typo.
    pub(crate) fn resolve(&self, wording: &str) -> Terms {
        let mut stems: Vec<(String, f32, Option<String>)> = Vec::new();
        for word in content_words(wording) {
            let stem = stem(&word);
            // The length is the word's, not the stem's: names end in what looks like a suffix.
            let bends = word.chars().count() >= MIN_BENT_CHARS && !is_ordinary(&stem);
            let bent = bends.then_some(word);
            match stems.iter_mut().find(|(known, ..)| *known == stem) {
                Some((_, repeats, known)) => {
                    *repeats += 1.0;
                    *known = known.take().or(bent);
                }
                None => stems.push((stem, 1.0, bent)),
            }
        }
        let mut unknown = 0;
        let groups = stems.into_iter().map(|(stem, repeats, bent)| {
            let term = self.stems.get(stem.as_str()).copied();
            let terms = match term.filter(|term| self.terms[*term as usize].documents > 0) {
                Some(term) => vec![(term, 1.0)],
                None => match bent {
                    Some(word) if unknown < MAX_UNKNOWN_WORDS => {
                        unknown += 1;
                        self.nearest(&word, &stem)
                    }
                    _ => Vec::new(),
                },
            };
            let known = terms.iter().map(|(term, _)| self.idf(*term));
            let idf = known
                .reduce(f32::max)
                .unwrap_or_else(|| self.idf_of_count(0));
            Group {
                repeats,
                idf,
                terms,
            }
        });
        Terms(groups.collect())
    }

    /// Words in use that begin with `stem` or are one typo away from it or from `word`, of which it
    /// is the stem; all of them begin with the same letter. Typos first, then the shortest
    /// completions; the more used before the less used; then by spelling.
    fn nearest(&self, word: &str, stem: &str) -> Vec<(u32, f32)> {
        let wanted: Vec<char> = stem.chars().collect();
        let written: Vec<char> = word.chars().collect();
        let Some(&first) = wanted.first() else {
            return Vec::new();
        };
        let mut candidate = Vec::new();
        let mut found: Vec<(usize, std::cmp::Reverse<u32>, &str, u32, f32)> = Vec::new();
        for (number, term) in self.terms.iter().enumerate() {
            // A misspelling rarely has the first letter wrong, and another word often has.
            if term.documents == 0 || !term.stem.starts_with(first) {
                continue;
            }
            let (distance, weight) = if term.stem.starts_with(stem) {
                let extra = term.stem[stem.len()..].chars().count();
                (
                    extra,
                    if extra == 1 {
                        TYPO_WEIGHT
                    } else {
                        PREFIX_WEIGHT
                    },
                )
            } else {
                // UTF-8 is at most four bytes a character: cheap to rule most words out.
                if term.stem.len().abs_diff(stem.len()) > 4 {
                    continue;
                }
                candidate.clear();
                candidate.extend(term.stem.chars());
                let mut near = one_typo_apart(&wanted, &candidate);
                // The stemmer writes a final y as i, but not after a vowel: the stems of Tansy and
                // Tansey are further apart than the names.
                if !near && let Some(last @ 'i') = candidate.last_mut() {
                    *last = 'y';
                    near = one_typo_apart(&written, &candidate);
                }
                if !near {
                    continue;
                }
                (1, TYPO_WEIGHT)
            };
            let uses = std::cmp::Reverse(term.documents);
            found.push((distance, uses, &term.stem, number as u32, weight));
        }
        found.sort_unstable_by(|a, b| (a.0, a.1, a.2).cmp(&(b.0, b.1, b.2)));
        found.truncate(MAX_EXPANSIONS);
        found
            .into_iter()
            .map(|(_, _, _, term, weight)| (term, weight))
            .collect()
    }

    fn idf(&self, term: u32) -> f32 {
        self.idf_of_count(self.terms[term as usize].documents)
    }

    fn idf_of_count(&self, documents: u32) -> f32 {
        let (all, with) = (self.documents as f32, documents as f32);
        (1.0 + (all - with + 0.5) / (with + 0.5)).ln()
    }

    /// BM25 of every slot for a wording. Slots that are dead have meaningless scores.
    pub(crate) fn scores(&self, terms: &Terms) -> Vec<f32> {
        let mut scores = vec![0.0; self.lengths.len()];
        let average = self.total_length as f32 / (self.documents.max(1)) as f32;
        for group in &terms.0 {
            if let [(term, weight)] = group.terms[..] {
                let factor = group.repeats * weight * self.idf(term);
                for posting in &self.terms[term as usize].postings {
                    scores[posting.slot as usize] += factor * self.saturated(*posting, average);
                }
            } else {
                // Stand-ins for one word: a document earns its best one, not their sum.
                let mut best: HashMap<u32, f32> = HashMap::new();
                for (term, weight) in &group.terms {
                    let factor = group.repeats * weight * self.idf(*term);
                    for posting in &self.terms[*term as usize].postings {
                        let score = factor * self.saturated(*posting, average);
                        let best = best.entry(posting.slot).or_default();
                        *best = best.max(score);
                    }
                }
                for (slot, score) in best {
                    scores[slot as usize] += score;
                }
            }
        }
        scores
    }

    fn saturated(&self, posting: Posting, average: f32) -> f32 {
        let length = self.lengths[posting.slot as usize] as f32;
        let count = posting.count as f32 / UNIT as f32;
        count * (K1 + 1.0) / (count + K1 * (1.0 - B + B * length / average))
    }

    /// More than any document can score for a wording: every word saturated, those that no document
    /// holds included at the idf of a word in no document. 0 for a wording without words.
    pub(crate) fn ceiling(terms: &Terms) -> f32 {
        let weight: f32 = terms.0.iter().map(|group| group.repeats * group.idf).sum();
        weight * (K1 + 1.0)
    }

    /// How much of a wording's weight a slot holds, 0 to 1: the summed idf of the words that it
    /// has, over that of all.
    pub(crate) fn coverage(&self, terms: &Terms, slot: u32) -> f32 {
        let (mut held, mut all) = (0.0, 0.0);
        for group in &terms.0 {
            let weight = group.repeats * group.idf;
            all += weight;
            let best = group
                .terms
                .iter()
                .filter(|(term, _)| {
                    self.terms[*term as usize]
                        .postings
                        .binary_search_by_key(&slot, |posting| posting.slot)
                        .is_ok()
                })
                .map(|(_, share)| *share)
                .fold(0.0, f32::max);
            held += weight * best;
        }
        if all > 0.0 { held / all } else { 0.0 }
    }
}

/// Whether one insertion, deletion, substitution or swap of neighbours turns one into the other.
fn one_typo_apart(left: &[char], right: &[char]) -> bool {
    let (short, long) = if left.len() <= right.len() {
        (left, right)
    } else {
        (right, left)
    };
    let same = short.iter().zip(long).take_while(|(a, b)| a == b).count();
    match long.len() - short.len() {
        0 if same == short.len() => false,
        0 => {
            let swapped = same + 1 < short.len()
                && short[same] == long[same + 1]
                && short[same + 1] == long[same]
                && short[same + 2..] == long[same + 2..];
            swapped || short[same + 1..] == long[same + 1..]
        }
        1 => short[same..] == long[same + 1..],
        _ => false,
    }
}
