//! `cargo xtask bench`: one tool, one row format, every contender in the same run.

pub mod row;
mod size;
pub(crate) mod suites;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use row::Row;

/// Options of `bench`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// Record on one replica, shown on the other: native, and two browsers by either transport.
    Table(Options),
    /// Opening a codex of many entries, in a browser and natively.
    Open(Options),
    /// Sentence embedding: the kernel beside ONNX Runtime.
    Embed(Options),
    /// What a browser downloads.
    Size(Options),
    /// Show what changed between two runs kept with --json.
    Compare {
        /// The earlier run.
        before: PathBuf,
        /// The later run.
        after: PathBuf,
    },
}

/// Options of every suite.
#[derive(Debug, Clone, Copy, clap::Args)]
pub struct Options {
    /// Fewer rounds and smaller cases: done within five minutes on two cores.
    #[arg(long)]
    pub quick: bool,
    /// Print one JSON row a line instead of a table.
    #[arg(long)]
    pub json: bool,
}

impl Options {
    /// Rounds that every contender is run in turn.
    fn rounds(self) -> usize {
        if self.quick { 3 } else { 7 }
    }
}

/// Runs the task.
pub fn run(args: &Args) -> Result<()> {
    let (rows, options) = match &args.what {
        What::Table(options) => (suites::table(*options)?, options),
        What::Open(options) => (suites::open(*options)?, options),
        What::Embed(options) => (suites::embed(*options)?, options),
        What::Size(options) => (size::run()?, options),
        What::Compare { before, after } => {
            print!("{}", row::compare(&read(before)?, &read(after)?));
            return Ok(());
        }
    };
    if options.json {
        for row in &rows {
            println!("{}", serde_json::to_string(row)?);
        }
    } else {
        print!("{}", row::table(&rows));
    }
    Ok(())
}

fn read(file: &Path) -> Result<Vec<Row>> {
    let text = fs::read_to_string(file).with_context(|| file.display().to_string())?;
    parse(&text)
}

/// Reads rows from what a contender or an earlier run printed; other lines are passed over.
fn parse(text: &str) -> Result<Vec<Row>> {
    text.lines()
        .filter(|line| line.starts_with('{'))
        .map(|line| serde_json::from_str(line).with_context(|| line.to_owned()))
        .collect()
}
