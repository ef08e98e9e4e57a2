//! Documents and what is derived from each: the view row, threads, spans and their hashes.

use lore_codex::{Entry, EntryDoc, EntryId, Kind};
use lore_recall::{SpanKey, embed_text, spans};
use lore_seal::{Audience, CampaignId};
use rusqlite::{OptionalExtension, params};
use sha2::{Digest, Sha256};

use crate::error::StoreError;
use crate::index::document_of;
use crate::replica::{Replica, audience_from, fixed};

/// Changes kept beside a document before it is written whole again: bounds what a load replays.
const CHANGES_BEFORE_COMPACTION: u64 = 64;

/// Where an entry lives.
pub(crate) struct Place {
    pub(crate) campaign: CampaignId,
    pub(crate) audience: Audience,
}

impl Replica {
    /// Where an entry lives, if this codex has it.
    pub(crate) fn place(&self, entry: EntryId) -> Result<Option<Place>, StoreError> {
        let row: Option<(Vec<u8>, Vec<u8>)> = self
            .conn
            .prepare_cached("SELECT campaign, audience FROM documents WHERE entry = ?1")?
            .query_row([&entry.to_bytes()[..]], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })
            .optional()?;
        row.map(|(campaign, audience)| {
            Ok(Place {
                campaign: CampaignId::from_bytes(fixed(campaign)?),
                audience: audience_from(&audience)?,
            })
        })
        .transpose()
    }

    /// Whether the entry has been forgotten here.
    pub(crate) fn is_forgotten(&self, entry: EntryId) -> Result<bool, StoreError> {
        Ok(self
            .conn
            .prepare_cached("SELECT 1 FROM tombstones WHERE entry = ?1")?
            .exists([&entry.to_bytes()[..]])?)
    }

    /// Takes a document out of memory or the file; [`Self::put_back`] returns it.
    pub(crate) fn take_document(&mut self, entry: EntryId) -> Result<EntryDoc, StoreError> {
        if let Some(document) = self.documents.pop(&entry) {
            return Ok(document);
        }
        let bytes: Vec<u8> = self
            .conn
            .prepare_cached("SELECT bytes FROM documents WHERE entry = ?1")?
            .query_row([&entry.to_bytes()[..]], |row| row.get(0))?;
        let mut document = EntryDoc::load(entry, &bytes)
            .map_err(|error| StoreError::Damaged(error.to_string()))?;
        let changes = self
            .conn
            .prepare_cached("SELECT bytes FROM changes WHERE entry = ?1 ORDER BY seq")?
            .query_map([&entry.to_bytes()[..]], |row| row.get::<_, Vec<u8>>(0))?
            .collect::<Result<Vec<_>, _>>()?;
        if !changes.is_empty() {
            document
                .apply(&changes)
                .map_err(|error| StoreError::Damaged(error.to_string()))?;
        }
        Ok(document)
    }

    /// Keeps a document in memory for the next access.
    pub(crate) fn put_back(&mut self, entry: EntryId, document: EntryDoc) {
        self.documents.put(entry, document);
    }

    /// Writes a new document whole.
    pub(crate) fn insert_document(
        &self,
        entry: EntryId,
        campaign: CampaignId,
        audience: Audience,
        document: &EntryDoc,
    ) -> Result<(), StoreError> {
        self.conn
            .prepare_cached(
                "INSERT INTO documents (entry, campaign, audience, bytes) VALUES (?1, ?2, ?3, ?4)",
            )?
            .execute(params![
                &entry.to_bytes()[..],
                &campaign.to_bytes()[..],
                &audience.to_bytes()[..],
                document.save(),
            ])?;
        Ok(())
    }

    /// Writes changes beside a document, and the document whole once there are many.
    pub(crate) fn append_changes(
        &self,
        entry: EntryId,
        document: &EntryDoc,
        changes: &[Vec<u8>],
    ) -> Result<(), StoreError> {
        let key = entry.to_bytes();
        {
            let mut insert = self
                .conn
                .prepare_cached("INSERT INTO changes (entry, bytes) VALUES (?1, ?2)")?;
            for change in changes {
                insert.execute(params![&key[..], change])?;
            }
        }
        let pending: u64 = self
            .conn
            .prepare_cached("SELECT count(*) FROM changes WHERE entry = ?1")?
            .query_row([&key[..]], |row| row.get(0))?;
        if pending >= CHANGES_BEFORE_COMPACTION {
            self.conn
                .prepare_cached("UPDATE documents SET bytes = ?2 WHERE entry = ?1")?
                .execute(params![&key[..], document.save()])?;
            self.conn
                .prepare_cached("DELETE FROM changes WHERE entry = ?1")?
                .execute([&key[..]])?;
        }
        Ok(())
    }

    /// Derives the view row, threads and spans of an entry, and brings the index in line.
    ///
    /// `own_number` is the number of this device's envelope that made the change, if it did.
    /// Until an entry's first change has arrived there is nothing to show, and this says so.
    pub(crate) fn write_view(
        &mut self,
        campaign: CampaignId,
        audience: Audience,
        document: &EntryDoc,
        own_number: Option<u64>,
    ) -> Result<bool, StoreError> {
        let Some(entry) = document.entry() else {
            return Ok(false);
        };
        let key = entry.id.to_bytes();
        let state = serde_json::to_string(&entry)
            .map_err(|error| StoreError::Damaged(error.to_string()))?;
        self.conn
            .prepare_cached(
                "INSERT INTO entries
                   (entry, campaign, audience, kind, updated_at, contested, own_number, state)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, coalesce(?7, 0), ?8)
                 ON CONFLICT (entry) DO UPDATE SET kind = excluded.kind,
                   updated_at = excluded.updated_at, contested = excluded.contested,
                   own_number = coalesce(?7, own_number), state = excluded.state",
            )?
            .execute(params![
                &key[..],
                &campaign.to_bytes()[..],
                &audience.to_bytes()[..],
                entry.kind.as_str(),
                entry.updated_at,
                !entry.contested.is_empty(),
                own_number,
                state,
            ])?;
        self.conn
            .prepare_cached("DELETE FROM entry_threads WHERE entry = ?1")?
            .execute([&key[..]])?;
        for thread in &entry.threads {
            self.conn
                .prepare_cached(
                    "INSERT INTO entry_threads (campaign, thread, entry) VALUES (?1, ?2, ?3)
                     ON CONFLICT DO NOTHING",
                )?
                .execute(params![&campaign.to_bytes()[..], thread, &key[..]])?;
        }
        if entry.kind.as_str() != Kind::CAMPAIGN {
            self.write_spans(campaign, &entry)?;
        }
        Ok(true)
    }

    fn write_spans(&mut self, campaign: CampaignId, entry: &Entry) -> Result<(), StoreError> {
        let key = entry.id.to_bytes();
        let before = self.span_hashes(entry.id)?;
        self.conn
            .prepare_cached("DELETE FROM spans WHERE entry = ?1")?
            .execute([&key[..]])?;
        let mut after = Vec::new();
        for (ordinal, span) in spans(&entry.body).into_iter().enumerate() {
            let hash: [u8; 32] = Sha256::digest(embed_text(
                &entry.title,
                &entry.aliases,
                span.anchor.as_deref(),
                &span.text,
            ))
            .into();
            self.conn
                .prepare_cached(
                    "INSERT INTO spans
                       (entry, ordinal, campaign, anchor, trail, start_line, end_line, text, hash)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
                )?
                .execute(params![
                    &key[..],
                    ordinal as u32,
                    &campaign.to_bytes()[..],
                    span.anchor,
                    span.trail.join("\n"),
                    span.start_line,
                    span.end_line,
                    span.text,
                    &hash[..],
                ])?;
            self.conn
                .prepare_cached(
                    "INSERT INTO embed_queue (hash, entry, ordinal)
                     SELECT ?1, ?2, ?3 WHERE NOT EXISTS (
                       SELECT 1 FROM vectors WHERE hash = ?1
                         AND model = (SELECT CAST(value AS TEXT) FROM meta WHERE key = 'model'))
                     ON CONFLICT (hash) DO UPDATE SET entry = excluded.entry,
                       ordinal = excluded.ordinal",
                )?
                .execute(params![&hash[..], &key[..], ordinal as u32])?;
            after.push((hash, span));
        }
        self.drop_vectors(
            before
                .iter()
                .filter(|old| !after.iter().any(|(new, _)| new == *old)),
        )?;
        if self.indexes.contains_key(&campaign) {
            let mut vectors = Vec::with_capacity(after.len());
            for (hash, _) in &after {
                vectors.push(self.vector(hash)?);
            }
            if let Some(index) = self.indexes.get_mut(&campaign) {
                index.touch(entry.id);
                for (ordinal, ((_, span), vector)) in after.into_iter().zip(vectors).enumerate() {
                    let span_key = SpanKey {
                        entry: key,
                        ordinal: ordinal as u32,
                    };
                    index.insert(document_of(span_key, entry, &span), vector.as_ref());
                }
            }
        }
        Ok(())
    }

    fn span_hashes(&self, entry: EntryId) -> Result<Vec<[u8; 32]>, StoreError> {
        self.conn
            .prepare_cached("SELECT hash FROM spans WHERE entry = ?1")?
            .query_map([&entry.to_bytes()[..]], |row| row.get::<_, Vec<u8>>(0))?
            .map(|hash| fixed(hash?))
            .collect()
    }

    /// Drops vectors and queued texts that no span holds any more.
    fn drop_vectors<'a>(
        &self,
        hashes: impl Iterator<Item = &'a [u8; 32]>,
    ) -> Result<(), StoreError> {
        for hash in hashes {
            for table in ["vectors", "embed_queue"] {
                self.conn
                    .prepare_cached(&format!(
                        "DELETE FROM {table} WHERE hash = ?1
                         AND NOT EXISTS (SELECT 1 FROM spans WHERE hash = ?1)"
                    ))?
                    .execute([&hash[..]])?;
            }
        }
        Ok(())
    }

    /// Removes every trace of an entry's contents but its sealed envelopes, and marks it forgotten.
    pub(crate) fn erase(
        &mut self,
        entry: EntryId,
        campaign: CampaignId,
        at: i64,
        author: [u8; 16],
    ) -> Result<(), StoreError> {
        let key = entry.to_bytes();
        self.documents.pop(&entry);
        let hashes = self.span_hashes(entry)?;
        for table in ["documents", "changes", "entries", "entry_threads", "spans"] {
            self.conn
                .prepare_cached(&format!("DELETE FROM {table} WHERE entry = ?1"))?
                .execute([&key[..]])?;
        }
        self.drop_vectors(hashes.iter())?;
        self.conn
            .prepare_cached(
                "INSERT INTO tombstones (entry, campaign, at, author) VALUES (?1, ?2, ?3, ?4)
                 ON CONFLICT DO NOTHING",
            )?
            .execute(params![&key[..], &campaign.to_bytes()[..], at, &author[..]])?;
        if let Some(index) = self.indexes.get_mut(&campaign) {
            index.touch(entry);
        }
        Ok(())
    }
}
