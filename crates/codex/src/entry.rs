//! An entry as it is read.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::fields::{FieldName, Kind, PlainField};
use crate::ids::{AuthorId, EntryId, Revision};

/// The state of an entry at one revision. Equal revisions give equal entries, on every replica.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    /// Its id.
    pub id: EntryId,
    /// The token of this state, for conditional writes.
    pub revision: Revision,
    /// What kind of lore it is; [`Kind::NOTE`] where what is stored is no kind.
    pub kind: Kind,
    /// The title.
    pub title: String,
    /// Markdown.
    pub body: String,
    /// Threads of the story.
    pub threads: BTreeSet<String>,
    /// Other names.
    pub aliases: BTreeSet<String>,
    /// The in-world date.
    pub when: Option<String>,
    /// Where it stands.
    pub status: Option<String>,
    /// What it was made from.
    pub derived_from: BTreeSet<String>,
    /// When the first change was made, ms since the epoch by its author's clock.
    pub created_at: i64,
    /// Who made it.
    pub created_by: AuthorId,
    /// When the latest change was made, ms since the epoch by its author's clock.
    pub updated_at: i64,
    /// Who made it.
    pub updated_by: AuthorId,
    /// Plain fields that hold concurrent values, in the order of [`PlainField::ALL`].
    pub contested: Vec<Contested>,
}

impl Entry {
    /// The fields whose values, or whose candidates, differ from `other`'s.
    pub fn differing(&self, other: &Self) -> BTreeSet<FieldName> {
        let contested = |entry: &Self, field| {
            entry
                .contested
                .iter()
                .find(|c| c.field == field)
                .map(|c| c.candidates.clone())
        };
        let mut fields: BTreeSet<_> = PlainField::ALL
            .into_iter()
            .filter(|field| contested(self, *field) != contested(other, *field))
            .map(PlainField::name)
            .collect();
        let mut differs = |field, differs| {
            if differs {
                fields.insert(field);
            }
        };
        differs(FieldName::Kind, self.kind != other.kind);
        differs(FieldName::Title, self.title != other.title);
        differs(FieldName::Body, self.body != other.body);
        differs(FieldName::Threads, self.threads != other.threads);
        differs(FieldName::Aliases, self.aliases != other.aliases);
        differs(FieldName::When, self.when != other.when);
        differs(FieldName::Status, self.status != other.status);
        differs(
            FieldName::DerivedFrom,
            self.derived_from != other.derived_from,
        );
        fields
    }
}

/// A plain field that several authors gave different values, none having seen the other's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Contested {
    /// The field.
    pub field: PlainField,
    /// The different values, at least two, by time, author and value.
    pub candidates: Vec<Candidate>,
}

/// One of the values of a contested field. Where several authors gave the same value, the
/// earliest of them is named.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Candidate {
    /// When, ms since the epoch by the author's clock.
    pub at: i64,
    /// Who gave it.
    pub by: AuthorId,
    /// The value; `None` where the author cleared the field.
    pub value: Option<String>,
}
