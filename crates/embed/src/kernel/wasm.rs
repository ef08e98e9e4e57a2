//! WebAssembly's 128-bit vectors.
#![allow(unsafe_code, reason = "vector loads and stores")]
#![allow(
    clippy::cast_ptr_alignment,
    reason = "these loads and stores need no alignment"
)]

use core::arch::wasm32::{
    i16x8_load_extend_i8x8, i32x4_add, i32x4_dot_i16x8, i32x4_splat, v128, v128_load32_splat,
    v128_store,
};

use super::{BLOCK, Tile};

/// The module would not have been compiled on an engine without the instructions.
#[derive(Clone, Copy)]
pub(super) struct Simd128;

impl Tile for Simd128 {
    #[inline(always)]
    fn tile<const M: usize>(
        self,
        weights: &[u8],
        rows: &[i16],
        inputs: usize,
        sums: &mut [[i32; BLOCK]; M],
    ) {
        let pairs = inputs / 2;
        assert!(weights.len() >= pairs * 2 * BLOCK && rows.len() >= M * inputs);
        // Eight outputs at a time: with M = 4 all accumulators stay in an x86 CPU's registers.
        for half in 0..2 {
            let mut totals = [[i32x4_splat(0); 2]; M];
            for pair in 0..pairs {
                // SAFETY: `pair < pairs`, and `weights` holds 32 bytes for each pair (asserted
                // above): 16 for each half.
                let (low, high) = unsafe {
                    let at = weights
                        .as_ptr()
                        .add(pair * 2 * BLOCK + half * BLOCK)
                        .cast::<i8>();
                    (
                        i16x8_load_extend_i8x8(at),
                        i16x8_load_extend_i8x8(at.add(8)),
                    )
                };
                for (m, total) in totals.iter_mut().enumerate() {
                    // SAFETY: `m < M` and `2 * pair + 1 < inputs`, and `rows` holds
                    // `M * inputs` numbers (asserted above); the load needs no alignment.
                    let two = unsafe {
                        v128_load32_splat(rows.as_ptr().add(m * inputs + 2 * pair).cast::<u32>())
                    };
                    total[0] = i32x4_add(total[0], i32x4_dot_i16x8(two, low));
                    total[1] = i32x4_add(total[1], i32x4_dot_i16x8(two, high));
                }
            }
            for (sums, total) in sums.iter_mut().zip(totals) {
                // SAFETY: `sums` is sixteen `i32`; half of them are two vectors, and the store
                // needs no alignment.
                unsafe {
                    let at = sums.as_mut_ptr().add(half * 8).cast::<v128>();
                    v128_store(at, total[0]);
                    v128_store(at.add(1), total[1]);
                }
            }
        }
    }
}
