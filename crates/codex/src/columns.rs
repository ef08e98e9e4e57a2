//! The size of an encoded change, before Automerge unfolds it.
//!
//! The operations of a change are columns of run lengths
//! (<https://automerge.org/automerge-binary-format-spec/>): a few bytes can stand for any number of
//! them. This walks the columns without unfolding them, counts what they stand for, and sees that
//! they name no actor that the change does not list.

use crate::limits;

/// A reader of LEB128 numbers and bytes. `None` is the end, or a number beyond 64 bits.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, count: u64) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(usize::try_from(count).ok()?)?;
        self.0 = rest;
        Some(taken)
    }

    fn unsigned(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = *self.take(1)?.first()?;
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                return None;
            }
            value |= bits << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    fn signed(&mut self) -> Option<i64> {
        let mut value = 0_i64;
        for shift in (0..64).step_by(7) {
            let byte = *self.take(1)?.first()?;
            value |= i64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                if byte & 0x40 != 0 && shift + 7 < 64 {
                    value |= -1 << (shift + 7);
                }
                return Some(value);
            }
        }
        None
    }
}

/// What a column holds: the low three bits of its specification.
const ACTOR: u64 = 1;
const DELTA: u64 = 3;
const BOOLEAN: u64 = 4;
const STRING: u64 = 5;
const VALUE: u64 = 7;

/// Whether the change in `body` (a chunk without its header) unfolds into no more than
/// [`limits::CHANGE_OPS`] values in any column, and names only actors that it lists.
pub(crate) fn bounded(body: &[u8]) -> bool {
    walk(&mut Reader(body)).is_some()
}

fn walk(reader: &mut Reader<'_>) -> Option<()> {
    let dependencies = reader.unsigned()?;
    reader.take(dependencies.checked_mul(32)?)?;
    let actor = reader.unsigned()?;
    reader.take(actor)?;
    for _ in 0..2 {
        reader.unsigned()?;
    }
    reader.signed()?;
    let message = reader.unsigned()?;
    reader.take(message)?;
    let others = reader.unsigned()?;
    for _ in 0..others {
        let actor = reader.unsigned()?;
        reader.take(actor)?;
    }
    let count = reader.unsigned()?;
    let mut columns = Vec::new();
    for _ in 0..count {
        columns.push((reader.unsigned()?, reader.unsigned()?));
    }
    for (specification, length) in columns {
        let mut column = Reader(reader.take(length)?);
        match specification & 7 {
            VALUE => {}
            BOOLEAN => booleans(&mut column)?,
            kind => runs(&mut column, kind, others)?,
        }
    }
    Some(())
}

fn within(total: &mut u64, more: u64) -> Option<()> {
    *total = total.checked_add(more)?;
    (*total <= limits::CHANGE_OPS as u64).then_some(())
}

fn booleans(column: &mut Reader<'_>) -> Option<()> {
    let mut total = 0;
    while !column.0.is_empty() {
        within(&mut total, column.unsigned()?)?;
    }
    Some(())
}

fn runs(column: &mut Reader<'_>, kind: u64, others: u64) -> Option<()> {
    let mut total = 0;
    while !column.0.is_empty() {
        let run = column.signed()?;
        let (values, count) = match run {
            0 => (0, column.unsigned()?),
            1.. => (1, run.unsigned_abs()),
            _ => (run.unsigned_abs(), run.unsigned_abs()),
        };
        within(&mut total, count)?;
        for _ in 0..values {
            match kind {
                STRING => {
                    let length = column.unsigned()?;
                    column.take(length)?;
                }
                DELTA => {
                    column.signed()?;
                }
                ACTOR => {
                    if column.unsigned()? > others {
                        return None;
                    }
                }
                _ => {
                    column.unsigned()?;
                }
            }
        }
    }
    Some(())
}
