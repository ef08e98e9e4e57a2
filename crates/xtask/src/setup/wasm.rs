//! A Rust compiler for wasm32, by one of two routes.
//!
//! Most machines get the target's standard library from rustup. Where rustup cannot fetch it,
//! Debian's own packages hold a compiler together with the sources of its standard library, which
//! cargo then builds along.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::packages;
use crate::paths;
use crate::progress::{Outcome, say};
use crate::shell::{Cmd, which};

/// The target triple of everything that runs in a browser.
pub const TARGET: &str = "wasm32-unknown-unknown";

/// How long rustup may try to fetch the target before the other route is taken.
const RUSTUP_LIMIT: Duration = Duration::from_mins(3);

/// Debian's packages of the second route.
const DEBIAN_PACKAGES: [&str; 4] = ["rustc-web", "cargo-web", "rust-web-src", "lld"];

/// Where Debian's packages put their compiler and cargo.
const DEBIAN_RUSTC: &str = "/usr/bin/rustc";
const DEBIAN_CARGO: &str = "/usr/bin/cargo";

/// Variable that forces a route: `rustup` or `debian`.
const ROUTE_VARIABLE: &str = "LORE_WASM_ROUTE";

/// Which compiler builds for wasm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Route {
    /// The ordinary compiler, which has the target's standard library.
    Installed,
    /// Debian's compiler, with the standard library built along.
    Debian,
}

pub(super) fn ensure() -> Result<Outcome> {
    if let Some(route) = find()? {
        return Ok(Outcome::AlreadyThere(name(route).to_owned()));
    }
    if forced()? != Some(Route::Debian) && which("rustup").is_some() {
        say(&format!("rustup target add {TARGET}"));
        let added = Cmd::new("rustup")
            .args(["target", "add", TARGET])
            .dir(paths::root())
            .quiet_within(RUSTUP_LIMIT);
        match added {
            Ok(()) => return Ok(Outcome::Done(name(Route::Installed).to_owned())),
            Err(error) => say(&format!("{error}; taking Debian's packages instead")),
        }
    }
    packages::install(
        &DEBIAN_PACKAGES,
        &format!("the Rust target {TARGET} (rustup target add {TARGET})"),
    )?;
    match find()? {
        Some(route) => Ok(Outcome::Done(name(route).to_owned())),
        None => bail!("Debian's compiler was installed and is still not found"),
    }
}

/// The route that is ready to be used on this machine, if any.
pub fn find() -> Result<Option<Route>> {
    let forced = forced()?;
    if forced != Some(Route::Debian) {
        let sysroot = Cmd::new("rustc")
            .args(["--print", "sysroot"])
            .dir(paths::root())
            .output()?;
        if Path::new(sysroot.trim())
            .join("lib/rustlib")
            .join(TARGET)
            .join("lib")
            .is_dir()
        {
            return Ok(Some(Route::Installed));
        }
    }
    let debian = forced != Some(Route::Installed)
        && Path::new(DEBIAN_CARGO).is_file()
        && Path::new(DEBIAN_RUSTC).is_file()
        && which("wasm-ld").is_some()
        && debian_sources().is_some();
    Ok(debian.then_some(Route::Debian))
}

/// The sources of the standard library that belong to Debian's compiler.
fn debian_sources() -> Option<PathBuf> {
    let sysroot = Cmd::new(DEBIAN_RUSTC)
        .args(["--print", "sysroot"])
        .output()
        .ok()?;
    let sources = Path::new(sysroot.trim()).join("lib/rustlib/src/rust/library/Cargo.toml");
    sources.is_file().then_some(sources)
}

fn forced() -> Result<Option<Route>> {
    match std::env::var(ROUTE_VARIABLE).as_deref() {
        Ok("rustup") => Ok(Some(Route::Installed)),
        Ok("debian") => Ok(Some(Route::Debian)),
        Ok(other) => bail!("{ROUTE_VARIABLE} is `{other}`: it can be `rustup` or `debian`"),
        Err(_) => Ok(None),
    }
}

fn name(route: Route) -> &'static str {
    match route {
        Route::Installed => "the target of the ordinary compiler",
        Route::Debian => "Debian's compiler, standard library built along",
    }
}

/// Parts of SQLite that the engine does not use: left out, a browser need not download them.
const SQLITE_LEFT_OUT: &str = "-USQLITE_ENABLE_FTS5 -USQLITE_ENABLE_RTREE \
    -USQLITE_ENABLE_SESSION -USQLITE_ENABLE_PREUPDATE_HOOK -USQLITE_ENABLE_MATH_FUNCTIONS \
    -USQLITE_ENABLE_DBSTAT_VTAB -USQLITE_ENABLE_DBPAGE_VTAB -USQLITE_ENABLE_BYTECODE_VTAB \
    -USQLITE_ENABLE_STMTVTAB -USQLITE_ENABLE_OFFSET_SQL_FUNC \
    -USQLITE_ENABLE_UNKNOWN_SQL_FUNCTION -USQLITE_ENABLE_COLUMN_METADATA \
    -USQLITE_ENABLE_UNLOCK_NOTIFY -DSQLITE_OMIT_JSON -DSQLITE_OMIT_TRACE \
    -DSQLITE_OMIT_GET_TABLE -DSQLITE_OMIT_TCL_VARIABLE -DSQLITE_OMIT_PROGRESS_CALLBACK";

/// Flags of the compiler. Paths of the building machine are cut from what a browser downloads: they
/// would tell of it, and make the module larger and different on each.
fn flags() -> String {
    let mut flags = String::from("-C target-feature=+simd128");
    let home = std::env::var_os("CARGO_HOME")
        .map(PathBuf::from)
        .or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo")));
    let sources = home.map(|home| home.join("registry").join("src"));
    for prefix in sources.iter().chain([&paths::root()]) {
        // The flags are separated by spaces: a path with one cannot be named.
        let prefix = prefix.to_string_lossy();
        if !prefix.contains(' ') {
            flags.push_str(" --remap-path-prefix=");
            flags.push_str(&prefix);
            flags.push_str("=.");
        }
    }
    flags
}

/// A cargo command (`build`, say) for wasm that uses whichever route is ready: the caller adds
/// packages, profile and target folder.
pub fn cargo(command: &str) -> Result<Cmd> {
    let route = find()?.context("no Rust compiler for wasm: run `cargo xtask setup` first")?;
    let (clang, ar) = packages::find_c_for_wasm()
        .context("no C compiler for wasm: run `cargo xtask setup` first")?;
    let cmd = match route {
        Route::Installed => Cmd::cargo().arg(command),
        Route::Debian => Cmd::new(DEBIAN_CARGO)
            .args([command, "-Z", "build-std=std,panic_abort"])
            // Debian ships a stable compiler; building its own standard library is the one
            // unstable thing asked of it.
            .env("RUSTC_BOOTSTRAP", "1")
            .env("RUSTC", DEBIAN_RUSTC)
            .env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", "wasm-ld")
            .without("LD_LIBRARY_PATH")
            .without("RUSTUP_TOOLCHAIN")
            .without("CARGO"),
    };
    Ok(cmd
        .args(["--target", TARGET])
        .env("CC_wasm32_unknown_unknown", clang)
        .env("AR_wasm32_unknown_unknown", ar)
        .env("SQLITE_WASM_RS_FLAGS", SQLITE_LEFT_OUT)
        .env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS", flags())
        .dir(paths::root()))
}
