//! Which table serves which campaign: one task per campaign in use.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use tokio::sync::mpsc;

use crate::{
    Limits,
    outbox::Outbox,
    store::{CampaignKey, Store},
    table::{self, ConnectionId, Input},
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

struct Shared {
    store: Store,
    limits: Limits,
    next_connection: AtomicU64,
    tables: Mutex<HashMap<CampaignKey, mpsc::Sender<Input>>>,
    running: tokio::sync::watch::Sender<usize>,
}

impl std::fmt::Debug for Hub {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Hub")
    }
}

/// A connection's place at its table.
pub(crate) struct Seat {
    pub(crate) connection: ConnectionId,
    pub(crate) table: mpsc::Sender<Input>,
}

impl Hub {
    pub(crate) fn new(store: Store, limits: Limits) -> Self {
        Self {
            shared: Arc::new(Shared {
                store,
                limits,
                next_connection: AtomicU64::new(1),
                tables: Mutex::default(),
                running: tokio::sync::watch::Sender::new(0),
            }),
        }
    }

    /// Seats a connection at the table of `campaign`, which is started when need be.
    /// `None` when the table is overrun.
    pub(crate) async fn seat(&self, campaign: CampaignKey, outbox: &Outbox) -> Option<Seat> {
        let connection = ConnectionId(self.shared.next_connection.fetch_add(1, Ordering::Relaxed));
        for _ in 0..ATTEMPTS {
            {
                let mut tables = self.tables();
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
        if retires {
            tables.remove(campaign);
        }
        retires
    }

    /// Asks every table to close its connections and end, and waits until they have.
    pub(crate) async fn stop(&self) {
        let tables: Vec<_> = self.tables().drain().map(|(_, table)| table).collect();
        for table in tables {
            let _ = table.send(Input::Stop).await;
        }
        let mut running = self.shared.running.subscribe();
        let _ = running.wait_for(|running| *running == 0).await;
    }

    fn tables(&self) -> MutexGuard<'_, HashMap<CampaignKey, mpsc::Sender<Input>>> {
        // Nothing that runs under this lock can leave the map half changed.
        self.shared
            .tables
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}
