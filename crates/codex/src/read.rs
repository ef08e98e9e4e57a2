//! Reading an entry out of its document, at any heads.

use std::collections::BTreeSet;

use automerge::{
    Automerge, ChangeHash, ObjId, ObjType, ROOT, ReadDoc, ScalarValue, ScalarValueRef, Value,
    ValueRef,
};

use crate::doc::{ALIAS, BODY, SOURCE, Stamps, THREAD};
use crate::entry::{Candidate, Contested, Entry};
use crate::fields::{FieldName, Kind, PlainField};
use crate::ids::{AuthorId, EntryId, Revision};

/// The body's object at these heads.
pub(crate) fn body_id(doc: &Automerge, heads: &[ChangeHash]) -> Option<ObjId> {
    match doc.get_at(ROOT, BODY, heads) {
        Ok(Some((Value::Object(ObjType::Text), id))) => Some(id),
        _ => None,
    }
}

/// The body's text at these heads.
pub(crate) fn body(doc: &Automerge, heads: &[ChangeHash]) -> String {
    body_id(doc, heads)
        .and_then(|id| doc.text_at(&id, heads).ok())
        .unwrap_or_default()
}

/// The shown value of a plain field.
pub(crate) fn plain(doc: &Automerge, heads: &[ChangeHash], field: PlainField) -> Option<String> {
    match doc.get_at(ROOT, field.key(), heads) {
        Ok(Some((value, _))) => text_of(&value),
        _ => None,
    }
}

/// The members of the set under `prefix`.
pub(crate) fn members(doc: &Automerge, heads: &[ChangeHash], prefix: &str) -> BTreeSet<String> {
    doc.keys_at(ROOT, heads)
        .filter_map(|key| key.strip_prefix(prefix).map(str::to_owned))
        .collect()
}

/// The whole entry at these heads.
pub(crate) fn entry(id: EntryId, doc: &Automerge, heads: &[ChangeHash], stamps: Stamps) -> Entry {
    let mut values = [const { None::<String> }; PlainField::ALL.len()];
    let mut contested = Vec::new();
    let [mut threads, mut aliases, mut derived_from] = [const { BTreeSet::new() }; 3];
    for item in doc.map_range_at(ROOT, .., heads) {
        let key = item.key.as_ref();
        if let Some(at) = PlainField::ALL.iter().position(|field| field.key() == key) {
            values[at] = text_of_ref(&item.value);
            if item.conflict {
                contested.extend(contest(doc, heads, PlainField::ALL[at]));
            }
        } else if let Some(member) = key.strip_prefix(THREAD) {
            threads.insert(member.to_owned());
        } else if let Some(member) = key.strip_prefix(ALIAS) {
            aliases.insert(member.to_owned());
        } else if let Some(member) = key.strip_prefix(SOURCE) {
            derived_from.insert(member.to_owned());
        }
    }
    contested.sort_by_key(|c| c.field);
    let [kind, title, when, status] = values;
    Entry {
        id,
        revision: Revision::of(heads),
        kind: kind
            .and_then(|slug| Kind::new(slug).ok())
            .unwrap_or_else(Kind::note),
        title: title.unwrap_or_default(),
        body: body(doc, heads),
        threads,
        aliases,
        when,
        status,
        derived_from,
        created_at: stamps.created.at,
        created_by: stamps.created.by,
        updated_at: stamps.updated.at,
        updated_by: stamps.updated.by,
        contested,
    }
}

/// The candidates of a field, if it has several different ones.
pub(crate) fn contest(
    doc: &Automerge,
    heads: &[ChangeHash],
    field: PlainField,
) -> Option<Contested> {
    let values = doc.get_all_at(ROOT, field.key(), heads).ok()?;
    let mut candidates: Vec<Candidate> = values
        .iter()
        .filter_map(|(value, id)| {
            let change = doc.get_change_meta_by_hash(&doc.hash_for_opid(id)?)?;
            Some(Candidate {
                at: change.timestamp,
                by: AuthorId::from_actor(change.actor.to_bytes())?,
                value: text_of(value),
            })
        })
        .collect();
    candidates.sort();
    // Equal values are no contest: the earliest stands for all of them.
    let mut distinct = BTreeSet::new();
    candidates.retain(|candidate| distinct.insert(candidate.value.clone()));
    (candidates.len() > 1).then_some(Contested { field, candidates })
}

fn text_of(value: &Value<'_>) -> Option<String> {
    match value {
        Value::Scalar(scalar) => match scalar.as_ref() {
            ScalarValue::Str(text) => Some(text.to_string()),
            _ => None,
        },
        Value::Object(_) => None,
    }
}

fn text_of_ref(value: &ValueRef<'_>) -> Option<String> {
    match value {
        ValueRef::Scalar(ScalarValueRef::Str(text)) => Some(text.to_string()),
        _ => None,
    }
}

impl Entry {
    /// The fields that hold something.
    pub(crate) fn present_fields(&self) -> BTreeSet<FieldName> {
        [
            (FieldName::Kind, true),
            (FieldName::Title, true),
            (FieldName::Body, !self.body.is_empty()),
            (FieldName::Threads, !self.threads.is_empty()),
            (FieldName::Aliases, !self.aliases.is_empty()),
            (FieldName::When, self.when.is_some()),
            (FieldName::Status, self.status.is_some()),
            (FieldName::DerivedFrom, !self.derived_from.is_empty()),
        ]
        .into_iter()
        .filter_map(|(field, present)| present.then_some(field))
        .collect()
    }
}
