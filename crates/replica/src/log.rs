//! The log: envelopes of this device and of others, numbered and chained.

use lore_codex::{Batch, BatchItem};
use lore_seal::{Audience, CampaignId, DeviceId, DeviceSecret, Envelope, Header};
use rusqlite::params;

use crate::error::{StoreError, WriteError};
use crate::host::draw;
use crate::replica::Replica;

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

    /// Up to where the relay has acknowledged this device's envelopes of an audience.
    pub(crate) fn acked(
        &self,
        campaign: CampaignId,
        audience: Audience,
        device: DeviceId,
    ) -> Result<u64, StoreError> {
        use rusqlite::OptionalExtension;
        Ok(self
            .conn
            .prepare_cached(
                "SELECT acked FROM heads WHERE campaign = ?1 AND audience = ?2 AND device = ?3",
            )?
            .query_row(
                params![
                    &campaign.to_bytes()[..],
                    &audience.to_bytes()[..],
                    &device.to_bytes()[..]
                ],
                |row| row.get(0),
            )
            .optional()?
            .unwrap_or(0))
    }

    /// Envelopes of this device that the relay has not acknowledged, over all tables.
    pub fn waiting(&self) -> Result<u64, StoreError> {
        Ok(self
            .conn
            .prepare_cached(
                "SELECT coalesce(sum(h.number - h.acked), 0) FROM heads h
                 JOIN campaigns c ON c.id = h.campaign AND c.relay IS NOT NULL
                 WHERE h.device = ?1",
            )?
            .query_row([&self.device.to_bytes()[..]], |row| row.get(0))?)
    }
}
