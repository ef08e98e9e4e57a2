//! Which table serves which campaign: one task per campaign in use.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use lore_sync::ConnId;
use tokio::sync::mpsc;

use crate::{
    Limits,
    outbox::Outbox,
    store::{CampaignKey, Store},
    table::{self, Input},
};

/// What may wait for a table before its connections are not read any further.
const INBOX: usize = 256;
/// A table whose inbox stays full for this many rounds does not take new connections.
const ATTEMPTS: u32 = 50;
const ATTEMPT_PAUSE: Duration = Duration::from_millis(20);

/// The tables in use. Clones share them.
#[derive(Clone)]
pub(crate) struct Hub {
    shared: Arc<Shared>,
}

type Tables = HashMap<CampaignKey, mpsc::Sender<Input>>;

struct Shared {
    store: Store,
    limits: Limits,
    next_connection: AtomicU64,
    /// `None` once the relay stops.
    tables: Mutex<Option<Tables>>,
    running: tokio::sync::watch::Sender<usize>,
}

impl std::fmt::Debug for Hub {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Hub")
    }
}

/// A connection's place at its table.
pub(crate) struct Seat {
    pub(crate) connection: ConnId,
    pub(crate) table: mpsc::Sender<Input>,
}

impl Hub {
    pub(crate) fn new(store: Store, limits: Limits) -> Self {
        Self {
            shared: Arc::new(Shared {
                store,
                limits,
                next_connection: AtomicU64::new(1),
                tables: Mutex::new(Some(HashMap::new())),
                running: tokio::sync::watch::Sender::new(0),
            }),
        }
    }

    /// Seats a connection at the table of `campaign`, which is started when need be.
    /// `None` when the table is overrun or the relay stops.
    pub(crate) async fn seat(&self, campaign: CampaignKey, outbox: &Outbox) -> Option<Seat> {
        let connection = ConnId(self.shared.next_connection.fetch_add(1, Ordering::Relaxed));
        for _ in 0..ATTEMPTS {
            {
                let mut tables = self.tables();
                let tables = tables.as_mut()?;
                let table = tables
                    .entry(campaign)
                    .or_insert_with(|| self.start(campaign))
                    .clone();
                // Sent under the lock, so that a table that retires has seen it.
                let input = Input::Connected {
                    connection,
                    outbox: outbox.clone(),
                };
                match table.try_send(input) {
                    Ok(()) => return Some(Seat { connection, table }),
                    Err(mpsc::error::TrySendError::Full(_)) => {}
                    // The task is gone without having retired (it failed to load).
                    Err(mpsc::error::TrySendError::Closed(_)) => {
                        tables.remove(&campaign);
                    }
                }
            }
            tokio::time::sleep(ATTEMPT_PAUSE).await;
        }
        None
    }

    fn start(&self, campaign: CampaignKey) -> mpsc::Sender<Input> {
        let (sender, inbox) = mpsc::channel(INBOX);
        let hub = self.clone();
        let store = self.shared.store.clone();
        let limits = self.shared.limits;
        self.shared.running.send_modify(|running| *running += 1);
        tokio::spawn(async move {
            table::run(campaign, store, limits, inbox, &hub).await;
            hub.shared.running.send_modify(|running| *running -= 1);
        });
        sender
    }

    /// Called by a table without connections: true when it may end, and is forgotten.
    pub(crate) fn retire(&self, campaign: &CampaignKey, inbox: &mpsc::Receiver<Input>) -> bool {
        let mut tables = self.tables();
        let retires = inbox.is_empty();
        if retires && let Some(tables) = tables.as_mut() {
            tables.remove(campaign);
        }
        retires
    }

    /// Called by a table that failed: the next connection starts a new one.
    pub(crate) fn forget(&self, campaign: &CampaignKey) {
        if let Some(tables) = self.tables().as_mut() {
            tables.remove(campaign);
        }
    }

    /// Asks every table to close its connections and end, and waits until they have.
    pub(crate) async fn stop(&self) {
        let tables = self.tables().take().unwrap_or_default();
        for table in tables.into_values() {
            let _ = table.send(Input::Stop).await;
        }
        let mut running = self.shared.running.subscribe();
        let _ = running.wait_for(|running| *running == 0).await;
    }

    fn tables(&self) -> MutexGuard<'_, Option<Tables>> {
        // Nothing that runs under this lock can leave the map half changed.
        self.shared
            .tables
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}
