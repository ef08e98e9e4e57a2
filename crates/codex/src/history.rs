//! What happened to an entry: who, when, what.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, HashMap};

use automerge::{Automerge, ChangeHash, ExpandedChange, PatchAction, ReadDoc};
use serde::Serialize;

use crate::doc::{ALIAS, BODY, EntryDoc, SOURCE, Stamp, Stamps, THREAD};
use crate::entry::Entry;
use crate::fields::{FieldName, PlainField};
use crate::ids::{AuthorId, Revision};
use crate::limits;
use crate::read;
use crate::write::Splice;

/// One change of an entry, and the state that it led to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Version {
    /// The state after this change and all those before it in the history; resolvable by
    /// [`EntryDoc::at`].
    pub revision: Revision,
    /// Who made it.
    pub by: AuthorId,
    /// When, ms since the epoch by the author's clock.
    pub at: i64,
    /// The fields that it wrote to.
    pub fields: BTreeSet<FieldName>,
    /// Characters that it put into the body.
    pub inserted: usize,
    /// Characters that it took out of the body.
    pub deleted: usize,
}

/// A change without its operations.
struct Node {
    stamp: Stamp,
    hash: ChangeHash,
    deps: Vec<ChangeHash>,
}

/// The changes of the document, each after the ones that it builds on and otherwise by time and
/// hash: the same order on every replica that holds the same changes.
fn ordered(doc: &Automerge) -> Vec<Node> {
    let mut nodes = HashMap::new();
    let mut dependents: HashMap<ChangeHash, Vec<ChangeHash>> = HashMap::new();
    let mut unmet = HashMap::new();
    let mut next = BinaryHeap::new();
    for meta in doc.get_changes_meta(&[]) {
        let Some(stamp) = Stamp::new(meta.timestamp, meta.hash, meta.actor.to_bytes()) else {
            continue;
        };
        for dep in &meta.deps {
            dependents.entry(*dep).or_default().push(meta.hash);
        }
        if meta.deps.is_empty() {
            next.push(Reverse((stamp, meta.hash)));
        }
        unmet.insert(meta.hash, meta.deps.len());
        nodes.insert(
            meta.hash,
            Node {
                stamp,
                hash: meta.hash,
                deps: meta.deps,
            },
        );
    }
    let mut order = Vec::with_capacity(nodes.len());
    while let Some(Reverse((_, hash))) = next.pop() {
        for dependent in dependents.remove(&hash).unwrap_or_default() {
            let (Some(count), Some(node)) = (unmet.get_mut(&dependent), nodes.get(&dependent))
            else {
                continue;
            };
            *count -= 1;
            if *count == 0 {
                next.push(Reverse((node.stamp, dependent)));
            }
        }
        order.extend(nodes.remove(&hash));
    }
    order
}

/// The frontiers of the history's order: the heads after each change.
fn frontiers(order: &[Node]) -> impl Iterator<Item = Vec<ChangeHash>> {
    let mut heads = BTreeSet::new();
    order.iter().map(move |node| {
        for dep in &node.deps {
            heads.remove(dep);
        }
        heads.insert(node.hash);
        heads.iter().copied().collect()
    })
}

/// The heads of the frontier with this revision.
pub(crate) fn frontier(doc: &Automerge, revision: &Revision) -> Option<Vec<ChangeHash>> {
    frontiers(&ordered(doc)).find(|heads| Revision::of(heads) == *revision)
}

impl EntryDoc {
    /// The latest versions, at most [`limits::HISTORY_DEPTH`], the latest last: each after the ones
    /// that it builds on, and otherwise by time.
    pub fn history(&self) -> Vec<Version> {
        let order = ordered(&self.doc);
        let skip = order.len().saturating_sub(limits::HISTORY_DEPTH);
        order
            .iter()
            .zip(frontiers(&order))
            .skip(skip)
            .map(|(node, heads)| {
                let mut version = Version {
                    revision: Revision::of(&heads),
                    by: node.stamp.by,
                    at: node.stamp.at,
                    fields: BTreeSet::new(),
                    inserted: 0,
                    deleted: 0,
                };
                if let Some(change) = self.doc.get_change_by_hash(&node.hash) {
                    describe(&change.decode(), &mut version);
                }
                version
            })
            .collect()
    }

    /// The entry as it was at `revision`; `None` if that state is not known here.
    pub fn at(&self, revision: &Revision) -> Option<Entry> {
        let heads = self.heads_of(revision)?;
        let stamps = self.stamps_at(&heads)?;
        Some(read::entry(self.id(), &self.doc, &heads, stamps))
    }

    /// The splices that lead from the body at `from` to the body at `to`, each in the coordinates
    /// of the text that the ones before it have left; `None` if a state is not known here.
    pub fn body_splices(&self, from: &Revision, to: &Revision) -> Option<Vec<Splice>> {
        let (from, to) = (self.heads_of(from)?, self.heads_of(to)?);
        let Some(id) = read::body_id(&self.doc, &to) else {
            return Some(Vec::new());
        };
        let patches = self.doc.diff_obj(&id, &from, &to, false).ok()?;
        let splices = patches.into_iter().filter_map(|patch| match patch.action {
            PatchAction::SpliceText { index, value, .. } => Some(Splice {
                at: index,
                delete: 0,
                insert: value.make_string(),
            }),
            PatchAction::DeleteSeq { index, length } => Some(Splice {
                at: index,
                delete: length,
                insert: String::new(),
            }),
            _ => None,
        });
        Some(splices.collect())
    }

    /// The first and latest of the changes behind these heads.
    fn stamps_at(&self, heads: &[ChangeHash]) -> Option<Stamps> {
        let mut seen: BTreeSet<ChangeHash> = heads.iter().copied().collect();
        let mut next: Vec<ChangeHash> = heads.to_vec();
        let mut stamps = None;
        while let Some(hash) = next.pop() {
            let meta = self.doc.get_change_meta_by_hash(&hash)?;
            let stamp = Stamp::new(meta.timestamp, hash, meta.actor.to_bytes())?;
            stamps = Some(Stamps::count(stamps, stamp, meta.deps.is_empty()));
            next.extend(meta.deps.iter().filter(|dep| seen.insert(**dep)));
        }
        stamps
    }
}

/// Says what a change wrote, from its operations alone.
fn describe(change: &ExpandedChange, version: &mut Version) {
    use automerge::legacy::{Key, ObjectId, OpType};
    for op in &change.operations {
        match (&op.obj, &op.key) {
            (ObjectId::Root, Key::Map(key)) => {
                version.fields.extend(field_of(key));
            }
            (ObjectId::Id(_), Key::Seq(_)) => {
                version.fields.insert(FieldName::Body);
                if op.insert {
                    version.inserted += 1;
                } else if op.action == OpType::Delete {
                    version.deleted += 1;
                }
            }
            _ => {}
        }
    }
}

/// The field that a key of the document belongs to. The body's own key is written once, with the
/// entry, and says nothing about its text.
fn field_of(key: &str) -> Option<FieldName> {
    if key == BODY {
        return None;
    }
    if let Some(field) = PlainField::ALL.into_iter().find(|field| field.key() == key) {
        return Some(field.name());
    }
    [
        (THREAD, FieldName::Threads),
        (ALIAS, FieldName::Aliases),
        (SOURCE, FieldName::DerivedFrom),
    ]
    .into_iter()
    .find_map(|(prefix, field)| key.starts_with(prefix).then_some(field))
}
