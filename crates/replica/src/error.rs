//! What can go wrong, per operation.

use lore_codex::EntryId;
use lore_seal::{Audience, CampaignId};
use thiserror::Error;

/// Why a codex file could not be opened. The file is left as it was.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum OpenError {
    /// A SQLite file of some other program.
    #[error("this file is not a codex; choose another file")]
    NotACodex,
    /// Written by a newer program.
    #[error(
        "this codex was written by a newer version (format {found}, this program knows {known}); \
         update the program, the file was left as it is"
    )]
    Newer {
        /// The file's format.
        found: i32,
        /// The newest format that this program knows.
        known: i32,
    },
    /// SQLite failed: the disk, the permissions, a torn file.
    #[error("the codex file could not be opened: {0}")]
    Sqlite(#[from] rusqlite::Error),
    /// The file's own identity is damaged.
    #[error("the codex file is damaged: {0}")]
    Damaged(String),
}

/// Why the store failed underneath an operation. Nothing of the operation was kept.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StoreError {
    /// SQLite failed; a full disk ends here.
    #[error("the codex could not be written or read: {0}; free some space and try again")]
    Sqlite(#[from] rusqlite::Error),
    /// A stored document, statement or view does not decode.
    #[error("the codex holds a damaged record ({0}); nothing was changed")]
    Damaged(String),
    /// The campaign is not in this codex.
    #[error("campaign {0} is not in this codex")]
    NoCampaign(CampaignId),
}

/// Why a write was not made. Nothing was changed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The store failed underneath.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The entry is not in this codex.
    #[error("entry {0} is not in this codex; list or recall to find its id")]
    NoEntry(EntryId),
    /// A value is outside its limit.
    #[error("{0}")]
    Invalid(String),
    /// This device may not write there.
    #[error("this device may not write for {audience:?} in this campaign; ask the keeper")]
    Forbidden {
        /// The audience that was meant.
        audience: Audience,
    },
    /// The sealed change would be larger than an envelope may be.
    #[error("the change is too large to seal; split the text over several entries")]
    TooLarge,
}

impl From<rusqlite::Error> for WriteError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Store(error.into())
    }
}

/// Why an invitation could not be made or taken.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TableError {
    /// The store failed underneath.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Not a link of ours.
    #[error("this is not an invitation: {0}; copy the whole link, with the part after #")]
    BadLink(String),
    /// The campaign's statements contradict the invitation.
    #[error("this invitation can no longer be used: {0}; ask the keeper for a new one")]
    Refused(String),
    /// Only a keeper may do this.
    #[error("only a keeper of the campaign may do this")]
    KeeperOnly,
    /// The campaign has not been opened to a table.
    #[error("open the campaign to a table first")]
    Solo,
}

impl From<rusqlite::Error> for TableError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Store(error.into())
    }
}
