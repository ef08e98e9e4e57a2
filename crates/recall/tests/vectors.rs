//! Quantised vectors and their integer kernels.

use lore_recall::{
    DIMENSIONS, Document, Kernel, QuantizedVector, Query, RecallIndex, SpanKey, VECTOR_BYTES,
    VectorError, dot_i8,
};
use proptest::prelude::*;

/// A small generator (SplitMix64, Steele, Lea and Flood 2014), so that data are the same each run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Roughly normal: the sum of four uniform numbers.
    fn normal(&mut self) -> f32 {
        (0..4)
            .map(|_| (self.next() >> 40) as f32 / (1_u32 << 24) as f32 - 0.5)
            .sum()
    }

    fn unit(&mut self) -> [f32; DIMENSIONS] {
        normalised(std::array::from_fn(|_| self.normal()))
    }
}

fn normalised(mut vector: [f32; DIMENSIONS]) -> [f32; DIMENSIONS] {
    let norm = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
    for value in &mut vector {
        *value /= norm;
    }
    vector
}

fn key(number: usize) -> SpanKey {
    let mut entry = [0; 16];
    entry[..8].copy_from_slice(&(number as u64).to_be_bytes());
    SpanKey { entry, ordinal: 0 }
}

fn document(number: usize) -> Document {
    Document {
        key: key(number),
        title: format!("entry {number}"),
        aliases: Vec::new(),
        threads: Vec::new(),
        kind: "note".to_owned(),
        headings: Vec::new(),
        text: String::new(),
    }
}

fn dot(left: &[f32; DIMENSIONS], right: &[f32; DIMENSIONS]) -> f32 {
    left.iter().zip(right).map(|(a, b)| a * b).sum()
}

/// Mean share of the `f32` top ten that a search by meaning returns.
fn agreement(vectors: &[[f32; DIMENSIONS]], queries: &[[f32; DIMENSIONS]]) -> f32 {
    let mut index = RecallIndex::new();
    for (number, vector) in vectors.iter().enumerate() {
        index.insert(document(number));
        assert!(index.set_vector(key(number), &QuantizedVector::from_f32(vector)));
    }
    let mut shared = 0;
    for query in queries {
        let mut exact: Vec<usize> = (0..vectors.len()).collect();
        exact.sort_by(|a, b| dot(query, &vectors[*b]).total_cmp(&dot(query, &vectors[*a])));
        let wanted: Vec<SpanKey> = exact[..10].iter().map(|number| key(*number)).collect();
        let hits = index.search(&Query {
            vectors: vec![Some(query.to_vec())],
            limit: 10,
            ..Query::default()
        });
        assert_eq!(hits.len(), 10);
        shared += hits.iter().filter(|hit| wanted.contains(&hit.key)).count();
    }
    shared as f32 / (10 * queries.len()) as f32
}

#[test]
fn the_scan_agrees_with_brute_force_on_random_vectors() {
    let mut random = Random(1);
    let vectors: Vec<_> = (0..2_000).map(|_| random.unit()).collect();
    let queries: Vec<_> = (0..60).map(|_| random.unit()).collect();
    let share = agreement(&vectors, &queries);
    assert!(share >= 0.98, "top-10 agreement {share}");
}

#[test]
fn the_scan_agrees_with_brute_force_on_clustered_vectors() {
    // Forty topics; within one, cosines are around 0.5 as between sentences on one subject.
    let mut random = Random(2);
    let centres: Vec<_> = (0..40).map(|_| random.unit()).collect();
    let near = |random: &mut Random, number: usize| {
        let noise = random.unit();
        let centre = &centres[number % centres.len()];
        normalised(std::array::from_fn(|at| centre[at] + noise[at]))
    };
    let vectors: Vec<_> = (0..2_000).map(|number| near(&mut random, number)).collect();
    let queries: Vec<_> = (0..60).map(|number| near(&mut random, number)).collect();
    let share = agreement(&vectors, &queries);
    assert!(share >= 0.98, "top-10 agreement {share}");
}

#[test]
fn bytes_round_trip_and_bad_bytes_are_refused() {
    let vector = QuantizedVector::from_f32(&Random(3).unit());
    let bytes = vector.to_bytes();
    assert_eq!(bytes.len(), VECTOR_BYTES);
    assert_eq!(QuantizedVector::from_bytes(&bytes), Ok(vector));
    assert_eq!(
        QuantizedVector::from_bytes(&bytes[1..]),
        Err(VectorError::Length {
            expected: VECTOR_BYTES,
            found: VECTOR_BYTES - 1
        })
    );
    for scale in [f32::NAN, f32::INFINITY, -1.0] {
        let mut bytes = bytes;
        bytes[..4].copy_from_slice(&scale.to_le_bytes());
        assert_eq!(QuantizedVector::from_bytes(&bytes), Err(VectorError::Scale));
    }
    assert_eq!(
        QuantizedVector::from_slice(&[1.0; 3]),
        Err(VectorError::Length {
            expected: DIMENSIONS,
            found: 3
        })
    );
}

#[test]
fn a_vector_is_near_itself_whatever_its_length() {
    let unit = Random(4).unit();
    let long = unit.map(|value| value * 1e20);
    let vector = QuantizedVector::from_f32(&long);
    assert!((vector.dot(&unit) - 1.0).abs() < 1e-3);
    assert!((QuantizedVector::from_f32(&unit).dot(&unit) - 1.0).abs() < 1e-3);
    assert!(
        QuantizedVector::from_f32(&[0.0; DIMENSIONS])
            .dot(&unit)
            .abs()
            < f32::EPSILON
    );
    assert!(
        QuantizedVector::from_f32(&[f32::NAN; DIMENSIONS])
            .dot(&unit)
            .abs()
            < f32::EPSILON
    );
}

fn integers() -> impl Strategy<Value = [i8; DIMENSIONS]> {
    prop_oneof![
        prop::collection::vec(any::<i8>(), DIMENSIONS),
        Just(vec![i8::MIN; DIMENSIONS]),
        Just(vec![i8::MAX; DIMENSIONS]),
    ]
    .prop_map(|values| std::array::from_fn(|at| values[at]))
}

proptest! {
    #[test]
    fn every_kernel_gives_the_same_integer(left in integers(), right in integers()) {
        let expected: i64 = left
            .iter()
            .zip(&right)
            .map(|(a, b)| i64::from(*a) * i64::from(*b))
            .sum();
        for kernel in [Kernel::Scalar, Kernel::Avx2, Kernel::Simd128] {
            prop_assert_eq!(i64::from(dot_i8(kernel, &left, &right)), expected, "{:?}", kernel);
        }
    }
}
