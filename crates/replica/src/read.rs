//! Reads: entries, lists, facets, history, campaigns.

use std::collections::HashMap;

use lore_codex::{AuthorId, Entry, EntryId, Kind, Revision};
use lore_seal::{Audience, CampaignId, DeviceId};
use rusqlite::types::Value;
use rusqlite::{OptionalExtension, params_from_iter};

use crate::error::StoreError;
use crate::replica::{Replica, audience_from, entry_id, fixed};
use crate::view::{
    AuthorView, CandidateView, ContestedView, DeliveryState, DeliveryView, EntryView, Facets,
    KindCount, ListQuery, ListView, ThreadCount, VersionView, audience_name, audience_of,
};

/// Entries of a page where none is asked for.
pub const LIST_LIMIT_DEFAULT: u32 = 50;
/// Entries of a page at most.
pub const LIST_LIMIT_MAX: u32 = 500;
/// Threads that the rail counts at most.
pub const FACET_THREADS_MAX: u32 = 200;

/// A view row as stored.
struct Row {
    campaign: CampaignId,
    audience: Audience,
    own_number: u64,
    state: String,
}

const ROW: &str = "e.campaign, e.audience, e.own_number, e.state";

impl Row {
    fn read(row: &rusqlite::Row<'_>) -> Result<(Vec<u8>, Vec<u8>, u64, String), rusqlite::Error> {
        Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
    }

    fn parse(raw: (Vec<u8>, Vec<u8>, u64, String)) -> Result<Self, StoreError> {
        Ok(Self {
            campaign: CampaignId::from_bytes(fixed(raw.0)?),
            audience: audience_from(&raw.1)?,
            own_number: raw.2,
            state: raw.3,
        })
    }
}

impl Replica {
    /// An entry, or nothing where it is not here or forgotten.
    pub fn entry(&mut self, entry: EntryId) -> Result<Option<EntryView>, StoreError> {
        let row = self
            .conn
            .prepare_cached(&format!("SELECT {ROW} FROM entries e WHERE e.entry = ?1"))?
            .query_row([&entry.to_bytes()[..]], Row::read)
            .optional()?;
        row.map(|raw| self.entry_view(&Row::parse(raw)?))
            .transpose()
    }

    /// A page of a campaign's entries, newest change first.
    pub fn list(
        &mut self,
        campaign: CampaignId,
        query: &ListQuery,
    ) -> Result<ListView, StoreError> {
        self.refresh()?;
        let mut conditions = vec!["e.campaign = ?", "e.kind <> 'campaign'"];
        let mut values = vec![Value::Blob(campaign.to_bytes().to_vec())];
        if let Some(kind) = &query.kind {
            conditions.push("e.kind = ?");
            values.push(Value::Text(kind.clone()));
        }
        if query.contested {
            conditions.push("e.contested = 1");
        }
        if let Some(name) = &query.audience {
            // An unknown audience has no entries.
            conditions.push("e.audience = ?");
            values.push(Value::Blob(
                audience_of(name)
                    .map(lore_seal::Audience::to_bytes)
                    .unwrap_or_default(),
            ));
        }
        if let Some(thread) = &query.thread {
            conditions.push(
                "e.entry IN (SELECT entry FROM entry_threads WHERE campaign = ? AND thread = ?)",
            );
            values.push(Value::Blob(campaign.to_bytes().to_vec()));
            values.push(Value::Text(thread.clone()));
        }
        let conditions = conditions.join(" AND ");
        let total = self
            .conn
            .prepare_cached(&format!(
                "SELECT count(*) FROM entries e WHERE {conditions}"
            ))?
            .query_row(params_from_iter(&values), |row| row.get(0))?;
        let limit = match query.limit {
            0 => LIST_LIMIT_DEFAULT,
            limit => limit.min(LIST_LIMIT_MAX),
        };
        values.push(Value::Integer(limit.into()));
        values.push(Value::Integer(query.offset.into()));
        let rows = self
            .conn
            .prepare_cached(&format!(
                "SELECT {ROW} FROM entries e WHERE {conditions}
                 ORDER BY e.updated_at DESC, e.entry LIMIT ? OFFSET ?"
            ))?
            .query_map(params_from_iter(&values), Row::read)?
            .collect::<Result<Vec<_>, _>>()?;
        let entries = rows
            .into_iter()
            .map(|raw| self.entry_view(&Row::parse(raw)?))
            .collect::<Result<_, _>>()?;
        Ok(ListView { entries, total })
    }

    /// Counts of a campaign for the rail.
    pub fn facets(&mut self, campaign: CampaignId) -> Result<Facets, StoreError> {
        let key = campaign.to_bytes();
        let kinds = self
            .conn
            .prepare_cached(
                "SELECT kind, count(*) FROM entries WHERE campaign = ?1 AND kind <> 'campaign'
                 GROUP BY kind ORDER BY 2 DESC, 1",
            )?
            .query_map([&key[..]], |row| {
                Ok(KindCount {
                    kind: row.get(0)?,
                    count: row.get(1)?,
                })
            })?
            .collect::<Result<_, _>>()?;
        let threads = self
            .conn
            .prepare_cached(
                "SELECT thread, count(*) FROM entry_threads WHERE campaign = ?1
                 GROUP BY thread ORDER BY 2 DESC, 1 LIMIT ?2",
            )?
            .query_map(rusqlite::params![&key[..], FACET_THREADS_MAX], |row| {
                Ok(ThreadCount {
                    thread: row.get(0)?,
                    count: row.get(1)?,
                })
            })?
            .collect::<Result<_, _>>()?;
        Ok(Facets {
            kinds,
            threads,
            contested: self.count(campaign, " AND contested = 1")?,
        })
    }

    pub(crate) fn count(&self, campaign: CampaignId, and: &str) -> Result<u64, StoreError> {
        Ok(self
            .conn
            .prepare_cached(&format!(
                "SELECT count(*) FROM entries WHERE campaign = ?1 AND kind <> 'campaign'{and}"
            ))?
            .query_row([&campaign.to_bytes()[..]], |row| row.get(0))?)
    }

    /// The states that an entry has been through, newest first.
    pub fn history(&mut self, entry: EntryId) -> Result<Option<Vec<VersionView>>, StoreError> {
        let Some(place) = self.place(entry)? else {
            return Ok(None);
        };
        let document = self.take_document(entry)?;
        let versions = document.history();
        self.put_back(entry, document);
        versions
            .into_iter()
            .rev()
            .map(|version| {
                Ok(VersionView {
                    revision: version.revision.to_string(),
                    by: self.author_view(place.campaign, version.by)?,
                    at: version.at,
                    fields: version.fields.iter().map(ToString::to_string).collect(),
                })
            })
            .collect::<Result<_, StoreError>>()
            .map(Some)
    }

    /// An entry as it stood at a revision of its history.
    pub fn state_at(
        &mut self,
        entry: EntryId,
        revision: &Revision,
    ) -> Result<Option<EntryView>, StoreError> {
        let Some(place) = self.place(entry)? else {
            return Ok(None);
        };
        let document = self.take_document(entry)?;
        let state = document.at(revision);
        self.put_back(entry, document);
        state
            .map(|state| self.view_of(place.campaign, place.audience, 0, state))
            .transpose()
    }

    /// What stands in the stead of an author: the profile of the campaign, as far as known.
    pub(crate) fn author_view(
        &mut self,
        campaign: CampaignId,
        author: AuthorId,
    ) -> Result<AuthorView, StoreError> {
        let own = author == self.author();
        let (name, agent) = if let Some(known) = self.names.get(&(campaign, author)) {
            known.clone()
        } else {
            let known = self
                .conn
                .prepare_cached(
                    "SELECT name, agent FROM profiles WHERE campaign = ?1 AND author = ?2",
                )?
                .query_row([&campaign.to_bytes()[..], &author.to_bytes()[..]], |row| {
                    Ok((row.get(0)?, row.get(1)?))
                })
                .optional()?
                .unwrap_or_else(|| (String::new(), false));
            self.names.insert((campaign, author), known.clone());
            known
        };
        let name = if own && name.is_empty() {
            self.name.clone()
        } else {
            name
        };
        Ok(AuthorView {
            id: author.to_string(),
            name,
            agent,
            own,
        })
    }

    fn entry_view(&mut self, row: &Row) -> Result<EntryView, StoreError> {
        let entry: Entry = serde_json::from_str(&row.state)
            .map_err(|error| StoreError::Damaged(error.to_string()))?;
        self.view_of(row.campaign, row.audience, row.own_number, entry)
    }

    fn view_of(
        &mut self,
        campaign: CampaignId,
        audience: Audience,
        own_number: u64,
        entry: Entry,
    ) -> Result<EntryView, StoreError> {
        let mut contested = Vec::with_capacity(entry.contested.len());
        for field in entry.contested {
            let mut candidates = Vec::with_capacity(field.candidates.len());
            for candidate in field.candidates {
                candidates.push(CandidateView {
                    value: candidate.value,
                    by: self.author_view(campaign, candidate.by)?,
                    at: candidate.at,
                });
            }
            contested.push(ContestedView {
                field: field.field,
                candidates,
            });
        }
        let state = if own_number == 0 {
            DeliveryState::Received
        } else if self
            .campaign(campaign)?
            .acked
            .get(&audience)
            .is_some_and(|upto| *upto >= own_number)
        {
            DeliveryState::Relay
        } else {
            DeliveryState::Here
        };
        let seen_by = self.seen_by(campaign, audience, own_number);
        Ok(EntryView {
            id: entry.id.to_string(),
            campaign: campaign.to_string(),
            audience: audience_name(audience),
            revision: entry.revision.to_string(),
            kind: entry.kind.to_string(),
            title: entry.title,
            body: entry.body,
            threads: entry.threads.into_iter().collect(),
            aliases: entry.aliases.into_iter().collect(),
            when: entry.when,
            status: entry.status,
            derived_from: entry.derived_from.into_iter().collect(),
            created_at: entry.created_at,
            created_by: self.author_view(campaign, entry.created_by)?,
            updated_at: entry.updated_at,
            updated_by: self.author_view(campaign, entry.updated_by)?,
            contested,
            delivery: DeliveryView { state, seen_by },
        })
    }

    /// Members whose replicas have said that they hold this device's envelope of that number.
    fn seen_by(&self, campaign: CampaignId, audience: Audience, number: u64) -> Vec<String> {
        if number == 0 {
            return Vec::new();
        }
        let mut names: Vec<String> = self
            .seen
            .iter()
            .filter(|((of, by, _), upto)| *of == campaign && *by == audience && **upto >= number)
            .filter_map(|((_, _, device), _)| {
                self.names
                    .get(&(campaign, AuthorId::from_bytes(device.author())))
            })
            .map(|(name, _)| name.clone())
            .collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Notes that a member's replica holds this device's envelopes of an audience up to `upto`.
    /// Kept in memory: it is told anew whenever the member is here.
    pub fn note_seen(
        &mut self,
        campaign: CampaignId,
        audience: Audience,
        device: DeviceId,
        upto: u64,
    ) -> Result<(), StoreError> {
        self.author_view(campaign, AuthorId::from_bytes(device.author()))?;
        let seen = self.seen.entry((campaign, audience, device)).or_default();
        *seen = upto.max(*seen);
        Ok(())
    }

    /// Reads many entries at once, in the order asked; the missing are left out.
    pub(crate) fn entries_by_id(
        &mut self,
        ids: &[EntryId],
    ) -> Result<HashMap<EntryId, EntryView>, StoreError> {
        let mut found = HashMap::with_capacity(ids.len());
        for id in ids {
            if let Some(view) = self.entry(*id)? {
                found.insert(*id, view);
            }
        }
        Ok(found)
    }

    /// Every entry id of a campaign, the campaign's own left out; for bulk work and tests.
    pub fn entry_ids(&self, campaign: CampaignId) -> Result<Vec<EntryId>, StoreError> {
        let rows = self
            .conn
            .prepare_cached(
                "SELECT entry FROM entries WHERE campaign = ?1 AND kind <> ?2 ORDER BY entry",
            )?
            .query_map(
                rusqlite::params![&campaign.to_bytes()[..], Kind::CAMPAIGN],
                |row| row.get::<_, Vec<u8>>(0),
            )?
            .collect::<Result<Vec<_>, _>>()?;
        rows.iter().map(|bytes| entry_id(bytes)).collect()
    }
}
