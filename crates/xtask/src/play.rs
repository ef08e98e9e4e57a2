//! `cargo xtask play`: from a clean clone to an open table.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::setup::{self, Extent};
use crate::shell::{Cmd, which};
use crate::{check, paths, web};

/// Options of `play`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Do not open a browser.
    #[arg(long)]
    no_open: bool,
    /// The port of the page and the relay, TCP and UDP.
    #[arg(long, default_value_t = 7474)]
    port: u16,
}

/// The campaign that a first run founds.
const CAMPAIGN: &str = "The Sallow Reach";

/// Runs the task until it is interrupted. A second run goes on with what the first left below
/// `.lorekeeper/`.
pub fn run(args: &Args) -> Result<()> {
    setup::ensure(Extent::Web)?;
    eprintln!("relay and lore …");
    check::build_native()?;
    web::build_for_serving()?;

    let stop = Arc::new(AtomicBool::new(false));
    let asked = Arc::clone(&stop);
    ctrlc::set_handler(move || asked.store(true, Ordering::SeqCst))
        .context("cannot listen for Ctrl-C")?;

    let origin = format!("http://localhost:{}", args.port);
    let mut relay = start_relay(args.port)?;
    let served = serve(&origin, args, &stop, &mut relay);
    // The relay closes what is open before it ends; Ctrl-C has told it too.
    end(&mut relay.0);
    served
}

fn serve(origin: &str, args: &Args, stop: &AtomicBool, relay: &mut Running) -> Result<()> {
    let keeper = Keeper::new();
    keeper.found(origin)?;
    let links = (keeper.invite("co-keeper")?, keeper.invite("player")?);
    let mut device = keeper.watch()?;
    println!("\n  The keeper's page      {}", links.0);
    println!("  A player's invitation  {}", links.1);
    println!(
        "\n  Open the first in your browser and the second in another profile. {origin} alone\n  \
         opens a codex of its own. The same table on the command line, from the root of the\n  \
         checkout: {}\n  Ctrl-C stops everything.\n",
        keeper.shown()
    );
    if !args.no_open && std::env::var_os("DISPLAY").is_some() && which("xdg-open").is_some() {
        // Only a convenience: the link stands above.
        let _ = Cmd::new("xdg-open").arg(&links.0).quiet();
    }
    let ended = wait(stop, &mut [&mut relay.0, &mut device.0]);
    end(&mut device.0);
    ended
}

/// Waits for Ctrl-C; an error when a program ends before that.
fn wait(stop: &AtomicBool, programs: &mut [&mut Child]) -> Result<()> {
    while !stop.load(Ordering::SeqCst) {
        for program in &mut *programs {
            if let Some(status) = program.try_wait()?
                && !stop.load(Ordering::SeqCst)
            {
                // Ctrl-C reaches the programs as well, perhaps before it reaches us.
                std::thread::sleep(Duration::from_millis(200));
                if !stop.load(Ordering::SeqCst) {
                    bail!("a program ended by itself, with {status}");
                }
            }
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    Ok(())
}

/// A program that is ended together with this one, whatever happens.
pub(crate) struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        end(&mut self.0);
    }
}

/// How long a program may take to end in good order.
const GRACE: Duration = Duration::from_secs(5);

/// Asks a program to end, and insists after a while.
fn end(program: &mut Child) {
    if !matches!(program.try_wait(), Ok(None)) {
        return;
    }
    let asked = Command::new("kill").arg(program.id().to_string()).status();
    let begun = std::time::Instant::now();
    while asked.is_ok() && begun.elapsed() < GRACE {
        if !matches!(program.try_wait(), Ok(None)) {
            return;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    let _ = program.kill();
    let _ = program.wait();
}

fn home() -> PathBuf {
    paths::root().join(".lorekeeper")
}

fn start_relay(port: u16) -> Result<Running> {
    let (relay, _) = relay_over(&home().join("relay"), port)?;
    Ok(relay)
}

/// Starts the relay with its store in `data`, serving the built page; says the page's address. Port
/// 0 stands for any that is free.
pub(crate) fn relay_over(data: &Path, port: u16) -> Result<(Running, String)> {
    fs::create_dir_all(data)?;
    let mut relay = Command::new(paths::target().join("debug/lore-relay"))
        .args([
            "--listen",
            &format!("127.0.0.1:{port}"),
            "--log",
            "warn",
            "--data",
        ])
        .arg(data)
        .arg("--web")
        .arg(paths::dist())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .context("cannot start the relay")?;
    let output = relay
        .stdout
        .take()
        .context("the relay has a standard output")?;
    let relay = Running(relay);
    let mut first = String::new();
    BufReader::new(output).read_line(&mut first)?;
    let Some(address) = first.trim().strip_prefix("ready ") else {
        bail!("the relay did not start: is port {port} taken? Choose another with --port");
    };
    Ok((relay, address.to_owned()))
}

/// The founding keeper's device: `lore` over a codex file below `.lorekeeper/`.
struct Keeper {
    program: PathBuf,
    codex: PathBuf,
}

impl Keeper {
    fn new() -> Self {
        Self {
            program: paths::target().join("debug/lore"),
            codex: home().join("keeper.codex"),
        }
    }

    fn lore(&self) -> Cmd {
        Cmd::new(&self.program).arg("--codex").arg(&self.codex)
    }

    fn shown(&self) -> String {
        let short = |path: &Path| {
            let short = path.strip_prefix(paths::root()).unwrap_or(path);
            short.display().to_string()
        };
        format!(
            "{} --codex {} list",
            short(&self.program),
            short(&self.codex)
        )
    }

    /// Founds the sample campaign and opens it to a table, unless an earlier run did.
    fn found(&self, origin: &str) -> Result<()> {
        let status = self
            .lore()
            .args(["--json", "--offline", "status"])
            .output()?;
        let status: Value = serde_json::from_str(&status)?;
        let campaigns = status.get("campaigns").and_then(Value::as_array);
        if campaigns.is_none_or(Vec::is_empty) {
            self.lore()
                .args(["--offline", "create", CAMPAIGN, "--sample"])
                .quiet()?;
        }
        self.lore().args(["open-table", "--relay", origin]).quiet()
    }

    fn invite(&self, role: &str) -> Result<String> {
        let invitation = self
            .lore()
            .args(["--json", "invite", "--role", role])
            .output()?;
        let invitation: Value = serde_json::from_str(&invitation)?;
        let link = invitation.get("link").and_then(Value::as_str);
        Ok(link
            .context("lore made an invitation without a link")?
            .to_owned())
    }

    /// Keeps the keeper's device at the table, so that a newcomer's invitation finds the lore.
    fn watch(&self) -> Result<Running> {
        let device = self
            .lore()
            .args(["sync", "--watch"])
            .into_inner()
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .context("cannot start the keeper's device")?;
        Ok(Running(device))
    }
}
