//! Entries as Automerge documents: revise, merge, contested, history.
//!
//! An entry is one small document ([`EntryDoc`]) in which every change names its author and time.
//! Writes are conditional on a [`Revision`], or build on an older one and merge with what came
//! after it; changes from other replicas are taken in any order, any number of times, and replicas
//! that hold the same changes show the same [`Entry`]. Text merges character by character, sets
//! keep concurrent additions, and a plain field that got several values concurrently is
//! [`Contested`] until someone settles it.
//!
//! The crate is pure: time, ids and bytes are arguments.

mod batch;
mod change;
mod columns;
mod diff;
mod doc;
mod entry;
mod fields;
mod fit;
mod history;
mod ids;
pub mod limits;
mod read;
mod write;

pub use batch::{Batch, BatchError, BatchItem};
pub use change::{ChangeError, change_author};
pub use doc::{Applied, DocError, EntryDoc};
pub use entry::{Candidate, Contested, Entry};
pub use fields::{Draft, FieldError, FieldName, Kind, Patch, PlainField};
pub use history::Version;
pub use ids::{AuthorId, EntryId, IdError, Revision};
pub use write::{ReviseError, Splice, Spliced};
