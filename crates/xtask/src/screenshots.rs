//! `cargo xtask screenshots`: every state of the page as a picture, to be looked at.

use anyhow::Result;

use crate::bench::suites::drive;
use crate::setup::{self, Extent};
use crate::{check, web};

/// Builds what is needed and writes PNG files below `docs/screenshots`.
pub fn run() -> Result<()> {
    setup::ensure(Extent::All)?;
    web::build_for_serving()?;
    check::build_native()?;
    drive("screenshots.bench.ts").run()
}
