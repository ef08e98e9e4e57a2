//! Programs of the operating system: found, or installed through apt where that is possible.

use anyhow::{Context, Result, bail};

use crate::progress::{Outcome, say};
use crate::shell::{Cmd, which};

/// The oldest major version of Node.js that the page's tools run on.
const OLDEST_NODE: u32 = 20;

/// Versions of clang that are looked for, best first; all compile C for wasm.
const CLANG_VERSIONS: [u32; 6] = [19, 20, 21, 18, 17, 16];

/// Checks that Node.js is there and new enough.
pub(super) fn node() -> Result<Outcome> {
    if which("node").is_none() || which("npm").is_none() {
        install(&["nodejs", "npm"], "Node.js 20 or newer, with npm")?;
    }
    let version = Cmd::new("node").arg("--version").output()?;
    let major: u32 = version
        .trim()
        .trim_start_matches('v')
        .split('.')
        .next()
        .and_then(|major| major.parse().ok())
        .with_context(|| format!("node says its version is `{}`", version.trim()))?;
    if major < OLDEST_NODE {
        bail!(
            "Node.js {} is too old: install version {OLDEST_NODE} or newer",
            version.trim()
        );
    }
    Ok(Outcome::AlreadyThere(version.trim().to_owned()))
}

/// A C compiler and archiver for wasm, as `(clang, llvm-ar)`. SQLite is compiled with them.
pub(super) fn find_c_for_wasm() -> Option<(String, String)> {
    CLANG_VERSIONS
        .iter()
        .map(|version| (format!("clang-{version}"), format!("llvm-ar-{version}")))
        .chain([("clang".to_owned(), "llvm-ar".to_owned())])
        .find(|(clang, ar)| which(ar).is_some() && which(clang).is_some() && compiles_wasm(clang))
}

/// Whether this clang was built with the wasm target: Apple's, for one, was not.
fn compiles_wasm(clang: &str) -> bool {
    Cmd::new(clang)
        .arg("--print-targets")
        .output()
        .is_ok_and(|targets| targets.contains("wasm32"))
}

pub(super) fn c_for_wasm() -> Result<Outcome> {
    if let Some((clang, _)) = find_c_for_wasm() {
        return Ok(Outcome::AlreadyThere(clang));
    }
    install(
        &["clang-19", "llvm-19"],
        "clang and llvm-ar with the wasm32 target",
    )?;
    let (clang, _) = find_c_for_wasm().context("clang was installed and is still not found")?;
    Ok(Outcome::Done(clang))
}

/// The browser that the tests drive: `CHROMIUM`, else the system's.
pub fn find_chromium() -> Option<std::path::PathBuf> {
    std::env::var_os("CHROMIUM")
        .map(Into::into)
        .or_else(|| which("chromium"))
        .or_else(|| which("chromium-browser"))
        .or_else(|| which("google-chrome"))
}

pub(super) fn chromium() -> Result<Outcome> {
    if let Some(found) = find_chromium() {
        return Ok(Outcome::AlreadyThere(found.display().to_string()));
    }
    install(
        &["chromium"],
        "Chromium or Chrome (or set CHROMIUM to its path)",
    )?;
    Ok(Outcome::Done("chromium".to_owned()))
}

/// Installs Debian packages, where this is a Debian system and we are root; says what is needed
/// elsewhere.
pub(super) fn install(packages: &[&str], what: &str) -> Result<()> {
    let list = packages.join(" ");
    if which("apt-get").is_none() {
        bail!("please install {what}");
    }
    if Cmd::new("id").arg("-u").output()?.trim() != "0" {
        bail!("please install {what}, for example: sudo apt-get install {list}");
    }
    say(&format!("apt-get install {list}"));
    let attempt = || {
        Cmd::new("apt-get")
            .args(["install", "--yes", "--quiet", "--no-install-recommends"])
            .args(packages)
            .env("DEBIAN_FRONTEND", "noninteractive")
            .quiet()
    };
    // The lists on a fresh machine are often empty or stale; then they are fetched once.
    attempt().or_else(|_| {
        Cmd::new("apt-get").args(["update", "--quiet"]).quiet()?;
        attempt()
    })
}
