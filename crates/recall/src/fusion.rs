//! One ranking out of several lists of scores.
//!
//! The pool is the union of every list's best. Each member gets its exact score in every list,
//! scores become z-scores over the pool, and z-scores are summed.

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

/// Z-scores over those that have a score. Who has none gets 0, the pool's average: a span whose
/// vector is still being computed is neither favoured nor punished. A list that cannot tell its
/// members apart gives 0 to all.
pub(crate) fn z_scores(scores: &[Option<f32>]) -> Vec<f64> {
    let known = || scores.iter().flatten().map(|score| f64::from(*score));
    let count = known().count().max(1) as f64;
    let mean = known().sum::<f64>() / count;
    let deviation = (known().map(|score| (score - mean).powi(2)).sum::<f64>() / count).sqrt();
    scores
        .iter()
        .map(|score| match score {
            Some(score) if deviation > 1e-9 => (f64::from(*score) - mean) / deviation,
            _ => 0.0,
        })
        .collect()
}
