//! Writing into an entry: conditional revisions, body splices, settlements.

use automerge::transaction::Transactable;
use automerge::{AutomergeError, ObjId, ROOT, ScalarValue};
use serde::{Deserialize, Serialize};

use crate::diff;
use crate::doc::{ALIAS, DocError, EntryDoc, THREAD};
use crate::fields::{FieldError, FieldName, Patch, PlainField, body_too_long};
use crate::ids::{AuthorId, Revision};
use crate::limits;
use crate::read;

/// Why a write was refused. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum ReviseError {
    /// The write carries a revision that is not the present one.
    #[error("the entry has changed: {expected} was expected, {present} is there now")]
    Stale {
        /// What the write expected.
        expected: Revision,
        /// What is there now.
        present: Revision,
    },
    /// A splice builds on a state that this replica does not know, or no longer.
    #[error("the state {base} that the edit builds on is not known here")]
    UnknownBase {
        /// The state.
        base: Revision,
    },
    /// A splice lies outside the body, overlaps the one before it or cuts a character in two.
    #[error("splice {index} does not fit the body that it edits")]
    Splice {
        /// Which one, from 0.
        index: usize,
    },
    /// There are more splices than [`limits::SPLICES`].
    #[error("more than {} splices", limits::SPLICES)]
    TooManySplices,
    /// The field to settle is not contested (any more).
    #[error("{field} is not contested")]
    NotContested {
        /// The field.
        field: PlainField,
    },
    /// Nothing has arrived of this entry that could be written to.
    #[error("the entry's first change has not arrived")]
    Empty,
    /// A value does not fit its field.
    #[error(transparent)]
    Field(#[from] FieldError),
    /// The document failed.
    #[error(transparent)]
    Doc(DocError),
}

impl From<DocError> for ReviseError {
    fn from(error: DocError) -> Self {
        match error {
            DocError::Field(error) => Self::Field(error),
            error => Self::Doc(error),
        }
    }
}

/// A replacement in a text: at `at`, `delete` UTF-16 code units give way to `insert`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Splice {
    /// Where, in UTF-16 code units from the beginning.
    pub at: usize,
    /// How many UTF-16 code units are removed.
    pub delete: usize,
    /// What takes their place.
    pub insert: String,
}

impl Splice {
    /// The few splices that lead from `old` to `new`: ascending, apart, all in the coordinates of
    /// `old`, as [`EntryDoc::splice`] takes them. Words are compared, then narrowed to the
    /// characters that differ.
    pub fn between(old: &str, new: &str) -> Vec<Self> {
        diff::splices(old, new)
    }
}

/// A body edit that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spliced {
    /// The encoded change, to be sent to the others.
    pub change: Vec<u8>,
    /// The state that the edit's author has in front of them: the base and this edit, without what
    /// came in the meantime. The next splice of the same typing builds on it.
    pub branch: Revision,
}

impl EntryDoc {
    /// Changes what `patch` says if the entry is still at `expected`; gives the encoded change, or
    /// `None` if the patch changes nothing.
    pub fn revise(
        &mut self,
        expected: &Revision,
        patch: &Patch,
        by: AuthorId,
        now_ms: i64,
    ) -> Result<Option<Vec<u8>>, ReviseError> {
        self.expect(expected)?;
        patch.check()?;
        let heads = self.doc.get_heads();
        let plain = self.plain_changes(patch);
        let (add_threads, drop_threads) =
            self.set_changes(THREAD, &patch.add_threads, &patch.remove_threads);
        let (add_aliases, drop_aliases) =
            self.set_changes(ALIAS, &patch.add_aliases, &patch.remove_aliases);
        for (field, prefix, added, dropped, limit) in [
            (
                FieldName::Threads,
                THREAD,
                &add_threads,
                &drop_threads,
                limits::THREADS,
            ),
            (
                FieldName::Aliases,
                ALIAS,
                &add_aliases,
                &drop_aliases,
                limits::ALIASES,
            ),
        ] {
            let present = read::members(&self.doc, &heads, prefix).len();
            if !added.is_empty() && present + added.len() - dropped.len() > limit {
                return Err(FieldError::TooMany { field, limit }.into());
            }
        }
        let body = match &patch.body {
            Some(new) => {
                let splices = diff::splices(&read::body(&self.doc, &heads), new);
                if splices.is_empty() {
                    None
                } else {
                    Some((self.body_id(&heads)?, splices))
                }
            }
            None => None,
        };
        let nothing = plain.is_empty()
            && body.is_none()
            && [&add_threads, &drop_threads, &add_aliases, &drop_aliases]
                .into_iter()
                .all(Vec::is_empty);
        if nothing {
            return Ok(None);
        }
        let change = self.transact(None, by, now_ms, |tx| {
            for (field, value) in plain {
                put_plain(tx, field, value)?;
            }
            for key in add_threads.iter().chain(&add_aliases) {
                tx.put(ROOT, key.as_str(), true)?;
            }
            for key in drop_threads.iter().chain(&drop_aliases) {
                tx.delete(ROOT, key.as_str())?;
            }
            if let Some((id, splices)) = body {
                put_splices(tx, &id, &splices)?;
            }
            Ok(())
        })?;
        Ok(change)
    }

    /// Edits the body as it was at `base`: the edit is concurrent with whatever came after it, and
    /// merges with that. The splices are in the coordinates of that body, in ascending order and
    /// apart from each other. `None` if they change nothing.
    pub fn splice(
        &mut self,
        base: &Revision,
        splices: &[Splice],
        by: AuthorId,
        now_ms: i64,
    ) -> Result<Option<Spliced>, ReviseError> {
        let heads = self
            .heads_of(base)
            .ok_or(ReviseError::UnknownBase { base: *base })?;
        check_splices(&read::body(&self.doc, &heads), splices)?;
        if splices.iter().all(|s| s.delete == 0 && s.insert.is_empty()) {
            return Ok(None);
        }
        let id = self.body_id(&heads)?;
        let isolated = (heads != self.doc.get_heads()).then_some(heads.as_slice());
        let change = self.transact(isolated, by, now_ms, |tx| put_splices(tx, &id, splices))?;
        Ok(change.map(|change| Spliced {
            change,
            branch: self.latest_branch(),
        }))
    }

    /// Gives a contested field one value, if the entry is still at `expected`.
    pub fn settle(
        &mut self,
        expected: &Revision,
        field: PlainField,
        value: Option<&str>,
        by: AuthorId,
        now_ms: i64,
    ) -> Result<Vec<u8>, ReviseError> {
        self.expect(expected)?;
        field.check(value)?;
        let heads = self.doc.get_heads();
        if read::contest(&self.doc, &heads, field).is_none() {
            return Err(ReviseError::NotContested { field });
        }
        let change = self.transact(None, by, now_ms, |tx| {
            put_plain(tx, field, value.map(str::to_owned))
        })?;
        change.ok_or(ReviseError::NotContested { field })
    }

    fn expect(&self, expected: &Revision) -> Result<(), ReviseError> {
        if self.is_empty() {
            return Err(ReviseError::Empty);
        }
        let present = self.revision();
        if present == *expected {
            Ok(())
        } else {
            Err(ReviseError::Stale {
                expected: *expected,
                present,
            })
        }
    }

    fn body_id(&self, heads: &[automerge::ChangeHash]) -> Result<ObjId, ReviseError> {
        read::body_id(&self.doc, heads).ok_or(ReviseError::Empty)
    }

    /// The plain fields that the patch gives another value than the one shown.
    fn plain_changes(&self, patch: &Patch) -> Vec<(PlainField, Option<String>)> {
        let heads = self.doc.get_heads();
        let kind = patch
            .kind
            .as_ref()
            .map(|kind| Some(kind.as_str().to_owned()));
        let title = patch.title.as_ref().map(|title| Some(title.clone()));
        [
            (PlainField::Kind, kind),
            (PlainField::Title, title),
            (PlainField::When, patch.when.clone()),
            (PlainField::Status, patch.status.clone()),
        ]
        .into_iter()
        .filter_map(|(field, value)| value.map(|value| (field, value)))
        .filter(|(field, value)| read::plain(&self.doc, &heads, *field) != *value)
        .collect()
    }

    /// The keys to put and to delete so that the set under `prefix` gains `add` and loses
    /// `remove`.
    fn set_changes<'a>(
        &self,
        prefix: &str,
        add: impl IntoIterator<Item = &'a String>,
        remove: impl IntoIterator<Item = &'a String>,
    ) -> (Vec<String>, Vec<String>) {
        let present = read::members(&self.doc, &self.doc.get_heads(), prefix);
        let added: std::collections::BTreeSet<_> = add.into_iter().collect();
        let dropped = remove
            .into_iter()
            .filter(|member| present.contains(*member) && !added.contains(member))
            .map(|member| format!("{prefix}{member}"))
            .collect();
        let added = added
            .into_iter()
            .filter(|member| !present.contains(*member))
            .map(|member| format!("{prefix}{member}"))
            .collect();
        (added, dropped)
    }
}

/// Makes splices that are ascending and in the coordinates of the text before any of them: from
/// the last to the first, so that none moves another.
fn put_splices(
    tx: &mut impl Transactable,
    body: &ObjId,
    splices: &[Splice],
) -> Result<(), AutomergeError> {
    for splice in splices.iter().rev() {
        tx.splice_text(body, splice.at, splice.delete as isize, &splice.insert)?;
    }
    Ok(())
}

fn put_plain(
    tx: &mut impl Transactable,
    field: PlainField,
    value: Option<String>,
) -> Result<(), AutomergeError> {
    let value = value.map_or(ScalarValue::Null, |value| ScalarValue::Str(value.into()));
    tx.put(ROOT, field.key(), value)
}

/// Whether the splices are in order, apart, inside `body` and on the boundaries of characters, and
/// whether the edited body is within its limit.
fn check_splices(body: &str, splices: &[Splice]) -> Result<(), ReviseError> {
    if splices.len() > limits::SPLICES {
        return Err(ReviseError::TooManySplices);
    }
    // One walk through the body turns UTF-16 positions into byte positions.
    let mut walk = body.char_indices();
    let (mut units, mut bytes) = (0, 0);
    let mut advance = |to: usize| -> Option<usize> {
        while units < to {
            let (at, c) = walk.next()?;
            units += c.len_utf16();
            bytes = at + c.len_utf8();
        }
        (units == to).then_some(bytes)
    };
    let mut length = body.len();
    for (index, splice) in splices.iter().enumerate() {
        let wrong = ReviseError::Splice { index };
        let end = splice.at.checked_add(splice.delete);
        let (Some(from), Some(to)) = (advance(splice.at), end.and_then(&mut advance)) else {
            return Err(wrong);
        };
        length = length - (to - from) + splice.insert.len();
    }
    if length > limits::BODY_BYTES {
        return Err(body_too_long().into());
    }
    Ok(())
}
