//! Quantised sentence vectors and the flat store that is scanned exactly.

use crate::kernel::{self, Kernel};

/// Numbers in one sentence vector (all-MiniLM-L6-v2).
pub const DIMENSIONS: usize = 384;
/// Bytes of a serialised [`QuantizedVector`]: the scale (`f32`, little endian), then the values.
pub const VECTOR_BYTES: usize = 4 + DIMENSIONS;

/// Why bytes or numbers are not a vector.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum VectorError {
    /// The input has the wrong length.
    #[error("a vector is {expected} long, this is {found}")]
    Length {
        /// What a vector needs.
        expected: usize,
        /// What came.
        found: usize,
    },
    /// The scale is negative, infinite or not a number.
    #[error("a vector's scale must be a finite number that is not negative")]
    Scale,
}

/// A unit vector in 8-bit integers with one scale: component `i` is `scale × values[i]`.
///
/// Symmetric quantisation: `scale = max |component| / 127`, rounding half away from zero. Against
/// the `f32` vector a dot product of two unit vectors is off by about `3e-4`.
#[derive(Clone, Debug, PartialEq)]
pub struct QuantizedVector {
    scale: f32,
    values: [i8; DIMENSIONS],
}

impl QuantizedVector {
    /// Scales `vector` to unit length and quantises it. Components that are not finite count as
    /// zero, and the zero vector stays zero (its cosine with everything is 0).
    pub fn from_f32(vector: &[f32; DIMENSIONS]) -> Self {
        let unit = unit(vector);
        let largest = unit.iter().fold(0.0_f32, |max, value| max.max(value.abs()));
        let scale = largest / 127.0;
        let mut values = [0; DIMENSIONS];
        if scale > 0.0 {
            for (value, component) in values.iter_mut().zip(&unit) {
                *value = (component / scale).round().clamp(-127.0, 127.0) as i8;
            }
        }
        Self { scale, values }
    }

    /// As [`Self::from_f32`], for a slice of unknown length.
    pub fn from_slice(vector: &[f32]) -> Result<Self, VectorError> {
        let vector = vector.try_into().map_err(|_| VectorError::Length {
            expected: DIMENSIONS,
            found: vector.len(),
        })?;
        Ok(Self::from_f32(vector))
    }

    /// The stored form, [`VECTOR_BYTES`] long.
    pub fn to_bytes(&self) -> [u8; VECTOR_BYTES] {
        let mut bytes = [0; VECTOR_BYTES];
        bytes[..4].copy_from_slice(&self.scale.to_le_bytes());
        for (byte, value) in bytes[4..].iter_mut().zip(&self.values) {
            *byte = value.to_le_bytes()[0];
        }
        bytes
    }

    /// Reads what [`Self::to_bytes`] wrote.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, VectorError> {
        let bytes: &[u8; VECTOR_BYTES] = bytes.try_into().map_err(|_| VectorError::Length {
            expected: VECTOR_BYTES,
            found: bytes.len(),
        })?;
        let scale = f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        if !scale.is_finite() || scale < 0.0 {
            return Err(VectorError::Scale);
        }
        let mut values = [0; DIMENSIONS];
        for (value, byte) in values.iter_mut().zip(&bytes[4..]) {
            *value = i8::from_le_bytes([*byte]);
        }
        Ok(Self { scale, values })
    }

    /// What one step of [`Self::values`] is worth.
    pub fn scale(&self) -> f32 {
        self.scale
    }

    /// The integer components.
    pub fn values(&self) -> &[i8; DIMENSIONS] {
        &self.values
    }

    /// Dot product with an `f32` query: the cosine, up to quantisation, when the query is a unit
    /// vector. The order of additions is fixed, so every machine gives the same bits.
    pub fn dot(&self, query: &[f32; DIMENSIONS]) -> f32 {
        dot_f32(query, &self.values) * self.scale
    }
}

/// Eight running sums: fixed order for equal bits everywhere, and wide enough to vectorise.
fn dot_f32(query: &[f32; DIMENSIONS], values: &[i8; DIMENSIONS]) -> f32 {
    let mut sums = [0.0_f32; 8];
    for (query, values) in query
        .as_chunks::<8>()
        .0
        .iter()
        .zip(values.as_chunks::<8>().0)
    {
        for lane in 0..8 {
            sums[lane] += query[lane] * f32::from(values[lane]);
        }
    }
    sums.iter().sum()
}

/// `vector` at unit length; what is not finite counts as zero.
pub(crate) fn unit(vector: &[f32; DIMENSIONS]) -> [f32; DIMENSIONS] {
    let mut unit = vector.map(|value| if value.is_finite() { value } else { 0.0 });
    // f64, so that neither huge nor tiny components lose the norm.
    let norm = unit
        .iter()
        .map(|value| f64::from(*value) * f64::from(*value))
        .sum::<f64>()
        .sqrt();
    if norm > 0.0 {
        for value in &mut unit {
            *value = (f64::from(*value) / norm) as f32;
        }
    }
    unit
}

/// A query vector, ready for the scan and for exact scores.
pub(crate) struct Probe {
    exact: [f32; DIMENSIONS],
    coarse: QuantizedVector,
}

impl Probe {
    /// `None` when the slice is no usable vector (wrong length or nothing but zeros): a query
    /// never fails because of its vector.
    pub(crate) fn new(vector: &[f32]) -> Option<Self> {
        let exact = unit(vector.try_into().ok()?);
        let coarse = QuantizedVector::from_f32(&exact);
        (coarse.scale > 0.0).then_some(Self { exact, coarse })
    }
}

/// Rows of `int8` vectors in one contiguous block. Removing moves the last row into the gap, so
/// the block never holds dead rows and the scan never skips.
#[derive(Clone, Debug)]
pub(crate) struct VectorStore {
    kernel: Kernel,
    rows: Vec<[i8; DIMENSIONS]>,
    scales: Vec<f32>,
    /// Which slot of the index a row belongs to.
    owners: Vec<u32>,
}

impl VectorStore {
    pub(crate) fn new() -> Self {
        Self {
            kernel: Kernel::detect(),
            rows: Vec::new(),
            scales: Vec::new(),
            owners: Vec::new(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Appends a row and returns its number.
    pub(crate) fn push(&mut self, owner: u32, vector: &QuantizedVector) -> u32 {
        self.rows.push(vector.values);
        self.scales.push(vector.scale);
        self.owners.push(owner);
        (self.rows.len() - 1) as u32
    }

    pub(crate) fn replace(&mut self, row: u32, vector: &QuantizedVector) {
        self.rows[row as usize] = vector.values;
        self.scales[row as usize] = vector.scale;
    }

    /// Removes a row. Returns the owner of the row that moved into its place, if one did.
    pub(crate) fn swap_remove(&mut self, row: u32) -> Option<u32> {
        let row = row as usize;
        self.rows.swap_remove(row);
        self.scales.swap_remove(row);
        self.owners.swap_remove(row);
        self.owners.get(row).copied()
    }

    pub(crate) fn set_owner(&mut self, row: u32, owner: u32) {
        self.owners[row as usize] = owner;
    }

    /// Approximate cosine of every row, as `(owner, cosine)`, by the integer scan.
    pub(crate) fn scan(&self, probe: &Probe) -> impl Iterator<Item = (u32, f32)> {
        let mut dots = vec![0; self.rows.len()];
        kernel::scan(self.kernel, &probe.coarse.values, &self.rows, &mut dots);
        dots.into_iter()
            .zip(&self.scales)
            .zip(&self.owners)
            .map(|((dot, scale), owner)| (*owner, dot as f32 * scale * probe.coarse.scale))
    }

    /// Cosine of one row with the unquantised query.
    pub(crate) fn exact(&self, row: u32, probe: &Probe) -> f32 {
        dot_f32(&probe.exact, &self.rows[row as usize]) * self.scales[row as usize]
    }
}
