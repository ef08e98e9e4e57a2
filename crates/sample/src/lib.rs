//! The sample campaign that a first visit opens on: "The Sallow Reach", our own writing.
//!
//! The text lies in `data/ferrymans-toll.json`. It is written so that recall by meaning can be
//! seen at work: the entry that answers the first suggested question shares no word with it, and
//! none about the man at the toll gate says what his trade is called.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// The data, as shipped.
#[cfg(feature = "shipped")]
const DATA: &str = include_str!("../data/ferrymans-toll.json");

/// The version of the data's form.
const VERSION: u32 = 1;

/// Entries in the sample, at least and at most.
pub const ENTRIES: std::ops::RangeInclusive<usize> = 44..=56;

/// Days before the present that the sample reaches back to, at most.
pub const DAYS: u32 = 56;

/// Minutes in a day.
const DAY_MINUTES: u32 = 24 * 60;

/// Why the sample's data is not usable. The shipped data is tested; this shows when it was changed.
#[derive(Debug, thiserror::Error)]
pub enum SampleError {
    /// The data is not in the form that this crate reads.
    #[error("the sample's data cannot be read: {0}")]
    Form(#[from] serde_json::Error),
    /// The data is of another version.
    #[error("the sample's data is of version {found}, not {VERSION}")]
    Version {
        /// The version found.
        found: u32,
    },
    /// An entry contradicts itself or the rest.
    #[error("the sample's entry `{key}`: {problem}")]
    Entry {
        /// The entry's key.
        key: String,
        /// What is wrong with it.
        problem: &'static str,
    },
}

/// A campaign of entries, to be recorded as if its people had written them over recent weeks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Sample {
    version: u32,
    /// The campaign's name.
    pub name: String,
    /// What it is, in a sentence or two.
    pub about: String,
    /// Who wrote the entries.
    pub people: Vec<Person>,
    /// Questions to click on, the best first.
    pub suggested: Vec<String>,
    /// The entries, the oldest session first.
    pub entries: Vec<SampleEntry>,
}

/// An author of the sample.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Person {
    /// The name.
    pub name: String,
    /// The role at the table: `keeper`, `player` or `scribe`.
    pub role: String,
    /// Whether it is an agent.
    pub agent: bool,
}

/// Who may read an entry of the sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum SampleAudience {
    /// Everyone at the table.
    Table,
    /// The keeper alone.
    Keeper,
}

/// One entry of the sample.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SampleEntry {
    /// A short name, unique in the sample.
    pub key: String,
    /// The kind's slug.
    pub kind: String,
    /// The title; unique, and what `[[links]]` name.
    pub title: String,
    /// Markdown, with `[[links]]` to titles and aliases.
    pub body: String,
    /// Threads of the story.
    pub threads: Vec<String>,
    /// Other names.
    pub aliases: Vec<String>,
    /// The in-world date.
    pub when: Option<String>,
    /// Where it stands.
    pub status: Option<String>,
    /// Who may read it.
    pub audience: SampleAudience,
    /// The name of the [`Person`] who wrote it.
    pub author: String,
    /// Whole days before the present day.
    pub days_ago: u32,
    /// Minutes after that day's midnight.
    pub minute: u32,
    /// The values that two authors gave one of its fields concurrently.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contested: Option<SampleContest>,
}

impl SampleEntry {
    /// When it was written, ms since the epoch, if `midnight_ms` is the beginning of today.
    pub fn written_at(&self, midnight_ms: i64) -> i64 {
        midnight_ms - i64::from(self.days_ago) * 86_400_000 + i64::from(self.minute) * 60_000
    }
}

/// A field of an entry that was given several values concurrently.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SampleContest {
    /// The field: `status` or `when`.
    pub field: String,
    /// The values, each by another author; the first is also the entry's own.
    pub values: Vec<SampleValue>,
}

/// One of the values of a contested field.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SampleValue {
    /// The author's name.
    pub by: String,
    /// The value.
    pub value: String,
}

/// The sample campaign.
#[cfg(feature = "shipped")]
pub fn sample() -> Result<Sample, SampleError> {
    Sample::parse(DATA)
}

impl Sample {
    /// The campaign in this JSON, if its entries fit together.
    pub fn parse(json: &str) -> Result<Self, SampleError> {
        let sample: Self = serde_json::from_str(json)?;
        if sample.version != VERSION {
            return Err(SampleError::Version {
                found: sample.version,
            });
        }
        let people: BTreeSet<_> = sample.people.iter().map(|p| p.name.as_str()).collect();
        let mut keys = BTreeSet::new();
        let mut titles = BTreeSet::new();
        for entry in &sample.entries {
            if let Some(problem) = problem(entry, &people) {
                return Err(wrong(entry, problem));
            }
            if !keys.insert(&entry.key) {
                return Err(wrong(entry, "the key is taken"));
            }
            if !titles.insert(&entry.title) {
                return Err(wrong(entry, "the title is taken"));
            }
        }
        Ok(sample)
    }

    /// The entry that a `[[link]]` names, by title or alias, whatever the case.
    pub fn linked(&self, name: &str) -> Option<&SampleEntry> {
        let name = name.trim().to_lowercase();
        let named = |text: &String| text.to_lowercase() == name;
        self.entries
            .iter()
            .find(|entry| named(&entry.title))
            .or_else(|| {
                self.entries
                    .iter()
                    .find(|entry| entry.aliases.iter().any(named))
            })
    }
}

fn wrong(entry: &SampleEntry, problem: &'static str) -> SampleError {
    SampleError::Entry {
        key: entry.key.clone(),
        problem,
    }
}

/// What is wrong with an entry, taken alone.
fn problem(entry: &SampleEntry, people: &BTreeSet<&str>) -> Option<&'static str> {
    if entry.title.trim().is_empty() || entry.body.trim().is_empty() {
        return Some("the title or the body is empty");
    }
    if !people.contains(entry.author.as_str()) {
        return Some("nobody of the author's name is among the people");
    }
    if entry.days_ago > DAYS || entry.minute >= DAY_MINUTES {
        return Some("the time is out of range");
    }
    let contest = entry.contested.as_ref()?;
    let own = match contest.field.as_str() {
        "status" => entry.status.as_ref(),
        "when" => entry.when.as_ref(),
        _ => return Some("the contested field is neither status nor when"),
    };
    let authors: BTreeSet<_> = contest.values.iter().map(|v| v.by.as_str()).collect();
    let values: BTreeSet<_> = contest.values.iter().map(|v| v.value.as_str()).collect();
    if values.len() < 2 || values.len() != contest.values.len() || authors.len() != values.len() {
        return Some("a contest takes several authors and as many values");
    }
    if !authors.is_subset(people) {
        return Some("a contested value is by nobody among the people");
    }
    (own != contest.values.first().map(|v| &v.value))
        .then_some("the first contested value is not the entry's own")
}
