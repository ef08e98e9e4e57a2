//! Encoded changes from elsewhere: read with care before a document sees them.

use automerge::Change;

use crate::columns;
use crate::ids::AuthorId;
use crate::limits;

/// Why a change cannot be taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChangeError {
    /// It is longer than [`limits::CHANGE_BYTES`].
    #[error("a change of {bytes} bytes, more than {}", limits::CHANGE_BYTES)]
    TooLong {
        /// Its length.
        bytes: usize,
    },
    /// It is not the plain form of a change, or its bytes were damaged.
    #[error("the change is damaged: {reason}")]
    Damaged {
        /// What is wrong with it.
        reason: String,
    },
    /// Its author is none that a device of ours could be.
    #[error("the change names no author")]
    Author,
    /// Its time lies before 1970 or after the year 9999.
    #[error("the change's time is out of range")]
    Time,
}

/// The first bytes of every Automerge chunk.
const MAGIC: [u8; 4] = [0x85, 0x6f, 0x4a, 0x83];
/// The chunk type of an uncompressed change.
const PLAIN_CHANGE: u8 = 1;

// By value, so that it can be given to `map_err` as it is.
#[allow(clippy::needless_pass_by_value)]
fn damaged(reason: impl ToString) -> ChangeError {
    ChangeError::Damaged {
        reason: reason.to_string(),
    }
}

/// Who wrote an encoded change. Compare it with the device that signed the envelope.
pub fn change_author(bytes: &[u8]) -> Result<AuthorId, ChangeError> {
    let change = parse(bytes)?;
    AuthorId::from_actor(change.actor_id().to_bytes()).ok_or(ChangeError::Author)
}

/// Reads an encoded change. Only the plain form is taken: an envelope is compressed as a whole,
/// and a compressed change could inflate without limit.
pub(crate) fn parse(bytes: &[u8]) -> Result<Change, ChangeError> {
    if bytes.len() > limits::CHANGE_BYTES {
        return Err(ChangeError::TooLong { bytes: bytes.len() });
    }
    if bytes.get(..4) != Some(&MAGIC) || bytes.get(8) != Some(&PLAIN_CHANGE) {
        return Err(damaged("not a plain change"));
    }
    if !columns::bounded(body(bytes).unwrap_or_default()) {
        return Err(damaged("its operations cannot be counted, or are too many"));
    }
    let change = Change::try_from(bytes).map_err(damaged)?;
    // The checksum is the beginning of the change's hash; Automerge leaves comparing it to us.
    if bytes.get(4..8) != Some(&change.hash().0[..4]) {
        return Err(damaged("checksum"));
    }
    if AuthorId::from_actor(change.actor_id().to_bytes()).is_none() {
        return Err(ChangeError::Author);
    }
    if !(0..=limits::LATEST_MS).contains(&change.timestamp()) {
        return Err(ChangeError::Time);
    }
    let ascending = change.deps().windows(2).all(|pair| pair[0] < pair[1]);
    if !ascending || change.is_empty() || change.author().is_some() {
        return Err(damaged("not a change of ours"));
    }
    Ok(change)
}

/// What follows a chunk's header: the magic bytes, the checksum, the type and the length.
fn body(bytes: &[u8]) -> Option<&[u8]> {
    let length = bytes.get(9..)?;
    let end = length.iter().position(|byte| byte & 0x80 == 0)?;
    length.get(end + 1..)
}
