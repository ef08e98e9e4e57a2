//! AVX2. Without FMA, so that the compiler's own vectors round like everyone else's.
#![allow(
    unsafe_code,
    reason = "vector loads, and calls that need a detected CPU feature"
)]
#![allow(
    clippy::cast_ptr_alignment,
    reason = "these loads and stores need no alignment"
)]

use std::arch::x86_64::{
    __m128i, __m256i, _mm_loadu_si128, _mm256_add_epi32, _mm256_cvtepi8_epi16, _mm256_madd_epi16,
    _mm256_set1_epi32, _mm256_setzero_si256, _mm256_storeu_si256,
};

use super::{BLOCK, Tile};
use crate::Vector;
use crate::forward::forward;
use crate::weights::Weights;

/// Proof that this CPU has AVX2: only [`Avx2::detect`] makes one.
#[derive(Clone, Copy)]
pub(super) struct Avx2(());

impl Avx2 {
    pub(super) fn detect() -> Option<Self> {
        is_x86_feature_detected!("avx2").then_some(Self(()))
    }

    /// The whole pass compiled for AVX2, so that its `f32` loops use 256-bit vectors too.
    pub(super) fn forward(self, weights: &Weights, tokens: &[u16]) -> Vector {
        // SAFETY: `self` proves that the CPU has AVX2.
        unsafe { forward_avx2(self, weights, tokens) }
    }
}

#[target_feature(enable = "avx2")]
fn forward_avx2(avx2: Avx2, weights: &Weights, tokens: &[u16]) -> Vector {
    forward(avx2, weights, tokens)
}

impl Tile for Avx2 {
    #[inline(always)]
    fn tile<const M: usize>(
        self,
        weights: &[u8],
        rows: &[i16],
        inputs: usize,
        sums: &mut [[i32; BLOCK]; M],
    ) {
        // SAFETY: `self` proves that the CPU has AVX2.
        unsafe { tile_avx2(weights, rows, inputs, sums) }
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn tile_avx2<const M: usize>(
    weights: &[u8],
    rows: &[i16],
    inputs: usize,
    sums: &mut [[i32; BLOCK]; M],
) {
    let pairs = inputs / 2;
    assert!(weights.len() >= pairs * 2 * BLOCK && rows.len() >= M * inputs);
    // Eight accumulators at M = 4, with two weight vectors and a broadcast: 11 of 16 registers.
    let mut totals = [[_mm256_setzero_si256(); 2]; M];
    for pair in 0..pairs {
        // SAFETY: `pair < pairs`, and `weights` holds 32 bytes for each pair (asserted above).
        let (low, high) = unsafe {
            let at = weights.as_ptr().add(pair * 2 * BLOCK).cast::<__m128i>();
            (_mm_loadu_si128(at), _mm_loadu_si128(at.add(1)))
        };
        let (low, high) = (_mm256_cvtepi8_epi16(low), _mm256_cvtepi8_epi16(high));
        for (m, total) in totals.iter_mut().enumerate() {
            // SAFETY: `m < M` and `2 * pair + 1 < inputs`, and `rows` holds `M * inputs` numbers
            // (asserted above); two of them are four bytes, read without alignment.
            let two = unsafe {
                rows.as_ptr()
                    .add(m * inputs + 2 * pair)
                    .cast::<i32>()
                    .read_unaligned()
            };
            let two = _mm256_set1_epi32(two);
            total[0] = _mm256_add_epi32(total[0], _mm256_madd_epi16(two, low));
            total[1] = _mm256_add_epi32(total[1], _mm256_madd_epi16(two, high));
        }
    }
    for (sums, total) in sums.iter_mut().zip(totals) {
        let at = sums.as_mut_ptr().cast::<__m256i>();
        // SAFETY: `sums` is sixteen `i32`, which is two vectors; stored without alignment.
        unsafe {
            _mm256_storeu_si256(at, total[0]);
            _mm256_storeu_si256(at.add(1), total[1]);
        }
    }
}
