//! One campaign's task: drives the sans-I/O [`TableCore`] between connections and the store.

use std::{
    collections::{BTreeMap, HashMap},
    time::{Duration, Instant},
};

use bytes::Bytes;
use futures_util::{StreamExt as _, future::BoxFuture, stream::FuturesUnordered};
use lore_seal::{Audience, CampaignId, DeviceId};
use lore_sync::{
    CloseReason, ConnId, Effect, Head, Limits as CoreLimits, Refusal, Stream, TableCore,
    TableState, Token,
};
use tokio::sync::mpsc;

use crate::{
    Limits,
    entrance::CloseCode,
    hub::Hub,
    now,
    outbox::Outbox,
    store::{CampaignKey, Loaded, Pending, Store, StoreError, StoredEnvelope},
};

/// How often the core is told that time passes.
const TICK: Duration = Duration::from_millis(250);
/// How long a table without connections stays in memory.
const REST: Duration = Duration::from_mins(1);

/// What a table is told.
pub(crate) enum Input {
    /// A connection has come; its first frame follows.
    Connected { connection: ConnId, outbox: Outbox },
    /// A frame has arrived.
    Frame { connection: ConnId, frame: Bytes },
    /// The transport has taken so many bytes of frames.
    Flushed { connection: ConnId, bytes: usize },
    /// The connection is gone.
    Disconnected { connection: ConnId },
    /// Close everything and end.
    Stop,
}

/// An answer of the store.
enum Done {
    Written(Token, Result<(), StoreError>),
    Read(Token, Result<Vec<Bytes>, StoreError>),
}

/// Whether the table goes on.
#[derive(PartialEq, Eq)]
enum Then {
    Continue,
    End,
}

struct Table {
    key: CampaignKey,
    core: TableCore,
    store: Store,
    outboxes: HashMap<ConnId, Outbox>,
    pending: FuturesUnordered<BoxFuture<'static, Done>>,
    idle_since: Option<Instant>,
    /// Set when the relay takes no further campaigns and this is not one it has.
    closed: bool,
}

/// Runs until the table has been without connections for a while, or is told to stop.
pub(crate) async fn run(
    key: CampaignKey,
    store: Store,
    limits: Limits,
    mut inbox: mpsc::Receiver<Input>,
    hub: &Hub,
) {
    let loaded = match store.load(key).await {
        Ok(loaded) => loaded,
        Err(error) => {
            tracing::error!(%error, "opening a table");
            // Those who wait are closed with their outboxes; they come back to a new attempt.
            hub.forget(&key);
            return;
        }
    };
    let closed = loaded.statements.is_empty() && loaded.campaigns >= limits.campaigns;
    let core_limits = CoreLimits {
        table_bytes: limits.campaign_bytes,
        ..CoreLimits::default()
    };
    let mut table = Table {
        key,
        core: TableCore::new(CampaignId::from_bytes(key), state(loaded), core_limits),
        store,
        outboxes: HashMap::new(),
        pending: FuturesUnordered::new(),
        idle_since: None,
        closed,
    };
    let mut tick = tokio::time::interval(TICK);
    tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            input = inbox.recv() => match input {
                Some(input) => {
                    if table.take(input) == Then::End {
                        break;
                    }
                }
                None => break,
            },
            Some(done) = table.pending.next() => table.answered(done),
            _ = tick.tick() => table.core.tick(now()),
        }
        table.carry_out().await;
        if table.core.has_failed() {
            tracing::error!("a table is closed since its store failed; peers will open it anew");
            hub.forget(&key);
            break;
        }
        if table.rests() && hub.retire(&key, &inbox) {
            break;
        }
    }
    table.end().await;
}

/// What the store holds, as the core wants it. Damaged rows are left out: a peer refills them.
fn state(loaded: Loaded) -> TableState {
    let heads = loaded
        .heads
        .into_iter()
        .filter_map(|head| {
            let audience = Audience::from_bytes(&head.audience).ok()?;
            let stream = Stream {
                audience,
                device: DeviceId::from_bytes(head.device),
            };
            let end = Head {
                number: head.number,
                hash: head.chain,
            };
            Some((stream, end))
        })
        .collect::<BTreeMap<_, _>>();
    TableState {
        statements: loaded.statements,
        heads,
        bytes: loaded.bytes,
    }
}

impl Table {
    fn take(&mut self, input: Input) -> Then {
        match input {
            Input::Connected { connection, outbox } => {
                let mut nonce = [0; 32];
                if self.closed {
                    outbox.close(
                        CloseCode::Unavailable,
                        "this relay takes no further campaigns",
                    );
                } else if let Err(error) = getrandom::fill(&mut nonce) {
                    tracing::error!(%error, "no randomness for a connection's challenge");
                    outbox.close(CloseCode::Unavailable, "the relay cannot answer now");
                } else {
                    self.outboxes.insert(connection, outbox);
                    self.core.connected(connection, now(), nonce);
                }
            }
            Input::Frame { connection, frame } => self.core.frame(connection, &frame, now()),
            Input::Flushed { connection, bytes } => self.core.flushed(connection, bytes, now()),
            Input::Disconnected { connection } => {
                self.outboxes.remove(&connection);
                self.core.disconnected(connection);
            }
            Input::Stop => {
                for (_, outbox) in self.outboxes.drain() {
                    outbox.close(CloseCode::Stopping, "the relay is stopping");
                }
                return Then::End;
            }
        }
        Then::Continue
    }

    fn answered(&mut self, done: Done) {
        match done {
            Done::Written(token, Ok(())) => self.core.appended(token),
            Done::Written(token, Err(error)) => {
                tracing::error!(%error, "storing");
                self.core.append_failed(token);
            }
            Done::Read(token, Ok(rows)) => self.core.read_done(token, rows, now()),
            Done::Read(token, Err(error)) => {
                tracing::error!(%error, "reading");
                self.core.read_failed(token);
            }
        }
    }

    /// Does what the core asks for. Waits only while the store's queue is full.
    async fn carry_out(&mut self) {
        while let Some(effect) = self.core.poll() {
            match effect {
                Effect::Send { conn, frame } => {
                    let full = self
                        .outboxes
                        .get(&conn)
                        .is_some_and(|outbox| outbox.send(frame).is_err());
                    if full {
                        self.close(conn, CloseCode::Slow, "too slow");
                        self.core.disconnected(conn);
                    }
                }
                Effect::Append { token, records } => {
                    let records = records
                        .into_iter()
                        .map(|record| StoredEnvelope {
                            audience: record.audience.to_bytes(),
                            device: record.device.to_bytes(),
                            number: record.number,
                            chain: record.chain_hash,
                            bytes: record.bytes,
                        })
                        .collect();
                    let submitted = self.store.append(self.key, records).await;
                    self.await_write(token, submitted);
                }
                Effect::PutStatements { token, statements } => {
                    let submitted = self.store.put_statements(self.key, statements, now()).await;
                    self.await_write(token, submitted);
                }
                Effect::Read {
                    token,
                    audience,
                    device,
                    after,
                    max_bytes,
                } => {
                    let submitted = self
                        .store
                        .envelopes(
                            self.key,
                            audience.to_bytes(),
                            device.to_bytes(),
                            after,
                            max_bytes,
                        )
                        .await;
                    match submitted {
                        Ok(pending) => self.pending.push(Box::pin(async move {
                            Done::Read(token, pending.wait().await)
                        })),
                        Err(_) => self.core.read_failed(token),
                    }
                }
                Effect::Close { conn, reason } => {
                    let (code, text) = farewell(reason);
                    self.close(conn, code, text);
                }
            }
        }
    }

    fn await_write(&mut self, token: Token, submitted: Result<Pending<()>, StoreError>) {
        match submitted {
            Ok(pending) => self.pending.push(Box::pin(async move {
                Done::Written(token, pending.wait().await)
            })),
            Err(error) => self.answered(Done::Written(token, Err(error))),
        }
    }

    fn close(&mut self, connection: ConnId, code: CloseCode, reason: &str) {
        if let Some(outbox) = self.outboxes.remove(&connection) {
            outbox.close(code, reason);
        }
    }

    /// Whether the table has been without connections and work for long enough to be dropped from
    /// memory. What was never registered leaves at once.
    fn rests(&mut self) -> bool {
        if !self.core.is_idle() || !self.pending.is_empty() {
            self.idle_since = None;
            return false;
        }
        let since = *self.idle_since.get_or_insert_with(Instant::now);
        self.core.is_unregistered() || since.elapsed() >= REST
    }

    /// Lets what was submitted become durable, so that the next task of this campaign, or the
    /// next process, starts from it.
    async fn end(mut self) {
        for (_, outbox) in self.outboxes.drain() {
            outbox.close(CloseCode::Unavailable, "the table has closed");
        }
        while self.pending.next().await.is_some() {}
    }
}

fn farewell(reason: CloseReason) -> (CloseCode, &'static str) {
    match reason {
        CloseReason::Refused(Refusal::TooSlow) => (CloseCode::Slow, "too slow"),
        CloseReason::Refused(Refusal::Malformed) => (CloseCode::Malformed, "malformed"),
        CloseReason::Refused(Refusal::Full | Refusal::Unavailable) => {
            (CloseCode::Unavailable, "unavailable")
        }
        CloseReason::Refused(_) => (CloseCode::Refused, "refused"),
        CloseReason::Handshake => (CloseCode::Idle, "the handshake took too long"),
        CloseReason::Idle => (CloseCode::Idle, "nothing arrived for too long"),
        CloseReason::Replaced => (
            CloseCode::Done,
            "replaced by newer connections of the device",
        ),
        CloseReason::StorageFailed => (CloseCode::Unavailable, "the store failed"),
    }
}
