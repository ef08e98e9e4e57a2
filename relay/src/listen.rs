//! One port number for UDP and TCP, and the HTTP server over it.

use std::{
    io,
    net::{SocketAddr, TcpListener, UdpSocket},
};

use axum::Router;
use tokio::sync::watch;

/// With port 0, how often another free TCP port is tried until UDP has the same one free.
const ATTEMPTS: u32 = 32;

/// Why the port could not be bound.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// In use by another program.
    #[error("{address} ({protocol}) is in use: stop the other program, or choose another --listen")]
    InUse {
        /// What was asked for.
        address: SocketAddr,
        /// "TCP" or "UDP".
        protocol: &'static str,
    },
    /// No port was free on both protocols.
    #[error("no port is free for both TCP and UDP on {0}")]
    NoneFree(std::net::IpAddr),
    /// The system failed otherwise.
    #[error("listening: {0}")]
    Io(#[from] io::Error),
}

/// Binds TCP and UDP to the same address and port.
pub(crate) fn bind(
    address: SocketAddr,
) -> Result<(tokio::net::TcpListener, UdpSocket), ListenError> {
    for _ in 0..ATTEMPTS {
        let tcp = TcpListener::bind(address).map_err(|error| named(error, address, "TCP"))?;
        let bound = tcp.local_addr()?;
        match UdpSocket::bind(bound) {
            Ok(udp) => {
                tcp.set_nonblocking(true)?;
                return Ok((tokio::net::TcpListener::from_std(tcp)?, udp));
            }
            Err(error) if error.kind() == io::ErrorKind::AddrInUse && address.port() == 0 => {}
            Err(error) => return Err(named(error, address, "UDP")),
        }
    }
    Err(ListenError::NoneFree(address.ip()))
}

fn named(error: io::Error, address: SocketAddr, protocol: &'static str) -> ListenError {
    if error.kind() == io::ErrorKind::AddrInUse {
        ListenError::InUse { address, protocol }
    } else {
        error.into()
    }
}

/// Serves HTTP until the relay stops.
pub(crate) async fn serve(
    tcp: tokio::net::TcpListener,
    router: Router,
    mut stopping: watch::Receiver<bool>,
) {
    let stopped = async move {
        let _ = stopping.wait_for(|stopping| *stopping).await;
    };
    if let Err(error) = axum::serve(tcp, router)
        .with_graceful_shutdown(stopped)
        .await
    {
        tracing::error!(%error, "serving HTTP");
    }
}
