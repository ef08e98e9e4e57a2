//! One ranking out of several lists of scores.
//!
//! The pool is the union of every list's best. Each member gets its exact score in every list, and
//! the scores are summed on scales that mean the same for every question. Nothing is stretched to
//! the pool's own spread: that would blow a list of noise up to the weight of one that knows.

use std::{cmp::Ordering, collections::HashMap};

use crate::index::SpanKey;

/// How many of the best of each list enter the pool.
pub const POOL_DEPTH: usize = 100;
/// How many spans of one entry a list may bring into the pool, so that one long entry cannot
/// crowd out the others.
const MAX_PER_ENTRY: usize = 4;

/// A slot with its score in one list.
#[derive(Clone, Copy)]
pub(crate) struct Scored {
    pub(crate) score: f32,
    pub(crate) key: SpanKey,
    pub(crate) slot: u32,
}

/// Best first; equal scores by key, so that the order never depends on how the index grew.
fn order(left: &Scored, right: &Scored) -> Ordering {
    right
        .score
        .total_cmp(&left.score)
        .then_with(|| left.key.cmp(&right.key))
}

/// The best `depth` of a list, at most [`MAX_PER_ENTRY`] of one entry, best first.
pub(crate) fn best(mut list: Vec<Scored>, depth: usize) -> Vec<Scored> {
    let mut taken = Vec::with_capacity(depth.min(list.len()));
    let mut per_entry: HashMap<[u8; 16], usize> = HashMap::new();
    let mut from = 0;
    // Sort only as much as is needed: a first slice usually suffices.
    let mut slice = depth * 2;
    while from < list.len() && taken.len() < depth {
        let rest = &mut list[from..];
        let size = slice.min(rest.len());
        if size < rest.len() {
            rest.select_nth_unstable_by(size - 1, order);
        }
        rest[..size].sort_unstable_by(order);
        for scored in &rest[..size] {
            let count = per_entry.entry(scored.key.entry).or_default();
            if *count < MAX_PER_ENTRY && taken.len() < depth {
                *count += 1;
                taken.push(*scored);
            }
        }
        from += size;
        slice *= 8;
    }
    taken
}

/// What a full score by words weighs beside a cosine of 1.
const BM25_WEIGHT: f64 = 1.0;
/// What holding every word of the question weighs beside a cosine of 1.
const COVERAGE_WEIGHT: f64 = 0.4;

/// Evidence by words on one scale for every question and every index: `share` is BM25 as a share
/// of the most that a span could earn for the wording, `coverage` the share of the wording's word
/// weight that the span holds, both 0 to 1. Words that no span holds count in both wholes, so a
/// question that the index barely knows the words of earns little by them, however far its best
/// span stands above a pool of nothing.
pub(crate) fn word_evidence(share: f32, coverage: f32) -> f64 {
    BM25_WEIGHT * f64::from(share) + COVERAGE_WEIGHT * f64::from(coverage)
}

/// The mean of what is known of a list; `None` if nothing is.
pub(crate) fn mean(scores: &[Option<f32>]) -> Option<f64> {
    let known = || scores.iter().flatten().map(|score| f64::from(*score));
    let count = known().count();
    (count > 0).then(|| known().sum::<f64>() / count as f64)
}
