//! One SQLite file, one writer: documents, view, log, vectors, conditional writes.
//!
//! A [`Replica`] is all that one person's device or browser holds. Every write is one transaction,
//! durable before it is acknowledged; whatever is shown is derived and can be rebuilt. The same
//! code runs natively and in a browser's worker over the origin's private file system.
//!
//! * Writes of this device: [`Replica::record`], [`Replica::revise`], [`Replica::splice`],
//!   [`Replica::settle`], [`Replica::forget`].
//! * What others wrote: [`Replica::receive`], [`Replica::receive_statements`].
//! * Reads: [`Replica::list`], [`Replica::entry`], [`Replica::history`], [`Replica::recall`].
//! * [`Replica::take_events`]: what changed, for views.

mod campaigns;
mod documents;
mod error;
mod host;
mod index;
mod live;
mod log;
mod peer_store;
mod read;
mod rebuild;
mod receive;
mod replica;
mod sample;
mod schema;
mod view;
mod write;

pub use campaigns::{CAMPAIGNS_MAX, INVITATION_LIFE_MS, INVITATION_USES};
pub use error::{OpenError, StoreError, TableError, WriteError};
pub use host::Host;
pub use index::{
    EmbeddingProgress, INDEX_SLICE, PendingText, RECALL_LIMIT_DEFAULT, RECALL_LIMIT_MAX,
    WORDING_BYTES_MAX, WORDINGS_MAX,
};
pub use live::{Editing, LiveError, LiveSession, LiveState, PresentMember};
pub use lore_sample::Sample;
pub use peer_store::CampaignStore;
pub use read::{FACET_THREADS_MAX, LIST_LIMIT_DEFAULT, LIST_LIMIT_MAX};
pub use receive::Arrival;
pub use replica::{NAME_MAX, Replica};
pub use schema::{APPLICATION_ID, SCHEMA_VERSION};
pub use view::{
    AuthorView, CampaignView, CandidateView, ContestedView, DeliveryState, DeliveryView, EntryView,
    Event, Facets, HitView, KindCount, ListQuery, ListView, MemberView, RecallView, Scores,
    SpliceOutcome, ThreadCount, VersionView, Why, WriteOutcome,
};
