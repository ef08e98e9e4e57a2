//! The log: envelopes of this device and of others, numbered and chained.

use lore_codex::{Batch, BatchItem};
use lore_seal::{Audience, CampaignId, DeviceSecret, Envelope, Header};
use lore_sync::Cursor;
use rusqlite::params;

use crate::error::{StoreError, WriteError};
use crate::host::draw;
use crate::replica::Replica;
use crate::view::Event;

/// The epoch that a new campaign starts with.
pub(crate) const FIRST_EPOCH: u32 = 1;

impl Replica {
    /// Seals `items` as this device's next envelope of an audience and appends it. Returns its number.
    pub(crate) fn publish(
        &mut self,
        campaign: CampaignId,
        audience: Audience,
        items: Vec<BatchItem>,
    ) -> Result<u64, WriteError> {
        let secret = self.secret.clone();
        self.publish_as(&secret, campaign, audience, items)
    }

    /// As [`Self::publish`], in the name of any device whose secret is at hand.
    pub(crate) fn publish_as(
        &mut self,
        secret: &DeviceSecret,
        campaign: CampaignId,
        audience: Audience,
        items: Vec<BatchItem>,
    ) -> Result<u64, WriteError> {
        let device = secret.id();
        let plaintext = Batch::new(items)
            .and_then(|batch| batch.encode())
            .map_err(|_| WriteError::TooLarge)?;
        let nonce = draw(self.host.as_mut());
        let state = self.campaign(campaign)?;
        if !state.membership.may_write(&device, audience) {
            return Err(WriteError::Forbidden { audience });
        }
        let ((_, epoch), key) = state
            .keys
            .range((audience, 0)..=(audience, u32::MAX))
            .next_back()
            .ok_or(WriteError::Forbidden { audience })?;
        let (last, prev) = state
            .heads
            .get(&(audience, device))
            .copied()
            .unwrap_or((0, [0; 32]));
        let header = Header {
            campaign,
            audience,
            epoch: *epoch,
            device,
            number: last + 1,
            prev,
        };
        let envelope = Envelope::seal(header, key, secret, &plaintext, nonce)
            .map_err(|_| WriteError::TooLarge)?;
        self.append(&envelope, None)?;
        Ok(last + 1)
    }

    /// Appends an envelope that follows its device's last one. `refused` says why its contents
    /// are not merged.
    pub(crate) fn append(
        &mut self,
        envelope: &Envelope,
        refused: Option<&str>,
    ) -> Result<(), StoreError> {
        let header = envelope.header();
        let (campaign, audience) = (header.campaign, header.audience);
        let (device, number) = (header.device, header.number);
        let chain = envelope.chain_hash();
        let audience_bytes = audience.to_bytes();
        self.conn
            .prepare_cached(
                "INSERT INTO log (campaign, audience, device, number, bytes, refused)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            )?
            .execute(params![
                &campaign.to_bytes()[..],
                &audience_bytes[..],
                &device.to_bytes()[..],
                number,
                &envelope.encode()[..],
                refused,
            ])?;
        self.conn
            .prepare_cached(
                "INSERT INTO heads (campaign, audience, device, number, chain)
                 VALUES (?1, ?2, ?3, ?4, ?5)
                 ON CONFLICT (campaign, audience, device)
                 DO UPDATE SET number = excluded.number, chain = excluded.chain",
            )?
            .execute(params![
                &campaign.to_bytes()[..],
                &audience_bytes[..],
                &device.to_bytes()[..],
                number,
                &chain[..],
            ])?;
        self.campaign(campaign)?
            .heads
            .insert((audience, device), (number, chain));
        Ok(())
    }

    /// Notes up to where the relay holds this device's envelopes, durably.
    ///
    /// Kept in memory and written with the next transaction: what is lost with it the relay says
    /// again at the next connection.
    pub fn note_acked(&mut self, campaign: CampaignId, cursor: &Cursor) -> Result<(), StoreError> {
        let device = self.device;
        let state = self.campaign(campaign)?;
        let mut news = false;
        for (stream, number) in cursor.iter() {
            if stream.device != device {
                continue;
            }
            let own = state
                .heads
                .get(&(stream.audience, device))
                .map_or(0, |head| head.0);
            let acked = state.acked.entry(stream.audience).or_default();
            if number.min(own) > *acked {
                *acked = number.min(own);
                state.acked_unwritten = true;
                news = true;
            }
        }
        if news {
            self.push_event(Event::Acknowledged { campaign });
        }
        Ok(())
    }

    /// Writes what [`Self::note_acked`] noted, within a transaction.
    pub(crate) fn write_acked(&mut self) -> Result<(), StoreError> {
        let device = self.device.to_bytes();
        for (campaign, state) in &mut self.campaigns {
            if !std::mem::take(&mut state.acked_unwritten) {
                continue;
            }
            for (audience, number) in &state.acked {
                self.conn
                    .prepare_cached(
                        "UPDATE heads SET acked = max(acked, ?4)
                         WHERE campaign = ?1 AND audience = ?2 AND device = ?3",
                    )?
                    .execute(params![
                        &campaign.to_bytes()[..],
                        &audience.to_bytes()[..],
                        &device[..],
                        number
                    ])?;
            }
        }
        Ok(())
    }

    /// Envelopes of this device that the relay has not acknowledged, over all tables.
    pub fn waiting(&mut self) -> Result<u64, StoreError> {
        let device = self.device;
        let mut waiting = 0;
        for id in self.campaign_ids()? {
            let state = self.campaign(id)?;
            if state.relay.is_none() {
                continue;
            }
            waiting += state
                .heads
                .iter()
                .filter(|((_, of), _)| *of == device)
                .map(|((audience, _), (number, _))| {
                    number.saturating_sub(state.acked.get(audience).copied().unwrap_or(0))
                })
                .sum::<u64>();
        }
        Ok(waiting)
    }
}
