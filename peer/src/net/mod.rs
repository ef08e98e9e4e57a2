//! Reaching a relay: its description over TCP, then raw QUIC with the certificate it named.

mod http;
mod quic;

use std::{net::SocketAddr, time::Duration};

use serde::Deserialize;

pub use quic::{Incoming, Outgoing, connect_to};

/// The only version of the relay's protocol that this program speaks.
pub const PROTOCOL: u32 = 1;
/// ALPN of raw QUIC.
pub const NATIVE_ALPN: &[u8] = b"lore/1";

/// Why a relay was not reached. Being offline is the ordinary case, not a fault.
#[derive(Debug, thiserror::Error)]
pub enum NetError {
    /// The address is not one of a relay.
    #[error(
        "{0:?} is not a relay's address: it looks like https://lore.example or http://127.0.0.1:7474"
    )]
    Address(String),
    /// Nothing answers there.
    #[error("{host} does not answer ({reason})")]
    Unreachable {
        /// Host and port.
        host: String,
        /// What happened.
        reason: String,
    },
    /// Something answers, but it is not a relay.
    #[error("{0} answers, but not as a relay")]
    NotARelay(String),
    /// The relay speaks another version.
    #[error(
        "the relay at {host} speaks protocol {found}, this program speaks {PROTOCOL}: update the older one"
    )]
    Protocol {
        /// Host and port.
        host: String,
        /// The relay's version.
        found: u32,
    },
    /// The connection ended.
    #[error("the connection ended ({0})")]
    Ended(String),
}

/// `/relay.json`, as far as a native peer needs it.
#[derive(Debug, Deserialize)]
struct Description {
    protocol: u32,
    quic: QuicDescription,
}

#[derive(Debug, Deserialize)]
struct QuicDescription {
    port: u16,
    hash: String,
}

/// Where a relay's QUIC endpoint is and which certificate it shows.
#[derive(Debug, Clone)]
pub struct Endpoint {
    /// Host as in the relay's address, for messages.
    pub host: String,
    /// Addresses of the host, with the QUIC port.
    pub addresses: Vec<SocketAddr>,
    /// SHA-256 of the DER certificate.
    pub certificate: [u8; 32],
}

/// Asks the relay at `base` for its QUIC endpoint. Over https the answer is authenticated by the
/// host's certificate; over http it is not, and what that costs is said in `docs/relay.md`.
pub async fn discover(base: &str, timeout: Duration) -> Result<Endpoint, NetError> {
    let target = http::Target::parse(base)?;
    let host = target.host.clone();
    let named = target.authority();
    let fetched = tokio::task::spawn_blocking(move || {
        let body = http::get(&target, "/relay.json", timeout)?;
        Ok::<_, NetError>((body, target.resolve()?))
    });
    let (body, addresses) = match tokio::time::timeout(timeout, fetched).await {
        Ok(Ok(outcome)) => outcome?,
        Ok(Err(_)) | Err(_) => {
            return Err(NetError::Unreachable {
                host: named,
                reason: "no answer in time".into(),
            });
        }
    };
    let description: Description =
        serde_json::from_slice(&body).map_err(|_| NetError::NotARelay(named.clone()))?;
    if description.protocol != PROTOCOL {
        return Err(NetError::Protocol {
            host: named,
            found: description.protocol,
        });
    }
    let certificate = data_encoding::HEXLOWER_PERMISSIVE
        .decode(description.quic.hash.as_bytes())
        .ok()
        .and_then(|bytes| bytes.try_into().ok())
        .ok_or(NetError::NotARelay(named))?;
    let addresses = addresses
        .into_iter()
        .map(|address| SocketAddr::new(address.ip(), description.quic.port))
        .collect();
    Ok(Endpoint {
        host,
        addresses,
        certificate,
    })
}
