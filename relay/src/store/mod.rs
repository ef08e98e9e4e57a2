//! The relay's durable store: one SQLite file in WAL mode with `synchronous=FULL`.
//!
//! It holds signed membership statements and sealed envelopes as the opaque bytes that arrived,
//! keyed by ids that the relay may see; no key and no readable lore ever reach it.
//! One thread writes, and commits whatever has queued up as one transaction (group commit);
//! another reads. An operation's future resolves only once its outcome is durable.

mod schema;
mod threads;

use std::{path::Path, thread::JoinHandle};

use bytes::Bytes;
use tokio::sync::{mpsc, oneshot};

pub use schema::SCHEMA_VERSION;

/// Operations that may wait for the writer before senders wait too.
const WRITE_QUEUE: usize = 1024;
/// Reads that may wait for the reader before senders wait too.
const READ_QUEUE: usize = 256;

/// A campaign's id as stored.
pub type CampaignKey = [u8; 16];
/// A device's id as stored.
pub type DeviceKey = [u8; 32];

/// Why the store could not be opened or used.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A newer relay wrote the file.
    #[error(
        "{path} has schema version {found}, this relay knows up to {SCHEMA_VERSION}: run the newer relay; the file was left as it is"
    )]
    Newer {
        /// The file.
        path: String,
        /// Its version.
        found: i64,
    },
    /// An SQLite file of some other program.
    #[error("{path} is not a relay's store: choose another --data directory")]
    Foreign {
        /// The file.
        path: String,
    },
    /// Another relay runs on the same data directory.
    #[error("another relay is using {path}: stop it first, or choose another --data directory")]
    InUse {
        /// The directory.
        path: String,
    },
    /// SQLite failed; the operation changed nothing.
    #[error("store: {0}")]
    Sqlite(#[from] rusqlite::Error),
    /// The system failed.
    #[error("store: {0}")]
    Io(#[from] std::io::Error),
    /// An envelope does not follow the last one of its log.
    #[error("an envelope before this one is missing in the store")]
    Gap,
    /// The store has been closed.
    #[error("the store is closed")]
    Closed,
}

/// One sealed envelope as stored.
#[derive(Debug, Clone)]
pub struct StoredEnvelope {
    /// The audience's compact encoding.
    pub audience: Vec<u8>,
    /// The writing device.
    pub device: DeviceKey,
    /// Its number in that device's log of that audience, from 1.
    pub number: u64,
    /// Chain hash.
    pub chain: [u8; 32],
    /// The envelope as it arrived.
    pub bytes: Bytes,
}

/// The end of one device's log in one audience.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// The audience's compact encoding.
    pub audience: Vec<u8>,
    /// The device.
    pub device: DeviceKey,
    /// The highest number.
    pub number: u64,
    /// That envelope's chain hash.
    pub chain: [u8; 32],
}

/// What the store holds of a campaign, without the envelopes themselves.
#[derive(Debug, Clone, Default)]
pub struct Loaded {
    /// Every statement, in the order of arrival. Empty: the campaign is unknown.
    pub statements: Vec<Bytes>,
    /// The ends of all logs.
    pub heads: Vec<Head>,
    /// Bytes of envelopes held.
    pub bytes: u64,
    /// Campaigns in the store.
    pub campaigns: u64,
}

/// What to write.
#[derive(Debug)]
pub(crate) enum Write {
    Append {
        campaign: CampaignKey,
        records: Vec<StoredEnvelope>,
    },
    Statements {
        campaign: CampaignKey,
        statements: Vec<Bytes>,
        now: i64,
    },
}

pub(crate) struct WriteJob {
    pub(crate) write: Write,
    pub(crate) done: oneshot::Sender<Result<(), StoreError>>,
}

pub(crate) enum ReadJob {
    Load {
        campaign: CampaignKey,
        done: oneshot::Sender<Result<Loaded, StoreError>>,
    },
    Envelopes {
        campaign: CampaignKey,
        audience: Vec<u8>,
        device: DeviceKey,
        after: u64,
        max_bytes: usize,
        done: oneshot::Sender<Result<Vec<Bytes>, StoreError>>,
    },
}

/// A submitted operation's outcome, to be awaited.
#[derive(Debug)]
pub struct Pending<T>(oneshot::Receiver<Result<T, StoreError>>);

impl<T> Pending<T> {
    /// Resolves when the outcome is durable.
    pub async fn wait(self) -> Result<T, StoreError> {
        self.0.await.unwrap_or(Err(StoreError::Closed))
    }
}

/// Handle on the store; clones share it.
#[derive(Clone)]
pub struct Store {
    writer: mpsc::Sender<WriteJob>,
    reader: mpsc::Sender<ReadJob>,
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Store")
    }
}

/// The store's threads; [`StoreThreads::join`] returns once every handle is dropped and
/// everything submitted is written.
#[derive(Debug)]
pub struct StoreThreads {
    writer: JoinHandle<()>,
    reader: JoinHandle<()>,
    // Held for as long as the threads live; the lock goes with the file.
    _lock: std::fs::File,
}

impl StoreThreads {
    /// Waits for the threads to finish (blocking).
    pub fn join(self) {
        // A panicked thread has been reported by the panic hook; there is nothing to add here.
        let _ = self.writer.join();
        let _ = self.reader.join();
    }
}

impl Store {
    /// Opens or creates the store in `directory`, which must exist.
    pub fn open(directory: &Path) -> Result<(Self, StoreThreads), StoreError> {
        let lock = lock(directory)?;
        let path = directory.join("relay.db");
        let writing = schema::open_writing(&path)?;
        let reading = schema::open_reading(&path)?;
        let (writer, write_jobs) = mpsc::channel(WRITE_QUEUE);
        let (reader, read_jobs) = mpsc::channel(READ_QUEUE);
        let threads = StoreThreads {
            writer: std::thread::Builder::new()
                .name("store-writer".into())
                .spawn(move || threads::write_loop(writing, write_jobs))?,
            reader: std::thread::Builder::new()
                .name("store-reader".into())
                .spawn(move || threads::read_loop(&reading, read_jobs))?,
            _lock: lock,
        };
        Ok((Self { writer, reader }, threads))
    }

    /// What is held of `campaign`.
    pub async fn load(&self, campaign: CampaignKey) -> Result<Loaded, StoreError> {
        let (done, outcome) = oneshot::channel();
        self.read_job(ReadJob::Load { campaign, done }).await?;
        Pending(outcome).wait().await
    }

    /// Queues envelopes; the returned outcome resolves once they are durable. Envelopes that
    /// are there already are left alone.
    pub async fn append(
        &self,
        campaign: CampaignKey,
        records: Vec<StoredEnvelope>,
    ) -> Result<Pending<()>, StoreError> {
        self.write_job(Write::Append { campaign, records }).await
    }

    /// Queues statements; the returned outcome resolves once they are durable.
    /// `now` in ms since the epoch.
    pub async fn put_statements(
        &self,
        campaign: CampaignKey,
        statements: Vec<Bytes>,
        now: i64,
    ) -> Result<Pending<()>, StoreError> {
        self.write_job(Write::Statements {
            campaign,
            statements,
            now,
        })
        .await
    }

    /// The envelopes of one device's log after number `after`, in order, until `max_bytes` are
    /// reached (at least one, if there is one).
    pub async fn envelopes(
        &self,
        campaign: CampaignKey,
        audience: Vec<u8>,
        device: DeviceKey,
        after: u64,
        max_bytes: usize,
    ) -> Result<Pending<Vec<Bytes>>, StoreError> {
        let (done, outcome) = oneshot::channel();
        self.read_job(ReadJob::Envelopes {
            campaign,
            audience,
            device,
            after,
            max_bytes,
            done,
        })
        .await?;
        Ok(Pending(outcome))
    }

    async fn write_job(&self, write: Write) -> Result<Pending<()>, StoreError> {
        let (done, outcome) = oneshot::channel();
        self.writer
            .send(WriteJob { write, done })
            .await
            .map_err(|_| StoreError::Closed)?;
        Ok(Pending(outcome))
    }

    async fn read_job(&self, job: ReadJob) -> Result<(), StoreError> {
        self.reader.send(job).await.map_err(|_| StoreError::Closed)
    }
}

/// Two relays on one store would each believe that theirs is the end of every log.
fn lock(directory: &Path) -> Result<std::fs::File, StoreError> {
    let file = std::fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .open(directory.join("relay.lock"))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(std::fs::TryLockError::WouldBlock) => Err(StoreError::InUse {
            path: directory.display().to_string(),
        }),
        Err(std::fs::TryLockError::Error(error)) => Err(error.into()),
    }
}
