//! Envelopes of other devices: verified, opened, merged, each batch in one transaction.

use std::collections::BTreeSet;

use lore_codex::{Batch, BatchItem, EntryDoc, EntryId, change_author};
use lore_seal::{Audience, CampaignId, Envelope};
use rusqlite::params;

use crate::error::StoreError;
use crate::replica::Replica;
use crate::view::Event;

/// What became of one envelope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Arrival {
    /// Merged.
    Merged,
    /// Held already.
    Duplicate,
    /// An earlier envelope of the device is missing: to be asked for again.
    Gap,
    /// Not taken: not signed by a member who may write there, or not openable.
    Refused(&'static str),
    /// Kept in the log but not merged: a member signed what breaks the rules.
    Quarantined(&'static str),
}

/// What a batch touched, for one event at its end.
#[derive(Default)]
struct Touched {
    entries: BTreeSet<EntryId>,
    forgotten: BTreeSet<EntryId>,
    campaigns: bool,
}

impl Replica {
    /// Takes envelopes of a campaign in one durable transaction, in the order given.
    ///
    /// # Errors
    /// Only when the store fails: then none of them was taken. A bad envelope is an [`Arrival`].
    pub fn receive(
        &mut self,
        campaign: CampaignId,
        envelopes: &[Envelope],
    ) -> Result<Vec<Arrival>, StoreError> {
        self.receive_checked(campaign, envelopes, false)
    }

    /// As [`Self::receive`]; `verified` says that the signatures have been checked already.
    pub(crate) fn receive_checked(
        &mut self,
        campaign: CampaignId,
        envelopes: &[Envelope],
        verified: bool,
    ) -> Result<Vec<Arrival>, StoreError> {
        self.transact(|replica| {
            let mut touched = Touched::default();
            let mut arrivals = Vec::with_capacity(envelopes.len());
            for envelope in envelopes {
                arrivals.push(replica.receive_one(campaign, envelope, verified, &mut touched)?);
            }
            if touched.campaigns {
                replica.push_event(Event::Campaigns);
            }
            if !touched.entries.is_empty() || !touched.forgotten.is_empty() {
                replica.push_event(Event::Changed {
                    campaign,
                    entries: touched.entries.into_iter().collect(),
                    forgotten: touched.forgotten.into_iter().collect(),
                    remote: true,
                });
            }
            Ok(arrivals)
        })
    }

    fn receive_one(
        &mut self,
        campaign: CampaignId,
        envelope: &Envelope,
        verified: bool,
        touched: &mut Touched,
    ) -> Result<Arrival, StoreError> {
        let header = *envelope.header();
        if header.campaign != campaign {
            return Ok(Arrival::Refused("of another campaign"));
        }
        let state = self.campaign(campaign)?;
        let (last, chain) = state
            .heads
            .get(&(header.audience, header.device))
            .copied()
            .unwrap_or((0, [0; 32]));
        if header.number <= last {
            return Ok(Arrival::Duplicate);
        }
        if header.number > last + 1 {
            return Ok(Arrival::Gap);
        }
        if header.prev != chain {
            return Ok(Arrival::Refused("does not continue the device's chain"));
        }
        if !verified && envelope.verify().is_err() {
            return Ok(Arrival::Refused("not signed by its device"));
        }
        if !state.membership.may_write(&header.device, header.audience) {
            return Ok(Arrival::Refused("of a device that may not write there"));
        }
        let Some(key) = state.keys.get(&(header.audience, header.epoch)) else {
            return Ok(Arrival::Refused(
                "sealed under a key that this device does not hold",
            ));
        };
        let Ok(plaintext) = envelope.open(key) else {
            self.append(envelope, Some("does not open"))?;
            return Ok(Arrival::Quarantined("does not open"));
        };
        let author = header.device.author();
        let checked = Batch::decode(&plaintext)
            .map_err(|_| "is malformed")
            .and_then(|batch| {
                let items = batch.into_items();
                let forged = items.iter().any(|item| match item {
                    BatchItem::Changes { changes, .. } => changes.iter().any(|change| {
                        change_author(change).map_or(true, |by| by.to_bytes() != author)
                    }),
                    _ => false,
                });
                if forged {
                    Err("carries another author's change")
                } else {
                    Ok(items)
                }
            });
        let items = match checked {
            Ok(items) => items,
            Err(why) => {
                self.append(envelope, Some(why))?;
                return Ok(Arrival::Quarantined(why));
            }
        };
        let mut refused = None;
        for item in items {
            let result = match item {
                BatchItem::Changes { entry, changes } => {
                    self.merge(campaign, header.audience, entry, &changes, touched)?
                }
                BatchItem::Forget { entry, at } => {
                    self.forget_from(campaign, header.audience, entry, at, author, touched)?
                }
                BatchItem::Profile { name, agent, at } => {
                    self.take_profile(campaign, author, &name, agent, at)?;
                    touched.campaigns = true;
                    None
                }
            };
            refused = refused.or(result);
        }
        self.append(envelope, refused)?;
        Ok(refused.map_or(Arrival::Merged, Arrival::Quarantined))
    }

    /// Merges changes into an entry's document. Returns why not, where they break the rules.
    fn merge(
        &mut self,
        campaign: CampaignId,
        audience: Audience,
        entry: EntryId,
        changes: &[Vec<u8>],
        touched: &mut Touched,
    ) -> Result<Option<&'static str>, StoreError> {
        if self.is_forgotten(entry)? {
            self.conn
                .prepare_cached("UPDATE tombstones SET dropped = dropped + ?2 WHERE entry = ?1")?
                .execute(params![&entry.to_bytes()[..], changes.len() as i64])?;
            return Ok(None);
        }
        let known = match self.place(entry)? {
            Some(place) if place.campaign != campaign || place.audience != audience => {
                return Ok(Some("changes an entry of another audience"));
            }
            place => place.is_some(),
        };
        let mut document = if known {
            self.take_document(entry)?
        } else {
            EntryDoc::empty(entry)
        };
        if document.apply(changes).is_err() {
            // The document is unchanged, as `apply` promises.
            if known {
                self.put_back(entry, document);
            }
            return Ok(Some("carries a damaged change"));
        }
        if known {
            self.append_changes(entry, &document, changes)?;
        } else {
            self.insert_document(entry, campaign, audience, &document)?;
        }
        if self.write_view(campaign, audience, &document, None)? {
            touched.entries.insert(entry);
            if entry.to_bytes() == campaign.to_bytes() {
                touched.campaigns = true;
            }
        }
        self.put_back(entry, document);
        Ok(None)
    }

    fn forget_from(
        &mut self,
        campaign: CampaignId,
        audience: Audience,
        entry: EntryId,
        at: i64,
        author: [u8; 16],
        touched: &mut Touched,
    ) -> Result<Option<&'static str>, StoreError> {
        match self.place(entry)? {
            Some(place) if place.campaign != campaign || place.audience != audience => {
                return Ok(Some("forgets an entry of another audience"));
            }
            _ => {}
        }
        if entry.to_bytes() == campaign.to_bytes() {
            return Ok(Some("forgets the campaign itself"));
        }
        self.erase(entry, campaign, at, author)?;
        touched.entries.remove(&entry);
        touched.forgotten.insert(entry);
        Ok(None)
    }
}
