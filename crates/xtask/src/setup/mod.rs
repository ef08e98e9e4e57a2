//! `cargo xtask setup`: everything that building, playing and testing need.

mod fetch;
mod packages;
pub mod wasm;

use std::path::{Path, PathBuf};

use anyhow::Result;
pub use packages::find_chromium;

use crate::progress::{Outcome, Progress};
use crate::shell::Cmd;
use crate::stamp::{Stamp, hash_tree};
use crate::{paths, stamp};

/// Options of `setup`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Only what building and serving the page needs: no Chromium, no test oracles.
    #[arg(long)]
    web_only: bool,
}

/// How much to set up; each includes what stands above it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Extent {
    /// What compiling the wasm modules needs.
    Wasm,
    /// What building and serving the page needs.
    Web,
    /// Chromium, the browser tests' packages and the oracles of the model's tests.
    All,
}

/// Runs the task.
pub fn run(args: &Args) -> Result<()> {
    ensure(if args.web_only {
        Extent::Web
    } else {
        Extent::All
    })
}

/// Makes sure that all of `extent` is there.
pub fn ensure(extent: Extent) -> Result<()> {
    let mut progress = Progress::new(match extent {
        Extent::Wasm => 3,
        Extent::Web => 6,
        Extent::All => 10,
    });
    progress.step("C compiler for wasm", packages::c_for_wasm)?;
    progress.step("Rust for wasm", wasm::ensure)?;
    progress.step("build tools", || {
        build_tools(HeavyParts::Web).map(|_| Outcome::AlreadyThere(String::new()))
    })?;
    if extent >= Extent::Web {
        progress.step("Node.js", packages::node)?;
        progress.step("packages of the page", || npm_ci(&paths::web()))?;
        progress.step("sentence model", fetch::model)?;
    }
    if extent >= Extent::All {
        progress.step("Chromium", packages::chromium)?;
        progress.step("packages of the browser tests", || {
            npm_ci(&paths::browser_tests())
        })?;
        progress.step("oracle model for tests", fetch::oracle)?;
        progress.step("ONNX Runtime for tests", fetch::onnx_runtime)?;
    }
    Ok(())
}

/// Builds this program with heavy parts and returns where it is. Cargo decides whether anything
/// has to be compiled.
pub fn build_tools(parts: HeavyParts) -> Result<PathBuf> {
    let feature = match parts {
        HeavyParts::Web => "web",
        HeavyParts::Pack => "pack",
    };
    // A folder each: switching between the two would compile this program again every time.
    let folder = paths::target().join("tools").join(feature);
    Cmd::cargo()
        .args([
            "build",
            "--quiet",
            "--package",
            "xtask",
            "--features",
            feature,
            "--target-dir",
        ])
        .arg(&folder)
        .dir(paths::root())
        .run()?;
    Ok(folder.join("debug/xtask"))
}

/// The heavy parts of this program, see its `Cargo.toml`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeavyParts {
    /// Bindings and compression.
    Web,
    /// Packing the model.
    Pack,
}

/// `npm ci`, skipped while the lock file is the one that was installed from.
fn npm_ci(folder: &Path) -> Result<Outcome> {
    let lock = stamp::hash_file(&folder.join("package-lock.json"))?;
    let name = folder
        .strip_prefix(paths::root())?
        .to_string_lossy()
        .replace('/', "-");
    let stamp = Stamp::new(&format!("npm-{name}"));
    if folder.join("node_modules").is_dir() && stamp.holds(&lock) {
        return Ok(Outcome::AlreadyThere(String::new()));
    }
    crate::progress::say("npm ci");
    Cmd::new("npm")
        .args(["ci", "--no-audit", "--no-fund", "--loglevel=error"])
        // Playwright drives the system's Chromium.
        .env("PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD", "1")
        .dir(folder)
        .run()?;
    stamp.set(&lock)?;
    Ok(Outcome::Done(String::new()))
}

/// The hash of everything that the packed model is made by.
fn packer_sources() -> Result<String> {
    hash_tree(&[paths::root().join("crates/embed/src")])
}
