//! Recall within a campaign: the index in memory, its loading in slices, and the vectors' store.

use std::collections::HashSet;

use lore_codex::{Entry, EntryId};
use lore_recall::{Document, QuantizedVector, Query, RecallIndex, Span, SpanKey, embed_text};
use lore_seal::CampaignId;
use rusqlite::{OptionalExtension, params};

use crate::error::StoreError;
use crate::replica::{Replica, entry_id, fixed};
use crate::view::{HitView, RecallView, Scores, Why};

/// Entries that one slice of loading takes: a few milliseconds of work.
pub const INDEX_SLICE: u32 = 200;

/// Answers of one recall at most.
pub const RECALL_LIMIT_MAX: u32 = 50;
/// Answers of one recall where no number is asked for.
pub const RECALL_LIMIT_DEFAULT: u32 = 8;
/// Wordings of one recall at most.
pub const WORDINGS_MAX: usize = 8;
/// The longest wording, in bytes; the rest is cut off.
pub const WORDING_BYTES_MAX: usize = 2_000;

/// The index of one campaign, and how far it has been loaded.
pub(crate) struct CampaignIndex {
    index: RecallIndex,
    /// The last row of `entries` taken in; `None` once all are.
    after: Option<i64>,
    /// Entries written since loading began: the loader leaves them alone.
    touched: HashSet<EntryId>,
}

impl CampaignIndex {
    fn new() -> Self {
        Self {
            index: RecallIndex::new(),
            after: Some(0),
            touched: HashSet::new(),
        }
    }

    /// Takes an entry out, before its new spans go in or for good.
    pub(crate) fn touch(&mut self, entry: EntryId) {
        self.index.remove_entry(entry.to_bytes());
        if self.after.is_some() {
            self.touched.insert(entry);
        }
    }

    pub(crate) fn insert(&mut self, document: Document, vector: Option<&QuantizedVector>) {
        let key = document.key;
        self.index.insert(document);
        if let Some(vector) = vector {
            self.index.set_vector(key, vector);
        }
    }
}

/// What the index takes of a span.
pub(crate) fn document_of(key: SpanKey, entry: &Entry, span: &Span) -> Document {
    Document {
        key,
        title: entry.title.clone(),
        aliases: entry.aliases.iter().cloned().collect(),
        threads: entry.threads.iter().cloned().collect(),
        kind: entry.kind.to_string(),
        headings: span.headings(),
        text: span.text.clone(),
    }
}

/// A text that waits for its vector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingText {
    /// SHA-256 of the text.
    pub hash: [u8; 32],
    /// What to embed.
    pub text: String,
}

/// How far embedding has got, over the whole codex.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EmbeddingProgress {
    /// Spans with a vector.
    pub done: u64,
    /// Spans in all.
    pub total: u64,
}

impl Replica {
    /// Loads the next slice of a campaign's index. Returns whether all of it is loaded.
    pub fn load_index(&mut self, campaign: CampaignId) -> Result<bool, StoreError> {
        self.refresh()?;
        let mut index = self
            .indexes
            .remove(&campaign)
            .unwrap_or_else(CampaignIndex::new);
        let result = self.load_slice(campaign, &mut index);
        self.indexes.insert(campaign, index);
        result
    }

    fn load_slice(
        &self,
        campaign: CampaignId,
        index: &mut CampaignIndex,
    ) -> Result<bool, StoreError> {
        let Some(after) = index.after else {
            return Ok(true);
        };
        let rows = self
            .conn
            .prepare_cached(
                "SELECT rowid, entry, state FROM entries
                 WHERE campaign = ?1 AND rowid > ?2 AND kind <> 'campaign'
                 ORDER BY rowid LIMIT ?3",
            )?
            .query_map(
                params![&campaign.to_bytes()[..], after, INDEX_SLICE],
                |row| {
                    Ok((
                        row.get::<_, i64>(0)?,
                        row.get::<_, Vec<u8>>(1)?,
                        row.get::<_, String>(2)?,
                    ))
                },
            )?
            .collect::<Result<Vec<_>, _>>()?;
        let ended = rows.len() < INDEX_SLICE as usize;
        for (rowid, key, state) in rows {
            index.after = Some(rowid);
            let id = entry_id(&key)?;
            if index.touched.contains(&id) {
                continue;
            }
            let entry: Entry = serde_json::from_str(&state)
                .map_err(|error| StoreError::Damaged(error.to_string()))?;
            let mut select = self.conn.prepare_cached(
                "SELECT s.anchor, s.trail, s.start_line, s.end_line, s.text, s.ordinal, v.vector
                 FROM spans s LEFT JOIN vectors v ON v.hash = s.hash
                   AND v.model = (SELECT CAST(value AS TEXT) FROM meta WHERE key = 'model')
                 WHERE s.entry = ?1 ORDER BY s.ordinal",
            )?;
            let mut spans = select.query([&key])?;
            while let Some(row) = spans.next()? {
                let span = read_span(row)?;
                let vector = row
                    .get::<_, Option<Vec<u8>>>(6)?
                    .and_then(|bytes| QuantizedVector::from_bytes(&bytes).ok());
                let span_key = SpanKey {
                    entry: id.to_bytes(),
                    ordinal: row.get(5)?,
                };
                index.insert(document_of(span_key, &entry, &span), vector.as_ref());
            }
        }
        if ended {
            index.after = None;
            index.touched = HashSet::new();
        }
        Ok(ended)
    }

    /// Recalls spans of one campaign: by words, and by meaning where a wording's vector is given.
    ///
    /// `vectors` may be shorter than `wordings`. There is no relevance cutoff.
    pub fn recall(
        &mut self,
        campaign: CampaignId,
        wordings: &[String],
        vectors: &[Option<Vec<f32>>],
        limit: u32,
    ) -> Result<RecallView, StoreError> {
        while !self.load_index(campaign)? {}
        let limit = if limit == 0 {
            RECALL_LIMIT_DEFAULT
        } else {
            limit.min(RECALL_LIMIT_MAX)
        };
        let wordings: Vec<String> = wordings
            .iter()
            .take(WORDINGS_MAX)
            .map(|wording| cut(wording))
            .collect();
        let mut vectors: Vec<Option<Vec<f32>>> =
            vectors.iter().take(wordings.len()).cloned().collect();
        vectors.resize(wordings.len(), None);
        let by_meaning = vectors.iter().any(Option::is_some);
        let query = Query {
            wordings,
            vectors,
            limit: limit as usize,
        };
        let found = self
            .indexes
            .get(&campaign)
            .map(|index| index.index.search(&query))
            .unwrap_or_default();
        let ids: Vec<EntryId> = found
            .iter()
            .map(|hit| EntryId::from_bytes(hit.key.entry))
            .collect();
        let entries = self.entries_by_id(&ids)?;
        let mut hits = Vec::with_capacity(found.len());
        for (hit, id) in found.into_iter().zip(ids) {
            let (Some(entry), Some(span)) = (entries.get(&id), self.span(hit.key)?) else {
                continue;
            };
            hits.push(HitView {
                entry: entry.clone(),
                anchor: span.anchor,
                start_line: span.start_line,
                end_line: span.end_line,
                text: span.text,
                relevance: hit.relevance,
                why: match hit.why {
                    lore_recall::Why::Words => Why::Words,
                    lore_recall::Why::Meaning => Why::Meaning,
                    lore_recall::Why::Both => Why::Both,
                },
                matched: hit
                    .matched
                    .iter()
                    .map(|range| (range.start, range.end))
                    .collect(),
                scores: Scores {
                    fused: hit.score,
                    words: hit.words,
                    meaning: hit.meaning,
                },
            });
        }
        Ok(RecallView {
            hits,
            searched: self.count(campaign, "")?,
            by_meaning,
        })
    }

    fn span(&self, key: SpanKey) -> Result<Option<Span>, StoreError> {
        Ok(self
            .conn
            .prepare_cached(
                "SELECT anchor, trail, start_line, end_line, text FROM spans
                 WHERE entry = ?1 AND ordinal = ?2",
            )?
            .query_row(params![&key.entry[..], key.ordinal], read_span)
            .optional()?)
    }

    pub(crate) fn vector(&self, hash: &[u8; 32]) -> Result<Option<QuantizedVector>, StoreError> {
        let bytes: Option<Vec<u8>> = self
            .conn
            .prepare_cached(
                "SELECT vector FROM vectors WHERE hash = ?1
                   AND model = (SELECT CAST(value AS TEXT) FROM meta WHERE key = 'model')",
            )?
            .query_row([&hash[..]], |row| row.get(0))
            .optional()?;
        Ok(bytes.and_then(|bytes| QuantizedVector::from_bytes(&bytes).ok()))
    }

    /// Names the model whose vectors count from now on. Under another model than before, every
    /// text is queued anew; under the same one nothing happens.
    pub fn set_model(&mut self, model: &str) -> Result<(), StoreError> {
        self.transact(|replica| {
            let changed = replica
                .conn
                .prepare_cached(
                    "INSERT INTO meta (key, value) VALUES ('model', ?1)
                     ON CONFLICT (key) DO UPDATE SET value = excluded.value
                     WHERE CAST(value AS TEXT) <> CAST(excluded.value AS TEXT)",
                )?
                .execute([model.as_bytes()])?;
            if changed > 0 {
                replica.conn.execute(
                    "INSERT INTO embed_queue (hash, entry, ordinal)
                     SELECT s.hash, s.entry, s.ordinal FROM spans s WHERE NOT EXISTS (
                       SELECT 1 FROM vectors v WHERE v.hash = s.hash AND v.model = ?1)
                     ON CONFLICT (hash) DO NOTHING",
                    [model],
                )?;
                replica.indexes.clear();
            }
            Ok(())
        })
    }

    /// Texts that wait for a vector, at most `limit`.
    pub fn pending_texts(&mut self, limit: u32) -> Result<Vec<PendingText>, StoreError> {
        let mut select = self.conn.prepare_cached(
            "SELECT q.hash, s.anchor, s.text, e.state FROM embed_queue q
             JOIN spans s ON s.hash = q.hash
             JOIN entries e ON e.entry = s.entry
             GROUP BY q.hash LIMIT ?1",
        )?;
        let mut rows = select.query([limit])?;
        let mut pending = Vec::new();
        while let Some(row) = rows.next()? {
            let entry: Entry = serde_json::from_str(&row.get::<_, String>(3)?)
                .map_err(|error| StoreError::Damaged(error.to_string()))?;
            pending.push(PendingText {
                hash: fixed(row.get::<_, Vec<u8>>(0)?)?,
                text: embed_text(
                    &entry.title,
                    &entry.aliases,
                    row.get::<_, Option<String>>(1)?.as_deref(),
                    &row.get::<_, String>(2)?,
                ),
            });
        }
        Ok(pending)
    }

    /// Keeps vectors that were computed, in one transaction. A vector whose text is gone is dropped.
    pub fn store_vectors(
        &mut self,
        model: &str,
        vectors: &[([u8; 32], QuantizedVector)],
    ) -> Result<(), StoreError> {
        self.transact(|replica| {
            for (hash, vector) in vectors {
                replica
                    .conn
                    .prepare_cached("DELETE FROM embed_queue WHERE hash = ?1")?
                    .execute([&hash[..]])?;
                let mut select = replica
                    .conn
                    .prepare_cached("SELECT entry, ordinal, campaign FROM spans WHERE hash = ?1")?;
                let places = select
                    .query_map([&hash[..]], |row| {
                        Ok((
                            row.get::<_, Vec<u8>>(0)?,
                            row.get(1)?,
                            row.get::<_, Vec<u8>>(2)?,
                        ))
                    })?
                    .collect::<Result<Vec<(Vec<u8>, u32, Vec<u8>)>, _>>()?;
                if places.is_empty() {
                    continue;
                }
                replica
                    .conn
                    .prepare_cached(
                        "INSERT INTO vectors (hash, model, vector) VALUES (?1, ?2, ?3)
                         ON CONFLICT (hash, model) DO UPDATE SET vector = excluded.vector",
                    )?
                    .execute(params![&hash[..], model, &vector.to_bytes()[..]])?;
                for (entry, ordinal, campaign) in places {
                    let campaign = CampaignId::from_bytes(fixed(campaign)?);
                    let entry = fixed(entry)?;
                    if let Some(index) = replica.indexes.get_mut(&campaign) {
                        index.index.set_vector(SpanKey { entry, ordinal }, vector);
                    }
                }
            }
            Ok(())
        })
    }

    /// How far embedding has got.
    pub fn embedding_progress(&self) -> Result<EmbeddingProgress, StoreError> {
        let (total, queued): (u64, u64) = self.conn.prepare_cached(
            "SELECT (SELECT count(DISTINCT hash) FROM spans), (SELECT count(*) FROM embed_queue)",
        )?
        .query_row([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(EmbeddingProgress {
            done: total.saturating_sub(queued),
            total,
        })
    }
}

/// A span out of columns in the order anchor, trail, start_line, end_line, text.
fn read_span(row: &rusqlite::Row<'_>) -> Result<Span, rusqlite::Error> {
    let trail: String = row.get(1)?;
    Ok(Span {
        anchor: row.get(0)?,
        trail: trail.lines().map(str::to_owned).collect(),
        start_line: row.get(2)?,
        end_line: row.get(3)?,
        text: row.get(4)?,
    })
}

/// A wording within its limit, cut at a character.
fn cut(wording: &str) -> String {
    let mut end = wording.len().min(WORDING_BYTES_MAX);
    while !wording.is_char_boundary(end) {
        end -= 1;
    }
    wording[..end].to_owned()
}
