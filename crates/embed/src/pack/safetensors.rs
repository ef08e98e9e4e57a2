//! As much of the safetensors format as one model needs: a JSON table of named `f32` tensors
//! before their bytes.

use serde_json::Value;

use super::PackError;

/// A tensor file, its table read.
pub(super) struct Tensors<'a> {
    table: serde_json::Map<String, Value>,
    data: &'a [u8],
}

impl<'a> Tensors<'a> {
    /// Reads the table: its length in 8 bytes, little-endian, then JSON.
    pub(super) fn parse(file: &'a [u8]) -> Result<Self, PackError> {
        let (length, rest) = file
            .split_first_chunk()
            .ok_or_else(|| malformed("too short"))?;
        let (table, data) = usize::try_from(u64::from_le_bytes(*length))
            .ok()
            .and_then(|length| rest.split_at_checked(length))
            .ok_or_else(|| malformed("table longer than the file"))?;
        let table = serde_json::from_slice(table)
            .map_err(|error| PackError::Malformed(error.to_string()))?;
        Ok(Self { table, data })
    }

    /// The numbers of a tensor, of which there must be `len`.
    pub(super) fn get(&self, name: &str, len: usize) -> Result<Vec<f32>, PackError> {
        let bytes = self.table.get(name).and_then(|entry| {
            let offset = |i: usize| usize::try_from(entry["data_offsets"][i].as_u64()?).ok();
            let bytes = self.data.get(offset(0)?..offset(1)?)?;
            (entry["dtype"] == "F32" && bytes.len() == len * 4).then_some(bytes)
        });
        let bytes = bytes.ok_or_else(|| PackError::NoTensor {
            name: name.to_owned(),
            len,
        })?;
        Ok(bytes
            .as_chunks::<4>()
            .0
            .iter()
            .map(|number| f32::from_le_bytes(*number))
            .collect())
    }
}

fn malformed(why: &str) -> PackError {
    PackError::Malformed(why.to_owned())
}
