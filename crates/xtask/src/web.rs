//! `cargo xtask build-web`: wasm modules, bindings, app, compressed files.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result};

use crate::paths;
use crate::progress::human;
use crate::setup::{self, Extent, HeavyParts, wasm};
use crate::shell::Cmd;
use crate::stamp::{Stamp, hash_file, hash_tree};

/// Options of `build-web`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Build quickly for development: no link-time optimisation, function names kept.
    #[arg(long)]
    fast: bool,
    /// Stop after the wasm modules and their bindings.
    #[arg(long)]
    wasm_only: bool,
}

/// A wasm module of the page.
struct Module {
    package: &'static str,
    /// What cargo calls the file.
    artifact: &'static str,
    /// What its bindings are called, and their folder below `web/src/engine/pkg`.
    name: &'static str,
}

/// Cargo's arguments that select the wasm modules.
pub(crate) fn module_packages() -> Vec<&'static str> {
    MODULES
        .iter()
        .flat_map(|module| ["--package", module.package])
        .collect()
}

const MODULES: [Module; 2] = [
    Module {
        package: "lore-engine-wasm",
        artifact: "lore_engine_wasm",
        name: "engine",
    },
    Module {
        package: "lore-embed-wasm",
        artifact: "lore_embed_wasm",
        name: "embed",
    },
];

/// The cargo profile of the modules; see the root `Cargo.toml`.
const PROFILE: &str = "web";

/// Runs the task: set-up of what it needs included.
pub fn run(args: &Args) -> Result<()> {
    setup::ensure(if args.wasm_only {
        Extent::Wasm
    } else {
        Extent::Web
    })?;
    build(args.fast, args.wasm_only)
}

/// Builds the page as it is shipped, from what set-up left.
pub fn build_for_serving() -> Result<()> {
    build(false, false)
}

fn build(fast: bool, wasm_only: bool) -> Result<()> {
    let tools = setup::build_tools(HeavyParts::Web)?;
    compile(fast)?;
    for module in &MODULES {
        bind(&tools, module, fast)?;
    }
    if wasm_only {
        return Ok(());
    }
    bundle(&tools)?;
    for asset in assets()? {
        eprintln!("      {asset}");
    }
    Ok(())
}

fn target_dir(fast: bool) -> PathBuf {
    paths::target().join(if fast { "web-fast" } else { "web" })
}

fn compile(fast: bool) -> Result<()> {
    eprintln!("wasm modules …");
    let begun = Instant::now();
    let mut cargo = wasm::cargo("build")?.args(["--profile", PROFILE, "--target-dir"]);
    cargo = cargo.arg(target_dir(fast)).args(module_packages());
    if fast {
        cargo = cargo
            .env("CARGO_PROFILE_WEB_LTO", "off")
            .env("CARGO_PROFILE_WEB_CODEGEN_UNITS", "16")
            .env("CARGO_PROFILE_WEB_INCREMENTAL", "true");
    }
    cargo.run()?;
    eprintln!("wasm modules: {}", human(begun.elapsed()));
    Ok(())
}

fn bind(tools: &Path, module: &Module, fast: bool) -> Result<()> {
    let wasm = target_dir(fast)
        .join(wasm::TARGET)
        .join(PROFILE)
        .join(module.artifact)
        .with_extension("wasm");
    let out = paths::web().join("src/engine/pkg").join(module.name);
    let stamp = Stamp::new(&format!("bindings-{}", module.name));
    let inputs = format!("{} {} {fast}", hash_file(&wasm)?, hash_file(tools)?);
    if out.join(format!("{}_bg.wasm", module.name)).is_file() && stamp.holds(&inputs) {
        eprintln!("bindings of {}: unchanged", module.name);
        return Ok(());
    }
    let begun = Instant::now();
    if out.exists() {
        fs::remove_dir_all(&out)?;
    }
    let mut cmd = Cmd::new(tools).args(["heavy", "glue", "--name", module.name, "--wasm"]);
    cmd = cmd.arg(&wasm).arg("--out").arg(&out);
    if fast {
        cmd = cmd.arg("--names");
    }
    cmd.run()?;
    stamp.set(&inputs)?;
    eprintln!("bindings of {}: {}", module.name, human(begun.elapsed()));
    Ok(())
}

/// What the bundle is made from, relative to `web/`.
const BUNDLE_INPUTS: [&str; 7] = [
    "src",
    "public",
    "index.html",
    "package.json",
    "package-lock.json",
    "tsconfig.json",
    "vite.config.ts",
];

fn bundle(tools: &Path) -> Result<()> {
    let inputs: Vec<PathBuf> = BUNDLE_INPUTS
        .iter()
        .map(|name| paths::web().join(name))
        .collect();
    let inputs = hash_tree(&inputs)?;
    let stamp = Stamp::new("bundle");
    if paths::dist().join("index.html").is_file() && stamp.holds(&inputs) {
        eprintln!("app: unchanged");
        return Ok(());
    }
    eprintln!("app …");
    let begun = Instant::now();
    Cmd::new("npm")
        .args(["run", "--silent", "build"])
        .dir(paths::web())
        .run()?;
    eprintln!("app: {}", human(begun.elapsed()));
    let begun = Instant::now();
    Cmd::new(tools)
        .args(["heavy", "compress"])
        .arg(paths::dist())
        .run()?;
    stamp.set(&inputs)?;
    eprintln!("compressed files: {}", human(begun.elapsed()));
    Ok(())
}

/// One file of the built page, with its sizes in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asset {
    /// Its path below `web/dist`.
    pub name: String,
    /// As it is.
    pub raw: u64,
    /// As served with gzip; equal to `raw` when compressing gains nothing.
    pub gzip: u64,
    /// As served with brotli; equal to `raw` when compressing gains nothing.
    pub brotli: u64,
}

impl std::fmt::Display for Asset {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let kb = |bytes: u64| bytes as f64 / 1000.0;
        write!(
            f,
            "{:<44} {:>9.1} kB   gzip {:>9.1} kB   brotli {:>9.1} kB",
            self.name,
            kb(self.raw),
            kb(self.gzip),
            kb(self.brotli)
        )
    }
}

/// The files of the built page, largest first.
pub fn assets() -> Result<Vec<Asset>> {
    let mut found = Vec::new();
    list(&paths::dist(), &mut found)?;
    found.sort_by(|a, b| b.raw.cmp(&a.raw).then_with(|| a.name.cmp(&b.name)));
    Ok(found)
}

fn list(folder: &Path, found: &mut Vec<Asset>) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        if path.is_dir() {
            list(&path, found)?;
            continue;
        }
        if path
            .extension()
            .is_some_and(|extension| extension == "br" || extension == "gz")
        {
            continue;
        }
        let raw = fs::metadata(&path)?.len();
        let compressed = |suffix: &str| {
            fs::metadata(format!("{}.{suffix}", path.display())).map_or(raw, |file| file.len())
        };
        let (gzip, brotli) = (compressed("gz"), compressed("br"));
        let name = path
            .strip_prefix(paths::dist())?
            .to_string_lossy()
            .into_owned();
        found.push(Asset {
            name,
            raw,
            gzip,
            brotli,
        });
    }
    Ok(())
}
