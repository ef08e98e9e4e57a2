//! The inner product of quantised rows with int8 weights, once per instruction set.
//!
//! Every implementation sums the same integers exactly, so they agree bit for bit; only this
//! module and its parts hold `unsafe`. Machines without an implementation of their own (ARM
//! among them) run the portable one, which the compiler vectorises as it can.
#![allow(
    clippy::inline_always,
    reason = "must be compiled with its caller's vector width"
)]

use crate::Vector;
use crate::forward::forward;
use crate::weights::Weights;

#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod wasm;
#[cfg(target_arch = "x86_64")]
mod x86;

/// Outputs that one call of [`Tile::tile`] computes.
pub(crate) const BLOCK: usize = 16;
/// Rows that one call takes at most.
pub(crate) const ROWS: usize = 4;

/// Sixteen output columns for `M` rows.
pub(crate) trait Tile: Copy {
    /// `sums[m][o] = Σ rows[m][i] · weights[i][o]` over `inputs` numbers, in `i32`.
    ///
    /// `weights` is `[inputs / 2][16][2]` signed bytes; `rows` is `M` rows of `inputs` numbers.
    ///
    /// # Panics
    /// If a slice is shorter than that.
    fn tile<const M: usize>(
        self,
        weights: &[u8],
        rows: &[i16],
        inputs: usize,
        sums: &mut [[i32; BLOCK]; M],
    );
}

/// Which instructions compute. All of them give the same bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kernel {
    /// Plain Rust.
    Portable,
    /// 256-bit integer vectors of x86-64.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// 128-bit vectors of WebAssembly.
    #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
    Simd128,
}

impl Kernel {
    /// The fastest that this machine runs.
    pub fn best() -> Self {
        #[cfg(target_arch = "x86_64")]
        if x86::Avx2::detect().is_some() {
            return Self::Avx2;
        }
        #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
        return Self::Simd128;
        #[allow(unreachable_code, reason = "reached where no vector kernel exists")]
        Self::Portable
    }

    /// Runs the network; falls back to plain Rust if the machine lacks the instructions.
    pub(crate) fn forward(self, weights: &Weights, tokens: &[u16]) -> Vector {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => match x86::Avx2::detect() {
                Some(avx2) => avx2.forward(weights, tokens),
                None => forward(Portable, weights, tokens),
            },
            #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
            Self::Simd128 => forward(wasm::Simd128, weights, tokens),
            Self::Portable => forward(Portable, weights, tokens),
        }
    }
}

/// The reference: what the vector kernels must equal.
#[derive(Clone, Copy)]
struct Portable;

impl Tile for Portable {
    #[inline(always)]
    fn tile<const M: usize>(
        self,
        weights: &[u8],
        rows: &[i16],
        inputs: usize,
        sums: &mut [[i32; BLOCK]; M],
    ) {
        let weights = &weights.as_chunks::<{ 2 * BLOCK }>().0[..inputs / 2];
        for (m, sums) in sums.iter_mut().enumerate() {
            let row = &rows[m * inputs..][..inputs];
            // Products of even and of odd inputs apart: a lane for each weight, as they stand,
            // which is the form that compilers vectorise. Wraps like the vector kernels do, though
            // finite activations cannot make it.
            let mut lanes = [0_i32; 2 * BLOCK];
            for (pair, weights) in row.as_chunks::<2>().0.iter().zip(weights) {
                for (lane, (sum, weight)) in lanes.iter_mut().zip(weights).enumerate() {
                    let product = i32::from(pair[lane % 2])
                        .wrapping_mul(i32::from(i16::from(weight.cast_signed())));
                    *sum = sum.wrapping_add(product);
                }
            }
            for (sum, [even, odd]) in sums.iter_mut().zip(lanes.as_chunks::<2>().0) {
                *sum = even.wrapping_add(*odd);
            }
        }
    }
}
