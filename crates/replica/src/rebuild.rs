//! Derived state, made anew from the documents and the log.

use std::collections::HashMap;

use lore_codex::{Batch, BatchItem, EntryId};
use lore_seal::{CampaignId, Envelope};
use rusqlite::params;

use crate::error::StoreError;
use crate::replica::{Replica, entry_id, fixed};
use crate::view::Event;

/// What can be dropped at any time.
const DERIVED: [&str; 6] = [
    "entries",
    "entry_threads",
    "spans",
    "embed_queue",
    "vectors",
    "profiles",
];

impl Replica {
    /// Drops everything derived and makes it anew, in one transaction: view, threads, spans, the
    /// queue of texts to embed, and profiles. Vectors are computed again in the background.
    ///
    /// # Errors
    /// Only when the store fails or a document is damaged: then everything is as it was.
    pub fn rebuild(&mut self) -> Result<(), StoreError> {
        self.transact(|replica| {
            for table in DERIVED {
                replica.conn.execute(&format!("DELETE FROM {table}"), [])?;
            }
            replica.names.clear();
            replica.indexes.clear();
            let own = replica.replay_log()?;
            let entries = replica
                .conn
                .prepare("SELECT entry FROM documents ORDER BY rowid")?
                .query_map([], |row| row.get::<_, Vec<u8>>(0))?
                .collect::<Result<Vec<_>, _>>()?;
            for bytes in entries {
                let entry = entry_id(&bytes)?;
                let Some(place) = replica.place(entry)? else {
                    continue;
                };
                let document = replica.take_document(entry)?;
                replica.write_view(
                    place.campaign,
                    place.audience,
                    &document,
                    own.get(&entry).copied(),
                )?;
                replica.put_back(entry, document);
            }
            replica.push_event(Event::Campaigns);
            Ok(())
        })
    }

    /// Profiles out of the log, and the newest envelope of this device for each entry.
    fn replay_log(&mut self) -> Result<HashMap<EntryId, u64>, StoreError> {
        let mut own = HashMap::new();
        let mut after = 0;
        loop {
            // A page at a time: a log is larger than memory should hold.
            let page = self
                .conn
                .prepare_cached(
                    "SELECT seq, campaign, bytes FROM log
                     WHERE seq > ?1 AND refused IS NULL ORDER BY seq LIMIT 256",
                )?
                .query_map(params![after], |row| {
                    Ok((
                        row.get::<_, i64>(0)?,
                        row.get::<_, Vec<u8>>(1)?,
                        row.get::<_, Vec<u8>>(2)?,
                    ))
                })?
                .collect::<Result<Vec<_>, _>>()?;
            let Some((last, ..)) = page.last() else {
                return Ok(own);
            };
            after = *last;
            for (_, campaign, bytes) in page {
                let campaign = CampaignId::from_bytes(fixed(campaign)?);
                let envelope = Envelope::decode(&bytes)
                    .map_err(|error| StoreError::Damaged(error.to_string()))?;
                let header = envelope.header();
                let Some(key) = self
                    .campaign(campaign)?
                    .keys
                    .get(&(header.audience, header.epoch))
                else {
                    continue;
                };
                let batch = envelope
                    .open(key)
                    .ok()
                    .and_then(|plaintext| Batch::decode(&plaintext).ok())
                    .ok_or_else(|| StoreError::Damaged("an envelope of the log".into()))?;
                for item in batch.into_items() {
                    match item {
                        BatchItem::Changes { entry, .. } if header.device == self.device => {
                            own.insert(entry, header.number);
                        }
                        BatchItem::Profile { name, agent, at } => {
                            self.take_profile(campaign, header.device.author(), &name, agent, at)?;
                        }
                        _ => {}
                    }
                }
            }
        }
    }
}
