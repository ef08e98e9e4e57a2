//! Taking in envelopes and presence: checked, fanned out at once, acknowledged when durable.

use bytes::Bytes;
use lore_seal::{DeviceId, Envelope};

use super::connection::Bucket;
use super::{ConnId, Effect, Record, TableCore, Write};
use crate::cursor::{Cursor, MAX_STREAMS, Stream};
use crate::frame::{Frame, Refusal};
use crate::store::Head;

/// Milliseconds between two rate-limit refusals, or two answers to a gap, on one connection.
const QUIET_MS: i64 = 250;

/// What became of one envelope.
enum Verdict {
    Accepted(Record),
    Duplicate(Stream, u64),
    Gap,
    Refused(Refusal, &'static str),
}

impl TableCore {
    /// Takes one token of the connection's device.
    pub(super) fn spend(&mut self, conn: ConnId, now: i64) -> bool {
        let Some(device) = self.conns.get(&conn).and_then(super::Connection::device) else {
            return false;
        };
        let burst = u64::from(self.limits.burst);
        let per_second = self.limits.per_second;
        self.buckets
            .entry(device)
            .or_insert_with(|| Bucket::new(burst, now))
            .take(now, per_second, burst)
    }

    pub(super) fn on_envelopes(&mut self, conn: ConnId, items: &[Bytes], now: i64) {
        let mut records: Vec<Record> = Vec::new();
        let mut gap = false;
        let mut refusal = None;
        for bytes in items {
            let verdict = self.judge(conn, bytes, now);
            match verdict {
                Verdict::Accepted(record) => {
                    self.take_in(conn, &record);
                    records.push(record);
                }
                Verdict::Duplicate(stream, number) => {
                    if let Some(state) = self.conns.get_mut(&conn) {
                        state.awaiting.advance(stream, number);
                        state.sent.advance(stream, number);
                    }
                }
                Verdict::Gap => gap = true,
                Verdict::Refused(code, why) => {
                    refusal = Some((code, why));
                    if code == Refusal::RateLimited || code.is_final() {
                        break;
                    }
                }
            }
        }
        if !records.is_empty() {
            self.store_and_fan_out(records, now);
        }
        self.acknowledge_one(conn);
        if let Some((code, why)) = refusal {
            self.object(conn, code, why, now);
        }
        if gap
            && self
                .conns
                .get(&conn)
                .is_some_and(|state| now - state.last_have >= QUIET_MS)
        {
            self.say_have(conn, now);
        }
    }

    fn object(&mut self, conn: ConnId, code: Refusal, why: &str, now: i64) {
        if code.is_final() {
            return self.refuse(conn, code, why);
        }
        let Some(state) = self.conns.get_mut(&conn) else {
            return;
        };
        if now - state.last_limited >= QUIET_MS {
            state.last_limited = now;
            self.send_refusal(conn, code, why);
        }
    }

    fn judge(&mut self, conn: ConnId, bytes: &Bytes, now: i64) -> Verdict {
        let malformed = Verdict::Refused(Refusal::Malformed, "an envelope that is not one");
        let Ok(header) = Envelope::peek(bytes) else {
            return malformed;
        };
        if header.campaign != self.campaign {
            return malformed;
        }
        let stream = Stream {
            audience: header.audience,
            device: header.device,
        };
        let head = self.heads.get(&stream).copied().unwrap_or_default();
        if header.number <= head.number {
            return Verdict::Duplicate(stream, header.number);
        }
        if header.number > head.number + 1 {
            return Verdict::Gap;
        }
        if !self.membership.may_write(&header.device, header.audience) {
            return Verdict::Refused(Refusal::NotAllowed, "its author may not write there");
        }
        if !self.spend(conn, now) {
            return Verdict::Refused(Refusal::RateLimited, "too much at once");
        }
        let Ok(envelope) = Envelope::decode(bytes) else {
            return malformed;
        };
        if envelope.verify().is_err() {
            return Verdict::Refused(
                Refusal::Malformed,
                "an envelope that its author did not sign",
            );
        }
        if header.prev != head.hash {
            return Verdict::Refused(Refusal::Forked, "the device's log goes two ways");
        }
        let fits = self.bytes + bytes.len() as u64 <= self.limits.table_bytes
            && (head.number > 0 || self.heads.len() < MAX_STREAMS);
        if !fits {
            return Verdict::Refused(Refusal::Full, "the table has no more room");
        }
        Verdict::Accepted(Record {
            audience: header.audience,
            device: header.device,
            number: header.number,
            chain_hash: envelope.chain_hash(),
            bytes: bytes.clone(),
        })
    }

    fn take_in(&mut self, conn: ConnId, record: &Record) {
        let stream = record.stream();
        self.heads.insert(
            stream,
            Head {
                number: record.number,
                hash: record.chain_hash,
            },
        );
        self.bytes += record.bytes.len() as u64;
        self.volatile
            .entry(stream)
            .or_default()
            .push_back((record.number, record.bytes.clone()));
        if let Some(state) = self.conns.get_mut(&conn) {
            state.awaiting.advance(stream, record.number);
            // It has what it sent, and needs no copy.
            state.sent.advance(stream, record.number);
        }
    }

    fn store_and_fan_out(&mut self, records: Vec<Record>, now: i64) {
        self.fan_out(&records, now);
        let token = self.token();
        let reaches = records
            .iter()
            .map(|record| (record.stream(), record.number))
            .collect();
        self.writes.insert(
            token,
            Write {
                reaches,
                done: false,
            },
        );
        self.effects.push_back(Effect::Append { token, records });
    }

    /// Pushes new records to every connection that may read them, has all before them, and has
    /// room. The others catch up by cursor.
    fn fan_out(&mut self, records: &[Record], now: i64) {
        // Most connections get the same records: one frame is encoded for all of them.
        let mut made: Vec<(Vec<usize>, Bytes)> = Vec::new();
        for conn in self.open_conns() {
            let Some(state) = self.conns.get_mut(&conn) else {
                continue;
            };
            let Some(device) = state.device() else {
                continue;
            };
            let mut chosen = Vec::new();
            let mut size = 0;
            for (index, record) in records.iter().enumerate() {
                let stream = record.stream();
                if state.sent.get(stream) >= record.number
                    || !self.membership.may_read(&device, record.audience)
                {
                    continue;
                }
                let next = state.told && state.sent.get(stream) + 1 == record.number;
                let room = state.queued + size + record.bytes.len() <= self.limits.queue_bytes;
                if next && room && !state.reading {
                    state.sent.advance(stream, record.number);
                    size += record.bytes.len();
                    chosen.push(index);
                } else {
                    state.lagging = true;
                }
            }
            if chosen.is_empty() {
                continue;
            }
            state.last_push = now;
            let known = made.iter().position(|(indices, _)| *indices == chosen);
            let frame = if let Some((_, frame)) = known.and_then(|index| made.get(index)) {
                frame.clone()
            } else {
                let items = chosen.iter().filter_map(|index| records.get(*index));
                let items = items.map(|record| record.bytes.clone()).collect();
                let Ok(frame) = Frame::Envelopes(items).encode() else {
                    continue;
                };
                made.push((chosen, frame.clone()));
                frame
            };
            self.send_bytes(conn, frame);
        }
    }

    /// Tells every connection what of its envelopes has become durable.
    pub(super) fn acknowledge(&mut self) {
        for conn in self.open_conns() {
            self.acknowledge_one(conn);
        }
    }

    fn acknowledge_one(&mut self, conn: ConnId) {
        let durable = &self.durable;
        let Some(state) = self.conns.get_mut(&conn) else {
            return;
        };
        let mut ack = Cursor::new();
        state.awaiting.retain(|stream, number| {
            let stands = durable.get(stream);
            ack.advance(stream, stands.min(number));
            stands < number
        });
        if !ack.is_empty() {
            self.send(conn, &Frame::Ack(ack));
        }
    }

    pub(super) fn on_presence(&mut self, conn: ConnId, device: DeviceId, sealed: Bytes, now: i64) {
        let rate = self.limits.presence_per_second;
        let Some(state) = self.conns.get_mut(&conn) else {
            return;
        };
        if state.device() != Some(device) {
            return; // nobody shows anything in another's name
        }
        let prompt = state
            .presence
            .get_or_insert_with(|| Bucket::new(u64::from(rate), now))
            .take(now, rate, u64::from(rate));
        self.presence.insert(device, sealed);
        for other in self.open_conns() {
            if let Some(state) = self.conns.get_mut(&other)
                && state.device() != Some(device)
            {
                state.unseen.insert(device);
            }
            // Beyond its rate, the latest waits for the next tick.
            if prompt {
                self.show_presence(other);
            }
        }
    }

    /// Sends the latest presence of those whose latest it has not seen, when there is room.
    pub(super) fn show_presence(&mut self, conn: ConnId) {
        let Some(state) = self.conns.get_mut(&conn) else {
            return;
        };
        if !state.is_open() || state.queued > self.limits.queue_bytes {
            return;
        }
        for device in std::mem::take(&mut state.unseen) {
            if let Some(sealed) = self.presence.get(&device).cloned() {
                self.send(conn, &Frame::Presence { device, sealed });
            }
        }
    }
}

impl Record {
    /// The log it belongs to.
    pub fn stream(&self) -> Stream {
        Stream {
            audience: self.audience,
            device: self.device,
        }
    }
}
