//! `table-native CODEX COUNT [--quick]`: two native peers at a table over raw QUIC, with the relay
//! in this process; then a newcomer who catches up with the COUNT entries of CODEX; then the bound:
//! the same bytes there and back on a bare QUIC stream.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use bytes::{Bytes, BytesMut};
use lore_bench::desk::{self, Desk};
use lore_bench::{ms, quantile, row};
use lore_peer::net::{Endpoint, NATIVE_ALPN, connect_to};
use lore_relay::{Config, Limits, Relay};
use sha2::{Digest as _, Sha256};

/// About what a sealed entry of one line weighs.
const MESSAGE_BYTES: usize = 1024;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let quick = arguments.iter().any(|argument| argument == "--quick");
    let usage = "usage: table-native CODEX COUNT [--quick]";
    let codex = arguments.first().context(usage)?;
    let count: u64 = arguments.get(1).context(usage)?.parse()?;
    let messages = if quick { 100 } else { 500 };

    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let folder = tempfile::tempdir()?;
    let relay = {
        let _inside = runtime.enter();
        Relay::start(Config {
            listen: SocketAddr::from(([127, 0, 0, 1], 0)),
            data: folder.path().join("relay"),
            web: None,
            limits: Limits::default(),
        })?
    };
    let base = format!("http://{}", relay.address());
    visible(folder.path(), &base, messages)?;
    let large = folder.path().join("large.codex");
    std::fs::copy(codex, &large)?;
    catch_up(folder.path(), &large, &base, count)?;
    runtime.block_on(relay.stop());
    runtime.block_on(bare(messages))
}

/// Recorded on one device → in the list that the other reads.
fn visible(folder: &Path, relay: &str, messages: usize) -> Result<()> {
    let (here, there) = (folder.join("keeper.codex"), folder.join("player.codex"));
    let invitation = desk::open_table(&here, relay)?;
    let keeper = Desk::sit(&here, relay)?;
    desk::join(&there, &invitation)?;
    let player = Desk::sit(&there, relay)?;
    let mut samples = Vec::new();
    for index in 0..=messages {
        let title = format!("Measured {index}");
        let asked = keeper.record(&title)?;
        let took = player.wait(|seen| seen.newest == title)?.at - asked;
        // The first waits for the table to be there at all.
        if index > 0 {
            samples.push(took);
        }
    }
    report("lorekeeper", &mut samples);
    keeper.leave()?;
    player.leave()
}

/// A newcomer takes in a whole codex that the relay holds already.
fn catch_up(folder: &Path, codex: &Path, relay: &str, count: u64) -> Result<()> {
    let invitation = desk::open_table(codex, relay)?;
    let keeper = Desk::sit(codex, relay)?;
    let newcomer = |name: &str| -> Result<(Desk, Instant)> {
        let file = folder.join(name);
        desk::join(&file, &invitation)?;
        let begun = Instant::now();
        Ok((Desk::sit(&file, relay)?, begun))
    };
    // When the first reader has everything, the relay does.
    let (first, _) = newcomer("first.codex")?;
    first.wait(|seen| seen.total >= count)?;
    first.leave()?;
    let (second, begun) = newcomer("second.codex")?;
    let took = second.wait(|seen| seen.total >= count)?.at - begun;
    row("table", &format!("native-{count}"), "lorekeeper", "catch_up_ms", "ms", ms(took));
    second.leave()?;
    keeper.leave()
}

/// The bound: a message on a bare stream to an echo and back, which is the way through a relay.
async fn bare(messages: usize) -> Result<()> {
    let key = rcgen::generate_simple_self_signed(["localhost".to_owned()])?;
    let certificate = key.cert.der().clone();
    let hash: [u8; 32] = Sha256::digest(&certificate).into();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let private = rustls::pki_types::PrivatePkcs8KeyDer::from(key.signing_key.serialize_der());
    let mut tls = rustls::ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])?
        .with_no_client_auth()
        .with_single_cert(vec![certificate], private.into())?;
    tls.alpn_protocols = vec![NATIVE_ALPN.to_vec()];
    let crypto = quinn::crypto::rustls::QuicServerConfig::try_from(tls)?;
    let config = quinn::ServerConfig::with_crypto(Arc::new(crypto));
    let server = quinn::Endpoint::server(config, SocketAddr::from(([127, 0, 0, 1], 0)))?;
    let address = server.local_addr()?;
    let echo = tokio::spawn(async move {
        let connection = server.accept().await.context("nobody came")?.await?;
        let (mut send, mut receive) = connection.accept_bi().await?;
        while let Some(chunk) = receive.read_chunk(MESSAGE_BYTES, true).await? {
            send.write_chunk(chunk.bytes).await?;
        }
        Ok::<_, anyhow::Error>(())
    });
    let target =
        Endpoint { host: "localhost".to_owned(), addresses: vec![address], certificate: hash };
    let (mut incoming, mut outgoing) = connect_to(&target, Duration::from_secs(5)).await?;
    let message = Bytes::from(vec![7; MESSAGE_BYTES]);
    let mut samples = Vec::new();
    for index in 0..=messages {
        let begun = Instant::now();
        outgoing.write(message.clone()).await?;
        let mut back = BytesMut::new();
        while back.len() < MESSAGE_BYTES {
            back.extend_from_slice(&incoming.read().await?.context("the echo ended")?);
        }
        if index > 0 {
            samples.push(begun.elapsed());
        }
    }
    echo.abort();
    report("limit", &mut samples);
    Ok(())
}

fn report(who: &str, samples: &mut [Duration]) {
    for (metric, share) in [("visible_ms_p50", 0.5), ("visible_ms_p99", 0.99)] {
        row("table", "native", who, metric, "ms", ms(quantile(samples, share)));
    }
}
