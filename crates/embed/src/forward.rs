//! The forward pass: tokens in, one unit vector out.
#![allow(
    clippy::inline_always,
    reason = "must be compiled with its caller's vector width"
)]

use crate::kernel::{BLOCK, ROWS, Tile};
use crate::math::{exp, gelu, largest, normalise, quantise, sum, unit};
use crate::weights::{HEADS, INNER, LAYERS, Linear, POSITIONS, Weights};
use crate::{DIMENSIONS, Vector};

const HEAD: usize = DIMENSIONS / HEADS;
/// `1 / √HEAD`, correctly rounded.
const SOFTEN: f32 = 0.176_776_7;

/// Runs the network over at most [`POSITIONS`] tokens; no tokens give the zero vector.
#[inline(always)]
pub(crate) fn forward<T: Tile>(tile: T, weights: &Weights, tokens: &[u16]) -> Vector {
    let tokens = &tokens[..tokens.len().min(POSITIONS)];
    let count = tokens.len();
    if count == 0 {
        return [0.0; DIMENSIONS];
    }
    let mut state = embeddings(weights, tokens);
    let mut scratch = Scratch::new(count);
    for number in 0..LAYERS {
        let layer = weights.layer(number);
        let Scratch {
            rows,
            query,
            key,
            value,
            mixed,
            wide,
            attention,
        } = &mut scratch;
        rows.fill(&state, DIMENSIONS);
        linear(tile, &layer.query, rows, query);
        linear(tile, &layer.key, rows, key);
        linear(tile, &layer.value, rows, value);
        for head in 0..HEADS {
            attention.attend(head * HEAD, query, key, value, mixed);
        }
        rows.fill(mixed, DIMENSIONS);
        // `query` has been read: it holds each half's output from here.
        linear(tile, &layer.attention_out, rows, query);
        add(&mut state, query);
        normalise(&mut state, layer.attention_norm);
        rows.fill(&state, DIMENSIONS);
        linear(tile, &layer.widen, rows, wide);
        gelu(wide);
        rows.fill(wide, INNER);
        linear(tile, &layer.narrow, rows, query);
        add(&mut state, query);
        normalise(&mut state, layer.out_norm);
    }
    mean(&state, count)
}

/// Word, type and position rows added up, normalised.
#[inline(always)]
fn embeddings(weights: &Weights, tokens: &[u16]) -> Vec<f32> {
    let mut state = vec![0.0; tokens.len() * DIMENSIONS];
    let kind = &weights.token_type()[..DIMENSIONS];
    for (at, (row, &token)) in state
        .as_chunks_mut::<DIMENSIONS>()
        .0
        .iter_mut()
        .zip(tokens)
        .enumerate()
    {
        let (word, word_scale) = weights.word(token);
        let (position, position_scale) = weights.position(at);
        for i in 0..DIMENSIONS {
            row[i] = f32::from(word[i].cast_signed()) * word_scale
                + kind[i]
                + f32::from(position[i].cast_signed()) * position_scale;
        }
    }
    normalise(&mut state, weights.embedding_norm());
    state
}

/// The mean of all rows, at unit length.
#[inline(always)]
fn mean(state: &[f32], count: usize) -> Vector {
    let mut vector = [0.0; DIMENSIONS];
    for row in state.as_chunks::<DIMENSIONS>().0 {
        for i in 0..DIMENSIONS {
            vector[i] += row[i];
        }
    }
    for value in &mut vector {
        *value /= count as f32;
    }
    unit(&mut vector);
    vector
}

#[inline(always)]
fn add(state: &mut [f32], delta: &[f32]) {
    for (value, delta) in state.iter_mut().zip(delta) {
        *value += delta;
    }
}

/// `out = rows · W + bias`.
#[inline(always)]
fn linear<T: Tile>(tile: T, layer: &Linear<'_>, rows: &Rows, out: &mut [f32]) {
    // A block of columns at a time over all rows: its weights (at most 24 KiB) stay in the first
    // level of cache.
    for (block, weights) in layer.weights.chunks_exact(layer.inputs * BLOCK).enumerate() {
        let column = block * BLOCK;
        let mut row = 0;
        while row < rows.scales.len() {
            row += match rows.scales.len() - row {
                1 => strip::<T, 1>(tile, layer, weights, column, rows, row, out),
                2 => strip::<T, 2>(tile, layer, weights, column, rows, row, out),
                3 => strip::<T, 3>(tile, layer, weights, column, rows, row, out),
                _ => strip::<T, ROWS>(tile, layer, weights, column, rows, row, out),
            };
        }
    }
}

/// `M` rows of sixteen columns; returns `M`.
#[inline(always)]
fn strip<T: Tile, const M: usize>(
    tile: T,
    layer: &Linear<'_>,
    weights: &[u8],
    column: usize,
    rows: &Rows,
    row: usize,
    out: &mut [f32],
) -> usize {
    let mut sums = [[0; BLOCK]; M];
    tile.tile(
        weights,
        &rows.values[row * layer.inputs..],
        layer.inputs,
        &mut sums,
    );
    let scale = &layer.scale[column..][..BLOCK];
    let bias = &layer.bias[column..][..BLOCK];
    for (m, sums) in sums.iter().enumerate() {
        let row_scale = rows.scales[row + m];
        let out = &mut out[(row + m) * layer.scale.len() + column..][..BLOCK];
        for o in 0..BLOCK {
            out[o] = sums[o] as f32 * (row_scale * scale[o]) + bias[o];
        }
    }
    M
}

/// Quantised rows: what a linear layer takes.
struct Rows {
    values: Vec<i16>,
    scales: Vec<f32>,
}

impl Rows {
    #[inline(always)]
    fn fill(&mut self, values: &[f32], width: usize) {
        for ((row, out), scale) in values
            .chunks_exact(width)
            .zip(self.values.chunks_exact_mut(width))
            .zip(&mut self.scales)
        {
            *scale = quantise(row, out);
        }
    }
}

/// Everything that a pass writes to, allocated once.
struct Scratch {
    rows: Rows,
    query: Vec<f32>,
    key: Vec<f32>,
    value: Vec<f32>,
    mixed: Vec<f32>,
    wide: Vec<f32>,
    attention: Attention,
}

impl Scratch {
    fn new(count: usize) -> Self {
        let state = vec![0.0; count * DIMENSIONS];
        let columns = count.next_multiple_of(COLUMNS);
        Self {
            rows: Rows {
                values: vec![0; count * INNER],
                scales: vec![0.0; count],
            },
            query: state.clone(),
            key: state.clone(),
            value: state.clone(),
            mixed: state,
            wide: vec![0.0; count * INNER],
            attention: Attention {
                count,
                keys: vec![0.0; HEAD * columns],
                scores: vec![0.0; columns],
            },
        }
    }
}

/// Scores are computed this many at a time; a row of them is padded to a multiple.
const COLUMNS: usize = 16;

/// One head's attention over a text of `count` tokens.
struct Attention {
    count: usize,
    /// `[HEAD][columns]`: the head's keys, transposed and scaled; padding stays zero.
    keys: Vec<f32>,
    scores: Vec<f32>,
}

impl Attention {
    #[inline(always)]
    fn attend(
        &mut self,
        from: usize,
        query: &[f32],
        key: &[f32],
        value: &[f32],
        mixed: &mut [f32],
    ) {
        let columns = self.scores.len();
        for (at, row) in key.as_chunks::<DIMENSIONS>().0.iter().enumerate() {
            for i in 0..HEAD {
                self.keys[i * columns + at] = row[from + i] * SOFTEN;
            }
        }
        let rows = query.as_chunks::<DIMENSIONS>().0.iter();
        for (query, mixed) in rows.zip(mixed.as_chunks_mut::<DIMENSIONS>().0) {
            self.score(&query[from..from + HEAD]);
            self.soften();
            let mut total = [0.0; HEAD];
            for (share, value) in self.scores.iter().zip(value.as_chunks::<DIMENSIONS>().0) {
                let value = &value[from..from + HEAD];
                for i in 0..HEAD {
                    total[i] += share * value[i];
                }
            }
            mixed[from..from + HEAD].copy_from_slice(&total);
        }
    }

    /// A query's product with every key, each summed in ascending order.
    #[inline(always)]
    fn score(&mut self, query: &[f32]) {
        let columns = self.scores.len();
        let mut at = 0;
        // Twice the width where it fits: independent sums hide the latency of addition.
        while at + 2 * COLUMNS <= columns {
            score_some::<{ 2 * COLUMNS }>(query, &self.keys, columns, at, &mut self.scores);
            at += 2 * COLUMNS;
        }
        if at < columns {
            score_some::<COLUMNS>(query, &self.keys, columns, at, &mut self.scores);
        }
    }

    /// Softmax over the scores of real tokens; the padding gets zero.
    #[inline(always)]
    fn soften(&mut self) {
        self.scores[self.count..].fill(f32::MIN);
        let top = largest(&self.scores);
        for score in &mut self.scores {
            *score = exp(*score - top);
        }
        self.scores[self.count..].fill(0.0);
        let shrink = 1.0 / sum(&self.scores);
        for score in &mut self.scores {
            *score *= shrink;
        }
    }
}

#[inline(always)]
fn score_some<const W: usize>(
    query: &[f32],
    keys: &[f32],
    columns: usize,
    at: usize,
    scores: &mut [f32],
) {
    let mut totals = [0.0; W];
    for (i, value) in query.iter().enumerate() {
        let keys = &keys[i * columns + at..][..W];
        for c in 0..W {
            totals[c] += value * keys[c];
        }
    }
    scores[at..at + W].copy_from_slice(&totals);
}
