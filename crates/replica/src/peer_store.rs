//! A campaign of a replica, as a sync session sees it.

use bytes::Bytes;
use lore_seal::{CampaignId, DeviceSecret, Envelope, Membership, Statement};
use lore_sync::{Cursor, Head, PeerStore, Received, Rejection, Stream};
use rusqlite::params;

use crate::error::StoreError;
use crate::receive::Arrival;
use crate::replica::Replica;

/// One campaign's part of a replica, for one use by a session.
#[derive(Debug)]
pub struct CampaignStore<'a> {
    replica: &'a mut Replica,
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
    pub fn store(&mut self, campaign: CampaignId) -> Result<CampaignStore<'_>, StoreError> {
        self.refresh()?;
        self.campaign(campaign)?;
        Ok(CampaignStore {
            replica: self,
            campaign,
            nobody: Membership::new(campaign),
        })
    }
}

impl PeerStore for CampaignStore<'_> {
    type Error = StoreError;

    fn membership(&self) -> &Membership {
        self.replica
            .campaigns
            .get(&self.campaign)
            .map_or(&self.nobody, |state| &state.membership)
    }

    fn secret(&self) -> &DeviceSecret {
        self.replica.secret()
    }

    fn cursor(&self) -> Result<Cursor, StoreError> {
        let mut cursor = Cursor::new();
        if let Some(state) = self.replica.campaigns.get(&self.campaign) {
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
            .replica
            .campaigns
            .get(&self.campaign)
            .and_then(|state| state.heads.get(&(stream.audience, stream.device)))
            .map_or_else(Head::default, |(number, hash)| Head {
                number: *number,
                hash: *hash,
            }))
    }

    fn envelopes_after(&self, after: &Cursor, max_bytes: usize) -> Result<Vec<Bytes>, StoreError> {
        let mut found = Vec::new();
        let mut total = 0;
        let Some(state) = self.replica.campaigns.get(&self.campaign) else {
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
            let mut select = self.replica.conn.prepare_cached(
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

    fn receive(&mut self, envelopes: Vec<Envelope>, _now: i64) -> Result<Received, StoreError> {
        let arrivals = self
            .replica
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
        let taken = self.replica.receive_statements(self.campaign, statements)?;
        self.replica.grant_keys(self.campaign)?;
        Ok(taken)
    }
}
