//! The relay's end: every connection of one campaign.
//!
//! A [`TableCore`] holds the membership, where each stream stands, and the envelopes that are not
//! durable yet; everything durable it asks its driver for. It knows no key and reads no lore.

mod catchup;
mod connection;
mod handshake;
mod intake;

use std::collections::{BTreeMap, VecDeque};

use bytes::Bytes;
use lore_seal::{Audience, CampaignId, DeviceId, Membership, Statement};

use crate::cursor::{Cursor, Stream};
use crate::frame::{Frame, Refusal};
use crate::limits::Limits;
use crate::store::Head;
use connection::{Bucket, Connection};

/// A connection, as the driver numbers it. Never used twice on one table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConnId(pub u64);

/// A request to the driver that is answered later.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Token(pub u64);

/// One envelope to store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Its audience.
    pub audience: Audience,
    /// Its author.
    pub device: DeviceId,
    /// Its place in that log: always the next.
    pub number: u64,
    /// Its chain hash, for [`TableState::heads`].
    pub chain_hash: [u8; 32],
    /// The encoded envelope.
    pub bytes: Bytes,
}

/// Why the driver is to close a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CloseReason {
    /// The refusal that was sent before.
    Refused(Refusal),
    /// It did not finish the handshake in time.
    Handshake,
    /// Nothing was heard for too long.
    Idle,
    /// The device has newer connections, and too many.
    Replaced,
    /// The table's storage failed: nothing is lost, peers send again to a reopened table.
    StorageFailed,
}

/// What the driver is to do, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Send a frame (without a length prefix), and report it by [`TableCore::flushed`] once the
    /// transport has taken it.
    Send {
        /// To whom.
        conn: ConnId,
        /// The frame.
        frame: Bytes,
    },
    /// Store envelopes durably, all or none, then call [`TableCore::appended`] or
    /// [`TableCore::append_failed`]. Several may be put into one transaction.
    Append {
        /// What to answer with.
        token: Token,
        /// In order.
        records: Vec<Record>,
    },
    /// Store encoded statements durably, then answer as for [`Effect::Append`]. The first of a
    /// table's life creates it.
    PutStatements {
        /// What to answer with.
        token: Token,
        /// In an order in which each rests on those before.
        statements: Vec<Bytes>,
    },
    /// Read a stream's envelopes with numbers above `after`, in order and without a gap, up to
    /// `max_bytes` but at least one; answer by [`TableCore::read_done`] or
    /// [`TableCore::read_failed`].
    Read {
        /// What to answer with.
        token: Token,
        /// Which audience.
        audience: Audience,
        /// Whose log.
        device: DeviceId,
        /// The last number that is not wanted.
        after: u64,
        /// Roughly how much.
        max_bytes: usize,
    },
    /// Close the connection once what was sent to it is flushed. The core has forgotten it
    /// already; [`TableCore::disconnected`] need not be called.
    Close {
        /// Which.
        conn: ConnId,
        /// Why, for the log.
        reason: CloseReason,
    },
}

/// What a driver loads to open a table.
#[derive(Debug, Clone, Default)]
pub struct TableState {
    /// Every stored statement, encoded, in any order. Empty for a table that does not exist yet.
    pub statements: Vec<Bytes>,
    /// Where each stored stream stands.
    pub heads: BTreeMap<Stream, Head>,
    /// How many bytes of envelopes are stored.
    pub bytes: u64,
}

/// A write that the driver has not answered yet.
#[derive(Debug)]
struct Write {
    /// Highest number of each stream in it.
    reaches: Cursor,
    done: bool,
}

/// The relay's state machine of one campaign.
///
/// The driver calls in with connections, frames, answers and the time, and after each call carries
/// out every [`TableCore::poll`] effect. [`TableCore::tick`] wants a call about every 250 ms.
#[derive(Debug)]
pub struct TableCore {
    campaign: CampaignId,
    limits: Limits,
    membership: Membership,
    /// Where each stream stands, what is not durable yet included.
    heads: BTreeMap<Stream, Head>,
    durable: Cursor,
    /// Accepted and not durable yet: number and bytes.
    volatile: BTreeMap<Stream, VecDeque<(u64, Bytes)>>,
    bytes: u64,
    conns: BTreeMap<ConnId, Connection>,
    buckets: BTreeMap<DeviceId, Bucket>,
    presence: BTreeMap<DeviceId, Bytes>,
    writes: BTreeMap<Token, Write>,
    reads: BTreeMap<Token, (ConnId, Stream)>,
    next_token: u64,
    effects: VecDeque<Effect>,
    failed: bool,
}

impl TableCore {
    /// Opens a table with what the store holds of it. Statements that do not verify or belong
    /// elsewhere are left out: the store is not trusted to be undamaged.
    pub fn new(campaign: CampaignId, state: TableState, limits: Limits) -> Self {
        let mut membership = Membership::new(campaign);
        for bytes in &state.statements {
            let applied = Statement::decode(bytes)
                .map_err(Into::into)
                .and_then(|statement| membership.apply(statement));
            if let Err(error) = applied {
                tracing::warn!(%campaign, %error, "a stored statement is left out");
            }
        }
        let durable = state
            .heads
            .iter()
            .map(|(stream, head)| (*stream, head.number))
            .collect();
        Self {
            campaign,
            limits,
            membership,
            heads: state.heads,
            durable,
            volatile: BTreeMap::new(),
            bytes: state.bytes,
            conns: BTreeMap::new(),
            buckets: BTreeMap::new(),
            presence: BTreeMap::new(),
            writes: BTreeMap::new(),
            reads: BTreeMap::new(),
            next_token: 0,
            effects: VecDeque::new(),
            failed: false,
        }
    }

    /// The campaign.
    pub fn campaign(&self) -> CampaignId {
        self.campaign
    }

    /// Who belongs, as far as the relay knows.
    pub fn membership(&self) -> &Membership {
        &self.membership
    }

    /// Whether the table has no genesis: nobody with the right to has registered it.
    pub fn is_unregistered(&self) -> bool {
        self.membership.members().next().is_none()
    }

    /// Whether nobody is connected and nothing is being written: the driver may drop it.
    pub fn is_idle(&self) -> bool {
        self.conns.is_empty() && self.writes.is_empty() && self.effects.is_empty()
    }

    /// Whether its storage failed. The driver must then drop it and, for the next connection,
    /// open a new one from what is stored.
    pub fn has_failed(&self) -> bool {
        self.failed
    }

    /// What is durable here.
    pub fn durable(&self) -> &Cursor {
        &self.durable
    }

    /// How many connections have proven their membership.
    pub fn open_connections(&self) -> usize {
        self.conns.values().filter(|conn| conn.is_open()).count()
    }

    /// The next thing for the driver to do.
    pub fn poll(&mut self) -> Option<Effect> {
        self.effects.pop_front()
    }

    /// A transport was connected. `nonce` must be 32 fresh random bytes, `now` milliseconds since
    /// 1970.
    pub fn connected(&mut self, conn: ConnId, now: i64, nonce: [u8; 32]) {
        self.conns.insert(conn, Connection::new(nonce, now));
        if self.failed {
            self.refuse(conn, Refusal::Unavailable, "the table's storage failed");
        } else if self.conns.len() > self.limits.connections {
            self.refuse(conn, Refusal::Full, "the table has too many connections");
        }
    }

    /// A transport has ended, from the other side or by failure.
    pub fn disconnected(&mut self, conn: ConnId) {
        self.forget(conn);
    }

    /// A frame has arrived.
    pub fn frame(&mut self, conn: ConnId, bytes: &[u8], now: i64) {
        let Some(state) = self.conns.get_mut(&conn) else {
            return;
        };
        state.last_heard = now;
        let open = state.is_open();
        let frame = match Frame::decode(bytes) {
            Ok(frame) => frame,
            Err(error) => return self.refuse(conn, Refusal::Malformed, &error.to_string()),
        };
        match frame {
            Frame::Hello {
                protocol,
                campaign,
                device,
                nonce,
            } => self.on_hello(conn, protocol, campaign, device, nonce),
            Frame::Prove {
                signature,
                statements,
                credentials,
            } => self.on_prove(conn, &signature, statements, &credentials, now),
            // Whoever has not proven membership is told nothing, whatever it sends.
            _ if !open => {}
            Frame::Statements(items) => self.on_statements(conn, &items, now),
            Frame::Have {
                cursor,
                statements,
                answer,
            } => self.on_have(conn, &cursor, statements, answer, now),
            Frame::Envelopes(items) => self.on_envelopes(conn, &items, now),
            Frame::Presence { device, sealed } => self.on_presence(conn, device, sealed, now),
            Frame::Ping(number) => self.send(conn, &Frame::Pong(number)),
            Frame::Pong(_)
            | Frame::Challenge { .. }
            | Frame::Welcome { .. }
            | Frame::Ack(_)
            | Frame::Gone { .. }
            | Frame::Refused { .. } => {}
        }
    }

    /// The transport has taken `bytes` bytes of the frames sent to this connection.
    pub fn flushed(&mut self, conn: ConnId, bytes: usize, now: i64) {
        if let Some(state) = self.conns.get_mut(&conn) {
            state.queued = state.queued.saturating_sub(bytes);
            self.pump(conn, now);
            self.show_presence(conn);
        }
    }

    /// The write with this token is durable.
    pub fn appended(&mut self, token: Token) {
        if let Some(write) = self.writes.get_mut(&token) {
            write.done = true;
        }
        // A stream's numbers become durable in the order in which they were accepted.
        let mut moved = false;
        while let Some(entry) = self.writes.first_entry() {
            if !entry.get().done {
                break;
            }
            let reaches = entry.remove().reaches;
            for (stream, number) in reaches.iter() {
                moved = true;
                self.durable.advance(stream, number);
                if let Some(waiting) = self.volatile.get_mut(&stream) {
                    while waiting.front().is_some_and(|(held, _)| *held <= number) {
                        waiting.pop_front();
                    }
                    if waiting.is_empty() {
                        self.volatile.remove(&stream);
                    }
                }
            }
        }
        if moved {
            self.acknowledge();
        }
    }

    /// The write with this token failed. Nothing after it can be kept in order, so the table
    /// stops: every connection is closed, and peers send again what was never acknowledged once
    /// the driver has opened the table anew from its store.
    pub fn append_failed(&mut self, token: Token) {
        if self.writes.remove(&token).is_none() || self.failed {
            return;
        }
        self.failed = true;
        for conn in self.conns.keys().copied().collect::<Vec<_>>() {
            self.send_refusal(conn, Refusal::Unavailable, "the table's storage failed");
            self.effects.push_back(Effect::Close {
                conn,
                reason: CloseReason::StorageFailed,
            });
        }
        self.conns.clear();
        self.writes.clear();
        self.reads.clear();
        self.volatile.clear();
        self.presence.clear();
    }

    /// Time has passed.
    pub fn tick(&mut self, now: i64) {
        let mut late = Vec::new();
        for (conn, state) in &self.conns {
            if !state.is_open() && now - state.since >= self.limits.handshake_ms {
                late.push((*conn, CloseReason::Handshake));
            } else if now - state.last_heard >= self.limits.idle_ms {
                late.push((*conn, CloseReason::Idle));
            }
        }
        for (conn, reason) in late {
            self.close(conn, reason);
        }
        let connected: std::collections::BTreeSet<_> =
            self.conns.values().filter_map(Connection::device).collect();
        let burst = u64::from(self.limits.burst);
        // A bucket that has refilled says nothing that a new one would not.
        self.buckets.retain(|device, bucket| {
            connected.contains(device) || !bucket.is_full(now, self.limits.per_second, burst)
        });
        for conn in self.conns.keys().copied().collect::<Vec<_>>() {
            self.pump(conn, now);
            self.show_presence(conn);
        }
    }

    fn token(&mut self) -> Token {
        self.next_token += 1;
        Token(self.next_token)
    }

    fn send(&mut self, conn: ConnId, frame: &Frame) {
        match frame.encode() {
            Ok(bytes) => self.send_bytes(conn, bytes),
            // Every frame made here is within the limits; were one not, the peer asks again.
            Err(error) => tracing::error!(%error, "a frame of our own is too large"),
        }
    }

    fn send_bytes(&mut self, conn: ConnId, frame: Bytes) {
        let Some(state) = self.conns.get_mut(&conn) else {
            return;
        };
        state.queued += frame.len();
        let hopeless = state.queued > self.limits.queue_hard_bytes;
        self.effects.push_back(Effect::Send { conn, frame });
        if hopeless {
            self.close(conn, CloseReason::Refused(Refusal::TooSlow));
        }
    }

    fn send_refusal(&mut self, conn: ConnId, code: Refusal, message: &str) {
        let message = message.to_owned();
        self.send(conn, &Frame::Refused { code, message });
    }

    /// Refuses and closes.
    fn refuse(&mut self, conn: ConnId, code: Refusal, message: &str) {
        self.send_refusal(conn, code, message);
        self.close(conn, CloseReason::Refused(code));
    }

    fn close(&mut self, conn: ConnId, reason: CloseReason) {
        if self.forget(conn) {
            self.effects.push_back(Effect::Close { conn, reason });
        }
    }

    /// Drops a connection, and tells the others when it was its device's last.
    fn forget(&mut self, conn: ConnId) -> bool {
        let Some(state) = self.conns.remove(&conn) else {
            return false;
        };
        self.reads.retain(|_, (reader, _)| *reader != conn);
        if let Some(device) = state.device()
            && !self
                .conns
                .values()
                .any(|other| other.device() == Some(device))
        {
            self.presence.remove(&device);
            for other in self.open_conns() {
                self.send(other, &Frame::Gone { device });
            }
        }
        true
    }

    fn open_conns(&self) -> Vec<ConnId> {
        self.conns
            .iter()
            .filter(|(_, state)| state.is_open())
            .map(|(conn, _)| *conn)
            .collect()
    }
}
