//! Bringing a connection up to date by cursor: from the store, then from memory.

use bytes::Bytes;
use lore_seal::Envelope;

use super::{CloseReason, ConnId, Effect, TableCore, Token};
use crate::cursor::{Cursor, Stream};
use crate::frame::Frame;

impl TableCore {
    /// What we have that this connection's device may read.
    fn readable(&self, conn: ConnId) -> Cursor {
        let device = self.conns.get(&conn).and_then(super::Connection::device);
        self.heads
            .iter()
            .filter(|(stream, _)| {
                device.is_some_and(|device| self.membership.may_read(&device, stream.audience))
            })
            .map(|(stream, head)| (*stream, head.number))
            .collect()
    }

    pub(super) fn say_have(&mut self, conn: ConnId, now: i64) {
        let cursor = self.readable(conn);
        let statements = self.membership.digest();
        if let Some(state) = self.conns.get_mut(&conn) {
            state.last_have = now;
        }
        let have = Frame::Have {
            cursor,
            statements,
            answer: false,
        };
        self.send(conn, &have);
    }

    pub(super) fn on_have(
        &mut self,
        conn: ConnId,
        cursor: &Cursor,
        statements: [u8; 32],
        answer: bool,
        now: i64,
    ) {
        self.offer_statements(conn, statements, now);
        let readable = self.readable(conn);
        let Some(state) = self.conns.get_mut(&conn) else {
            return;
        };
        let quiet = now - state.last_push >= self.limits.resend_ms && !state.reading;
        if quiet {
            // Nothing is on its way, so what it does not have was lost.
            state.sent = cursor.clone();
        } else {
            state.sent.merge(cursor);
        }
        state.told = true;
        state.lagging = true;
        // What it wrote and we hold durably, in case an acknowledgement was lost.
        let mut ack = self.durable.clone();
        let device = state.device();
        ack.retain(|stream, _| Some(stream.device) == device);
        if !ack.is_empty() {
            self.send(conn, &Frame::Ack(ack));
        }
        if answer || !readable.covers(cursor) {
            self.say_have(conn, now);
        }
        self.pump(conn, now);
    }

    /// Sends what a lagging connection lacks, as far as there is room; asks the store for one
    /// stream's durable part at a time.
    pub(super) fn pump(&mut self, conn: ConnId, now: i64) {
        let low_water = self.limits.queue_bytes / 2;
        let lags = self.conns.get(&conn).is_some_and(|state| {
            state.lagging && state.told && !state.reading && state.queued <= low_water
        });
        if !lags {
            return;
        }
        let readable = self.readable(conn);
        let mut left = false;
        for (stream, last) in readable.iter() {
            let Some(state) = self.conns.get_mut(&conn) else {
                return;
            };
            let after = state.sent.get(stream);
            if after >= last || state.unreadable.contains(&stream) {
                continue;
            }
            if after < self.durable.get(stream) {
                state.reading = true;
                let token = self.token();
                self.reads.insert(token, (conn, stream));
                self.effects.push_back(Effect::Read {
                    token,
                    audience: stream.audience,
                    device: stream.device,
                    after,
                    max_bytes: self.limits.read_bytes,
                });
                return;
            }
            let items: Vec<Bytes> = self
                .volatile
                .get(&stream)
                .into_iter()
                .flatten()
                .filter(|(number, _)| *number > after)
                .map(|(_, bytes)| bytes.clone())
                .collect();
            self.send_envelopes(conn, stream, items, now);
            let Some(state) = self.conns.get(&conn) else {
                return;
            };
            left |= state.sent.get(stream) < last;
            if state.queued > low_water {
                return;
            }
        }
        if let Some(state) = self.conns.get_mut(&conn) {
            state.lagging = left;
        }
    }

    /// Sends envelopes of one stream that continue what the connection has.
    fn send_envelopes(&mut self, conn: ConnId, stream: Stream, items: Vec<Bytes>, now: i64) {
        let Some(state) = self.conns.get_mut(&conn) else {
            return;
        };
        let mut batch = Vec::new();
        let mut size = 0;
        for bytes in items {
            let Ok(header) = Envelope::peek(&bytes) else {
                break;
            };
            if header.number != state.sent.get(stream) + 1 {
                if header.number <= state.sent.get(stream) {
                    continue;
                }
                break;
            }
            if size > 0 && size + bytes.len() > self.limits.read_bytes {
                break; // the rest at the next pump
            }
            state.sent.advance(stream, header.number);
            size += bytes.len();
            batch.push(bytes);
        }
        if !batch.is_empty() {
            state.last_push = now;
            self.send(conn, &Frame::Envelopes(batch));
        }
    }

    /// The store has answered a read: encoded envelopes in order.
    pub fn read_done(&mut self, token: Token, envelopes: Vec<Bytes>, now: i64) {
        let Some((conn, stream)) = self.reads.remove(&token) else {
            return;
        };
        let Some(state) = self.conns.get_mut(&conn) else {
            return;
        };
        state.reading = false;
        let before = state.sent.get(stream);
        self.send_envelopes(conn, stream, envelopes, now);
        if let Some(state) = self.conns.get_mut(&conn)
            && state.sent.get(stream) == before
        {
            tracing::error!(?stream, before, "the store lacks what it should have");
            state.unreadable.insert(stream);
        }
        self.pump(conn, now);
    }

    /// The store could not answer a read; the connection is closed and its peer comes again.
    pub fn read_failed(&mut self, token: Token) {
        if let Some((conn, _)) = self.reads.remove(&token) {
            self.close(conn, CloseReason::StorageFailed);
        }
    }
}
