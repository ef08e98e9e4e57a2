//! The integer dot product behind the vector scan: one result, three machines.
//!
//! Every kernel widens `i8` to `i16`, multiplies and adds in `i32`. The largest magnitude is
//! `384 × 128 × 128 < 2^23`, so nothing overflows and all kernels give identical integers.
#![allow(
    // The only module with SIMD intrinsics; each block carries its SAFETY note.
    unsafe_code,
    // The unaligned load instructions take pointers of the vector type all the same.
    clippy::cast_ptr_alignment
)]

use crate::vector::DIMENSIONS;

/// A way to compute the dot product of two `int8` vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kernel {
    /// Plain Rust, everywhere.
    Scalar,
    /// 256-bit integer instructions of x86-64, chosen when the processor has them.
    Avx2,
    /// WebAssembly's 128-bit vectors, chosen when compiled with `simd128`.
    Simd128,
}

impl Kernel {
    /// The fastest kernel that this machine can run.
    pub fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            return Self::Avx2;
        }
        if cfg!(all(target_arch = "wasm32", target_feature = "simd128")) {
            return Self::Simd128;
        }
        Self::Scalar
    }

    /// Whether this machine can run the kernel.
    pub fn is_available(self) -> bool {
        match self {
            Self::Scalar => true,
            Self::Avx2 | Self::Simd128 => Self::detect() == self,
        }
    }
}

/// Dot product of two vectors with the given kernel; a kernel that this machine lacks falls back
/// to the scalar one, whose integers are the same.
pub fn dot(kernel: Kernel, left: &[i8; DIMENSIONS], right: &[i8; DIMENSIONS]) -> i32 {
    let mut out = [0];
    scan(kernel, left, std::slice::from_ref(right), &mut out);
    out[0]
}

/// Dot products of `query` with every row, written to `out` (as many as both slices have).
pub(crate) fn scan(
    kernel: Kernel,
    query: &[i8; DIMENSIONS],
    rows: &[[i8; DIMENSIONS]],
    out: &mut [i32],
) {
    match kernel {
        #[cfg(target_arch = "x86_64")]
        Kernel::Avx2 if std::arch::is_x86_feature_detected!("avx2") => {
            // SAFETY: the guard has just seen that the processor has AVX2, the only feature that
            // the function requires.
            unsafe { avx2::scan(query, rows, out) }
        }
        #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
        Kernel::Simd128 => simd128::scan(query, rows, out),
        _ => {
            for (row, out) in rows.iter().zip(out) {
                *out = scalar(query, row);
            }
        }
    }
}

fn scalar(left: &[i8; DIMENSIONS], right: &[i8; DIMENSIONS]) -> i32 {
    left.iter()
        .zip(right)
        .map(|(&a, &b)| i32::from(a) * i32::from(b))
        .sum()
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::{
        __m128i, _mm_add_epi32, _mm_cvtsi128_si32, _mm_loadu_si128, _mm_shuffle_epi32,
        _mm256_add_epi32, _mm256_castsi256_si128, _mm256_cvtepi8_epi16, _mm256_extracti128_si256,
        _mm256_madd_epi16, _mm256_setzero_si256,
    };

    use crate::vector::DIMENSIONS;

    /// Bytes of one 128-bit load.
    const LANES: usize = 16;
    const _: () = assert!(DIMENSIONS.is_multiple_of(2 * LANES));

    #[target_feature(enable = "avx2")]
    pub(super) fn scan(query: &[i8; DIMENSIONS], rows: &[[i8; DIMENSIONS]], out: &mut [i32]) {
        // The query is widened once and reused for every row.
        let mut wide = [_mm256_setzero_si256(); DIMENSIONS / LANES];
        for (wide, chunk) in wide.iter_mut().zip(query.as_chunks::<LANES>().0) {
            // SAFETY: `chunk` is 16 readable bytes, and the load needs no alignment.
            *wide =
                _mm256_cvtepi8_epi16(unsafe { _mm_loadu_si128(chunk.as_ptr().cast::<__m128i>()) });
        }
        for (row, out) in rows.iter().zip(out) {
            let mut even = _mm256_setzero_si256();
            let mut odd = _mm256_setzero_si256();
            for (wide, pair) in wide
                .as_chunks::<2>()
                .0
                .iter()
                .zip(row.as_chunks::<{ 2 * LANES }>().0)
            {
                // SAFETY: `pair` is 32 readable bytes; the two loads read its halves and need no
                // alignment.
                let (low, high) = unsafe {
                    let start = pair.as_ptr().cast::<__m128i>();
                    (_mm_loadu_si128(start), _mm_loadu_si128(start.add(1)))
                };
                even =
                    _mm256_add_epi32(even, _mm256_madd_epi16(wide[0], _mm256_cvtepi8_epi16(low)));
                odd = _mm256_add_epi32(odd, _mm256_madd_epi16(wide[1], _mm256_cvtepi8_epi16(high)));
            }
            let sum = _mm256_add_epi32(even, odd);
            let half = _mm_add_epi32(
                _mm256_castsi256_si128(sum),
                _mm256_extracti128_si256::<1>(sum),
            );
            let pair = _mm_add_epi32(half, _mm_shuffle_epi32::<0b00_00_11_10>(half));
            let one = _mm_add_epi32(pair, _mm_shuffle_epi32::<0b00_00_00_01>(pair));
            *out = _mm_cvtsi128_si32(one);
        }
    }
}

#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod simd128 {
    use std::arch::wasm32::{
        i16x8_extend_high_i8x16, i16x8_extend_low_i8x16, i32x4_add, i32x4_dot_i16x8,
        i32x4_extract_lane, i32x4_splat, v128, v128_load,
    };

    use crate::vector::DIMENSIONS;

    const LANES: usize = 16;
    const _: () = assert!(DIMENSIONS.is_multiple_of(LANES));

    pub(super) fn scan(query: &[i8; DIMENSIONS], rows: &[[i8; DIMENSIONS]], out: &mut [i32]) {
        for (row, out) in rows.iter().zip(out) {
            let mut low_sum = i32x4_splat(0);
            let mut high_sum = i32x4_splat(0);
            for (a, b) in query
                .as_chunks::<LANES>()
                .0
                .iter()
                .zip(row.as_chunks::<LANES>().0)
            {
                // SAFETY: both chunks are 16 readable bytes, and the loads need no alignment.
                let (a, b) = unsafe {
                    (
                        v128_load(a.as_ptr().cast::<v128>()),
                        v128_load(b.as_ptr().cast::<v128>()),
                    )
                };
                low_sum = i32x4_add(
                    low_sum,
                    i32x4_dot_i16x8(i16x8_extend_low_i8x16(a), i16x8_extend_low_i8x16(b)),
                );
                high_sum = i32x4_add(
                    high_sum,
                    i32x4_dot_i16x8(i16x8_extend_high_i8x16(a), i16x8_extend_high_i8x16(b)),
                );
            }
            let sum = i32x4_add(low_sum, high_sum);
            *out = i32x4_extract_lane::<0>(sum)
                + i32x4_extract_lane::<1>(sum)
                + i32x4_extract_lane::<2>(sum)
                + i32x4_extract_lane::<3>(sum);
        }
    }
}
