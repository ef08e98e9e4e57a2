//! What a replica has: for each device's log in an audience, the highest number in a row.

use std::collections::BTreeMap;

use lore_seal::{Audience, DeviceId};
use serde::{Deserialize, Serialize};

/// The most streams of one cursor: 256 members, each in `table`, `keeper` and its private audience,
/// with room to spare.
pub const MAX_STREAMS: usize = 1024;

/// One device's log in one audience.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Stream {
    /// Who reads it.
    pub audience: Audience,
    /// Who writes it.
    pub device: DeviceId,
}

/// A version vector: stream → highest number in a row. Streams that are not in it stand at 0.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cursor(BTreeMap<Stream, u64>);

impl Cursor {
    /// The cursor of a replica that has nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// The highest number in a row of this stream, 0 for none.
    pub fn get(&self, stream: Stream) -> u64 {
        self.0.get(&stream).copied().unwrap_or(0)
    }

    /// Raises one stream to `number`; never lowers it. Whether anything changed.
    pub fn advance(&mut self, stream: Stream, number: u64) -> bool {
        if number <= self.get(stream) {
            return false;
        }
        self.0.insert(stream, number);
        true
    }

    /// Raises every stream to the other's number. Whether anything changed.
    pub fn merge(&mut self, other: &Self) -> bool {
        other.iter().fold(false, |changed, (stream, number)| {
            self.advance(stream, number) || changed
        })
    }

    /// Whether nothing in `other` is missing here.
    pub fn covers(&self, other: &Self) -> bool {
        other
            .iter()
            .all(|(stream, number)| self.get(stream) >= number)
    }

    /// How many envelopes are here and not in `other`.
    pub fn surplus(&self, other: &Self) -> u64 {
        self.iter().fold(0_u64, |sum, (stream, number)| {
            sum.saturating_add(number.saturating_sub(other.get(stream)))
        })
    }

    /// Keeps only the streams for which `keep` says so.
    pub fn retain(&mut self, mut keep: impl FnMut(Stream, u64) -> bool) {
        self.0.retain(|stream, number| keep(*stream, *number));
    }

    /// Every stream and its number, in order.
    pub fn iter(&self) -> impl Iterator<Item = (Stream, u64)> + '_ {
        self.0.iter().map(|(stream, number)| (*stream, *number))
    }

    /// How many streams are in it.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether it has nothing.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether it is one that a replica would send: not too many streams, no zero, no number
    /// beyond a signed 64-bit integer.
    pub(crate) fn is_sound(&self) -> bool {
        self.len() <= MAX_STREAMS
            && self
                .0
                .values()
                .all(|number| (1..=i64::MAX as u64).contains(number))
    }
}

impl FromIterator<(Stream, u64)> for Cursor {
    fn from_iter<T: IntoIterator<Item = (Stream, u64)>>(iter: T) -> Self {
        let mut cursor = Self::new();
        for (stream, number) in iter {
            cursor.advance(stream, number);
        }
        cursor
    }
}
