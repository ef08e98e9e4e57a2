//! Writes of this replica's own author: record, revise, splice, settle, forget.

use lore_codex::{
    BatchItem, Draft, EntryDoc, EntryId, Patch, PlainField, ReviseError, Revision, Splice,
};
use lore_seal::{Audience, CampaignId};
use rusqlite::params;

use crate::error::{StoreError, WriteError};
use crate::replica::Replica;
use crate::view::{EntryView, Event, SpliceOutcome, WriteOutcome};

/// Operations remembered for a view that sends one again.
const OPERATIONS_KEPT: i64 = 1_024;

/// What a write to an existing document came to, before it is turned into a view.
enum Made {
    Changed(Vec<u8>),
    Unchanged,
    Stale,
}

impl Replica {
    /// Records a new entry.
    ///
    /// # Errors
    /// [`WriteError`]; nothing is kept then.
    pub fn record(
        &mut self,
        campaign: CampaignId,
        audience: Audience,
        draft: &Draft,
    ) -> Result<EntryView, WriteError> {
        self.transact(|replica| {
            let id = replica.new_entry_id();
            let now = replica.host.now();
            let (document, change) = EntryDoc::create(id, draft, replica.author(), now)
                .map_err(|error| WriteError::Invalid(error.to_string()))?;
            let item = BatchItem::Changes {
                entry: id,
                changes: vec![change],
            };
            let number = replica.publish(campaign, audience, vec![item])?;
            replica.insert_document(id, campaign, audience, &document)?;
            replica.write_view(campaign, audience, &document, Some(number))?;
            replica.put_back(id, document);
            replica.finish(campaign, id)?;
            replica.entry(id)?.ok_or(WriteError::NoEntry(id))
        })
    }

    /// Revises an entry, provided that `expected` is its present revision.
    ///
    /// A stale revision changes nothing and comes back with what is there now.
    pub fn revise(
        &mut self,
        entry: EntryId,
        expected: &Revision,
        patch: &Patch,
    ) -> Result<WriteOutcome, WriteError> {
        self.edit(entry, |document, replica| {
            let (by, now) = (replica.author(), replica.host.now());
            made(document.revise(expected, patch, by, now))
        })
    }

    /// Settles a contested field with one of its values or a third.
    pub fn settle(
        &mut self,
        entry: EntryId,
        expected: &Revision,
        field: PlainField,
        value: Option<&str>,
    ) -> Result<WriteOutcome, WriteError> {
        self.edit(entry, |document, replica| {
            let (by, now) = (replica.author(), replica.host.now());
            made(document.settle(expected, field, value, by, now).map(Some))
        })
    }

    /// Edits a body as it stood at `base`; what came after it merges as concurrent.
    pub fn splice(
        &mut self,
        entry: EntryId,
        base: &Revision,
        splices: &[Splice],
    ) -> Result<SpliceOutcome, WriteError> {
        let outcome = self.edit(entry, |document, replica| {
            let (by, now) = (replica.author(), replica.host.now());
            made(
                document
                    .splice(base, splices, by, now)
                    .map(|made| made.map(|made| made.change)),
            )
        })?;
        Ok(match outcome {
            WriteOutcome::Done { entry } => SpliceOutcome::Done {
                revision: entry.revision,
                body: entry.body,
            },
            WriteOutcome::Stale { current } => SpliceOutcome::Stale { current },
            WriteOutcome::Forgotten => SpliceOutcome::Forgotten,
        })
    }

    /// Forgets an entry, provided that `expected` is its present revision. Forgetting wins over
    /// every edit, concurrent or later, on every replica.
    ///
    /// The result's `Stale` carries what is there now; after `Forgotten` the entry is gone.
    pub fn forget(
        &mut self,
        entry: EntryId,
        expected: &Revision,
    ) -> Result<WriteOutcome, WriteError> {
        self.transact(|replica| {
            if replica.is_forgotten(entry)? {
                return Ok(WriteOutcome::Forgotten);
            }
            let place = replica.place(entry)?.ok_or(WriteError::NoEntry(entry))?;
            let document = replica.take_document(entry)?;
            let current = document.revision();
            replica.put_back(entry, document);
            if current != *expected {
                let current = replica.entry(entry)?.ok_or(WriteError::NoEntry(entry))?;
                return Ok(WriteOutcome::Stale {
                    current: Box::new(current),
                });
            }
            let at = replica.host.now();
            replica.publish(
                place.campaign,
                place.audience,
                vec![BatchItem::Forget { entry, at }],
            )?;
            replica.erase(entry, place.campaign, at, replica.device.author())?;
            replica.remember_operation(entry)?;
            replica.push_event(Event::Changed {
                campaign: place.campaign,
                entries: vec![],
                forgotten: vec![entry],
                remote: false,
            });
            Ok(WriteOutcome::Forgotten)
        })
    }

    fn edit(
        &mut self,
        entry: EntryId,
        work: impl FnOnce(&mut EntryDoc, &Self) -> Result<Made, WriteError>,
    ) -> Result<WriteOutcome, WriteError> {
        self.transact(|replica| {
            if replica.is_forgotten(entry)? {
                return Ok(WriteOutcome::Forgotten);
            }
            let place = replica.place(entry)?.ok_or(WriteError::NoEntry(entry))?;
            let mut document = replica.take_document(entry)?;
            let made = work(&mut document, replica)?;
            let stale = matches!(made, Made::Stale);
            if let Made::Changed(change) = made {
                let item = BatchItem::Changes {
                    entry,
                    changes: vec![change.clone()],
                };
                let number = replica.publish(place.campaign, place.audience, vec![item])?;
                replica.append_changes(entry, &document, &[change])?;
                replica.write_view(place.campaign, place.audience, &document, Some(number))?;
                replica.finish(place.campaign, entry)?;
            }
            replica.put_back(entry, document);
            let view = Box::new(replica.entry(entry)?.ok_or(WriteError::NoEntry(entry))?);
            Ok(if stale {
                WriteOutcome::Stale { current: view }
            } else {
                WriteOutcome::Done { entry: view }
            })
        })
    }

    fn finish(&mut self, campaign: CampaignId, entry: EntryId) -> Result<(), StoreError> {
        self.remember_operation(entry)?;
        self.push_event(Event::Changed {
            campaign,
            entries: vec![entry],
            forgotten: vec![],
            remote: false,
        });
        Ok(())
    }

    fn remember_operation(&mut self, entry: EntryId) -> Result<(), StoreError> {
        let Some(op) = self.operation.take() else {
            return Ok(());
        };
        self.conn
            .prepare_cached(
                "INSERT INTO operations (op, entry) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
            )?
            .execute(params![op, &entry.to_bytes()[..]])?;
        self.conn
            .prepare_cached(
                "DELETE FROM operations WHERE seq <= (SELECT max(seq) FROM operations) - ?1",
            )?
            .execute([OPERATIONS_KEPT])?;
        Ok(())
    }
}

fn made(result: Result<Option<Vec<u8>>, ReviseError>) -> Result<Made, WriteError> {
    match result {
        Ok(Some(change)) => Ok(Made::Changed(change)),
        Ok(None) => Ok(Made::Unchanged),
        Err(ReviseError::Stale { .. } | ReviseError::UnknownBase { .. }) => Ok(Made::Stale),
        Err(error) => Err(WriteError::Invalid(error.to_string())),
    }
}
