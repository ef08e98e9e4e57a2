//! One entry as one Automerge document: created, loaded, saved, merged.
//!
//! The document is a map with the plain fields under their names, `body` as a text whose indices
//! are UTF-16 code units, and the members of the sets as keys of that same map, each under its
//! set's prefix with the value `true`. A set made of keys is add-wins (removing a member deletes
//! only the additions that the author had seen), needs no object of its own, and two replicas can
//! never create it twice. A cleared plain field holds `null`, not a deletion, so that clearing it
//! concurrently with another value is a contest like any other.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use automerge::transaction::{CommitOptions, Transactable, Transaction};
use automerge::{
    Automerge, AutomergeError, Change, ChangeHash, LoadOptions, ObjType, PatchLog, ROOT, ReadDoc,
    TextEncoding,
};

use crate::change::{self, ChangeError};
use crate::entry::Entry;
use crate::fields::{Draft, FieldError, FieldName, PlainField};
use crate::fit::Ground;
use crate::ids::{AuthorId, EntryId, Revision};
use crate::limits;
use crate::read;

/// The key of the body.
pub(crate) const BODY: &str = "body";
/// The prefix of a thread's key.
pub(crate) const THREAD: &str = "thread/";
/// The prefix of an alias's key.
pub(crate) const ALIAS: &str = "alias/";
/// The prefix of a source's key.
pub(crate) const SOURCE: &str = "from/";

/// The version of the saved form.
const SAVED_VERSION: u8 = 1;

/// One entry, with its whole history.
#[derive(Debug, Clone)]
pub struct EntryDoc {
    id: EntryId,
    pub(crate) doc: Automerge,
    /// Changes whose dependencies have not arrived.
    waiting: BTreeMap<ChangeHash, Change>,
    stamps: Option<Stamps>,
    /// What changes may build on; made when the first one comes from elsewhere.
    ground: Option<Ground>,
    /// Heads of states seen lately, the latest last.
    seen: VecDeque<(Revision, Vec<ChangeHash>)>,
}

/// Who made a change and when; ordered by time, then by the change's hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Stamp {
    pub(crate) at: i64,
    hash: ChangeHash,
    pub(crate) by: AuthorId,
}

/// The first and the latest change.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stamps {
    pub(crate) created: Stamp,
    pub(crate) updated: Stamp,
}

impl Stamps {
    /// Counts one more change in; one that builds on nothing is a candidate for the first.
    pub(crate) fn count(stamps: Option<Self>, stamp: Stamp, is_root: bool) -> Self {
        match stamps {
            None => Self {
                created: stamp,
                updated: stamp,
            },
            Some(Self { created, updated }) => Self {
                created: if is_root { created.min(stamp) } else { created },
                updated: updated.max(stamp),
            },
        }
    }
}

impl Stamp {
    pub(crate) fn new(at: i64, hash: ChangeHash, actor: &[u8]) -> Option<Self> {
        AuthorId::from_actor(actor).map(|by| Self { at, hash, by })
    }
}

/// Why a document cannot be created, loaded or changed.
#[derive(Debug, thiserror::Error)]
pub enum DocError {
    /// A value does not fit its field.
    #[error(transparent)]
    Field(#[from] FieldError),
    /// A change that arrived cannot be taken; nothing was changed.
    #[error(transparent)]
    Change(#[from] ChangeError),
    /// More changes came at once than [`limits::CHANGES_PER_APPLY`]; nothing was changed.
    #[error("{count} changes at once, more than {}", limits::CHANGES_PER_APPLY)]
    TooManyChanges {
        /// How many came.
        count: usize,
    },
    /// More changes would wait for others than [`limits::WAITING_CHANGES`] or
    /// [`limits::WAITING_BYTES`] allow; nothing was changed.
    #[error("too many changes of one entry wait for others")]
    TooManyWaiting,
    /// The saved form is of a newer version than this program knows. It was left as it is.
    #[error("the entry was saved by a newer version (form {found}, known {SAVED_VERSION})")]
    Newer {
        /// The version found.
        found: u8,
    },
    /// The saved form is damaged.
    #[error("the saved entry is damaged: {reason}")]
    Damaged {
        /// What is wrong with it.
        reason: String,
    },
    /// The document store failed in a way that no input should cause; nothing was changed.
    #[error("the document failed: {0}")]
    Store(#[from] AutomergeError),
}

// By value, so that it can be given to `map_err` as it is.
#[allow(clippy::needless_pass_by_value)]
fn damaged(reason: impl ToString) -> DocError {
    DocError::Damaged {
        reason: reason.to_string(),
    }
}

/// What became of changes that arrived.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Applied {
    /// Changes that became part of the entry, among them ones that had waited.
    pub new: usize,
    /// Changes that wait for others, in all.
    pub waiting: usize,
    /// Changes that were dropped for good because they do not fit what they build on: nothing
    /// that this crate writes does that.
    pub refused: usize,
    /// The fields whose shown values changed. Empty when nothing that users see has changed, even
    /// though `new` may be above zero.
    pub changed: BTreeSet<FieldName>,
}

impl EntryDoc {
    /// A document in which nothing has arrived yet.
    pub fn empty(id: EntryId) -> Self {
        Self::around(
            id,
            Automerge::new_with_encoding(TextEncoding::Utf16CodeUnit),
        )
    }

    fn around(id: EntryId, doc: Automerge) -> Self {
        Self {
            id,
            doc,
            waiting: BTreeMap::new(),
            stamps: None,
            ground: None,
            seen: VecDeque::new(),
        }
    }

    /// A new entry by `by` at `now_ms`, and its first change, to be sent to the others.
    pub fn create(
        id: EntryId,
        draft: &Draft,
        by: AuthorId,
        now_ms: i64,
    ) -> Result<(Self, Vec<u8>), DocError> {
        draft.check()?;
        let mut entry = Self::empty(id);
        let change = entry.transact(None, by, now_ms, |tx| {
            tx.put(ROOT, PlainField::Kind.key(), draft.kind.as_str())?;
            tx.put(ROOT, PlainField::Title.key(), draft.title.as_str())?;
            for (field, value) in [
                (PlainField::When, &draft.when),
                (PlainField::Status, &draft.status),
            ] {
                if let Some(value) = value {
                    tx.put(ROOT, field.key(), value.as_str())?;
                }
            }
            for (prefix, members) in [
                (THREAD, &draft.threads),
                (ALIAS, &draft.aliases),
                (SOURCE, &draft.derived_from),
            ] {
                for member in members {
                    tx.put(ROOT, format!("{prefix}{member}"), true)?;
                }
            }
            let body = tx.put_object(ROOT, BODY, ObjType::Text)?;
            tx.splice_text(&body, 0, 0, &draft.body)
        })?;
        // A draft has a kind and a title, so there is always a change.
        let change = change.ok_or_else(|| damaged("the first change is empty"))?;
        Ok((entry, change))
    }

    /// The document in this saved form.
    pub fn load(id: EntryId, saved: &[u8]) -> Result<Self, DocError> {
        if saved.len() > limits::SAVED_BYTES {
            return Err(damaged("longer than any entry"));
        }
        let (&version, rest) = saved.split_first().ok_or_else(|| damaged("empty"))?;
        if version != SAVED_VERSION {
            return Err(DocError::Newer { found: version });
        }
        let (document, mut rest) = take_block(rest)?;
        let doc = Automerge::load_with_options(
            document,
            LoadOptions::new().text_encoding(TextEncoding::Utf16CodeUnit),
        )
        .map_err(damaged)?;
        let mut entry = Self::around(id, doc);
        entry.stamps = stamps_among(&entry.doc.get_changes_meta(&[]))?;
        while !rest.is_empty() {
            let (bytes, after) = take_block(rest)?;
            let change = change::parse(bytes).map_err(damaged)?;
            entry.waiting.insert(change.hash(), change);
            rest = after;
        }
        Ok(entry)
    }

    /// The saved form: a version byte, the Automerge document and the changes that wait, each
    /// after its length (`u32`, little-endian).
    pub fn save(&self) -> Vec<u8> {
        let mut out = vec![SAVED_VERSION];
        put_block(&mut out, &self.doc.save());
        for change in self.waiting.values() {
            put_block(&mut out, change.raw_bytes());
        }
        out
    }

    /// Its id.
    pub fn id(&self) -> EntryId {
        self.id
    }

    /// Whether nothing has arrived yet that could be shown.
    pub fn is_empty(&self) -> bool {
        self.stamps.is_none()
    }

    /// The token of the present state.
    pub fn revision(&self) -> Revision {
        Revision::of(&self.doc.get_heads())
    }

    /// The present state; `None` until the entry's first change has arrived.
    pub fn entry(&self) -> Option<Entry> {
        self.stamps
            .map(|stamps| read::entry(self.id, &self.doc, &self.doc.get_heads(), stamps))
    }

    /// The hashes of changes that others wait for, sorted: to be asked for.
    pub fn missing(&self) -> Vec<[u8; 32]> {
        let missing: BTreeSet<_> = self
            .waiting
            .values()
            .flat_map(Change::deps)
            .filter(|dep| !self.has(dep) && !self.waiting.contains_key(dep))
            .collect();
        missing.into_iter().map(|hash| hash.0).collect()
    }

    /// The encoded changes of the entry, each after the ones that it builds on.
    pub fn changes(&self) -> Vec<Vec<u8>> {
        encoded(&self.doc.get_changes(&[]))
    }

    /// The encoded changes that the state at `base` lacks; `None` if that state is not known.
    pub fn changes_since(&self, base: &Revision) -> Option<Vec<Vec<u8>>> {
        let heads = self.heads_of(base)?;
        Some(encoded(&self.doc.get_changes(&heads)))
    }

    /// Takes changes that arrived, in any order, any number of times.
    ///
    /// If any of them is damaged or beyond a limit, none is taken. A change that builds on one
    /// that is not here waits for it.
    pub fn apply(&mut self, changes: &[Vec<u8>]) -> Result<Applied, DocError> {
        if changes.len() > limits::CHANGES_PER_APPLY {
            return Err(DocError::TooManyChanges {
                count: changes.len(),
            });
        }
        let mut pool = BTreeMap::new();
        for bytes in changes {
            let change = change::parse(bytes)?;
            let hash = change.hash();
            if !self.has(&hash) && !self.waiting.contains_key(&hash) {
                pool.insert(hash, change);
            }
        }
        if pool.is_empty() {
            return Ok(Applied {
                waiting: self.waiting.len(),
                ..Applied::default()
            });
        }
        pool.extend(
            self.waiting
                .iter()
                .map(|(hash, change)| (*hash, change.clone())),
        );
        // Kept only if the changes are: whatever fails below, it is made anew.
        let mut ground = self.ground.take().unwrap_or_else(|| Ground::of(&self.doc));
        let (ready, refused) = self.take_ready(&mut pool, &mut ground);
        let bytes: usize = pool.values().map(|change| change.raw_bytes().len()).sum();
        if pool.len() > limits::WAITING_CHANGES || bytes > limits::WAITING_BYTES {
            return Err(DocError::TooManyWaiting);
        }
        let mut applied = Applied {
            new: ready.len(),
            waiting: pool.len(),
            refused,
            changed: BTreeSet::new(),
        };
        if !ready.is_empty() {
            let before = self.entry();
            self.remember_present();
            let mut stamps = self.stamps;
            for change in &ready {
                let stamp = Stamp::new(
                    change.timestamp(),
                    change.hash(),
                    change.actor_id().to_bytes(),
                )
                .ok_or(ChangeError::Author)?;
                stamps = Some(Stamps::count(stamps, stamp, change.deps().is_empty()));
            }
            self.doc.apply_changes(ready)?;
            self.stamps = stamps;
            if let Some(after) = self.entry() {
                applied.changed = match before {
                    Some(before) => after.differing(&before),
                    None => after.present_fields(),
                };
            }
        }
        self.ground = Some(ground);
        self.waiting = pool;
        Ok(applied)
    }

    /// Takes out of `pool` what can be applied now, each after the ones that it builds on, and
    /// counts what was dropped because it does not fit.
    fn take_ready(
        &self,
        pool: &mut BTreeMap<ChangeHash, Change>,
        ground: &mut Ground,
    ) -> (Vec<Change>, usize) {
        let mut unmet = BTreeMap::new();
        let mut dependents: BTreeMap<ChangeHash, Vec<ChangeHash>> = BTreeMap::new();
        let mut next = VecDeque::new();
        for (hash, change) in pool.iter() {
            let missing: BTreeSet<_> = change
                .deps()
                .iter()
                .filter(|dep| !self.has(dep))
                .copied()
                .collect();
            if missing.is_empty() {
                next.push_back(*hash);
            }
            unmet.insert(*hash, missing.len());
            for dep in missing {
                dependents.entry(dep).or_default().push(*hash);
            }
        }
        let mut ready = Vec::new();
        let mut refused = 0;
        while let Some(hash) = next.pop_front() {
            let Some(change) = pool.remove(&hash) else {
                continue;
            };
            if !ground.admit(&change) {
                refused += 1;
                continue;
            }
            ready.push(change);
            for dependent in dependents.remove(&hash).unwrap_or_default() {
                if let Some(count) = unmet.get_mut(&dependent) {
                    *count -= 1;
                    if *count == 0 {
                        next.push_back(dependent);
                    }
                }
            }
        }
        (ready, refused)
    }

    pub(crate) fn has(&self, hash: &ChangeHash) -> bool {
        self.doc.get_change_meta_by_hash(hash).is_some()
    }

    /// Makes one change at the present heads, or concurrent with what came after `heads`; `None`
    /// if `write` wrote nothing.
    pub(crate) fn transact(
        &mut self,
        heads: Option<&[ChangeHash]>,
        by: AuthorId,
        now_ms: i64,
        write: impl FnOnce(&mut Transaction<'_>) -> Result<(), AutomergeError>,
    ) -> Result<Option<Vec<u8>>, DocError> {
        self.remember_present();
        let at = now_ms.clamp(0, limits::LATEST_MS);
        self.doc.set_actor(by.actor());
        let mut tx = match heads {
            None => self.doc.transaction(),
            Some(heads) => self
                .doc
                .transaction_at(PatchLog::inactive(), heads)
                .map_err(AutomergeError::from)?,
        };
        if let Err(error) = write(&mut tx) {
            tx.rollback();
            return Err(error.into());
        }
        let (hash, _) = tx.commit_with(CommitOptions::default().with_time(at));
        let Some(hash) = hash else {
            return Ok(None);
        };
        let change = self
            .doc
            .get_change_by_hash(&hash)
            .ok_or(AutomergeError::MissingHash(hash))?;
        let stamp = Stamp { at, hash, by };
        self.stamps = Some(Stamps::count(self.stamps, stamp, change.deps().is_empty()));
        self.remember(vec![hash]);
        if let Some(ground) = &mut self.ground {
            ground.count(&change.decode());
        }
        Ok(Some(change.raw_bytes().to_vec()))
    }

    /// The state remembered last: after [`EntryDoc::transact`], the author's own branch.
    pub(crate) fn latest_branch(&self) -> Revision {
        self.seen
            .back()
            .map_or_else(|| self.revision(), |(revision, _)| *revision)
    }

    /// Keeps the present state resolvable.
    fn remember_present(&mut self) {
        let heads = self.doc.get_heads();
        if !heads.is_empty() {
            self.remember(heads);
        }
    }

    /// Keeps the state with these heads resolvable.
    fn remember(&mut self, heads: Vec<ChangeHash>) {
        let revision = Revision::of(&heads);
        self.seen.retain(|(seen, _)| *seen != revision);
        if self.seen.len() >= limits::STATES_SEEN {
            self.seen.pop_front();
        }
        self.seen.push_back((revision, heads));
    }

    /// The heads of a state: the present one, one seen lately, or a frontier of the history.
    pub(crate) fn heads_of(&self, revision: &Revision) -> Option<Vec<ChangeHash>> {
        let heads = self.doc.get_heads();
        if Revision::of(&heads) == *revision {
            return Some(heads);
        }
        if let Some((_, heads)) = self.seen.iter().find(|(seen, _)| seen == revision) {
            return Some(heads.clone());
        }
        crate::history::frontier(&self.doc, revision)
    }
}

/// The first and the latest of these changes.
fn stamps_among(metas: &[automerge::ChangeMetadata<'_>]) -> Result<Option<Stamps>, DocError> {
    let mut stamps = None;
    for meta in metas {
        let stamp = Stamp::new(meta.timestamp, meta.hash, meta.actor.to_bytes())
            .ok_or_else(|| damaged("a change by no author"))?;
        stamps = Some(Stamps::count(stamps, stamp, meta.deps.is_empty()));
    }
    Ok(stamps)
}

fn encoded(changes: &[Change]) -> Vec<Vec<u8>> {
    changes
        .iter()
        .map(|change| change.raw_bytes().to_vec())
        .collect()
}

fn put_block(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
    out.extend_from_slice(bytes);
}

fn take_block(bytes: &[u8]) -> Result<(&[u8], &[u8]), DocError> {
    let cut = || damaged("cut short");
    let (length, rest) = bytes.split_first_chunk::<4>().ok_or_else(cut)?;
    rest.split_at_checked(u32::from_le_bytes(*length) as usize)
        .ok_or_else(cut)
}
