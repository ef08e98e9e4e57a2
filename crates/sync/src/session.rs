//! A replica's end of one connection.

use std::collections::VecDeque;

use bytes::Bytes;
use lore_seal::{CampaignId, DeviceId, Envelope, MAX_PRESENCE, Role, Statement};
use thiserror::Error;

use crate::cursor::{Cursor, Stream};
use crate::frame::{Frame, FrameError, PROOF_LABEL, PROTOCOL, Refusal, proof_message};
use crate::intake::{Intake, Intaken};
use crate::limits::Timing;
use crate::store::{PeerStore, Received};

/// The most bytes of statements in one frame.
const STATEMENT_BATCH: usize = 512 << 10;

/// What a session has to tell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// The relay let us in, in this role.
    Welcome {
        /// The role.
        role: Role,
    },
    /// We learned what the other end has, and are behind.
    CatchingUp {
        /// How many envelopes we lack.
        behind: u64,
        /// How many it lacks.
        ahead: u64,
    },
    /// We have all that the other end said it has; from here changes arrive as they happen.
    Live,
    /// Envelopes were taken in (already durable), or refused.
    Delivered(Received),
    /// Statements were taken in: who belongs may have changed.
    Statements {
        /// How many were new.
        new: usize,
    },
    /// These are durable at the relay. Only streams that moved.
    Acked(Cursor),
    /// What another device shows of itself; open it with
    /// [`open_presence`](lore_seal::open_presence).
    Presence {
        /// Whose.
        device: DeviceId,
        /// Sealed.
        sealed: Bytes,
    },
    /// The device has left.
    Gone {
        /// Which.
        device: DeviceId,
    },
    /// The other end refused something. The session is over if [`Refusal::is_final`].
    Refused {
        /// For programs.
        code: Refusal,
        /// For people.
        message: String,
    },
    /// Nothing has been heard for too long; close the connection and make a new one.
    Lost,
}

/// What ends a session from this side.
#[derive(Debug, Error)]
pub enum SessionError<E: std::error::Error> {
    /// The other end sent what is no frame.
    #[error(transparent)]
    Frame(#[from] FrameError),
    /// The replica's store failed.
    #[error("the replica's store failed: {0}")]
    Store(E),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    New,
    Greeting,
    Proving([u8; 32]),
    Open,
    Ended,
}

/// One connection's state machine, from `Hello` to the end. Make a new one for each connection.
///
/// The driver calls [`PeerSession::start`], then hands in every frame that arrives, calls
/// [`PeerSession::tick`] about once a second and [`PeerSession::on_local_change`] when the replica
/// has new envelopes or statements; after each call it sends what
/// [`PeerSession::poll_transmit`] gives and handles what [`PeerSession::poll_event`] gives.
#[derive(Debug)]
pub struct PeerSession {
    campaign: CampaignId,
    device: DeviceId,
    nonce: [u8; 32],
    timing: Timing,
    phase: Phase,
    out: VecDeque<Bytes>,
    events: VecDeque<Event>,
    intake: Intake,
    /// What the other end holds, as far as it said or showed. `None` until its first `Have`.
    remote: Option<Cursor>,
    /// `remote`, and what is on its way there.
    sent: Cursor,
    /// What of it has not been heard of yet: stream, number, bytes.
    flying: VecDeque<(Stream, u64, usize)>,
    /// Durable at the relay.
    acked: Cursor,
    /// Digest of the statements that the other end was last known or made to hold.
    shared_statements: Option<[u8; 32]>,
    /// Their digest and ours when everything was last sent, and when.
    offered: Option<([u8; 32], [u8; 32], i64)>,
    presence: Option<Bytes>,
    live: bool,
    last_heard: i64,
    last_have: i64,
    /// When to say again what went unanswered, and how long to wait after that.
    retry_at: i64,
    retry_wait: i64,
    paused_until: i64,
    pings: u64,
}

impl PeerSession {
    /// A session of `device` on the campaign's table. `nonce` must be 32 random bytes, fresh for
    /// each connection.
    pub fn new(campaign: CampaignId, device: DeviceId, nonce: [u8; 32], timing: Timing) -> Self {
        Self {
            campaign,
            device,
            nonce,
            retry_wait: timing.retry_ms,
            timing,
            phase: Phase::New,
            out: VecDeque::new(),
            events: VecDeque::new(),
            intake: Intake::default(),
            remote: None,
            sent: Cursor::new(),
            flying: VecDeque::new(),
            acked: Cursor::new(),
            shared_statements: None,
            offered: None,
            presence: None,
            live: false,
            last_heard: 0,
            last_have: 0,
            retry_at: 0,
            paused_until: i64::MIN,
            pings: 0,
        }
    }

    /// Says hello. Call once, when the transport is connected.
    pub fn start(&mut self, now: i64) {
        self.phase = Phase::Greeting;
        self.last_heard = now;
        self.retry_at = now + self.retry_wait;
        self.hello();
    }

    fn hello(&mut self) {
        self.send(&Frame::Hello {
            protocol: PROTOCOL,
            campaign: self.campaign,
            device: self.device,
            nonce: self.nonce,
        });
    }

    /// Whether the relay has let us in and the session goes on.
    pub fn is_open(&self) -> bool {
        self.phase == Phase::Open
    }

    /// Whether nothing more will come of it.
    pub fn is_ended(&self) -> bool {
        self.phase == Phase::Ended
    }

    /// Whether we have all that the other end said it has.
    pub fn is_live(&self) -> bool {
        self.live
    }

    /// What is durable at the relay, as far as this session has heard.
    pub fn acked(&self) -> &Cursor {
        &self.acked
    }

    /// The next frame to send, without a length prefix.
    pub fn poll_transmit(&mut self) -> Option<Bytes> {
        self.out.pop_front()
    }

    /// The next thing to tell.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// Our replica has new envelopes or statements: offers them at once.
    pub fn on_local_change<S: PeerStore>(
        &mut self,
        store: &mut S,
        now: i64,
    ) -> Result<(), SessionError<S::Error>> {
        if self.phase != Phase::Open {
            return Ok(());
        }
        if self
            .shared_statements
            .is_some_and(|held| held != store.membership().digest())
        {
            self.offer_statements(store);
        }
        self.push(store, now)
    }

    /// Shows the table what we are doing: the latest replaces what was shown before, and is shown
    /// again after a reconnection's `set_presence`. Sealed bytes of at most
    /// [`MAX_PRESENCE`]; larger ones are dropped.
    pub fn set_presence(&mut self, sealed: Bytes) {
        if sealed.len() > MAX_PRESENCE {
            return;
        }
        self.presence = Some(sealed);
        if self.phase == Phase::Open {
            self.send_presence();
        }
    }

    fn send_presence(&mut self) {
        if let Some(sealed) = self.presence.clone() {
            self.send(&Frame::Presence {
                device: self.device,
                sealed,
            });
        }
    }

    /// Time has passed: says again what went unanswered, and notices a dead connection.
    pub fn tick<S: PeerStore>(
        &mut self,
        store: &mut S,
        now: i64,
    ) -> Result<(), SessionError<S::Error>> {
        if matches!(self.phase, Phase::New | Phase::Ended) {
            return Ok(());
        }
        if now - self.last_heard >= self.timing.dead_ms {
            self.phase = Phase::Ended;
            self.events.push_back(Event::Lost);
            return Ok(());
        }
        match self.phase {
            Phase::Greeting | Phase::Proving(_) if now >= self.retry_at => {
                self.back_off(now);
                match self.phase {
                    Phase::Proving(nonce) => self.prove(store, nonce),
                    _ => self.hello(),
                }
            }
            Phase::Open => self.tick_open(store, now)?,
            _ => {}
        }
        Ok(())
    }

    fn tick_open<S: PeerStore>(
        &mut self,
        store: &mut S,
        now: i64,
    ) -> Result<(), SessionError<S::Error>> {
        let own = store.cursor().map_err(SessionError::Store)?;
        let unacked = own
            .iter()
            .any(|(stream, n)| stream.device == self.device && self.acked.get(stream) < n);
        let outstanding = self.remote.is_none()
            || !self.flying.is_empty()
            || unacked
            || !self.live
            || self.intake.is_waiting();
        if outstanding && now >= self.retry_at && now >= self.paused_until {
            self.back_off(now);
            // What flew so long without a word is lost.
            self.flying.clear();
            self.sent = self.remote.clone().unwrap_or_default();
            self.say_have(store, true, now)?;
        } else if now - self.last_have >= self.timing.have_ms {
            self.say_have(store, true, now)?;
            self.pings += 1;
            self.send(&Frame::Ping(self.pings));
            self.send_presence();
        }
        self.push(store, now)
    }

    fn back_off(&mut self, now: i64) {
        self.retry_at = now + self.retry_wait;
        self.retry_wait = (self.retry_wait * 2).min(self.timing.retry_max_ms);
    }

    /// Something moved: the next wait is the shortest again.
    fn progress(&mut self, now: i64) {
        self.retry_wait = self.timing.retry_ms;
        self.retry_at = now + self.retry_wait;
    }

    /// Takes in one frame.
    ///
    /// # Errors
    /// Close the connection on any. What the session took in before is kept.
    pub fn on_frame<S: PeerStore>(
        &mut self,
        bytes: &[u8],
        store: &mut S,
        now: i64,
    ) -> Result<(), SessionError<S::Error>> {
        if matches!(self.phase, Phase::New | Phase::Ended) {
            return Ok(());
        }
        let result = Frame::decode(bytes)
            .map_err(SessionError::Frame)
            .and_then(|frame| self.handle(frame, store, now));
        if result.is_err() {
            self.phase = Phase::Ended;
        }
        result
    }

    fn handle<S: PeerStore>(
        &mut self,
        frame: Frame,
        store: &mut S,
        now: i64,
    ) -> Result<(), SessionError<S::Error>> {
        self.last_heard = now;
        match frame {
            Frame::Challenge { nonce } => {
                if self.phase == Phase::Greeting {
                    self.progress(now);
                    self.phase = Phase::Proving(nonce);
                    self.prove(store, nonce);
                }
            }
            Frame::Welcome { role, statements } => {
                if matches!(self.phase, Phase::Proving(_)) {
                    self.progress(now);
                    self.phase = Phase::Open;
                    self.events.push_back(Event::Welcome { role });
                    self.compare_statements(store, statements, now);
                    // The relay says its own unasked.
                    self.say_have(store, false, now)?;
                    self.send_presence();
                }
            }
            Frame::Statements(items) => self.on_statements(&items, store, now)?,
            Frame::Have {
                cursor,
                statements,
                answer,
            } => {
                self.on_have(&cursor, statements, store, now)?;
                if answer {
                    self.say_have(store, false, now)?;
                }
            }
            Frame::Envelopes(items) => self.on_envelopes(&items, store, now)?,
            Frame::Ack(cursor) => self.on_ack(cursor, store, now)?,
            Frame::Presence { device, sealed } => {
                if device != self.device && store.membership().role(&device).is_some() {
                    self.events.push_back(Event::Presence { device, sealed });
                }
            }
            Frame::Gone { device } => self.events.push_back(Event::Gone { device }),
            Frame::Refused { code, message } => {
                if code.is_final() {
                    self.phase = Phase::Ended;
                } else if code == Refusal::RateLimited {
                    // One refill of a second; what was dropped is then sent again.
                    self.paused_until = now + 1_000;
                    self.retry_at = self.retry_at.min(self.paused_until);
                }
                self.events.push_back(Event::Refused { code, message });
            }
            Frame::Ping(number) => self.send(&Frame::Pong(number)),
            Frame::Pong(_) | Frame::Hello { .. } | Frame::Prove { .. } => {}
        }
        Ok(())
    }

    fn prove<S: PeerStore>(&mut self, store: &S, nonce: [u8; 32]) {
        let message = proof_message(self.campaign, self.device, &self.nonce, &nonce);
        let membership = store.membership();
        let credentials = membership
            .credentials(&self.device)
            .into_iter()
            .map(|statement| Bytes::from(statement.encode()))
            .collect();
        self.send(&Frame::Prove {
            signature: store.secret().sign(PROOF_LABEL, &message),
            statements: membership.digest(),
            credentials,
        });
    }

    /// Sends every statement, in frames of a bounded size.
    fn offer_statements<S: PeerStore>(&mut self, store: &S) {
        let mut batch = Vec::new();
        let mut size = 0;
        for statement in store.membership().statements() {
            let bytes = Bytes::from(statement.encode());
            size += bytes.len();
            batch.push(bytes);
            if size >= STATEMENT_BATCH {
                size = 0;
                self.send(&Frame::Statements(std::mem::take(&mut batch)));
            }
        }
        if !batch.is_empty() {
            self.send(&Frame::Statements(batch));
        }
        self.shared_statements = Some(store.membership().digest());
    }

    /// Offers our statements when the other end's are not the same, and not for the same
    /// difference again and again: sets may differ for good, where one end refuses a statement.
    fn compare_statements<S: PeerStore>(&mut self, store: &S, theirs: [u8; 32], now: i64) {
        let ours = store.membership().digest();
        if self.shared_statements.is_none() {
            self.shared_statements = Some(theirs);
        }
        if ours == theirs {
            self.shared_statements = Some(ours);
            return;
        }
        let again = self.offered.is_none_or(|(their, our, at)| {
            (their, our) != (theirs, ours) || now - at >= self.timing.retry_max_ms
        });
        if again {
            self.offered = Some((theirs, ours, now));
            self.offer_statements(store);
        }
    }

    fn on_statements<S: PeerStore>(
        &mut self,
        items: &[Bytes],
        store: &mut S,
        now: i64,
    ) -> Result<(), SessionError<S::Error>> {
        let statements: Vec<_> = items
            .iter()
            .filter_map(|bytes| Statement::decode(bytes).ok())
            .filter(|statement| statement.campaign() == self.campaign)
            .collect();
        if statements.is_empty() {
            return Ok(());
        }
        let before = store.membership().digest();
        let held = store.membership().statements().count();
        let new = store
            .receive_statements(statements, now)
            .map_err(SessionError::Store)?;
        let added = store.membership().statements().count().saturating_sub(held);
        if new == 0 && added == 0 {
            return Ok(());
        }
        if added > new {
            // The store answered with statements of its own: a keeper's lockboxes, say.
            self.offer_statements(store);
        } else if self.shared_statements == Some(before) {
            // What came from there need not go back.
            self.shared_statements = Some(store.membership().digest());
        }
        self.progress(now);
        self.events.push_back(Event::Statements { new });
        let intaken = self.intake.retry(store, now).map_err(SessionError::Store)?;
        self.after_intake(intaken, store, now)
    }

    fn say_have<S: PeerStore>(
        &mut self,
        store: &S,
        answer: bool,
        now: i64,
    ) -> Result<(), SessionError<S::Error>> {
        self.last_have = now;
        let own = store.cursor().map_err(SessionError::Store)?;
        self.send(&Frame::Have {
            cursor: self.intake.advertised(own),
            statements: store.membership().digest(),
            answer,
        });
        Ok(())
    }

    fn on_have<S: PeerStore>(
        &mut self,
        cursor: &Cursor,
        statements: [u8; 32],
        store: &mut S,
        now: i64,
    ) -> Result<(), SessionError<S::Error>> {
        if self.phase != Phase::Open {
            return Ok(());
        }
        self.compare_statements(store, statements, now);
        let first = self.remote.is_none();
        if self.remote.get_or_insert_default().merge(cursor) {
            self.progress(now);
        }
        self.sent.merge(cursor);
        let own = store.cursor().map_err(SessionError::Store)?;
        let have = self.intake.advertised(own);
        let behind = cursor.surplus(&have);
        if first {
            let ahead = have.surplus(cursor);
            if behind > 0 {
                self.events.push_back(Event::CatchingUp { behind, ahead });
            }
        } else if behind > 0 && now - self.last_have >= self.timing.retry_ms {
            self.say_have(store, true, now)?;
        }
        self.settle(store, now)
    }

    fn on_envelopes<S: PeerStore>(
        &mut self,
        items: &[Bytes],
        store: &mut S,
        now: i64,
    ) -> Result<(), SessionError<S::Error>> {
        let intaken = self
            .intake
            .take(self.campaign, items, store, self.timing.waiting_bytes, now)
            .map_err(SessionError::Store)?;
        self.after_intake(intaken, store, now)
    }

    fn after_intake<S: PeerStore>(
        &mut self,
        intaken: Intaken,
        store: &mut S,
        now: i64,
    ) -> Result<(), SessionError<S::Error>> {
        let Intaken {
            received,
            seen,
            gap,
        } = intaken;
        if let Some(remote) = &mut self.remote {
            remote.merge(&seen);
        }
        self.sent.merge(&seen);
        if !received.accepted.is_empty() {
            self.progress(now);
        }
        if !received.accepted.is_empty() || !received.rejected.is_empty() {
            self.events.push_back(Event::Delivered(received));
        }
        if gap && self.phase == Phase::Open && now - self.last_have >= self.timing.retry_ms {
            self.say_have(store, true, now)?;
        }
        self.settle(store, now)
    }

    fn on_ack<S: PeerStore>(
        &mut self,
        cursor: Cursor,
        store: &mut S,
        now: i64,
    ) -> Result<(), SessionError<S::Error>> {
        let mut moved = cursor;
        let acked = &self.acked;
        moved.retain(|stream, number| number > acked.get(stream));
        if moved.is_empty() {
            return Ok(());
        }
        self.progress(now);
        self.acked.merge(&moved);
        if let Some(remote) = &mut self.remote {
            remote.merge(&moved);
        }
        self.sent.merge(&moved);
        self.events.push_back(Event::Acked(moved));
        self.settle(store, now)
    }

    /// After anything that may have moved a cursor: is the catch-up done, is there more to send?
    fn settle<S: PeerStore>(
        &mut self,
        store: &mut S,
        now: i64,
    ) -> Result<(), SessionError<S::Error>> {
        let Some(remote) = &self.remote else {
            return Ok(());
        };
        self.flying
            .retain(|(stream, number, _)| remote.get(*stream) < *number);
        let own = store.cursor().map_err(SessionError::Store)?;
        let live = self.intake.advertised(own).covers(remote);
        if live && !self.live {
            self.events.push_back(Event::Live);
        }
        self.live = live;
        self.push(store, now)
    }

    /// Sends envelopes that the other end lacks, as far as the window allows.
    fn push<S: PeerStore>(
        &mut self,
        store: &mut S,
        now: i64,
    ) -> Result<(), SessionError<S::Error>> {
        if self.phase != Phase::Open || self.remote.is_none() || now < self.paused_until {
            return Ok(());
        }
        let mut flying: usize = self.flying.iter().map(|(_, _, size)| size).sum();
        if flying == 0 && self.retry_at <= now {
            self.progress(now);
        }
        while flying < self.timing.window_bytes {
            let items = store
                .envelopes_after(&self.sent, self.timing.batch_bytes)
                .map_err(SessionError::Store)?;
            let mut advanced = false;
            for bytes in &items {
                let Ok(header) = Envelope::peek(bytes) else {
                    continue;
                };
                let stream = Stream {
                    audience: header.audience,
                    device: header.device,
                };
                advanced |= self.sent.advance(stream, header.number);
                self.flying.push_back((stream, header.number, bytes.len()));
                flying += bytes.len();
            }
            if !advanced {
                break;
            }
            self.send(&Frame::Envelopes(items));
        }
        Ok(())
    }

    fn send(&mut self, frame: &Frame) {
        match frame.encode() {
            Ok(bytes) => self.out.push_back(bytes),
            // Every frame made here is within the limits; were one not, the retry shows it.
            Err(error) => tracing::error!(%error, "a frame of our own is too large"),
        }
    }
}
