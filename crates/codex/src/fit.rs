//! Whether a change fits what it builds on.
//!
//! Automerge takes a well-formed change at its word: one that names an element, an object or a
//! predecessor that does not exist can stop the program, or leave a document that saves but does
//! not load. So each change from elsewhere is compared with what this crate itself would write;
//! what does not fit is dropped, on every replica alike.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use automerge::legacy::{ElementId, Key, ObjectId, Op, OpId, OpType};
use automerge::{ActorId, Automerge, Change, ChangeHash, ExpandedChange, ObjType, ScalarValue};

use crate::doc::{ALIAS, BODY, SOURCE, THREAD};
use crate::fields::PlainField;

/// The highest operation number that is taken. Automerge counts to 2^32; the half above stays free,
/// so that nobody can bring an entry to an end by one high number.
const HIGHEST_OP: u64 = 1 << 31;
/// Bytes in a key of the document, at most.
const KEY_BYTES: usize = 1024;
/// Bytes in one plain value, at most.
const VALUE_BYTES: usize = 4096;

/// What changes may build on: the document's operations, by name.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ground {
    /// Each actor's last change and last operation.
    last: HashMap<ActorId, (u64, u64)>,
    /// Each change's last operation.
    ends: HashMap<ChangeHash, u64>,
    /// The bodies' objects: one, unless two devices made up the same id.
    bodies: HashSet<OpId>,
    /// The elements of the bodies, in stretches of consecutive numbers, ascending.
    elements: HashMap<ActorId, Vec<(Range<u64>, OpId)>>,
    /// What was put under each key.
    puts: HashMap<String, HashSet<OpId>>,
}

impl Ground {
    /// What the document offers.
    pub(crate) fn of(doc: &Automerge) -> Self {
        let mut ground = Self::default();
        for change in doc.get_changes(&[]) {
            ground.count(&change.decode());
        }
        ground
    }

    /// Counts a change in if it fits.
    pub(crate) fn admit(&mut self, change: &Change) -> bool {
        let expanded = change.decode();
        let fits = self.fits(&expanded)
            // Whatever else its bytes could say would be lost on saving.
            && Change::from(expanded.clone()).raw_bytes() == change.raw_bytes();
        if fits {
            self.count(&expanded);
        }
        fits
    }

    /// Counts a change in that is known to fit.
    pub(crate) fn count(&mut self, change: &ExpandedChange) {
        for (op, number) in numbered(change) {
            let id = OpId::new(number, &change.actor_id);
            match (&op.obj, &op.key, &op.action) {
                (ObjectId::Root, _, OpType::Make(_)) => {
                    self.bodies.insert(id);
                }
                (ObjectId::Root, Key::Map(key), OpType::Put(_)) => {
                    self.puts.entry(key.to_string()).or_default().insert(id);
                }
                (ObjectId::Id(body), _, OpType::Put(_)) if op.insert => {
                    let stretches = self.elements.entry(change.actor_id.clone()).or_default();
                    match stretches.last_mut() {
                        Some((stretch, of)) if stretch.end == number && of == body => {
                            stretch.end += 1;
                        }
                        _ => stretches.push((number..number + 1, body.clone())),
                    }
                }
                _ => {}
            }
        }
        let end = (change.start_op.get() + change.operations.len() as u64).saturating_sub(1);
        self.ends.extend(change.hash.map(|hash| (hash, end)));
        self.last.insert(change.actor_id.clone(), (change.seq, end));
    }

    fn fits(&self, change: &ExpandedChange) -> bool {
        let (number, last_op) = self.last.get(&change.actor_id).copied().unwrap_or((0, 0));
        let start = change.start_op.get();
        let count = change.operations.len() as u64;
        if change.seq != number + 1
            || start <= last_op
            || count == 0
            || start.saturating_add(count) > HIGHEST_OP
        {
            return false;
        }
        // Numbers rise along the graph; a saved document relies on it.
        let follows = |dep| self.ends.get(dep).is_some_and(|end| *end < start);
        if !change.deps.iter().all(follows) {
            return false;
        }
        let mut own = Own::default();
        numbered(change).all(|(op, number)| {
            let id = OpId::new(number, &change.actor_id);
            match (&op.obj, &op.key) {
                (ObjectId::Root, Key::Map(key)) => {
                    !op.insert && self.key_fits(change, op, &id, key, &mut own)
                }
                (ObjectId::Id(body), Key::Seq(element)) => {
                    (own.body.as_ref() == Some(body) || self.bodies.contains(body))
                        && self.element_fits(op, &id, element, body, &mut own)
                }
                _ => false,
            }
        })
    }

    /// Whether an operation on a key of the document fits.
    fn key_fits(
        &self,
        change: &ExpandedChange,
        op: &Op,
        id: &OpId,
        key: &str,
        own: &mut Own,
    ) -> bool {
        if key.is_empty() || key.len() > KEY_BYTES {
            return false;
        }
        if key == BODY {
            let first = change.deps.is_empty() && own.body.is_none();
            own.body = Some(id.clone());
            return first && op.action == OpType::Make(ObjType::Text) && op.pred.is_empty();
        }
        let known = self.puts.get(key);
        // One operation for each key: what it replaces was there before the change.
        if !own.keys.insert(key.to_owned())
            || !op
                .pred
                .iter()
                .all(|old| known.is_some_and(|puts| puts.contains(old)) && old.0 < id.0)
        {
            return false;
        }
        match &op.action {
            OpType::Put(value) => value_fits(key, value),
            OpType::Delete => op.pred.iter().next().is_some(),
            _ => false,
        }
    }

    /// Whether an operation on an element of `body` fits.
    fn element_fits(
        &self,
        op: &Op,
        id: &OpId,
        element: &ElementId,
        body: &OpId,
        own: &mut Own,
    ) -> bool {
        let there = match element {
            ElementId::Head => op.insert,
            ElementId::Id(at) => at.0 < id.0 && (own.has(at, id) || self.is_element(at, body)),
        };
        if !there {
            return false;
        }
        match &op.action {
            OpType::Put(ScalarValue::Str(text)) if op.insert => {
                own.inserted.push(id.0);
                op.pred.is_empty() && text.chars().count() == 1
            }
            OpType::Delete if !op.insert => {
                // Its only predecessor is the element itself.
                let mut pred = op.pred.iter();
                pred.next() == element.as_opid() && pred.next().is_none()
            }
            _ => false,
        }
    }

    fn is_element(&self, id: &OpId, body: &OpId) -> bool {
        let Some(stretches) = self.elements.get(&id.1) else {
            return false;
        };
        let after = stretches.partition_point(|(stretch, _)| stretch.start <= id.0);
        after > 0 && {
            let (stretch, of) = &stretches[after - 1];
            stretch.contains(&id.0) && of == body
        }
    }
}

/// What a change itself has made so far.
#[derive(Default)]
struct Own {
    body: Option<OpId>,
    keys: HashSet<String>,
    /// Numbers of the elements put in, ascending.
    inserted: Vec<u64>,
}

impl Own {
    /// Whether `at` is an element that the change with the operation `id` put in.
    fn has(&self, at: &OpId, id: &OpId) -> bool {
        at.1 == id.1 && self.inserted.binary_search(&at.0).is_ok()
    }
}

fn numbered(change: &ExpandedChange) -> impl Iterator<Item = (&Op, u64)> {
    change.operations.iter().zip(change.start_op.get()..)
}

/// Whether a value may stand under this key. Keys that this version does not know are left to a
/// later one, if their values are plain.
fn value_fits(key: &str, value: &ScalarValue) -> bool {
    let set = [THREAD, ALIAS, SOURCE]
        .iter()
        .any(|prefix| key.starts_with(prefix));
    let plain = PlainField::ALL.iter().any(|field| field.key() == key);
    match value {
        ScalarValue::Str(text) => !set && text.len() <= VALUE_BYTES,
        ScalarValue::Null => !set,
        ScalarValue::Boolean(true) => !plain,
        ScalarValue::Boolean(false) | ScalarValue::Int(_) | ScalarValue::Uint(_) => !plain && !set,
        _ => false,
    }
}
