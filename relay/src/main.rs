//! `lore-relay`: the relay's command line.

use std::{
    io::Write as _,
    net::{IpAddr, SocketAddr},
    path::PathBuf,
    process::ExitCode,
};

use clap::Parser;
use lore_relay::{Config, Limits, Relay};

/// The relay of a Lorekeeper table: it fans sealed changes out to everyone at the table, keeps
/// them for who is away, and serves the web app. It never sees text or keys.
///
/// One port number serves everything. UDP: native peers (QUIC) and browsers (WebTransport).
/// TCP: the web app, /relay.json, /health, and WebSocket at /ws for browsers without
/// WebTransport. Open both in a firewall.
///
/// On start it prints one line, `ready http://ADDRESS:PORT`, to standard output; the log goes to
/// standard error. Stop it with SIGINT or SIGTERM: it finishes what it has begun, tells everyone
/// connected, and exits. Everything it has acknowledged is on disk at every moment, so a crash
/// loses nothing.
#[derive(Debug, Parser)]
#[command(name = "lore-relay", version, max_term_width = 100)]
struct Arguments {
    /// Address and port to listen on, UDP and TCP alike. Port 0 takes a free one. The default
    /// serves this machine only; 0.0.0.0:7474 or [::]:7474 serve the network
    #[arg(
        long,
        env = "LORE_RELAY_LISTEN",
        default_value = "127.0.0.1:7474",
        value_name = "ADDRESS:PORT"
    )]
    listen: SocketAddr,

    /// Directory of the store (relay.db) and the certificates; made when missing. Back it up
    /// whole while the relay is stopped, or with `sqlite3 relay.db .backup`
    #[arg(
        long,
        env = "LORE_RELAY_DATA",
        default_value = "relay-data",
        value_name = "DIR"
    )]
    data: PathBuf,

    /// Directory of the built web app. Without it the relay serves peers only
    #[arg(long, env = "LORE_RELAY_WEB", value_name = "DIR")]
    web: Option<PathBuf>,

    /// Connections at a time; more are refused
    #[arg(
        long,
        default_value_t = Limits::default().connections as u32,
        value_name = "COUNT",
        value_parser = clap::value_parser!(u32).range(1..=1_000_000)
    )]
    max_connections: u32,

    /// Campaigns in the store; further ones are refused
    #[arg(long, default_value_t = Limits::default().campaigns, value_name = "COUNT")]
    max_campaigns: u64,

    /// Size of one campaign's sealed changes in MiB; beyond it nothing more is taken
    #[arg(long, default_value_t = Limits::default().campaign_bytes / MIB, value_name = "MIB")]
    max_campaign_mib: u64,

    /// What to log: error, warn, info, debug, or a filter such as `lore_relay=debug`. Logs hold
    /// no text, no keys and no invitation
    #[arg(
        long,
        env = "LORE_RELAY_LOG",
        default_value = "info",
        value_name = "FILTER"
    )]
    log: String,
}

const MIB: u64 = 1024 * 1024;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let filter = match tracing_subscriber::EnvFilter::try_new(&arguments.log) {
        Ok(filter) => filter,
        Err(error) => {
            eprintln!("lore-relay: --log {}: {error}", arguments.log);
            return ExitCode::from(2);
        }
    };
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .init();
    let runtime = match tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
    {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("lore-relay: {error}");
            return ExitCode::FAILURE;
        }
    };
    match runtime.block_on(run(arguments)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("lore-relay: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn run(arguments: Arguments) -> anyhow::Result<()> {
    // Taken before anything else: a signal that comes early is not lost.
    let signal = stop_signal()?;
    let config = Config {
        listen: arguments.listen,
        data: arguments.data,
        web: arguments.web,
        limits: Limits {
            connections: arguments.max_connections as usize,
            campaigns: arguments.max_campaigns,
            campaign_bytes: arguments.max_campaign_mib.saturating_mul(MIB),
        },
    };
    let relay = Relay::start(config)?;
    let address = reachable(relay.address());
    tracing::info!(%address, "ready");
    // A closed standard output is no reason to stop.
    let _ = writeln!(std::io::stdout(), "ready http://{address}");
    let _ = std::io::stdout().flush();
    let name = signal.await;
    tracing::info!(signal = name, "stopping");
    relay.stop().await;
    tracing::info!("stopped");
    Ok(())
}

/// An address to open: the unspecified one stands for this machine.
fn reachable(mut address: SocketAddr) -> SocketAddr {
    if address.ip().is_unspecified() {
        address.set_ip(match address.ip() {
            IpAddr::V4(_) => IpAddr::from([127, 0, 0, 1]),
            IpAddr::V6(_) => std::net::Ipv6Addr::LOCALHOST.into(),
        });
    }
    address
}

#[cfg(unix)]
fn stop_signal() -> anyhow::Result<impl Future<Output = &'static str>> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => "SIGINT",
            _ = terminate.recv() => "SIGTERM",
        }
    })
}

#[cfg(not(unix))]
fn stop_signal() -> anyhow::Result<impl Future<Output = &'static str>> {
    Ok(async {
        let _ = tokio::signal::ctrl_c().await;
        "Ctrl-C"
    })
}
