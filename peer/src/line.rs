//! A connection to the table for the time of one command.
//!
//! Drives the sans-I/O [`PeerSession`] over raw QUIC. Every wait is bounded: a relay that does not
//! answer delays a command by the time given on its command line and no more.

use std::time::{Duration, Instant};

use bytes::Bytes;
use lore_replica::Replica;
use lore_seal::CampaignId;
use lore_sync::{
    Event, Frame, FrameBuffer, PeerSession, PeerStore as _, Refusal, Timing, length_prefix,
};

use crate::{
    codex::now,
    failure::Failure,
    net::{self, Incoming, NetError, Outgoing},
};

/// How often the session is told that time passes.
const TICK: Duration = Duration::from_millis(250);
/// How long the last words may take to be delivered.
const FAREWELL: Duration = Duration::from_millis(500);

/// Why a command goes on without the table, or cannot.
#[derive(Debug)]
pub(crate) enum LineError {
    /// No connection; the ordinary case away from home. The reason is for people.
    Offline(String),
    /// The relay turned this device away; with what to do, for people.
    Refused(String),
    /// The codex failed underneath.
    Store(Failure),
}

impl From<NetError> for LineError {
    fn from(error: NetError) -> Self {
        Self::Offline(error.to_string())
    }
}

/// An open connection to one campaign's table.
pub(crate) struct Line {
    campaign: CampaignId,
    session: PeerSession,
    incoming: Incoming,
    outgoing: Outgoing,
    buffer: FrameBuffer,
    /// Digest of the statements that the relay last said it holds.
    relay_statements: Option<[u8; 32]>,
    /// Sent after what the session has to send.
    question: Option<Bytes>,
}

impl Line {
    /// Connects and waits until everything the relay has is here, or the time is up; a relay that
    /// answers but has more than fits the time is connected all the same.
    pub(crate) async fn open(
        replica: &mut Replica,
        campaign: CampaignId,
        relay: &str,
        wait: Duration,
    ) -> Result<Self, LineError> {
        let until = Instant::now() + wait;
        let endpoint = net::discover(relay, wait).await?;
        let left = until.saturating_duration_since(Instant::now());
        let (incoming, outgoing) = net::connect_to(&endpoint, left).await?;
        let mut nonce = [0; 32];
        getrandom::fill(&mut nonce)
            .map_err(|error| LineError::Offline(format!("no randomness: {error}")))?;
        let mut session = PeerSession::new(campaign, replica.device(), nonce, Timing::default());
        session.start(now());
        let mut line = Self {
            campaign,
            session,
            incoming,
            outgoing,
            buffer: FrameBuffer::new(),
            relay_statements: None,
            question: None,
        };
        line.pump(replica, until, &mut |_| {}, |line, _| {
            Ok(line.session.is_live())
        })
        .await?;
        if line.session.is_open() {
            Ok(line)
        } else {
            Err(LineError::Offline(
                "the relay did not answer in time".into(),
            ))
        }
    }

    /// Sends what is new here and waits until the relay has it durably, or the time is up.
    /// Returns whether it has.
    pub(crate) async fn push(
        &mut self,
        replica: &mut Replica,
        wait: Duration,
    ) -> Result<bool, LineError> {
        let until = Instant::now() + wait;
        let mut store = replica.store(self.campaign).map_err(store_failed)?;
        self.session
            .on_local_change(&mut store, now())
            .map_err(session_failed)?;
        // Envelopes are acknowledged, statements are not: asked for what it has, the relay says
        // which statements it holds.
        let question = Frame::Have {
            cursor: store.cursor().map_err(store_failed)?,
            statements: store.membership().digest(),
            answer: true,
        };
        self.question = question.encode().ok();
        let delivered = self
            .pump(replica, until, &mut |_| {}, Self::is_delivered)
            .await?;
        // What was acknowledged is written down with the next transaction: this one.
        replica.receive(self.campaign, &[]).map_err(store_failed)?;
        Ok(delivered)
    }

    /// Stays connected until it breaks, telling what happens.
    pub(crate) async fn watch(
        &mut self,
        replica: &mut Replica,
        mut told: impl FnMut(&Event, &mut Replica),
    ) -> Result<(), LineError> {
        loop {
            let until = Instant::now() + Duration::from_secs(1);
            let mut events = Vec::new();
            self.pump(
                replica,
                until,
                &mut |event| events.push(event.clone()),
                |_, _| Ok(false),
            )
            .await?;
            for event in &events {
                told(event, replica);
            }
            // Another command may have written to the codex meanwhile.
            let mut store = replica.store(self.campaign).map_err(store_failed)?;
            self.session
                .on_local_change(&mut store, now())
                .map_err(session_failed)?;
        }
    }

    /// Ends the connection; what was sent is delivered.
    pub(crate) async fn close(self) {
        self.outgoing.finish(FAREWELL).await;
    }

    /// Whether the relay has durably what this device wrote, and its statements.
    fn is_delivered(&self, replica: &mut Replica) -> Result<bool, LineError> {
        let device = replica.device();
        let store = replica.store(self.campaign).map_err(store_failed)?;
        let mut own = store.cursor().map_err(store_failed)?;
        own.retain(|stream, _| stream.device == device);
        Ok(self.session.acked().covers(&own)
            && self.relay_statements == Some(store.membership().digest()))
    }

    /// Runs the session until `done` or `until`; returns whether `done`.
    async fn pump(
        &mut self,
        replica: &mut Replica,
        until: Instant,
        told: &mut impl FnMut(&Event),
        done: impl Fn(&Self, &mut Replica) -> Result<bool, LineError>,
    ) -> Result<bool, LineError> {
        let mut tick = tokio::time::interval(TICK);
        loop {
            self.flush(until).await?;
            self.tell(replica, told)?;
            if done(self, replica)? {
                return Ok(true);
            }
            tokio::select! {
                read = self.incoming.read() => match read? {
                    Some(bytes) => {
                        self.buffer.push(&bytes);
                        self.take_frames(replica)?;
                    }
                    None => return Err(LineError::Offline("the relay ended the connection".into())),
                },
                _ = tick.tick() => {
                    let mut store = replica.store(self.campaign).map_err(store_failed)?;
                    self.session.tick(&mut store, now()).map_err(session_failed)?;
                }
                () = tokio::time::sleep_until(until.into()) => return Ok(false),
            }
        }
    }

    fn take_frames(&mut self, replica: &mut Replica) -> Result<(), LineError> {
        while let Some(frame) = self
            .buffer
            .next()
            .map_err(|error| LineError::Offline(error.to_string()))?
        {
            if let Ok(Frame::Welcome { statements, .. } | Frame::Have { statements, .. }) =
                Frame::decode(&frame)
            {
                self.relay_statements = Some(statements);
            }
            let mut store = replica.store(self.campaign).map_err(store_failed)?;
            self.session
                .on_frame(&frame, &mut store, now())
                .map_err(session_failed)?;
        }
        Ok(())
    }

    async fn flush(&mut self, until: Instant) -> Result<(), LineError> {
        while let Some(frame) = self
            .session
            .poll_transmit()
            .or_else(|| self.question.take())
        {
            let prefix = length_prefix(&frame).to_vec().into();
            let write = async {
                self.outgoing.write(prefix).await?;
                self.outgoing.write(frame).await
            };
            // A frame that is cut off makes the connection useless, so a late one ends it.
            match tokio::time::timeout_at((until + FAREWELL).into(), write).await {
                Ok(outcome) => outcome?,
                Err(_) => return Err(LineError::Offline("the relay takes nothing".into())),
            }
        }
        Ok(())
    }

    fn tell(
        &mut self,
        replica: &mut Replica,
        told: &mut impl FnMut(&Event),
    ) -> Result<(), LineError> {
        while let Some(event) = self.session.poll_event() {
            match &event {
                Event::Acked(cursor) => {
                    replica
                        .note_acked(self.campaign, cursor)
                        .map_err(store_failed)?;
                }
                Event::Refused { code, message } if code.is_final() => {
                    return Err(LineError::Refused(advice(*code, message)));
                }
                Event::Lost => {
                    return Err(LineError::Offline(
                        "the relay does not answer any more".into(),
                    ));
                }
                _ => {}
            }
            told(&event);
        }
        Ok(())
    }
}

/// What a person can do about a final refusal.
fn advice(code: Refusal, message: &str) -> String {
    match code {
        Refusal::NotAMember => {
            "the relay does not know this device as a member: the invitation may be withdrawn, or \
             the keeper's device has not been at this relay yet"
                .into()
        }
        Refusal::InvitationExpired => {
            "this invitation has expired; ask the keeper for a new one".into()
        }
        Refusal::InvitationUsedUp => {
            "this invitation has been used up; ask the keeper for a new one".into()
        }
        Refusal::Version => "the relay speaks another version; update the older program".into(),
        _ => message.to_owned(),
    }
}

fn store_failed(error: lore_replica::StoreError) -> LineError {
    LineError::Store(error.into())
}

fn session_failed(error: lore_sync::SessionError<lore_replica::StoreError>) -> LineError {
    match error {
        lore_sync::SessionError::Store(error) => store_failed(error),
        error @ lore_sync::SessionError::Frame(_) => LineError::Offline(error.to_string()),
    }
}
