//! What an envelope carries: the plaintext of one device's news in one audience.

use serde::{Deserialize, Serialize};

use crate::ids::EntryId;
use crate::limits;

/// The version of the encoding.
const BATCH_VERSION: u8 = 1;

/// One piece of news.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum BatchItem {
    /// Changes of an entry.
    Changes {
        /// The entry.
        entry: EntryId,
        /// The encoded changes.
        changes: Vec<Vec<u8>>,
    },
    /// The entry is forgotten: it wins over every edit, concurrent or later, and the id never
    /// comes back.
    Forget {
        /// The entry.
        entry: EntryId,
        /// When, ms since the epoch by the author's clock.
        at: i64,
    },
    /// What the device's owner is called at this table.
    Profile {
        /// The name, 1 to [`limits::NAME_CHARS`] characters.
        name: String,
        /// Whether an agent writes with this device.
        agent: bool,
        /// When, ms since the epoch by the author's clock; the latest wins.
        at: i64,
    },
}

/// Why a batch cannot be encoded or decoded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BatchError {
    /// The batch is of a newer version than this program knows.
    #[error("a batch of a newer version ({found}, known {BATCH_VERSION})")]
    Newer {
        /// The version found.
        found: u8,
    },
    /// The bytes are no batch.
    #[error("the batch is damaged: {reason}")]
    Damaged {
        /// What is wrong with it.
        reason: String,
    },
    /// The batch is beyond a limit.
    #[error("the batch holds more than {limit} {what}")]
    TooMuch {
        /// What there is too much of.
        what: &'static str,
        /// The limit.
        limit: usize,
    },
}

/// The news in one envelope, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Batch(Vec<BatchItem>);

impl Batch {
    /// A batch of these items, if it is within its limits.
    pub fn new(items: Vec<BatchItem>) -> Result<Self, BatchError> {
        check(&items)?;
        Ok(Self(items))
    }

    /// The items.
    pub fn items(&self) -> &[BatchItem] {
        &self.0
    }

    /// The items.
    pub fn into_items(self) -> Vec<BatchItem> {
        self.0
    }

    /// The encoded batch: a version byte and [postcard](https://postcard.jamesmunns.com).
    pub fn encode(&self) -> Result<Vec<u8>, BatchError> {
        let bytes = postcard::to_extend(&self.0, vec![BATCH_VERSION]).map_err(damaged)?;
        if bytes.len() > limits::BATCH_BYTES {
            return Err(too_much("bytes", limits::BATCH_BYTES));
        }
        Ok(bytes)
    }

    /// The batch in these bytes.
    pub fn decode(bytes: &[u8]) -> Result<Self, BatchError> {
        if bytes.len() > limits::BATCH_BYTES {
            return Err(too_much("bytes", limits::BATCH_BYTES));
        }
        let (&version, rest) = bytes.split_first().ok_or_else(|| damaged("empty"))?;
        if version != BATCH_VERSION {
            return Err(BatchError::Newer { found: version });
        }
        let (items, rest) = postcard::take_from_bytes::<Vec<BatchItem>>(rest).map_err(damaged)?;
        if !rest.is_empty() {
            return Err(damaged("bytes left over"));
        }
        Self::new(items)
    }
}

// By value, so that it can be given to `map_err` as it is.
#[allow(clippy::needless_pass_by_value)]
fn damaged(reason: impl ToString) -> BatchError {
    BatchError::Damaged {
        reason: reason.to_string(),
    }
}

fn too_much(what: &'static str, limit: usize) -> BatchError {
    BatchError::TooMuch { what, limit }
}

fn check(items: &[BatchItem]) -> Result<(), BatchError> {
    if items.len() > limits::BATCH_ITEMS {
        return Err(too_much("items", limits::BATCH_ITEMS));
    }
    for item in items {
        match item {
            BatchItem::Changes { changes, .. } => {
                if changes.len() > limits::BATCH_CHANGES {
                    return Err(too_much("changes of an entry", limits::BATCH_CHANGES));
                }
            }
            BatchItem::Profile { name, .. } => {
                if name.chars().nth(limits::NAME_CHARS).is_some() {
                    return Err(too_much("characters in a name", limits::NAME_CHARS));
                }
            }
            BatchItem::Forget { .. } => {}
        }
    }
    Ok(())
}
