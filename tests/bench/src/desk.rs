//! A device at a table: a replica, its session and its connection, on a thread of their own.

use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use lore_codex::{Draft, Kind};
use lore_peer::net::{self, Incoming, Outgoing};
use lore_replica::{ListQuery, LiveSession, LiveState, Replica};
use lore_seal::{Audience, CampaignId, Role};
use rusqlite::Connection;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::System;

/// How long anything of a table may take before the run has failed.
const PATIENCE: Duration = Duration::from_secs(300);

/// What a reader of the list saw.
#[derive(Debug)]
pub struct Seen {
    /// The title of the entry that changed last.
    pub newest: String,
    /// How many entries there are.
    pub total: u64,
    /// When the list was read.
    pub at: Instant,
}

/// A running device.
pub struct Desk {
    record: UnboundedSender<(String, Sender<Instant>)>,
    seen: Receiver<Seen>,
    thread: JoinHandle<Result<()>>,
}

/// Opens the codex at `file`, with its one campaign or a new one, and opens that at `relay`.
/// Returns an invitation.
pub fn open_table(file: &Path, relay: &str) -> Result<String> {
    let mut replica = open(file)?;
    let campaign = match replica.campaign_ids()?.first() {
        Some(campaign) => *campaign,
        None => replica.create_campaign("Bench")?,
    };
    replica.open_table(campaign, relay)?;
    Ok(replica.invite(campaign, Role::Player)?.to_string())
}

/// Joins with an invitation, into the codex at `file`.
pub fn join(file: &Path, invitation: &str) -> Result<()> {
    open(file)?.join(invitation)?;
    Ok(())
}

fn open(file: &Path) -> Result<Replica> {
    Ok(Replica::open(Connection::open(file)?, Box::new(System))?)
}

impl Desk {
    /// Sits down with the codex at `file` at the table of its first campaign, and returns once the
    /// relay has let it in.
    pub fn sit(file: &Path, relay: &str) -> Result<Self> {
        let (ready, live) = channel();
        let (record, commands) = unbounded_channel();
        let (tell, seen) = channel();
        let (file, relay) = (file.to_owned(), relay.to_owned());
        let thread = std::thread::spawn(move || {
            tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
                let mut replica = open(&file)?;
                let campaign = *replica.campaign_ids()?.first().context("no campaign")?;
                let endpoint = net::discover(&relay, PATIENCE).await?;
                let halves = net::connect_to(&endpoint, PATIENCE).await?;
                let served = serve(&mut replica, campaign, halves, commands, &tell, &ready).await;
                served.inspect_err(|error| eprintln!("{}: {error:#}", file.display()))
            })
        });
        live.recv_timeout(PATIENCE).context("the relay let the device not in")?;
        Ok(Self { record, seen, thread })
    }

    /// Records an entry and returns when the person asked for it.
    pub fn record(&self, title: &str) -> Result<Instant> {
        let (tell, told) = channel();
        self.record.send((title.to_owned(), tell)).ok().context("the device is gone")?;
        Ok(told.recv_timeout(PATIENCE)?)
    }

    /// Waits until a reader of the list sees what `wanted` says.
    pub fn wait(&self, wanted: impl Fn(&Seen) -> bool) -> Result<Seen> {
        loop {
            let seen = self.seen.recv_timeout(PATIENCE)?;
            if wanted(&seen) {
                return Ok(seen);
            }
        }
    }

    /// Leaves the table.
    pub fn leave(self) -> Result<()> {
        drop(self.record);
        self.thread.join().map_err(|_| anyhow::anyhow!("the device panicked"))?
    }
}

async fn serve(
    replica: &mut Replica,
    campaign: CampaignId,
    (mut incoming, mut outgoing): (Incoming, Outgoing),
    mut commands: UnboundedReceiver<(String, Sender<Instant>)>,
    tell: &Sender<Seen>,
    ready: &Sender<()>,
) -> Result<()> {
    let mut session = LiveSession::start(replica, campaign);
    let mut ticker = tokio::time::interval(Duration::from_secs(1));
    let mut told_ready = false;
    loop {
        while let Some(bytes) = session.poll_stream() {
            outgoing.write(bytes).await?;
        }
        if !told_ready && matches!(session.state(), LiveState::CatchingUp | LiveState::Live) {
            told_ready = true;
            // Whoever sat down may have given up.
            let _ = ready.send(());
        }
        tokio::select! {
            piece = incoming.read() => {
                let piece = piece?.context("the relay ended the connection")?;
                session.receive_stream(replica, &piece)?;
                if !replica.take_events().is_empty() {
                    let list =
                        replica.list(campaign, &ListQuery { limit: 1, ..ListQuery::default() })?;
                    let newest = list.entries.into_iter().next().map(|entry| entry.title);
                    let seen = Seen {
                        newest: newest.unwrap_or_default(),
                        total: list.total,
                        at: Instant::now(),
                    };
                    // Nobody may be watching.
                    let _ = tell.send(seen);
                }
            }
            command = commands.recv() => {
                let Some((title, told)) = command else { break };
                let asked = Instant::now();
                let draft = Draft::new(Kind::new("note")?, title);
                replica.record(campaign, Audience::Table, &draft)?;
                session.on_local_change(replica)?;
                let _ = told.send(asked);
            }
            _ = ticker.tick() => session.tick(replica)?,
        }
    }
    outgoing.finish(Duration::from_secs(1)).await;
    Ok(())
}
