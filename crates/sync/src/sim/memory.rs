//! A replica in memory: real keys, real envelopes, no documents.

use std::collections::BTreeMap;
use std::convert::Infallible;

use bytes::Bytes;
use lore_seal::{
    Audience, CampaignId, DeviceSecret, Envelope, EnvelopeError, EpochKey, FIRST_EPOCH, Header,
    InviteSeed, Membership, MembershipError, Role, Statement,
};

use crate::cursor::{Cursor, Stream};
use crate::store::{Head, PeerStore, Received, Rejection};

/// A [`PeerStore`] that keeps plaintexts as its whole state.
#[derive(Debug)]
pub struct MemoryStore {
    secret: DeviceSecret,
    membership: Membership,
    invitation: Option<InviteSeed>,
    keys: BTreeMap<(Audience, u32), EpochKey>,
    logs: BTreeMap<Stream, Vec<(Bytes, [u8; 32])>>,
    texts: BTreeMap<(Stream, u64), Vec<u8>>,
    handed: BTreeMap<(Stream, u64), usize>,
    /// Plaintexts that this replica refuses, as if their authorship were forged.
    pub refuses: Vec<u8>,
}

impl MemoryStore {
    fn new(secret: DeviceSecret, membership: Membership) -> Self {
        Self {
            secret,
            membership,
            invitation: None,
            keys: BTreeMap::new(),
            logs: BTreeMap::new(),
            texts: BTreeMap::new(),
            handed: BTreeMap::new(),
            refuses: Vec::new(),
        }
    }

    /// The keeper's replica of a new campaign, made from random bytes.
    pub fn keeper(
        seed: [u8; 32],
        table: [u8; 32],
        keeper: [u8; 32],
    ) -> Result<Self, MembershipError> {
        let secret = DeviceSecret::from_seed(seed);
        let genesis = Statement::genesis(&secret, [7; 16])?;
        let mut store = Self::new(secret, Membership::from_genesis(genesis)?);
        let keys = [(Audience::Table, table), (Audience::Keeper, keeper)];
        for (audience, key) in keys {
            store
                .keys
                .insert((audience, FIRST_EPOCH), EpochKey::from_bytes(key));
        }
        Ok(store)
    }

    /// A replica that joins by an invitation, knowing the campaign's identifier and the seed only.
    pub fn joiner(
        campaign: CampaignId,
        seed: [u8; 32],
        invitation: InviteSeed,
        at: i64,
    ) -> Result<Self, MembershipError> {
        let secret = DeviceSecret::from_seed(seed);
        let mut membership = Membership::new(campaign);
        membership.apply(Statement::claim(campaign, &invitation, &secret, at)?)?;
        let mut store = Self::new(secret, membership);
        store.invitation = Some(invitation);
        Ok(store)
    }

    /// A replica that knows the campaign's identifier and nothing else.
    pub fn stranger(campaign: CampaignId, seed: [u8; 32]) -> Self {
        Self::new(DeviceSecret::from_seed(seed), Membership::new(campaign))
    }

    /// Invites; the caller makes the session offer it.
    pub fn invite(
        &mut self,
        invitation: &InviteSeed,
        role: Role,
        uses: u32,
        randomness: [u8; 32],
    ) -> Result<(), MembershipError> {
        let key = self
            .keys
            .get(&(Audience::Table, FIRST_EPOCH))
            .ok_or(MembershipError::NotAllowed)?;
        let statement = Statement::invite(
            self.membership.campaign(),
            &self.secret,
            invitation,
            role,
            None,
            uses,
            (FIRST_EPOCH, key),
            randomness,
        )?;
        self.membership.apply(statement)?;
        Ok(())
    }

    /// Sends the `keeper` key to every co-keeper without it.
    pub fn grant(&mut self, randomness: [u8; 32]) -> Result<usize, MembershipError> {
        let Some(key) = self.keys.get(&(Audience::Keeper, FIRST_EPOCH)) else {
            return Ok(0);
        };
        let lockboxes =
            self.membership
                .grant_keeper_lockboxes(&self.secret, (FIRST_EPOCH, key), || randomness)?;
        let count = lockboxes.len();
        for lockbox in lockboxes {
            self.membership.apply(lockbox)?;
        }
        Ok(count)
    }

    /// Writes one envelope. `Ok(false)` when this replica holds no key of the audience.
    pub fn write(
        &mut self,
        audience: Audience,
        text: &[u8],
        nonce: [u8; 24],
    ) -> Result<bool, EnvelopeError> {
        let Some(key) = self.keys.get(&(audience, FIRST_EPOCH)) else {
            return Ok(false);
        };
        let device = self.secret.id();
        let stream = Stream { audience, device };
        let head = self.at(stream);
        let header = Header {
            campaign: self.membership.campaign(),
            audience,
            epoch: FIRST_EPOCH,
            device,
            number: head.number + 1,
            prev: head.hash,
        };
        let envelope = Envelope::seal(header, key, &self.secret, text, nonce)?;
        self.keep(stream, &envelope, text.to_vec());
        Ok(true)
    }

    fn keep(&mut self, stream: Stream, envelope: &Envelope, text: Vec<u8>) {
        self.texts.insert((stream, envelope.header().number), text);
        self.logs
            .entry(stream)
            .or_default()
            .push((Bytes::from(envelope.encode()), envelope.chain_hash()));
    }

    fn at(&self, stream: Stream) -> Head {
        self.logs
            .get(&stream)
            .and_then(|log| {
                let (_, hash) = log.last()?;
                Some(Head {
                    number: log.len() as u64,
                    hash: *hash,
                })
            })
            .unwrap_or_default()
    }

    /// Every plaintext it has, by place.
    pub fn texts(&self) -> &BTreeMap<(Stream, u64), Vec<u8>> {
        &self.texts
    }

    /// The encoded envelopes of a stream, in order.
    pub fn log(&self, stream: Stream) -> Vec<Bytes> {
        let log = self.logs.get(&stream).into_iter().flatten();
        log.map(|(bytes, _)| bytes.clone()).collect()
    }

    /// How often each envelope was handed over by a session.
    pub fn handed_over(&self) -> &BTreeMap<(Stream, u64), usize> {
        &self.handed
    }

    /// Takes the keys that the membership now holds for it.
    fn adopt_keys(&mut self) {
        let from_link = self
            .invitation
            .as_ref()
            .and_then(|seed| self.membership.open_invitation(seed));
        if let Some((epoch, key)) = from_link {
            self.keys.insert((Audience::Table, epoch), key);
        }
        let device = self.secret.id();
        let opened: Vec<_> = self
            .membership
            .lockboxes_for(&device)
            .filter_map(|held| Some((held.audience, held.open(&self.secret).ok()?)))
            .collect();
        for (audience, (epoch, key)) in opened {
            self.keys.insert((audience, epoch), key);
        }
    }
}

impl PeerStore for MemoryStore {
    type Error = Infallible;

    fn membership(&self) -> &Membership {
        &self.membership
    }

    fn secret(&self) -> &DeviceSecret {
        &self.secret
    }

    fn cursor(&self) -> Result<Cursor, Infallible> {
        Ok(self
            .logs
            .iter()
            .map(|(stream, log)| (*stream, log.len() as u64))
            .collect())
    }

    fn head(&self, stream: Stream) -> Result<Head, Infallible> {
        Ok(self.at(stream))
    }

    fn envelopes_after(&self, after: &Cursor, max_bytes: usize) -> Result<Vec<Bytes>, Infallible> {
        let mut out: Vec<Bytes> = Vec::new();
        let mut size = 0;
        for (stream, log) in &self.logs {
            for (bytes, _) in log.iter().skip(after.get(*stream) as usize) {
                if !out.is_empty() && size + bytes.len() > max_bytes {
                    return Ok(out);
                }
                size += bytes.len();
                out.push(bytes.clone());
            }
        }
        Ok(out)
    }

    fn has_key(&self, audience: Audience, epoch: u32) -> bool {
        self.keys.contains_key(&(audience, epoch))
    }

    fn receive(&mut self, envelopes: Vec<Envelope>, _now: i64) -> Result<Received, Infallible> {
        let mut received = Received::default();
        for envelope in envelopes {
            let header = *envelope.header();
            let stream = Stream {
                audience: header.audience,
                device: header.device,
            };
            *self.handed.entry((stream, header.number)).or_default() += 1;
            let head = self.at(stream);
            if header.number <= head.number {
                received.duplicates += 1;
                continue;
            }
            let opened = self
                .keys
                .get(&(header.audience, header.epoch))
                .and_then(|key| envelope.open(key).ok())
                .filter(|text| self.refuses.is_empty() || *text != self.refuses);
            match opened {
                Some(text) if header.number == head.number + 1 => {
                    self.keep(stream, &envelope, text);
                    received.accepted.push((stream, header.number));
                }
                _ => received.rejected.push(Rejection {
                    stream,
                    number: header.number,
                    why: "refused".to_owned(),
                }),
            }
        }
        Ok(received)
    }

    fn receive_statements(
        &mut self,
        statements: Vec<Statement>,
        _now: i64,
    ) -> Result<usize, Infallible> {
        let mut new = 0;
        for statement in statements {
            if let Ok(change) = self.membership.apply(statement) {
                new += usize::from(change != lore_seal::Change::Duplicate);
            }
        }
        self.adopt_keys();
        Ok(new)
    }
}
