//! What people and programs see of a codex: plain records that serialise to the JSON of the
//! page, the command line and the tools.

use lore_codex::{EntryId, PlainField};
use lore_seal::Audience;
use serde::{Deserialize, Serialize};

/// An author: a device with the name that its owner chose.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AuthorView {
    /// The author's id.
    pub id: String,
    /// Empty until the profile has arrived.
    pub name: String,
    /// An agent rather than a person.
    pub agent: bool,
    /// This replica's own device.
    #[serde(rename = "self")]
    pub own: bool,
}

/// One concurrent value of a contested field.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CandidateView {
    /// The value; absent where one side cleared the field.
    pub value: Option<String>,
    /// Who wrote it.
    pub by: AuthorView,
    /// When, in milliseconds, by the author's clock.
    pub at: i64,
}

/// A field with concurrent values.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ContestedView {
    /// The field.
    pub field: PlainField,
    /// Its values, the one shown first.
    pub candidates: Vec<CandidateView>,
}

/// How far the newest change of this device to an entry has got.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum DeliveryState {
    /// Durable in this file only.
    Here,
    /// Durable at the relay.
    Relay,
    /// The entry holds no change of this device.
    Received,
}

/// Delivery of an entry, with the names of those who have it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DeliveryView {
    /// How far it has got.
    pub state: DeliveryState,
    /// Members whose replicas have said that they hold it.
    pub seen_by: Vec<String>,
}

/// An entry as lists, cards and tools show it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct EntryView {
    /// The entry's id.
    pub id: String,
    /// Its campaign.
    pub campaign: String,
    /// Who may read it: `table` or `keeper`.
    pub audience: String,
    /// The precondition of a conditional write.
    pub revision: String,
    /// npc, place, promise, …
    pub kind: String,
    /// One line.
    pub title: String,
    /// Markdown.
    pub body: String,
    /// The threads that it belongs to.
    pub threads: Vec<String>,
    /// Other names.
    pub aliases: Vec<String>,
    /// In-world time, as written.
    pub when: Option<String>,
    /// Free status: alive, broken, kept, …
    pub status: Option<String>,
    /// Ids of the entries or sources that it came from.
    pub derived_from: Vec<String>,
    /// Milliseconds since the epoch.
    pub created_at: i64,
    /// Its first author.
    pub created_by: AuthorView,
    /// Milliseconds since the epoch.
    pub updated_at: i64,
    /// Its latest author.
    pub updated_by: AuthorView,
    /// Fields that no one has settled.
    pub contested: Vec<ContestedView>,
    /// How far our newest change has got.
    pub delivery: DeliveryView,
}

/// A state of an entry in its history.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct VersionView {
    /// The state's revision.
    pub revision: String,
    /// Who made it.
    pub by: AuthorView,
    /// When, in milliseconds.
    pub at: i64,
    /// The fields that it changed.
    pub fields: Vec<String>,
}

/// What a conditional write came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "outcome", rename_all = "camelCase")]
pub enum WriteOutcome {
    /// Durable.
    Done {
        /// The entry as it is now.
        entry: Box<EntryView>,
    },
    /// The revision was not the present one: nothing was changed.
    Stale {
        /// What is there now.
        current: Box<EntryView>,
    },
    /// The entry has been forgotten.
    Forgotten,
}

/// What a splice of a body came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "outcome", rename_all = "camelCase")]
pub enum SpliceOutcome {
    /// Durable, merged with whatever came after the base.
    Done {
        /// The revision after it.
        revision: String,
        /// The whole body after it.
        body: String,
    },
    /// The base could not be found any more: nothing was changed.
    Stale {
        /// What is there now.
        current: Box<EntryView>,
    },
    /// The entry has been forgotten.
    Forgotten,
}

/// A campaign in the picker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CampaignView {
    /// The campaign's id.
    pub id: String,
    /// Its name; empty while joining.
    pub name: String,
    /// This device's role.
    pub role: String,
    /// Entries that this device can read.
    pub entries: u64,
    /// Contested ones among them.
    pub contested: u64,
    /// The sample campaign, not yet cleared.
    pub sample: bool,
    /// Registered at a relay.
    pub table: bool,
    /// Joined, but nothing has arrived yet.
    pub joining: bool,
}

/// Counts for the rail.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Facets {
    /// Entries by kind, most first.
    pub kinds: Vec<KindCount>,
    /// Entries by thread, most first; at most [`crate::FACET_THREADS_MAX`].
    pub threads: Vec<ThreadCount>,
    /// Contested entries.
    pub contested: u64,
}

/// One kind's count.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct KindCount {
    /// The kind.
    pub kind: String,
    /// Its entries.
    pub count: u64,
}

/// One thread's count.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ThreadCount {
    /// The thread.
    pub thread: String,
    /// Its entries.
    pub count: u64,
}

/// What to list.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct ListQuery {
    /// Only this kind.
    pub kind: Option<String>,
    /// Only this thread.
    pub thread: Option<String>,
    /// Only contested entries.
    pub contested: bool,
    /// Only this audience.
    pub audience: Option<String>,
    /// Entries to skip.
    pub offset: u32,
    /// Entries wanted; 0 stands for [`crate::LIST_LIMIT_DEFAULT`], [`crate::LIST_LIMIT_MAX`] at most.
    pub limit: u32,
}

/// A page of a list, newest change first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ListView {
    /// The entries.
    pub entries: Vec<EntryView>,
    /// How many there are in all.
    pub total: u64,
}

/// One answer of a recall: evidence, with its address.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HitView {
    /// The entry that the span belongs to.
    pub entry: EntryView,
    /// The span's heading.
    pub anchor: Option<String>,
    /// First line of the span in the body, from 1.
    pub start_line: u32,
    /// Last line, inclusive.
    pub end_line: u32,
    /// The span.
    pub text: String,
    /// 0–100; never a cutoff.
    pub relevance: u8,
    /// What found it.
    pub why: Why,
    /// Ranges in `text` to mark, in UTF-16 code units.
    pub matched: Vec<(u32, u32)>,
    /// The numbers behind the relevance.
    pub scores: Scores,
}

/// What found a span.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Why {
    /// Its words.
    Words,
    /// Its meaning.
    Meaning,
    /// Both.
    Both,
}

/// The numbers behind a hit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Scores {
    /// What the order follows.
    pub fused: f32,
    /// BM25, where words matched.
    pub words: Option<f32>,
    /// Cosine, where the vectors were there.
    pub meaning: Option<f32>,
}

/// What a recall found.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RecallView {
    /// Best first.
    pub hits: Vec<HitView>,
    /// Entries searched.
    pub searched: u64,
    /// Whether the questions' vectors took part.
    pub by_meaning: bool,
}

/// A member of a campaign, as far as the statements and profiles tell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MemberView {
    /// The device.
    pub device: String,
    /// Its author.
    pub author: AuthorView,
    /// Its role.
    pub role: String,
}

/// What changed in the codex, for views.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// Entries changed or were forgotten.
    Changed {
        /// The campaign.
        campaign: lore_seal::CampaignId,
        /// Entries with a new state.
        entries: Vec<EntryId>,
        /// Entries that are gone.
        forgotten: Vec<EntryId>,
        /// Whether the change came from another device.
        remote: bool,
    },
    /// Campaigns, members or profiles changed.
    Campaigns,
    /// Who is here, or what they have open, changed; or the session's own state.
    Presence {
        /// The campaign.
        campaign: lore_seal::CampaignId,
    },
    /// The relay acknowledged envelopes of this device.
    Acknowledged {
        /// The campaign.
        campaign: lore_seal::CampaignId,
    },
}

/// The wire name of an audience.
pub(crate) fn audience_name(audience: Audience) -> String {
    match audience {
        Audience::Table => "table".into(),
        Audience::Keeper => "keeper".into(),
        Audience::Private(_) => "private".into(),
    }
}

/// The audience of a wire name.
pub(crate) fn audience_of(name: &str) -> Option<Audience> {
    match name {
        "table" => Some(Audience::Table),
        "keeper" => Some(Audience::Keeper),
        _ => None,
    }
}
