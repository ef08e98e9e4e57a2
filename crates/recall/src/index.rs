//! The index that a replica keeps over its spans, and the search over it.

use std::{
    collections::{HashMap, HashSet},
    hash::{DefaultHasher, Hasher},
};

use serde::{Deserialize, Serialize};

use crate::{
    fusion::{POOL_DEPTH, Scored, best, mean, word_evidence},
    lexical::{Field, Intake, Lexicon, Terms},
    matched::{MatchedRange, matched},
    relevance::{Standing, relevance_percent},
    vector::{Probe, QuantizedVector, VectorStore},
};

/// A search returns at most this many hits, whatever it asks for.
pub const MAX_RESULTS: usize = 100;
/// A search reads at most this many wordings; more are ignored.
pub const MAX_WORDINGS: usize = 8;
/// The approximate scan hands over this many candidates for exact scores: more than the pool
/// takes, so that quantisation cannot push a member out at the edge.
const RESCORED: usize = POOL_DEPTH + 40;
/// Texts of fewer words are duplicates only if their titles are equal too.
const MIN_DUPLICATE_WORDS: usize = 8;
/// Dead slots are dropped when there are more than this many and more than a quarter of the live.
const MAX_DEAD: usize = 1024;

/// Names a span: its entry (or whatever the caller indexes, 16 bytes) and its number within it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SpanKey {
    /// The entry's id.
    pub entry: [u8; 16],
    /// Position among the entry's spans, from 0.
    pub ordinal: u32,
}

/// What the index takes in for one span.
#[derive(Clone, Debug)]
pub struct Document {
    /// The span's name; inserting under a name that exists replaces what was there.
    pub key: SpanKey,
    /// The entry's title.
    pub title: String,
    /// Other names of the entry.
    pub aliases: Vec<String>,
    /// The entry's threads.
    pub threads: Vec<String>,
    /// The entry's kind.
    pub kind: String,
    /// Headings above the span, outermost first, its own anchor last.
    pub headings: Vec<String>,
    /// The span's text.
    pub text: String,
}

/// A question.
#[derive(Clone, Debug, Default)]
pub struct Query {
    /// Ways to put it; any text is safe. Up to [`MAX_WORDINGS`] are read.
    pub wordings: Vec<String>,
    /// The sentence vector of each wording, in the same order. May be shorter; a vector of the
    /// wrong length counts as missing.
    pub vectors: Vec<Option<Vec<f32>>>,
    /// How many hits are wanted, up to [`MAX_RESULTS`].
    pub limit: usize,
}

/// What brought a hit into the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Why {
    /// It holds words of the question.
    Words,
    /// It is close in meaning.
    Meaning,
    /// Both.
    Both,
}

/// One entry of an answer, with its best span.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Hit {
    /// The span.
    pub key: SpanKey,
    /// Fused score: the sum of cosine, share of the attainable BM25 and word coverage, each its mean
    /// over the wordings. It orders hits.
    pub score: f32,
    /// Best BM25 score over the wordings, if a word matched.
    pub words: Option<f32>,
    /// Best cosine over the wordings, if the span and a wording have vectors.
    pub meaning: Option<f32>,
    /// Relevance for people, 1 to 99 percent; see [`relevance_percent`].
    pub relevance: u8,
    /// Matching words in the span's text.
    pub matched: Vec<MatchedRange>,
    /// What brought it here.
    pub why: Why,
    /// Spans of other entries with the same words, left out in favour of this one.
    pub duplicates: Vec<SpanKey>,
}

/// The text whose vector stands for a span: names first, then the anchor, then the text.
///
/// Changing this changes every vector: what it returns is part of a vector's identity.
pub fn embed_text<A>(title: &str, aliases: A, anchor: Option<&str>, text: &str) -> String
where
    A: IntoIterator,
    A::Item: AsRef<str>,
{
    let mut out = title.trim().to_owned();
    for alias in aliases {
        let alias = alias.as_ref().trim();
        if !alias.is_empty() {
            out.push_str(", ");
            out.push_str(alias);
        }
    }
    if let Some(anchor) = anchor.map(str::trim).filter(|anchor| !anchor.is_empty()) {
        out.push_str(" - ");
        out.push_str(anchor);
    }
    let text = text.trim();
    if !text.is_empty() {
        out.push_str(": ");
        out.push_str(text);
    }
    out
}

#[derive(Clone, Debug)]
struct Slot {
    key: SpanKey,
    live: bool,
    /// Hash of the word sequence, equal for near-duplicates.
    fingerprint: u64,
    /// Row in the vector store.
    row: Option<u32>,
    terms: Box<[u32]>,
    text: Box<str>,
}

/// Words and vectors of every span, in memory; derived state that can be rebuilt at any time.
///
/// What it answers depends only on what it holds, not on the order in which it was filled.
#[derive(Clone, Debug)]
pub struct RecallIndex {
    lexicon: Lexicon,
    vectors: VectorStore,
    slots: Vec<Slot>,
    entries: HashMap<[u8; 16], Vec<u32>>,
    dead: usize,
}

impl Default for RecallIndex {
    fn default() -> Self {
        Self::new()
    }
}

impl RecallIndex {
    /// An empty index.
    pub fn new() -> Self {
        Self {
            lexicon: Lexicon::default(),
            vectors: VectorStore::new(),
            slots: Vec::new(),
            entries: HashMap::new(),
            dead: 0,
        }
    }

    /// Spans held.
    pub fn len(&self) -> usize {
        self.slots.len() - self.dead
    }

    /// Whether it holds nothing.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Spans that have a vector.
    pub fn vector_count(&self) -> usize {
        self.vectors.len()
    }

    /// Whether this span has a vector.
    pub fn has_vector(&self, key: SpanKey) -> bool {
        self.slot_of(key)
            .is_some_and(|slot| self.slots[slot as usize].row.is_some())
    }

    /// Takes a span in. One that was there under the same key is replaced, with its vector.
    pub fn insert(&mut self, document: Document) {
        if let Some(slot) = self.slot_of(document.key) {
            self.kill(slot);
            if let Some(slots) = self.entries.get_mut(&document.key.entry) {
                slots.retain(|known| *known != slot);
            }
        }
        let mut intake = Intake::default();
        let lexicon = &mut self.lexicon;
        let mut names = DefaultHasher::new();
        lexicon.read(&mut intake, Field::Title, &document.title, |word| {
            feed(&mut names, word);
        });
        for alias in &document.aliases {
            lexicon.read(&mut intake, Field::Aliases, alias, |_| {});
        }
        for thread in &document.threads {
            lexicon.read(&mut intake, Field::Threads, thread, |_| {});
        }
        lexicon.read(&mut intake, Field::Kind, &document.kind, |_| {});
        for heading in &document.headings {
            lexicon.read(&mut intake, Field::Headings, heading, |_| {});
        }
        let mut body = DefaultHasher::new();
        let mut count = 0;
        lexicon.read(&mut intake, Field::Body, &document.text, |word| {
            feed(&mut body, word);
            count += 1;
        });
        if count < MIN_DUPLICATE_WORDS {
            body.write_u64(names.finish());
        }
        let terms = lexicon.insert(intake);
        let slot = self.slots.len() as u32;
        self.slots.push(Slot {
            key: document.key,
            live: true,
            fingerprint: body.finish(),
            row: None,
            terms,
            text: document.text.into_boxed_str(),
        });
        self.entries
            .entry(document.key.entry)
            .or_default()
            .push(slot);
        self.compact_if_needed();
    }

    /// Takes all spans of an entry out, with their vectors. Returns how many there were.
    pub fn remove_entry(&mut self, entry: [u8; 16]) -> usize {
        let slots = self.entries.remove(&entry).unwrap_or_default();
        for slot in &slots {
            self.kill(*slot);
        }
        self.compact_if_needed();
        slots.len()
    }

    /// Gives a span its vector, or a new one. Returns whether the index holds the span.
    pub fn set_vector(&mut self, key: SpanKey, vector: &QuantizedVector) -> bool {
        let Some(slot) = self.slot_of(key) else {
            return false;
        };
        match self.slots[slot as usize].row {
            Some(row) => self.vectors.replace(row, vector),
            None => self.slots[slot as usize].row = Some(self.vectors.push(slot, vector)),
        }
        true
    }

    /// Answers a question from everything held.
    pub fn search(&self, query: &Query) -> Vec<Hit> {
        self.search_where(query, |_| true)
    }

    /// Answers a question from the spans that `admit` lets through. The filter comes before the
    /// ranking: what is left out takes no place in a list and is named nowhere.
    pub fn search_where(&self, query: &Query, admit: impl Fn(SpanKey) -> bool) -> Vec<Hit> {
        let admitted: Vec<bool> = self
            .slots
            .iter()
            .map(|slot| slot.live && admit(slot.key))
            .collect();
        let wordings: Vec<Terms> = query
            .wordings
            .iter()
            .take(MAX_WORDINGS)
            .map(|wording| self.lexicon.resolve(wording))
            .collect();
        let probes: Vec<Probe> = query
            .vectors
            .iter()
            .take(MAX_WORDINGS)
            .flatten()
            .filter_map(|vector| Probe::new(vector))
            .collect();
        let words: Vec<Vec<f32>> = wordings
            .iter()
            .map(|terms| self.lexicon.scores(terms))
            .collect();

        let pool = self.pool(&words, &probes, &admitted);
        let mut members = self.fuse(&pool, &wordings, &words, &probes);
        members.sort_by(|left, right| {
            right
                .score
                .total_cmp(&left.score)
                .then_with(|| left.key.cmp(&right.key))
        });
        self.present(
            query.limit.min(MAX_RESULTS),
            &members,
            &wordings,
            !probes.is_empty(),
        )
    }

    /// The union of every list's best, by key.
    fn pool(&self, words: &[Vec<f32>], probes: &[Probe], admitted: &[bool]) -> Vec<u32> {
        let scored = |slot: u32, score: f32| Scored {
            score,
            key: self.slots[slot as usize].key,
            slot,
        };
        let mut pool: Vec<u32> = Vec::new();
        for scores in words {
            let list = scores
                .iter()
                .zip(admitted)
                .enumerate()
                .filter(|(_, (score, admitted))| **admitted && **score > 0.0)
                .map(|(slot, (score, _))| scored(slot as u32, *score))
                .collect();
            pool.extend(best(list, POOL_DEPTH).iter().map(|scored| scored.slot));
        }
        for probe in probes {
            let list = self
                .vectors
                .scan(probe)
                .filter(|(slot, _)| admitted[*slot as usize])
                .map(|(slot, cosine)| scored(slot, cosine))
                .collect();
            let exact = best(list, RESCORED)
                .iter()
                .filter_map(|candidate| {
                    let cosine = self.cosine(candidate.slot, probe)?;
                    Some(scored(candidate.slot, cosine))
                })
                .collect();
            pool.extend(best(exact, POOL_DEPTH).iter().map(|scored| scored.slot));
        }
        // By key, so that floating point sums do not depend on how the index grew.
        pool.sort_unstable_by_key(|slot| self.slots[*slot as usize].key);
        pool.dedup();
        pool
    }

    fn fuse(
        &self,
        pool: &[u32],
        wordings: &[Terms],
        words: &[Vec<f32>],
        probes: &[Probe],
    ) -> Vec<Member> {
        let mut members: Vec<Member> = pool
            .iter()
            .map(|slot| Member {
                slot: *slot,
                key: self.slots[*slot as usize].key,
                score: 0.0,
                words: 0.0,
                meaning: None,
                nearness: 0.0,
            })
            .collect();
        for (terms, scores) in wordings.iter().zip(words) {
            let ceiling = Lexicon::ceiling(terms);
            for member in &mut members {
                let score = scores[member.slot as usize];
                if score > 0.0 && ceiling > 0.0 {
                    let coverage = self.lexicon.coverage(terms, member.slot);
                    member.score += word_evidence(score / ceiling, coverage) / words.len() as f64;
                    member.words = member.words.max(score);
                }
            }
        }
        for probe in probes {
            let list: Vec<Option<f32>> =
                pool.iter().map(|slot| self.cosine(*slot, probe)).collect();
            let Some(average) = mean(&list) else {
                continue;
            };
            for (member, cosine) in members.iter_mut().zip(list) {
                // A span whose vector is still being computed counts as average: neither favoured
                // nor punished.
                let known = cosine.map_or(average, f64::from);
                member.score += known / probes.len() as f64;
                member.nearness += known - average;
                member.meaning = match (member.meaning, cosine) {
                    (Some(known), Some(cosine)) => Some(known.max(cosine)),
                    (known, cosine) => known.or(cosine),
                };
            }
        }
        members
    }

    /// Best span of each entry, without near-duplicates, explained.
    fn present(
        &self,
        limit: usize,
        members: &[Member],
        wordings: &[Terms],
        by_meaning: bool,
    ) -> Vec<Hit> {
        let standing = self.standing(members, by_meaning);
        let mut hits: Vec<Hit> = Vec::new();
        let mut entries = HashSet::new();
        let mut texts: HashMap<u64, Option<usize>> = HashMap::new();
        for member in members {
            if !entries.insert(member.key.entry) {
                continue;
            }
            let slot = &self.slots[member.slot as usize];
            if let Some(first) = texts.get(&slot.fingerprint) {
                if let Some(hit) = first.and_then(|at| hits.get_mut(at)) {
                    hit.duplicates.push(member.key);
                }
                continue;
            }
            let shown = (hits.len() < limit).then_some(hits.len());
            texts.insert(slot.fingerprint, shown);
            if shown.is_none() {
                // Read on only for duplicates of what is shown.
                continue;
            }
            hits.push(Hit {
                key: member.key,
                score: member.score as f32,
                words: (member.words > 0.0).then_some(member.words),
                meaning: member.meaning,
                relevance: relevance_percent(member.score, &standing),
                matched: matched(&self.lexicon, wordings, &slot.text),
                why: match (member.words > 0.0, member.nearness > 0.0) {
                    (true, true) => Why::Both,
                    (true, false) => Why::Words,
                    (false, _) => Why::Meaning,
                },
                duplicates: Vec::new(),
            });
        }
        hits
    }

    /// How the first of `members` stands; the same however few hits are asked for.
    fn standing(&self, members: &[Member], by_meaning: bool) -> Standing {
        let text = |member: &Member| self.slots[member.slot as usize].fingerprint;
        let first = members.first();
        let next = first.and_then(|first| {
            members
                .iter()
                .find(|member| member.key.entry != first.key.entry && text(member) != text(first))
        });
        Standing {
            best: first.map_or(0.0, |member| member.score),
            next: next.map_or(0.0, |member| member.score),
            // Without a single cosine the scores are those of words alone.
            by_meaning: by_meaning && members.iter().any(|member| member.meaning.is_some()),
        }
    }

    fn cosine(&self, slot: u32, probe: &Probe) -> Option<f32> {
        let row = self.slots[slot as usize].row?;
        Some(self.vectors.exact(row, probe))
    }

    fn slot_of(&self, key: SpanKey) -> Option<u32> {
        self.entries
            .get(&key.entry)?
            .iter()
            .copied()
            .find(|slot| self.slots[*slot as usize].key == key)
    }

    fn kill(&mut self, number: u32) {
        let slot = &mut self.slots[number as usize];
        slot.live = false;
        slot.text = Box::default();
        let terms = std::mem::take(&mut slot.terms);
        let row = slot.row.take();
        self.lexicon.remove(number, &terms);
        self.dead += 1;
        if let Some(row) = row
            && let Some(moved) = self.vectors.swap_remove(row)
        {
            self.slots[moved as usize].row = Some(row);
        }
    }

    fn compact_if_needed(&mut self) {
        if self.dead <= MAX_DEAD.max(self.len() / 4) {
            return;
        }
        let mut live = 0;
        let moved: Vec<Option<u32>> = self
            .slots
            .iter()
            .map(|slot| {
                slot.live.then(|| {
                    live += 1;
                    live - 1
                })
            })
            .collect();
        let terms = self.lexicon.compact(&moved);
        self.slots.retain(|slot| slot.live);
        for (number, slot) in self.slots.iter_mut().enumerate() {
            for term in &mut slot.terms {
                *term = terms[*term as usize].unwrap_or(*term);
            }
            if let Some(row) = slot.row {
                self.vectors.set_owner(row, number as u32);
            }
        }
        for slots in self.entries.values_mut() {
            for slot in slots {
                *slot = moved[*slot as usize].unwrap_or(*slot);
            }
        }
        self.dead = 0;
    }
}

/// Adds a word to a fingerprint, with an end that no word contains.
fn feed(fingerprint: &mut DefaultHasher, word: &str) {
    fingerprint.write(word.as_bytes());
    fingerprint.write_u8(0xff);
}

/// A span of the pool while scores gather.
struct Member {
    slot: u32,
    key: SpanKey,
    score: f64,
    words: f32,
    meaning: Option<f32>,
    /// How far its cosines lie above the pool's average: above 0, meaning speaks for it.
    nearness: f64,
}
