//! A peer's acceptance of envelopes: genuine, by a member who may write there, next in a chain.

use std::collections::BTreeMap;

use bytes::Bytes;
use lore_seal::{CampaignId, Envelope};

use crate::cursor::{Cursor, MAX_STREAMS, Stream};
use crate::store::{Head, PeerStore, Received, Rejection};

/// Envelopes that wait for one before them, or for the statement that makes their author a member.
#[derive(Debug, Default)]
pub(crate) struct Intake {
    waiting: BTreeMap<Stream, BTreeMap<u64, Envelope>>,
    bytes: usize,
    /// Streams from which nothing more is taken in this session, with the highest number seen:
    /// what is advertised as had, so that the other end does not send it again and again.
    blocked: Cursor,
    /// Envelopes that were not genuine.
    pub(crate) bogus: u64,
}

/// What one frame of envelopes brought.
#[derive(Debug, Default)]
pub(crate) struct Intaken {
    pub(crate) received: Received,
    /// Genuine envelopes seen, accepted or not: the other end holds these.
    pub(crate) seen: Cursor,
    /// Whether something waits for an envelope or a statement that has not come.
    pub(crate) gap: bool,
}

impl Intake {
    /// What we have, or do not want again.
    pub(crate) fn advertised(&self, mut own: Cursor) -> Cursor {
        own.merge(&self.blocked);
        own
    }

    /// Whether something waits.
    pub(crate) fn is_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    fn hold(&mut self, stream: Stream, envelope: Envelope, limit: usize) {
        let size = envelope.as_bytes().len();
        let known = self.waiting.contains_key(&stream);
        if self.bytes + size > limit || (!known && self.waiting.len() >= MAX_STREAMS) {
            return; // it is asked for again
        }
        let slot = self.waiting.entry(stream).or_default();
        if slot.insert(envelope.header().number, envelope).is_none() {
            self.bytes += size;
        }
    }

    fn take_held(&mut self, stream: Stream, number: u64) -> Option<Envelope> {
        let slot = self.waiting.get_mut(&stream)?;
        let envelope = slot.remove(&number)?;
        self.bytes -= envelope.as_bytes().len();
        if slot.is_empty() {
            self.waiting.remove(&stream);
        }
        Some(envelope)
    }

    /// Whether the key for the stream's next envelope is there, if that envelope is.
    fn can_open_next<S: PeerStore>(&self, stream: Stream, number: u64, store: &S) -> bool {
        self.waiting
            .get(&stream)
            .and_then(|slot| slot.get(&number))
            .is_some_and(|next| store.has_key(stream.audience, next.header().epoch))
    }

    /// Drops what waits up to and including `number`.
    fn drop_held(&mut self, stream: Stream, number: u64) {
        if let Some(slot) = self.waiting.get_mut(&stream) {
            let later = slot.split_off(&number.saturating_add(1));
            let dropped = std::mem::replace(slot, later);
            self.bytes -= dropped.values().map(|e| e.as_bytes().len()).sum::<usize>();
            if slot.is_empty() {
                self.waiting.remove(&stream);
            }
        }
    }

    fn block(&mut self, stream: Stream, number: u64) {
        let last = self
            .waiting
            .get(&stream)
            .and_then(|slot| slot.keys().next_back().copied())
            .unwrap_or(0);
        self.blocked.advance(stream, number.max(last));
        self.drop_held(stream, u64::MAX);
    }

    /// Takes in a frame's envelopes and whatever they complete.
    pub(crate) fn take<S: PeerStore>(
        &mut self,
        campaign: CampaignId,
        items: &[Bytes],
        store: &mut S,
        limit: usize,
        now: i64,
    ) -> Result<Intaken, S::Error> {
        let mut run = Run::default();
        let mut seen = Cursor::new();
        for bytes in items {
            let Ok(envelope) = Envelope::decode(bytes) else {
                self.bogus += 1;
                continue;
            };
            let header = envelope.header();
            let stream = Stream {
                audience: header.audience,
                device: header.device,
            };
            if header.campaign != campaign {
                self.bogus += 1;
                continue;
            }
            if self.blocked.get(stream) > 0 {
                self.blocked.advance(stream, header.number);
                continue;
            }
            if header.number <= run.head(store, stream)?.number {
                run.duplicates += 1;
                seen.advance(stream, header.number);
                continue;
            }
            // Once, here: what waits is genuine.
            if envelope.verify().is_err() {
                self.bogus += 1;
                continue;
            }
            seen.advance(stream, header.number);
            self.hold(stream, envelope, limit);
            self.drain(stream, store, &mut run)?;
        }
        self.hand_over(run, seen, store, now)
    }

    /// Tries again what waited for a statement.
    pub(crate) fn retry<S: PeerStore>(
        &mut self,
        store: &mut S,
        now: i64,
    ) -> Result<Intaken, S::Error> {
        let mut run = Run::default();
        for stream in self.waiting.keys().copied().collect::<Vec<_>>() {
            self.drain(stream, store, &mut run)?;
        }
        self.hand_over(run, Cursor::new(), store, now)
    }

    /// Moves the stream's next envelopes, as far as they are in a row, into the run.
    fn drain<S: PeerStore>(
        &mut self,
        stream: Stream,
        store: &S,
        run: &mut Run,
    ) -> Result<(), S::Error> {
        if !store
            .membership()
            .may_write(&stream.device, stream.audience)
        {
            return Ok(());
        }
        loop {
            let head = run.head(store, stream)?;
            self.drop_held(stream, head.number);
            if !self.can_open_next(stream, head.number + 1, store) {
                return Ok(());
            }
            let Some(envelope) = self.take_held(stream, head.number + 1) else {
                return Ok(());
            };
            if envelope.header().prev != head.hash {
                // Its device signed two continuations of one log. Neither is more right.
                let number = envelope.header().number;
                self.block(stream, number);
                run.rejected.push(Rejection {
                    stream,
                    number,
                    why: "the device's log goes two ways".to_owned(),
                });
                return Ok(());
            }
            run.heads.insert(
                stream,
                Head {
                    number: envelope.header().number,
                    hash: envelope.chain_hash(),
                },
            );
            run.ready.push(envelope);
        }
    }

    fn hand_over<S: PeerStore>(
        &mut self,
        run: Run,
        seen: Cursor,
        store: &mut S,
        now: i64,
    ) -> Result<Intaken, S::Error> {
        let mut received = Received::default();
        if !run.ready.is_empty() {
            received = store.receive(run.ready, now)?;
            for rejection in &received.rejected {
                let top = run
                    .heads
                    .get(&rejection.stream)
                    .map_or(0, |head| head.number);
                self.block(rejection.stream, rejection.number.max(top));
            }
        }
        received.duplicates += run.duplicates;
        received.rejected.extend(run.rejected);
        Ok(Intaken {
            received,
            seen,
            gap: self.is_waiting(),
        })
    }
}

/// One pass over a frame: heads as they will be once the ready envelopes are applied.
#[derive(Default)]
struct Run {
    heads: BTreeMap<Stream, Head>,
    ready: Vec<Envelope>,
    duplicates: usize,
    rejected: Vec<Rejection>,
}

impl Run {
    fn head<S: PeerStore>(&mut self, store: &S, stream: Stream) -> Result<Head, S::Error> {
        if let Some(head) = self.heads.get(&stream) {
            return Ok(*head);
        }
        let head = store.head(stream)?;
        self.heads.insert(stream, head);
        Ok(head)
    }
}
