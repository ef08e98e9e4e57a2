//! Raw QUIC to a relay, pinned to the certificate that the relay's description names.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use bytes::Bytes;
use quinn::{IdleTimeout, VarInt};
use rustls::{
    DigitallySignedStruct, SignatureScheme,
    client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    crypto::CryptoProvider,
    pki_types::{CertificateDer, ServerName, UnixTime},
};
use sha2::{Digest as _, Sha256};

use super::{Endpoint, NATIVE_ALPN, NetError};

/// A connection without a sign of life for this long is given up.
const IDLE: Duration = Duration::from_secs(30);
const KEEP_ALIVE: Duration = Duration::from_secs(10);
/// The most that one read takes.
const READ_CHUNK: usize = 64 * 1024;

/// The half of a connection that brings bytes.
pub struct Incoming(quinn::RecvStream);

/// The half of a connection that takes bytes.
pub struct Outgoing {
    stream: quinn::SendStream,
    connection: quinn::Connection,
    endpoint: quinn::Endpoint,
}

/// Connects, and opens the one stream of frames.
pub async fn connect_to(
    target: &Endpoint,
    timeout: Duration,
) -> Result<(Incoming, Outgoing), NetError> {
    let unreachable = |reason: String| NetError::Unreachable {
        host: target.host.clone(),
        reason,
    };
    let config =
        client_config(target.certificate).map_err(|error| unreachable(error.to_string()))?;
    let mut reason = "its name has no address".to_owned();
    for address in &target.addresses {
        match tokio::time::timeout(timeout, open(*address, &config)).await {
            Ok(Ok(halves)) => return Ok(halves),
            Ok(Err(error)) => reason = error,
            Err(_) => "no answer over UDP in time".clone_into(&mut reason),
        }
    }
    Err(unreachable(reason))
}

async fn open(
    address: SocketAddr,
    config: &quinn::ClientConfig,
) -> Result<(Incoming, Outgoing), String> {
    let text = |error: &dyn std::fmt::Display| error.to_string();
    let any = match address {
        SocketAddr::V4(_) => SocketAddr::from(([0, 0, 0, 0], 0)),
        SocketAddr::V6(_) => SocketAddr::from(([0_u16; 8], 0)),
    };
    let endpoint = quinn::Endpoint::client(any).map_err(|error| text(&error))?;
    let connection = endpoint
        // The name is not what is verified: the certificate itself is pinned.
        .connect_with(config.clone(), address, "localhost")
        .map_err(|error| text(&error))?
        .await
        .map_err(|error| text(&error))?;
    let (send, receive) = connection.open_bi().await.map_err(|error| text(&error))?;
    Ok((
        Incoming(receive),
        Outgoing {
            stream: send,
            connection,
            endpoint,
        },
    ))
}

fn client_config(certificate: [u8; 32]) -> Result<quinn::ClientConfig, rustls::Error> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = rustls::ClientConfig::builder_with_provider(provider.clone())
        .with_protocol_versions(&[&rustls::version::TLS13])?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Pinned {
            certificate,
            provider,
        }))
        .with_no_client_auth();
    config.alpn_protocols = vec![NATIVE_ALPN.to_vec()];
    let crypto = quinn::crypto::rustls::QuicClientConfig::try_from(config)
        .map_err(|error| rustls::Error::General(error.to_string()))?;
    let mut client = quinn::ClientConfig::new(Arc::new(crypto));
    let mut transport = quinn::TransportConfig::default();
    transport
        .max_idle_timeout(IdleTimeout::try_from(IDLE).ok())
        .keep_alive_interval(Some(KEEP_ALIVE));
    client.transport_config(Arc::new(transport));
    Ok(client)
}

/// Accepts exactly one certificate, by its hash.
#[derive(Debug)]
struct Pinned {
    certificate: [u8; 32],
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _name: &ServerName<'_>,
        _ocsp: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let found: [u8; 32] = Sha256::digest(end_entity).into();
        if found == self.certificate {
            Ok(ServerCertVerified::assertion())
        } else {
            Err(rustls::CertificateError::ApplicationVerificationFailure.into())
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let known = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, certificate, signature, known)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let known = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, certificate, signature, known)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider
            .signature_verification_algorithms
            .supported_schemes()
    }
}

impl Incoming {
    /// The next piece of the byte stream; `None` when the relay ended it.
    pub async fn read(&mut self) -> Result<Option<Bytes>, NetError> {
        match self.0.read_chunk(READ_CHUNK, true).await {
            Ok(chunk) => Ok(chunk.map(|chunk| chunk.bytes)),
            Err(error) => Err(NetError::Ended(error.to_string())),
        }
    }
}

impl Outgoing {
    /// Writes all of `bytes`.
    pub async fn write(&mut self, bytes: Bytes) -> Result<(), NetError> {
        self.stream
            .write_chunk(bytes)
            .await
            .map_err(|error| NetError::Ended(error.to_string()))
    }

    /// Ends the connection politely: what was written is delivered (bounded wait).
    pub async fn finish(mut self, timeout: Duration) {
        let finished = async {
            if self.stream.finish().is_ok() {
                let _ = self.stream.stopped().await;
            }
            self.connection.close(VarInt::from_u32(0), b"");
            self.endpoint.wait_idle().await;
        };
        let _ = tokio::time::timeout(timeout, finished).await;
    }
}
