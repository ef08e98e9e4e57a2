//! The stated limits of an entry.
//!
//! Writes beyond a limit are refused with a typed error. What arrives from other replicas is
//! bounded per change ([`CHANGE_BYTES`], [`CHANGE_OPS`]); the merge of several writes that were
//! each within the limits may exceed a field's limit, and is kept: a replica that dropped part of
//! it would diverge from the others.

/// Characters (Unicode scalar values) in a title, at most. At least one is needed.
pub const TITLE_CHARS: usize = 200;
/// Bytes of UTF-8 in a body, at most.
pub const BODY_BYTES: usize = 256 * 1024;
/// Threads of one entry, at most.
pub const THREADS: usize = 64;
/// Aliases of one entry, at most.
pub const ALIASES: usize = 64;
/// Characters in one thread or alias, at most.
pub const LABEL_CHARS: usize = 80;
/// Characters in the in-world date or the status, at most.
pub const PHRASE_CHARS: usize = 120;
/// Sources that an entry is derived from, at most.
pub const SOURCES: usize = 32;
/// Characters in one source, at most.
pub const SOURCE_CHARS: usize = 200;
/// Characters in a kind's slug, at most.
pub const KIND_CHARS: usize = 32;
/// Bytes of one encoded change, at most: a whole body written at once is about its UTF-8 size.
pub const CHANGE_BYTES: usize = 768 * 1024;
/// Operations in one change, at most: a whole body replaced by another, a character each.
pub const CHANGE_OPS: usize = 2 * BODY_BYTES + 1024;
/// Changes that one call of `apply` takes, at most.
pub const CHANGES_PER_APPLY: usize = 16 * 1024;
/// Changes that wait for others to arrive, at most, in one entry.
pub const WAITING_CHANGES: usize = 1024;
/// Bytes of the changes that wait, at most, in one entry.
pub const WAITING_BYTES: usize = 4 * 1024 * 1024;
/// Versions that a history goes back, at most.
pub const HISTORY_DEPTH: usize = 4096;
/// States of an entry whose heads stay resolvable by revision even when they are no frontier of
/// the history's own order.
pub const STATES_SEEN: usize = 64;
/// Splices in one body edit, at most.
pub const SPLICES: usize = 1024;
/// Bytes of one saved document, at most.
pub const SAVED_BYTES: usize = 64 * 1024 * 1024;
/// Items in one batch, at most.
pub const BATCH_ITEMS: usize = 4096;
/// Changes in one batch item, at most.
pub const BATCH_CHANGES: usize = CHANGES_PER_APPLY;
/// Bytes of one encoded batch, at most: what an envelope may hold.
pub const BATCH_BYTES: usize = 4 * 1024 * 1024;
/// Characters in a profile's name, at most.
pub const NAME_CHARS: usize = 64;
/// The latest change time that is accepted, ms since the epoch: the end of the year 9999.
pub const LATEST_MS: i64 = 253_402_300_799_999;
