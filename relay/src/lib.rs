//! The relay: fans sealed envelopes out to the table and keeps them for who is away.
//!
//! It sees ids, sizes and times, never text or keys. One port number serves everything: on UDP
//! native QUIC and WebTransport, on TCP the web app, `/relay.json`, `/health` and the WebSocket
//! fallback. `docs/relay.md` is the operator's side of it.
//!
//! ```text
//! entrance (quic, web) ── frames ──► hub ──► table (one task per campaign, a sans-I/O core)
//!        ▲                                     │ append, read
//!        └────────────── outbox ◄──────────────┴──► store (one writer, group commit)
//! ```

pub mod certificates;
mod entrance;
mod hub;
mod listen;
mod outbox;
pub mod store;
mod table;

use std::{
    net::SocketAddr,
    path::PathBuf,
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use tokio::{sync::watch, task::JoinHandle};

use certificates::{CertificateError, Certificates};
pub use entrance::{CloseCode, QuicError};
use entrance::{Entrance, Files, quic, web};
use hub::Hub;
pub use listen::ListenError;
use store::{Store, StoreError, StoreThreads};

/// ALPN of native peers: raw QUIC, one bidirectional stream of frames.
pub const NATIVE_ALPN: &[u8] = b"lore/1";
/// Path of the WebTransport session.
pub const WEB_TRANSPORT_PATH: &str = "/sync";
/// Path of the WebSocket fallback.
pub const WEB_SOCKET_PATH: &str = "/ws";
/// Version of the frames, as in `/relay.json`.
pub const PROTOCOL: u16 = lore_sync::PROTOCOL;

/// How often the relay looks whether a browser certificate's week is over.
const ROTATION_CHECK: Duration = Duration::from_hours(1);
/// How long open connections may take to close when the relay stops.
const STOP_GRACE: Duration = Duration::from_secs(5);

/// How long the last packets may take to be confirmed.
const LAST_PACKETS: Duration = Duration::from_millis(500);

/// What the relay takes on, at most.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Connections at a time.
    pub connections: usize,
    /// Campaigns in the store.
    pub campaigns: u64,
    /// Bytes of envelopes per campaign.
    pub campaign_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 4096,
            campaigns: 10_000,
            campaign_bytes: 1024 * 1024 * 1024,
        }
    }
}

/// How to start a relay.
#[derive(Debug, Clone)]
pub struct Config {
    /// Address and port of both UDP and TCP; port 0 takes any that is free on both.
    pub listen: SocketAddr,
    /// Directory of the store and the certificates; made when missing.
    pub data: PathBuf,
    /// Directory of the built web app, if the relay serves one.
    pub web: Option<PathBuf>,
    /// What to take on.
    pub limits: Limits,
}

/// Why the relay did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The data directory could not be made.
    #[error("the data directory {path} cannot be used: {source}")]
    Data {
        /// The directory.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The web app's directory is not one.
    #[error("{0} holds no index.html: build the web app first, or leave --web out")]
    Web(PathBuf),
    /// The store.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The certificates.
    #[error(transparent)]
    Certificates(#[from] CertificateError),
    /// The port.
    #[error(transparent)]
    Listen(#[from] ListenError),
    /// The QUIC endpoint.
    #[error(transparent)]
    Quic(#[from] QuicError),
}

/// A running relay.
#[derive(Debug)]
pub struct Relay {
    address: SocketAddr,
    stopping: watch::Sender<bool>,
    hub: Hub,
    entrance: Entrance,
    endpoint: quinn::Endpoint,
    store: Store,
    threads: StoreThreads,
    web: JoinHandle<()>,
    udp: JoinHandle<()>,
    rotation: JoinHandle<()>,
}

impl Relay {
    /// Opens the store, binds the port and serves. Must be called within a tokio runtime.
    pub fn start(config: Config) -> Result<Self, StartError> {
        std::fs::create_dir_all(&config.data).map_err(|source| StartError::Data {
            path: config.data.clone(),
            source,
        })?;
        if let Some(web) = &config.web
            && !web.join("index.html").is_file()
        {
            return Err(StartError::Web(web.clone()));
        }
        let (store, threads) = Store::open(&config.data)?;
        let certificates = Arc::new(Certificates::open(&config.data, now())?);
        let (tcp, udp) = listen::bind(config.listen)?;
        let address = tcp.local_addr().map_err(ListenError::from)?;
        let endpoint = quic::endpoint(udp, certificates.clone())?;

        let (stopping, stops) = watch::channel(false);
        let hub = Hub::new(store.clone(), config.limits);
        let entrance = Entrance::new(hub.clone(), config.limits, stops.clone());
        let router = web::router(web::Web {
            entrance: entrance.clone(),
            certificates: certificates.clone(),
            files: config.web.map(Files::new),
            listening: address,
        });
        let web = tokio::spawn(listen::serve(tcp, router, stops));
        let udp = tokio::spawn(quic::accept_loop(endpoint.clone(), entrance.clone()));
        let rotation = tokio::spawn(rotate(certificates));
        Ok(Self {
            address,
            stopping,
            hub,
            entrance,
            endpoint,
            store,
            threads,
            web,
            udp,
            rotation,
        })
    }

    /// Where it listens, with the actual port.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Stops: takes no new connection, closes the open ones with [`CloseCode::Stopping`],
    /// and returns when everything that was submitted to the store is durable.
    pub async fn stop(self) {
        self.stopping.send_replace(true);
        self.rotation.abort();
        let _ = tokio::time::timeout(STOP_GRACE, self.hub.stop()).await;
        // Every connection is told before the endpoint goes.
        let _ = tokio::time::timeout(STOP_GRACE, self.entrance.emptied()).await;
        self.endpoint.close(
            quinn::VarInt::from_u32(CloseCode::Stopping as u32),
            b"the relay is stopping",
        );
        // Peers that are gone do not answer; those that are here have been told.
        let _ = tokio::time::timeout(LAST_PACKETS, self.endpoint.wait_idle()).await;
        self.udp.abort();
        if tokio::time::timeout(STOP_GRACE, self.web).await.is_err() {
            tracing::debug!("some HTTP connections did not end in time");
        }
        drop((self.hub, self.entrance, self.store));
        // The threads end when the last handle on the store is gone. Tasks that did not end in
        // time hold one, so the wait is bounded; what they had submitted is written either way.
        let threads = self.threads;
        let joined = tokio::task::spawn_blocking(move || threads.join());
        let _ = tokio::time::timeout(STOP_GRACE, joined).await;
    }
}

async fn rotate(certificates: Arc<Certificates>) {
    loop {
        tokio::time::sleep(ROTATION_CHECK).await;
        match certificates.rotate(now()) {
            Ok(true) => tracing::info!("the next browser certificate is in service"),
            Ok(false) => {}
            Err(error) => tracing::error!(%error, "rotating the browser certificate"),
        }
    }
}

/// Milliseconds since the Unix epoch.
fn now() -> i64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |age| i64::try_from(age.as_millis()).unwrap_or(i64::MAX))
}
