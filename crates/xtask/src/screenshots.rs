//! `cargo xtask screenshots`: every state of the page as a picture, to be looked at.

use std::fs;

use anyhow::{Context, Result};

use crate::setup::{self, Extent};
use crate::shell::Cmd;
use crate::{check, paths, play, web};

/// Options of `screenshots`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Take the pictures that `docs/screenshots` already shows over into it.
    #[arg(long)]
    docs: bool,
}

/// Builds what is needed, plays a table in two browsers, and writes a picture of each state in both
/// themes and two sizes below `target/screenshots`.
pub fn run(args: &Args) -> Result<()> {
    setup::ensure(Extent::All)?;
    web::build_for_serving()?;
    check::build_native()?;
    let out = paths::target().join("screenshots");
    let data = out.join("relay");
    // A picture of an earlier table would mislead.
    let _ = fs::remove_dir_all(&out);
    let (relay, origin) = play::relay_over(&data, 0)?;
    Cmd::new("node")
        .arg(paths::web().join("scripts/screenshots.mjs"))
        .arg(&origin)
        .arg(&out)
        .run()?;
    drop(relay);
    if args.docs {
        let shown = paths::root().join("docs/screenshots");
        for picture in fs::read_dir(&shown).context("docs/screenshots is missing")? {
            let picture = picture?.file_name();
            fs::copy(out.join(&picture), shown.join(&picture))
                .with_context(|| format!("no new {}", picture.display()))?;
        }
    }
    eprintln!("pictures are in {}", out.display());
    Ok(())
}
