//! The `f32` arithmetic outside the linear layers: a fixed order of `+ - × ÷ √`, nothing else.
//!
//! Changing the order of one sum here changes bits, and so calls for a new
//! [`KERNEL_VERSION`](crate::KERNEL_VERSION).
#![allow(
    clippy::inline_always,
    reason = "must be compiled with its caller's vector width"
)]

use crate::DIMENSIONS;
use crate::weights::Norm;

/// `1.5 × 2^23`. Adding it to a number below `2^22` in size rounds that number to the nearest
/// integer, ties to even, and leaves the integer in the low bits of the sum.
const ROUND: f32 = 12_582_912.0;

/// Largest quantised activation. 14 bits and a sign, so that the longest sum stays an `i32`:
/// 1536 × 8191 × 128 < 2^31.
const LARGEST: f32 = 8191.0;

/// Eight partial sums, added up as a tree of fixed shape.
#[inline(always)]
fn fold(lanes: [f32; 8]) -> f32 {
    ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6]))
        + ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]))
}

/// Sum of a row whose length is a multiple of eight: lane `i` takes every eighth number.
#[inline(always)]
pub(crate) fn sum(row: &[f32]) -> f32 {
    let mut lanes = [0.0; 8];
    for chunk in row.as_chunks::<8>().0 {
        for i in 0..8 {
            lanes[i] += chunk[i];
        }
    }
    fold(lanes)
}

/// Sum of squares, in the order of [`sum`].
#[inline(always)]
fn sum_of_squares(row: &[f32]) -> f32 {
    let mut lanes = [0.0; 8];
    for chunk in row.as_chunks::<8>().0 {
        for i in 0..8 {
            lanes[i] += chunk[i] * chunk[i];
        }
    }
    fold(lanes)
}

/// Largest number of a row whose length is a multiple of eight.
#[inline(always)]
pub(crate) fn largest(row: &[f32]) -> f32 {
    let mut lanes = [f32::MIN; 8];
    for chunk in row.as_chunks::<8>().0 {
        for i in 0..8 {
            lanes[i] = if chunk[i] > lanes[i] {
                chunk[i]
            } else {
                lanes[i]
            };
        }
    }
    let mut largest = lanes[0];
    for lane in lanes {
        largest = if lane > largest { lane } else { largest };
    }
    largest
}

/// Layer normalisation of each row of width [`DIMENSIONS`].
#[inline(always)]
pub(crate) fn normalise(rows: &mut [f32], norm: Norm<'_>) {
    let (gain, bias) = (&norm.gain[..DIMENSIONS], &norm.bias[..DIMENSIONS]);
    for row in rows.as_chunks_mut::<DIMENSIONS>().0 {
        let mean = sum(row) / DIMENSIONS as f32;
        for value in row.iter_mut() {
            *value -= mean;
        }
        let variance = sum_of_squares(row) / DIMENSIONS as f32;
        // The published network's epsilon.
        let shrink = 1.0 / (variance + 1e-12).sqrt();
        for i in 0..DIMENSIONS {
            row[i] = row[i] * shrink * gain[i] + bias[i];
        }
    }
}

/// Scales a row to length one.
#[inline(always)]
pub(crate) fn unit(row: &mut [f32; DIMENSIONS]) {
    let length = sum_of_squares(row).sqrt();
    let shrink = 1.0 / if length > 1e-12 { length } else { 1e-12 };
    for value in row.iter_mut() {
        *value *= shrink;
    }
}

/// Quantises one row symmetrically to 14 bits and returns its scale.
#[inline(always)]
pub(crate) fn quantise(row: &[f32], out: &mut [i16]) -> f32 {
    let mut lanes = [0.0_f32; 8];
    for chunk in row.as_chunks::<8>().0 {
        for i in 0..8 {
            let size = chunk[i].abs();
            lanes[i] = if size > lanes[i] { size } else { lanes[i] };
        }
    }
    let mut size = 1e-20;
    for lane in lanes {
        size = if lane > size { lane } else { size };
    }
    let stretch = LARGEST / size;
    for (value, quantised) in row.iter().zip(out) {
        // The low 16 bits of the rounded sum are the integer, in two's complement.
        *quantised = (value * stretch + ROUND).to_bits() as i16;
    }
    size / LARGEST
}

/// `e^x` for `x <= 0`; below -87 as at -87. The Cephes library's `expf` polynomial, relative
/// error below 2e-7.
#[inline(always)]
#[allow(
    clippy::many_single_char_names,
    reason = "the names that the polynomial is known by"
)]
pub(crate) fn exp(x: f32) -> f32 {
    let x = if x < -87.0 { -87.0 } else { x };
    let shifted = x * std::f32::consts::LOG2_E + ROUND;
    let n = shifted - ROUND;
    // ln 2 in two parts, the first exact in few bits.
    let r = x - n * 0.693_359_4;
    let r = r - n * -2.121_944_4e-4;
    let p = 1.987_569_1e-4;
    let p = p * r + 1.398_2e-3;
    let p = p * r + 8.333_452e-3;
    let p = p * r + 4.166_579_6e-2;
    let p = p * r + 1.666_666_5e-1;
    let p = p * r + 5e-1;
    let y = p * (r * r) + r + 1.0;
    let exponent = shifted
        .to_bits()
        .wrapping_sub(ROUND.to_bits())
        .wrapping_add(127);
    y * f32::from_bits(exponent << 23)
}

/// The error function as a ratio of polynomials on [-4, 4] (the coefficients that Eigen and XLA
/// use for `f32`), absolute error below 1e-6.
#[inline(always)]
fn erf(x: f32) -> f32 {
    let x = if x > 4.0 { 4.0 } else { x };
    let x = if x < -4.0 { -4.0 } else { x };
    let z = x * x;
    let a = -2.726_142_3e-10;
    let a = a * z + 2.770_681_4e-8;
    let a = a * z - 2.101_024e-6;
    let a = a * z - 5.692_506_4e-5;
    let a = a * z - 7.349_906_3e-4;
    let a = a * z - 2.954_6e-3;
    let a = a * z - 1.609_603_2e-2;
    let b = -1.456_607_2e-5;
    let b = b * z - 2.133_740_6e-4;
    let b = b * z - 1.682_827e-3;
    let b = b * z - 7.373_329e-3;
    let b = b * z - 1.426_474_7e-2;
    x * a / b
}

/// The exact (not tanh) GELU, in place.
#[inline(always)]
pub(crate) fn gelu(values: &mut [f32]) {
    for value in values {
        *value = 0.5 * *value * (1.0 + erf(*value * std::f32::consts::FRAC_1_SQRT_2));
    }
}
