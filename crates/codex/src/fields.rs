//! What a person or an agent may write into an entry, checked before it is written.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::limits;

/// Why a value does not fit its field.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FieldError {
    /// The field must not be empty (nor only white space).
    #[error("{field} must not be empty")]
    Empty {
        /// The field.
        field: FieldName,
    },
    /// The value is longer than the field's limit.
    #[error("{field} is longer than {limit} {unit}")]
    TooLong {
        /// The field.
        field: FieldName,
        /// The limit.
        limit: usize,
        /// What the limit counts.
        unit: &'static str,
    },
    /// The set would hold more members than its limit.
    #[error("{field} would hold more than {limit} members")]
    TooMany {
        /// The field.
        field: FieldName,
        /// The limit.
        limit: usize,
    },
    /// The value holds a control character, such as a line break, where none may be.
    #[error("{field} must not contain control characters")]
    Control {
        /// The field.
        field: FieldName,
    },
    /// The kind is no slug.
    #[error(
        "`{text}` is not a kind: 1 to {} of a-z, 0-9 and -, a letter first",
        limits::KIND_CHARS
    )]
    Kind {
        /// The beginning of what was given.
        text: String,
    },
}

/// A field of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum FieldName {
    /// What kind of lore it is.
    Kind,
    /// The title.
    Title,
    /// The Markdown text.
    Body,
    /// The set of threads.
    Threads,
    /// The set of other names.
    Aliases,
    /// The in-world date.
    When,
    /// The status, such as `kept` for a promise.
    Status,
    /// The set of sources.
    DerivedFrom,
}

impl fmt::Display for FieldName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Kind => "kind",
            Self::Title => "title",
            Self::Body => "body",
            Self::Threads => "threads",
            Self::Aliases => "aliases",
            Self::When => "when",
            Self::Status => "status",
            Self::DerivedFrom => "derivedFrom",
        })
    }
}

/// A field that holds one plain value, and so can be contested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum PlainField {
    /// What kind of lore it is.
    Kind,
    /// The title.
    Title,
    /// The in-world date.
    When,
    /// The status.
    Status,
}

impl PlainField {
    /// All plain fields, in the order in which they are shown.
    pub const ALL: [Self; 4] = [Self::Kind, Self::Title, Self::When, Self::Status];

    /// Its key in the document.
    pub(crate) const fn key(self) -> &'static str {
        match self {
            Self::Kind => "kind",
            Self::Title => "title",
            Self::When => "when",
            Self::Status => "status",
        }
    }

    /// The field's general name.
    pub const fn name(self) -> FieldName {
        match self {
            Self::Kind => FieldName::Kind,
            Self::Title => FieldName::Title,
            Self::When => FieldName::When,
            Self::Status => FieldName::Status,
        }
    }

    /// Whether `value` fits this field.
    pub fn check(self, value: Option<&str>) -> Result<(), FieldError> {
        match (self, value) {
            (Self::Kind, Some(value)) => value.parse::<Kind>().map(drop),
            (Self::Title, Some(value)) => check_line(FieldName::Title, value, limits::TITLE_CHARS),
            (Self::When | Self::Status, Some(value)) => {
                check_line(self.name(), value, limits::PHRASE_CHARS)
            }
            (Self::When | Self::Status, None) => Ok(()),
            (Self::Kind | Self::Title, None) => Err(FieldError::Empty { field: self.name() }),
        }
    }
}

impl fmt::Display for PlainField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.name().fmt(f)
    }
}

/// One line of text with something in it.
fn check_line(field: FieldName, value: &str, limit: usize) -> Result<(), FieldError> {
    if value.trim().is_empty() {
        return Err(FieldError::Empty { field });
    }
    if value.chars().nth(limit).is_some() {
        return Err(FieldError::TooLong {
            field,
            limit,
            unit: "characters",
        });
    }
    if value.chars().any(char::is_control) {
        return Err(FieldError::Control { field });
    }
    Ok(())
}

/// Whether `value` may be a body.
pub(crate) fn check_body(value: &str) -> Result<(), FieldError> {
    if value.len() > limits::BODY_BYTES {
        return Err(body_too_long());
    }
    Ok(())
}

pub(crate) const fn body_too_long() -> FieldError {
    FieldError::TooLong {
        field: FieldName::Body,
        limit: limits::BODY_BYTES,
        unit: "bytes",
    }
}

/// Whether these labels may be members of a set; `limit` counts them, `chars` each one.
fn check_labels<'a>(
    field: FieldName,
    labels: impl IntoIterator<Item = &'a String>,
    limit: usize,
    chars: usize,
) -> Result<(), FieldError> {
    for (at, label) in labels.into_iter().enumerate() {
        if at == limit {
            return Err(FieldError::TooMany { field, limit });
        }
        check_line(field, label, chars)?;
    }
    Ok(())
}

/// What kind of lore an entry is: a lower-case slug. The constants are the kinds that the page
/// knows; others are allowed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Kind(String);

impl Kind {
    /// A person.
    pub const NPC: &'static str = "npc";
    /// A place.
    pub const PLACE: &'static str = "place";
    /// A group with a will of its own.
    pub const FACTION: &'static str = "faction";
    /// A thing.
    pub const ITEM: &'static str = "item";
    /// What someone said they would do.
    pub const PROMISE: &'static str = "promise";
    /// What someone said and is not so.
    pub const LIE: &'static str = "lie";
    /// A thread of the story.
    pub const THREAD: &'static str = "thread";
    /// Something that happened.
    pub const EVENT: &'static str = "event";
    /// An evening at the table.
    pub const SESSION: &'static str = "session";
    /// Anything else.
    pub const NOTE: &'static str = "note";
    /// The campaign itself: its settings, with the campaign's name as title.
    pub const CAMPAIGN: &'static str = "campaign";

    /// The kind with this slug.
    pub fn new(slug: impl Into<String>) -> Result<Self, FieldError> {
        let slug = slug.into();
        let fits = slug.len() <= limits::KIND_CHARS
            && slug.starts_with(|c: char| c.is_ascii_lowercase())
            && slug
                .bytes()
                .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
        if fits {
            Ok(Self(slug))
        } else {
            Err(FieldError::Kind {
                text: slug.chars().take(limits::KIND_CHARS).collect(),
            })
        }
    }

    /// The kind of what has no other kind.
    pub fn note() -> Self {
        Self(Self::NOTE.to_owned())
    }

    /// Its slug.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for Kind {
    type Err = FieldError;

    fn from_str(slug: &str) -> Result<Self, FieldError> {
        Self::new(slug)
    }
}

impl Serialize for Kind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Kind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::new(String::deserialize(deserializer)?).map_err(de::Error::custom)
    }
}

/// A new entry, as written down. Its limits are checked when a document is created from it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Draft {
    /// What kind of lore it is.
    pub kind: Kind,
    /// 1 to [`limits::TITLE_CHARS`] characters on one line.
    pub title: String,
    /// Markdown, up to [`limits::BODY_BYTES`].
    #[serde(default)]
    pub body: String,
    /// Threads of the story that it belongs to.
    #[serde(default)]
    pub threads: BTreeSet<String>,
    /// Other names that it goes by.
    #[serde(default)]
    pub aliases: BTreeSet<String>,
    /// The in-world date, as free text.
    #[serde(default)]
    pub when: Option<String>,
    /// Where it stands, as free text: `kept`, `broken`, `dead`.
    #[serde(default)]
    pub status: Option<String>,
    /// What it was made from: ids of other entries, or addresses of imported text.
    #[serde(default)]
    pub derived_from: BTreeSet<String>,
}

impl Draft {
    /// A draft with a kind and a title and nothing else.
    pub fn new(kind: Kind, title: impl Into<String>) -> Self {
        Self {
            kind,
            title: title.into(),
            body: String::new(),
            threads: BTreeSet::new(),
            aliases: BTreeSet::new(),
            when: None,
            status: None,
            derived_from: BTreeSet::new(),
        }
    }

    /// Whether every field is within its limits.
    pub fn check(&self) -> Result<(), FieldError> {
        PlainField::Title.check(Some(&self.title))?;
        PlainField::When.check(self.when.as_deref())?;
        PlainField::Status.check(self.status.as_deref())?;
        check_body(&self.body)?;
        check_labels(
            FieldName::Threads,
            &self.threads,
            limits::THREADS,
            limits::LABEL_CHARS,
        )?;
        check_labels(
            FieldName::Aliases,
            &self.aliases,
            limits::ALIASES,
            limits::LABEL_CHARS,
        )?;
        check_labels(
            FieldName::DerivedFrom,
            &self.derived_from,
            limits::SOURCES,
            limits::SOURCE_CHARS,
        )
    }
}

/// What a revision changes; absent fields stay as they are.
///
/// A plain field given the value that the entry shows already changes nothing, even when the
/// field is contested: a form that sends all its fields settles nothing by accident. Another value
/// replaces all the candidates.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Patch {
    /// The new kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<Kind>,
    /// The new title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The new body, whole; written as the few splices that lead to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// The new in-world date; `Some(None)` (JSON `null`) clears it.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub when: Option<Option<String>>,
    /// The new status; `Some(None)` (JSON `null`) clears it.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub status: Option<Option<String>>,
    /// Threads to add.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub add_threads: BTreeSet<String>,
    /// Threads to remove; one that is also added stays.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub remove_threads: BTreeSet<String>,
    /// Aliases to add.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub add_aliases: BTreeSet<String>,
    /// Aliases to remove; one that is also added stays.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub remove_aliases: BTreeSet<String>,
}

impl Patch {
    /// Whether every field is within its limits, taken alone.
    pub fn check(&self) -> Result<(), FieldError> {
        if let Some(title) = &self.title {
            PlainField::Title.check(Some(title))?;
        }
        if let Some(when) = &self.when {
            PlainField::When.check(when.as_deref())?;
        }
        if let Some(status) = &self.status {
            PlainField::Status.check(status.as_deref())?;
        }
        if let Some(body) = &self.body {
            check_body(body)?;
        }
        check_labels(
            FieldName::Threads,
            &self.add_threads,
            limits::THREADS,
            limits::LABEL_CHARS,
        )?;
        check_labels(
            FieldName::Aliases,
            &self.add_aliases,
            limits::ALIASES,
            limits::LABEL_CHARS,
        )
    }
}

/// Tells a field that is `null` from one that is absent.
#[allow(clippy::option_option)] // absent, cleared, set: three cases, as JSON has them
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Option<String>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}
