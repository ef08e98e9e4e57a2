//! A virtual network: one relay, many peers, and everything that can go wrong between them.
//!
//! Built with the feature `sim`, for tests. A [`World`] runs the real [`TableCore`] and real
//! [`PeerSession`]s over any [`PeerStore`], on simulated time, from one seed: frames are lost,
//! repeated, delayed and overtaken, links are cut, the relay and its disk fail, peers restart.
//! The same seed gives the same run, byte for byte: [`World::trace`] is its hash.

mod disk;
mod memory;
mod rng;

use std::collections::BTreeMap;

use bytes::Bytes;
use lore_seal::CampaignId;

use crate::cursor::{Cursor, Stream};
use crate::frame::Frame;
use crate::limits::{Limits, Timing};
use crate::session::{Event, PeerSession};
use crate::store::PeerStore;
use crate::table::{ConnId, Effect, TableCore, Token};
use disk::{Disk, Pending};
pub use memory::MemoryStore;
pub use rng::Rng;

/// Milliseconds between two ticks of everyone.
const TICK_MS: i64 = 250;
/// Milliseconds before a peer connects again, at least; at most twice that.
const RECONNECT_MS: u64 = 300;

/// How badly the network and the relay's disk behave. All chances are in thousandths.
#[derive(Debug, Clone)]
pub struct Faults {
    /// A frame vanishes.
    pub loss: u64,
    /// A frame arrives twice.
    pub duplication: u64,
    /// Milliseconds on the way, at least and at most: frames overtake each other by the spread.
    pub latency: (u64, u64),
    /// Milliseconds until a write is durable, at least and at most.
    pub disk: (u64, u64),
    /// A write fails.
    pub disk_failure: u64,
    /// A connection breaks, at each tick.
    pub disconnection: u64,
}

impl Faults {
    /// A network that delivers everything in time.
    pub fn none() -> Self {
        Self {
            loss: 0,
            duplication: 0,
            latency: (1, 1),
            disk: (1, 1),
            disk_failure: 0,
            disconnection: 0,
        }
    }

    /// A bad evening: everything goes wrong now and then.
    pub fn bad() -> Self {
        Self {
            loss: 60,
            duplication: 60,
            latency: (1, 400),
            disk: (1, 300),
            disk_failure: 5,
            disconnection: 10,
        }
    }
}

/// Something that happens at its time.
#[derive(Debug)]
enum Happening {
    ToRelay(ConnId, Bytes),
    ToPeer(ConnId, Bytes),
    Flushed(ConnId, usize),
    Hangup(ConnId),
    Commit(u64),
    Reading(u64, Token, Stream, u64, usize),
    Connect(usize),
    Tick,
}

#[derive(Debug)]
struct Peer<S> {
    store: S,
    session: Option<PeerSession>,
    conn: Option<ConnId>,
    /// Frames vanish in both directions, and no connection is made.
    partitioned: bool,
    /// Wants to be connected.
    online: bool,
    /// When its link is free again, and how many bytes it takes a millisecond (0: any number).
    link_free: i64,
    bytes_per_ms: u64,
    events: Vec<Event>,
    /// Everything that the relay ever sent to it.
    heard: Vec<Bytes>,
    presence: Option<Bytes>,
}

/// One relay and its peers on simulated time.
#[derive(Debug)]
pub struct World<S> {
    campaign: CampaignId,
    limits: Limits,
    timing: Timing,
    faults: Faults,
    rng: Rng,
    now: i64,
    sequence: u64,
    calendar: BTreeMap<(i64, u64), Happening>,
    core: TableCore,
    /// Counts the relay's lives: answers for an earlier one are dropped.
    life: u64,
    disk: Disk,
    disk_free: i64,
    peers: Vec<Peer<S>>,
    owners: BTreeMap<ConnId, usize>,
    next_conn: u64,
    trace: u64,
    frames: u64,
    violations: Vec<String>,
}

impl<S: PeerStore> World<S> {
    /// A world with a relay that has never heard of the campaign.
    pub fn new(
        seed: u64,
        campaign: CampaignId,
        faults: Faults,
        limits: Limits,
        timing: Timing,
    ) -> Self {
        let mut world = Self {
            campaign,
            core: TableCore::new(campaign, Disk::default().state(), limits.clone()),
            limits,
            timing,
            faults,
            rng: Rng::new(seed),
            now: 1_000_000,
            sequence: 0,
            calendar: BTreeMap::new(),
            life: 0,
            disk: Disk::default(),
            disk_free: 0,
            peers: Vec::new(),
            owners: BTreeMap::new(),
            next_conn: 0,
            trace: 0xcbf2_9ce4_8422_2325,
            frames: 0,
            violations: Vec::new(),
        };
        world.at(TICK_MS, Happening::Tick);
        world
    }

    /// Adds a peer, which connects at once and again whenever its connection ends. Its index.
    pub fn add_peer(&mut self, store: S) -> usize {
        let index = self.peers.len();
        self.peers.push(Peer {
            store,
            session: None,
            conn: None,
            partitioned: false,
            online: true,
            link_free: 0,
            bytes_per_ms: 0,
            events: Vec::new(),
            heard: Vec::new(),
            presence: None,
        });
        self.at(0, Happening::Connect(index));
        index
    }

    /// How many peers there are.
    pub fn peers(&self) -> usize {
        self.peers.len()
    }

    /// A peer's store.
    ///
    /// # Panics
    /// When there is no such peer.
    pub fn store(&self, peer: usize) -> &S {
        &self.peers[peer].store
    }

    /// Lets a replica change, then lets its session offer the change.
    ///
    /// # Panics
    /// When there is no such peer.
    pub fn change<R>(&mut self, peer: usize, change: impl FnOnce(&mut S, &mut Rng, i64) -> R) -> R {
        let now = self.now;
        let result = change(&mut self.peers[peer].store, &mut self.rng, now);
        self.with_session(peer, |session, store| session.on_local_change(store, now));
        result
    }

    /// Shows a peer's presence, now and after each connection.
    ///
    /// # Panics
    /// When there is no such peer.
    pub fn show(&mut self, peer: usize, sealed: Bytes) {
        self.peers[peer].presence = Some(sealed.clone());
        self.with_session(peer, |session, _| {
            session.set_presence(sealed);
            Ok(())
        });
    }

    /// What a peer's sessions have told.
    ///
    /// # Panics
    /// When there is no such peer.
    pub fn events(&self, peer: usize) -> &[Event] {
        &self.peers[peer].events
    }

    /// Every frame that reached a peer.
    ///
    /// # Panics
    /// When there is no such peer.
    pub fn heard(&self, peer: usize) -> Vec<Frame> {
        let heard = self.peers[peer].heard.iter();
        heard
            .filter_map(|bytes| Frame::decode(bytes).ok())
            .collect()
    }

    /// Whether a peer's session has caught up.
    ///
    /// # Panics
    /// When there is no such peer.
    pub fn is_live(&self, peer: usize) -> bool {
        let session = self.peers[peer].session.as_ref();
        session.is_some_and(PeerSession::is_live)
    }

    /// Whether every peer is live and has all that anyone has written and it may read, and the
    /// relay's disk has it too. A store that fails has not converged.
    pub fn has_converged(&self) -> bool {
        let mut all = Cursor::new();
        for peer in &self.peers {
            let Ok(cursor) = peer.store.cursor() else {
                return false;
            };
            all.merge(&cursor);
        }
        self.disk().covers(&all)
            && (0..self.peers.len()).all(|peer| {
                let store = self.store(peer);
                let device = store.secret().id();
                let mut readable = all.clone();
                readable.retain(|stream, _| store.membership().may_read(&device, stream.audience));
                store.cursor().is_ok_and(|cursor| cursor == readable) && self.is_live(peer)
            })
    }

    /// The relay's state machine.
    pub fn relay(&self) -> &TableCore {
        &self.core
    }

    /// What is on the relay's disk.
    pub fn disk(&self) -> Cursor {
        self.disk.cursor()
    }

    /// The relay's stored envelopes of one stream, in order.
    pub fn disk_log(&self, stream: Stream) -> Vec<Bytes> {
        self.disk.log(stream)
    }

    /// The time, in milliseconds.
    pub fn now(&self) -> i64 {
        self.now
    }

    /// A hash over everything that has happened.
    pub fn trace(&self) -> u64 {
        self.trace
    }

    /// How many frames have been handed to the network.
    pub fn frames(&self) -> u64 {
        self.frames
    }

    /// Promises that were broken: acknowledged and not on the disk, a store that failed.
    pub fn violations(&self) -> &[String] {
        &self.violations
    }

    /// Makes the network behave differently from now on.
    pub fn set_faults(&mut self, faults: Faults) {
        self.faults = faults;
    }

    /// Limits how fast a peer's link takes frames, in bytes a millisecond; 0 for any number.
    ///
    /// # Panics
    /// When there is no such peer.
    pub fn set_speed(&mut self, peer: usize, bytes_per_ms: u64) {
        self.peers[peer].bytes_per_ms = bytes_per_ms;
    }

    /// Starts or ends a partition: frames vanish without a word.
    ///
    /// # Panics
    /// When there is no such peer.
    pub fn set_partitioned(&mut self, peer: usize, partitioned: bool) {
        self.peers[peer].partitioned = partitioned;
    }

    /// Takes a peer off the network, or brings it back.
    ///
    /// # Panics
    /// When there is no such peer.
    pub fn set_online(&mut self, peer: usize, online: bool) {
        self.peers[peer].online = online;
        if online {
            self.at(0, Happening::Connect(peer));
        } else {
            self.disconnect(peer);
        }
    }

    /// A peer stops and starts again with what its store kept.
    ///
    /// # Panics
    /// When there is no such peer.
    pub fn restart_peer(&mut self, peer: usize, reopen: impl FnOnce(&mut S)) {
        self.disconnect(peer);
        reopen(&mut self.peers[peer].store);
    }

    /// The relay stops: a part of what was being written reaches the disk, the rest is lost, and
    /// all connections end.
    pub fn restart_relay(&mut self) {
        let kept = self.rng.below(self.disk.pending.len() as u64 + 1);
        for _ in 0..kept {
            self.disk.commit();
        }
        self.reopen_relay();
    }

    /// The relay stops and its disk is lost.
    pub fn wipe_relay(&mut self) {
        self.disk.wipe();
        self.reopen_relay();
    }

    fn reopen_relay(&mut self) {
        self.disk.pending.clear();
        self.life += 1;
        self.disk_free = self.now;
        self.core = TableCore::new(self.campaign, self.disk.state(), self.limits.clone());
        for peer in 0..self.peers.len() {
            self.drop_connection(peer);
        }
    }

    /// Runs for so many milliseconds.
    pub fn run(&mut self, milliseconds: i64) {
        let end = self.now + milliseconds;
        while let Some(entry) = self.calendar.first_entry() {
            if entry.key().0 > end {
                break;
            }
            let ((time, _), happening) = entry.remove_entry();
            self.now = time;
            self.happen(happening);
        }
        self.now = end;
    }

    /// Runs until `done`, at most so many milliseconds. Whether it was reached.
    pub fn run_until(&mut self, milliseconds: i64, mut done: impl FnMut(&Self) -> bool) -> bool {
        let end = self.now + milliseconds;
        while !done(self) {
            if self.now >= end {
                return false;
            }
            self.run(TICK_MS);
        }
        true
    }

    fn at(&mut self, delay: i64, happening: Happening) {
        self.sequence += 1;
        self.calendar
            .insert((self.now + delay, self.sequence), happening);
    }

    /// FNV-1a over what happens, with its time.
    fn note(&mut self, kind: u8, conn: ConnId, bytes: &[u8]) {
        let mut hash = self.trace;
        let time = self.now.to_le_bytes();
        let conn = conn.0.to_le_bytes();
        for byte in [kind].iter().chain(&time).chain(&conn).chain(bytes) {
            hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
        self.trace = hash;
    }

    fn happen(&mut self, happening: Happening) {
        match happening {
            Happening::ToRelay(conn, bytes) => {
                if self.owners.contains_key(&conn) {
                    self.note(1, conn, &bytes);
                    self.core.frame(conn, &bytes, self.now);
                    self.settle();
                }
            }
            Happening::ToPeer(conn, bytes) => self.reach_peer(conn, &bytes),
            Happening::Flushed(conn, count) => {
                self.core.flushed(conn, count, self.now);
                self.settle();
            }
            Happening::Hangup(conn) => {
                if let Some(peer) = self.owners.get(&conn).copied() {
                    self.drop_connection(peer);
                }
            }
            Happening::Commit(life) => self.commit(life),
            Happening::Reading(life, token, stream, after, max_bytes) => {
                if life == self.life {
                    let rows = self.disk.read(stream, after, max_bytes);
                    self.core.read_done(token, rows, self.now);
                    self.settle();
                }
            }
            Happening::Connect(peer) => self.connect(peer),
            Happening::Tick => self.tick(),
        }
    }

    fn tick(&mut self) {
        self.at(TICK_MS, Happening::Tick);
        let now = self.now;
        for peer in 0..self.peers.len() {
            if self.faults.disconnection > 0 && self.rng.chance(self.faults.disconnection) {
                self.disconnect(peer);
            }
            self.with_session(peer, |session, store| session.tick(store, now));
        }
        self.core.tick(now);
        self.settle();
    }

    fn commit(&mut self, life: u64) {
        if life != self.life {
            return;
        }
        if self.faults.disk_failure > 0 && self.rng.chance(self.faults.disk_failure) {
            if let Some(write) = self.disk.pending.pop_front() {
                self.note(7, ConnId(write.token.0), &[]);
                self.core.append_failed(write.token);
                self.settle();
                self.reopen_relay();
            }
        } else if let Some(token) = self.disk.commit() {
            self.note(8, ConnId(token.0), &[]);
            self.core.appended(token);
            self.settle();
        }
    }

    fn connect(&mut self, index: usize) {
        let peer = &mut self.peers[index];
        if peer.conn.is_some() || !peer.online {
            return;
        }
        if peer.partitioned {
            self.reconnect_later(index);
            return;
        }
        self.next_conn += 1;
        let conn = ConnId(self.next_conn);
        let device = peer.store.secret().id();
        let mut session =
            PeerSession::new(self.campaign, device, self.rng.bytes(), self.timing.clone());
        session.start(self.now);
        if let Some(sealed) = peer.presence.clone() {
            session.set_presence(sealed);
        }
        peer.session = Some(session);
        peer.conn = Some(conn);
        peer.link_free = self.now;
        self.owners.insert(conn, index);
        let nonce = self.rng.bytes();
        self.core.connected(conn, self.now, nonce);
        self.settle();
        self.drain(index);
    }

    fn reconnect_later(&mut self, peer: usize) {
        let delay = self.rng.between(RECONNECT_MS, 2 * RECONNECT_MS);
        self.at(delay as i64, Happening::Connect(peer));
    }

    /// The peer's side hangs up.
    fn disconnect(&mut self, peer: usize) {
        if let Some(conn) = self.peers[peer].conn {
            self.core.disconnected(conn);
            self.drop_connection(peer);
            self.settle();
        }
    }

    fn drop_connection(&mut self, index: usize) {
        let peer = &mut self.peers[index];
        if let Some(conn) = peer.conn.take() {
            self.owners.remove(&conn);
            peer.session = None;
            self.reconnect_later(index);
        }
    }

    fn reach_peer(&mut self, conn: ConnId, bytes: &Bytes) {
        let Some(peer) = self.owners.get(&conn).copied() else {
            return;
        };
        self.note(2, conn, bytes);
        self.peers[peer].heard.push(bytes.clone());
        let now = self.now;
        self.with_session(peer, |session, store| session.on_frame(bytes, store, now));
    }

    /// Calls a peer's session, then sends and notes what came of it.
    fn with_session(
        &mut self,
        index: usize,
        call: impl FnOnce(&mut PeerSession, &mut S) -> Result<(), crate::SessionError<S::Error>>,
    ) {
        let peer = &mut self.peers[index];
        let Some(session) = peer.session.as_mut() else {
            return;
        };
        let result = call(session, &mut peer.store);
        if let Err(error) = &result {
            self.violations
                .push(format!("peer {index} ended its session: {error}"));
        }
        let over = session.is_ended();
        self.drain(index);
        if over || result.is_err() {
            self.disconnect(index);
        }
    }

    fn drain(&mut self, index: usize) {
        loop {
            let peer = &mut self.peers[index];
            let (Some(session), Some(conn)) = (peer.session.as_mut(), peer.conn) else {
                return;
            };
            if let Some(event) = session.poll_event() {
                if let Event::Acked(acked) = &event
                    && !self.disk.cursor().covers(acked)
                {
                    self.violations
                        .push(format!("peer {index} was told that {acked:?} is durable"));
                }
                peer.events.push(event);
                continue;
            }
            let Some(frame) = session.poll_transmit() else {
                return;
            };
            self.put_on_the_way(index, conn, &frame, false);
        }
    }

    /// Carries out the relay's effects.
    fn settle(&mut self) {
        while let Some(effect) = self.core.poll() {
            match effect {
                Effect::Send { conn, frame } => {
                    if let Some(peer) = self.owners.get(&conn).copied() {
                        self.put_on_the_way(peer, conn, &frame, true);
                    }
                }
                Effect::Append { token, records } => self.write(token, records, Vec::new()),
                Effect::PutStatements { token, statements } => {
                    self.write(token, Vec::new(), statements);
                }
                Effect::Read {
                    token,
                    audience,
                    device,
                    after,
                    max_bytes,
                } => {
                    let stream = Stream { audience, device };
                    let delay = self.rng.between(self.faults.disk.0, self.faults.disk.1);
                    let reading = Happening::Reading(self.life, token, stream, after, max_bytes);
                    self.at(delay as i64, reading);
                }
                Effect::Close { conn, .. } => {
                    // After whatever was sent before it.
                    let delay = self.faults.latency.1 as i64 + 1;
                    self.at(delay, Happening::Hangup(conn));
                }
            }
        }
    }

    fn write(&mut self, token: Token, records: Vec<crate::Record>, statements: Vec<Bytes>) {
        self.disk.pending.push_back(Pending {
            token,
            records,
            statements,
        });
        let delay = self.rng.between(self.faults.disk.0, self.faults.disk.1);
        self.disk_free = self.disk_free.max(self.now) + delay as i64;
        let wait = self.disk_free - self.now;
        self.at(wait, Happening::Commit(self.life));
    }

    fn put_on_the_way(&mut self, index: usize, conn: ConnId, frame: &Bytes, down: bool) {
        self.frames += 1;
        let (low, high) = self.faults.latency;
        let mut delay = self.rng.between(low, high) as i64;
        let peer = &mut self.peers[index];
        if down {
            let size = frame.len();
            if peer.bytes_per_ms > 0 {
                let start = peer.link_free.max(self.now);
                peer.link_free = start + (size as u64).div_ceil(peer.bytes_per_ms) as i64;
                delay += peer.link_free - self.now;
            }
            self.at(delay, Happening::Flushed(conn, size));
        }
        if self.peers[index].partitioned || self.rng.chance(self.faults.loss) {
            return;
        }
        let copies = if self.rng.chance(self.faults.duplication) {
            2
        } else {
            1
        };
        for copy in 0..copies {
            let extra = if copy == 0 {
                0
            } else {
                self.rng.between(low, high)
            };
            let happening = if down {
                Happening::ToPeer(conn, frame.clone())
            } else {
                Happening::ToRelay(conn, frame.clone())
            };
            self.at(delay + extra as i64, happening);
        }
    }
}
