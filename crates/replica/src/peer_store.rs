//! A campaign of a replica, as a sync session sees it.

use std::borrow::BorrowMut;

use bytes::Bytes;
use lore_seal::{Audience, CampaignId, DeviceSecret, Envelope, Membership, Statement};
use lore_sync::{Cursor, Head, PeerStore, Received, Rejection, Stream};
use rusqlite::params;

use crate::error::StoreError;
use crate::receive::Arrival;
use crate::replica::{CampaignState, Replica};

/// One campaign's part of a replica, borrowed for one use by a session or owned with it.
#[derive(Debug)]
pub struct CampaignStore<R> {
    replica: R,
    campaign: CampaignId,
    /// What stands in when a failed transaction has dropped the campaign from memory: the session
    /// ends then anyway.
    nobody: Membership,
}

impl Replica {
    /// A campaign as a session's store.
    ///
    /// # Errors
    /// [`StoreError::NoCampaign`], or the store's failure.
    pub fn store(&mut self, campaign: CampaignId) -> Result<CampaignStore<&mut Self>, StoreError> {
        CampaignStore::over(self, campaign)
    }

    /// The same, with the replica in it: for a process that serves one campaign alone.
    ///
    /// # Errors
    /// As [`Self::store`].
    pub fn into_store(self, campaign: CampaignId) -> Result<CampaignStore<Self>, StoreError> {
        CampaignStore::over(self, campaign)
    }
}

impl<R: BorrowMut<Replica>> CampaignStore<R> {
    fn over(mut replica: R, campaign: CampaignId) -> Result<Self, StoreError> {
        replica.borrow_mut().refresh()?;
        replica.borrow_mut().campaign(campaign)?;
        Ok(Self {
            replica,
            campaign,
            nobody: Membership::new(campaign),
        })
    }

    /// The replica underneath.
    pub fn replica(&mut self) -> &mut Replica {
        self.replica.borrow_mut()
    }

    fn state(&self) -> Option<&CampaignState> {
        self.replica.borrow().campaigns.get(&self.campaign)
    }
}

impl<R: BorrowMut<Replica>> PeerStore for CampaignStore<R> {
    type Error = StoreError;

    fn membership(&self) -> &Membership {
        self.state().map_or(&self.nobody, |state| &state.membership)
    }

    fn secret(&self) -> &DeviceSecret {
        self.replica.borrow().secret()
    }

    fn cursor(&self) -> Result<Cursor, StoreError> {
        let mut cursor = Cursor::new();
        if let Some(state) = self.state() {
            for ((audience, device), (number, _)) in &state.heads {
                cursor.advance(
                    Stream {
                        audience: *audience,
                        device: *device,
                    },
                    *number,
                );
            }
        }
        Ok(cursor)
    }

    fn head(&self, stream: Stream) -> Result<Head, StoreError> {
        Ok(self
            .state()
            .and_then(|state| state.heads.get(&(stream.audience, stream.device)))
            .map_or_else(Head::default, |(number, hash)| Head {
                number: *number,
                hash: *hash,
            }))
    }

    fn envelopes_after(&self, after: &Cursor, max_bytes: usize) -> Result<Vec<Bytes>, StoreError> {
        let mut found = Vec::new();
        let mut total = 0;
        let Some(state) = self.state() else {
            return Ok(found);
        };
        for ((audience, device), (last, _)) in &state.heads {
            let from = after.get(Stream {
                audience: *audience,
                device: *device,
            });
            if from >= *last {
                continue;
            }
            let mut select = self.replica.borrow().conn.prepare_cached(
                "SELECT bytes FROM log
                 WHERE campaign = ?1 AND audience = ?2 AND device = ?3 AND number > ?4
                 ORDER BY number",
            )?;
            let mut rows = select.query(params![
                &self.campaign.to_bytes()[..],
                &audience.to_bytes()[..],
                &device.to_bytes()[..],
                from,
            ])?;
            while let Some(row) = rows.next()? {
                let bytes: Vec<u8> = row.get(0)?;
                if !found.is_empty() && total + bytes.len() > max_bytes {
                    return Ok(found);
                }
                total += bytes.len();
                found.push(Bytes::from(bytes));
            }
        }
        Ok(found)
    }

    fn has_key(&self, audience: Audience, epoch: u32) -> bool {
        self.state()
            .is_some_and(|state| state.keys.contains_key(&(audience, epoch)))
    }

    fn receive(&mut self, envelopes: Vec<Envelope>, _now: i64) -> Result<Received, StoreError> {
        let arrivals =
            self.replica
                .borrow_mut()
                .receive_checked(self.campaign, &envelopes, true)?;
        let mut received = Received::default();
        for (envelope, arrival) in envelopes.iter().zip(arrivals) {
            let header = envelope.header();
            let stream = Stream {
                audience: header.audience,
                device: header.device,
            };
            match arrival {
                Arrival::Merged | Arrival::Quarantined(_) => {
                    received.accepted.push((stream, header.number));
                }
                Arrival::Duplicate | Arrival::Gap => received.duplicates += 1,
                Arrival::Refused(why) => received.rejected.push(Rejection {
                    stream,
                    number: header.number,
                    why: why.to_owned(),
                }),
            }
        }
        Ok(received)
    }

    fn receive_statements(
        &mut self,
        statements: Vec<Statement>,
        _now: i64,
    ) -> Result<usize, StoreError> {
        let taken = self
            .replica
            .borrow_mut()
            .receive_statements(self.campaign, statements)?;
        self.replica.borrow_mut().grant_keys(self.campaign)?;
        Ok(taken)
    }
}
