//! `cargo xtask bench`: one tool, one row format, every contender in the same run.

mod report;
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
    /// Print the page `docs/benchmarks.md` from runs kept with --json.
    Report {
        /// The runs, in the order in which the page shows them.
        #[arg(required = true)]
        runs: Vec<PathBuf>,
    },
    /// Show what changed between two runs kept with --json.
    Compare {
        /// The earlier run.
        before: PathBuf,
        /// The later run.
        after: PathBuf,
    },
}

/// Options of every suite.
#[derive(Debug, Clone, clap::Args)]
pub struct Options {
    /// Fewer rounds and smaller cases: done within five minutes on two cores.
    #[arg(long)]
    pub quick: bool,
    /// Only the cases of `table` and `open` whose name holds this.
    #[arg(long, value_name = "CASE")]
    pub only: Option<String>,
    /// Print one JSON row a line instead of a table.
    #[arg(long)]
    pub json: bool,
}

impl Options {
    /// Rounds that every contender is run in turn.
    fn rounds(&self) -> usize {
        if self.quick { 3 } else { 7 }
    }

    /// Whether the case was asked for.
    fn wants(&self, case: &str) -> bool {
        self.only
            .as_ref()
            .is_none_or(|only| case.contains(only.as_str()))
    }
}

/// Runs the task.
pub fn run(args: &Args) -> Result<()> {
    match &args.what {
        What::Table(options) => suite("table", options, suites::table),
        What::Open(options) => suite("open", options, suites::open),
        What::Embed(options) => suite("embed", options, suites::embed),
        What::Size(options) => suite("size", options, |_| size::run()),
        What::Report { runs } => {
            let kept: Vec<report::Kept> =
                runs.iter().map(|file| keep(file)).collect::<Result<_>>()?;
            print!("{}", report::page(&kept));
            Ok(())
        }
        What::Compare { before, after } => {
            print!("{}", row::compare(&read(before)?, &read(after)?));
            Ok(())
        }
    }
}

/// Runs one suite and prints its rows.
fn suite(
    name: &str,
    options: &Options,
    measure: impl FnOnce(&Options) -> Result<Vec<Row>>,
) -> Result<()> {
    // Before the run: afterwards the load is the run's own.
    let about = report::about(name, options.quick);
    let mut rows = measure(options)?;
    for row in &mut rows {
        row.quick = options.quick;
    }
    if options.json {
        println!("{about}");
        for row in &rows {
            println!("{}", serde_json::to_string(row)?);
        }
    } else {
        print!("{}", row::table(&rows));
    }
    Ok(())
}

fn keep(file: &Path) -> Result<report::Kept> {
    let text = fs::read_to_string(file).with_context(|| file.display().to_string())?;
    let about = text.lines().filter_map(|line| line.strip_prefix("# "));
    Ok(report::Kept {
        about: about.map(str::to_owned).collect(),
        rows: parse(&text)?,
    })
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
