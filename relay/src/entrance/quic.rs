//! The UDP entrance: one QUIC endpoint, told apart by ALPN.
//!
//! `lore/1` is a native peer: the connection's first bidirectional stream carries the frames.
//! `h3` is WebTransport: a session on `/sync`, whose first bidirectional stream does the same.

use std::{net::UdpSocket, sync::Arc, time::Duration};

use quinn::{IdleTimeout, VarInt, crypto::rustls::HandshakeData};
use web_transport_quinn as wt;

use super::{
    Entrance,
    session::{Carrier, Session},
};
use crate::{NATIVE_ALPN, WEB_TRANSPORT_PATH, certificates::Certificates};

/// A connection without a sign of life for this long is dropped.
const IDLE: Duration = Duration::from_secs(30);
/// Sent on quiet connections, so that NAT bindings and the idle timer stay alive.
const KEEP_ALIVE: Duration = Duration::from_secs(10);
/// From the first packet to the first stream.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// What one connection may have in flight towards us: one frame of the largest size and a half.
const RECEIVE_WINDOW: u32 = 3 * 1024 * 1024;
/// Incoming streams of each kind; WebTransport needs three unidirectional ones for HTTP/3.
const STREAMS: u32 = 4;

/// Why the endpoint could not be set up.
#[derive(Debug, thiserror::Error)]
pub enum QuicError {
    /// The TLS parameters were not taken.
    #[error("QUIC needs TLS 1.3: {0}")]
    Tls(String),
    /// The socket was not taken.
    #[error("QUIC endpoint: {0}")]
    Io(#[from] std::io::Error),
}

/// Makes the endpoint over a bound socket.
pub(crate) fn endpoint(
    socket: UdpSocket,
    certificates: Arc<Certificates>,
) -> Result<quinn::Endpoint, QuicError> {
    let tls = |error: &dyn std::fmt::Display| QuicError::Tls(error.to_string());
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = rustls::ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])
        .map_err(|error| tls(&error))?
        .with_no_client_auth()
        .with_cert_resolver(certificates);
    config.alpn_protocols = vec![NATIVE_ALPN.to_vec(), wt::ALPN.as_bytes().to_vec()];
    let crypto =
        quinn::crypto::rustls::QuicServerConfig::try_from(config).map_err(|error| tls(&error))?;
    let mut server = quinn::ServerConfig::with_crypto(Arc::new(crypto));
    let mut transport = quinn::TransportConfig::default();
    transport
        .max_idle_timeout(IdleTimeout::try_from(IDLE).ok())
        .keep_alive_interval(Some(KEEP_ALIVE))
        .max_concurrent_bidi_streams(VarInt::from_u32(STREAMS))
        .max_concurrent_uni_streams(VarInt::from_u32(STREAMS))
        .receive_window(VarInt::from_u32(RECEIVE_WINDOW))
        .stream_receive_window(VarInt::from_u32(RECEIVE_WINDOW));
    server.transport_config(Arc::new(transport));
    let runtime = Arc::new(quinn::TokioRuntime);
    Ok(quinn::Endpoint::new(
        quinn::EndpointConfig::default(),
        Some(server),
        socket,
        runtime,
    )?)
}

/// Accepts connections until the endpoint is closed.
pub(crate) async fn accept_loop(endpoint: quinn::Endpoint, entrance: Entrance) {
    while let Some(incoming) = endpoint.accept().await {
        let Some(place) = entrance.place() else {
            // Full: say so at once rather than let the client time out.
            incoming.refuse();
            continue;
        };
        // Under load, make clients prove their address before any state is kept for them.
        if entrance.is_crowded() && !incoming.remote_address_validated() && incoming.may_retry() {
            let _ = incoming.retry();
            continue;
        }
        let entrance = entrance.clone();
        tokio::spawn(async move {
            let opened = tokio::time::timeout(HANDSHAKE, open(incoming)).await;
            if let Ok(Some(session)) = opened {
                entrance.serve(session, place).await;
            }
        });
    }
}

/// The handshake, up to the one stream; `None` when it came to nothing.
async fn open(incoming: quinn::Incoming) -> Option<Session> {
    let mut connecting = incoming.accept().ok()?;
    let data = connecting.handshake_data().await.ok()?;
    let protocol = data.downcast::<HandshakeData>().ok()?.protocol?;
    let connection = connecting.await.ok()?;
    if protocol == NATIVE_ALPN {
        Session::over_quic(Carrier::Quic, wt::Session::raw(connection))
            .await
            .ok()
    } else {
        let request = wt::Request::accept(connection).await.ok()?;
        if request.url.path() != WEB_TRANSPORT_PATH {
            let _ = request.reject(wt::http::StatusCode::NOT_FOUND).await;
            return None;
        }
        let session = request.ok().await.ok()?;
        Session::over_quic(Carrier::WebTransport, session)
            .await
            .ok()
    }
}
