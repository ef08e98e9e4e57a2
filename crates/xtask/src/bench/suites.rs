//! Suites whose contenders are programs of their own: each prints rows, each is run in turn.

use anyhow::Result;

use super::row::{Row, merge};
use super::{Options, parse};
use crate::setup::{self, Extent};
use crate::shell::Cmd;
use crate::{check, paths, web};

/// Sentence embedding. Every contender is a process of its own, so that its memory is its own.
pub(super) fn embed(options: Options) -> Result<Vec<Row>> {
    setup::ensure(Extent::All)?;
    let mut rounds = Vec::new();
    let mut missing = Vec::new();
    let contenders = [
        ("lorekeeper", native("embed-lore")),
        ("ort", native("embed-ort")),
    ];
    for (who, built) in &contenders {
        if let Err(why) = built {
            missing.push(Row::missing("embed", "all", who, &format!("{why:#}")));
        }
    }
    for round in 0..options.rounds() {
        eprintln!("round {} of {}", round + 1, options.rounds());
        for (_, program) in &contenders {
            let Ok(program) = program else { continue };
            let mut cmd = Cmd::new(program);
            if options.quick {
                cmd = cmd.arg("--quick");
            }
            rounds.push(parse(&cmd.dir(paths::root()).output()?)?);
        }
    }
    let mut rows = merge(&rounds);
    rows.extend(missing);
    Ok(rows)
}

/// Record on one replica → shown on the other.
pub(super) fn table(options: Options) -> Result<Vec<Row>> {
    browser("table", options)
}

/// Opening a codex of many entries.
pub(super) fn open(options: Options) -> Result<Vec<Row>> {
    browser("open", options)
}

/// A suite that Playwright drives, with the native programs that it starts.
fn browser(name: &str, options: Options) -> Result<Vec<Row>> {
    setup::ensure(Extent::All)?;
    web::build_for_serving()?;
    check::build_native()?;
    native("open-native")?;
    let seed = native("seed")?;
    let file = check::fresh_report(&format!("bench-{name}.jsonl"))?;
    let mut cmd = drive(&format!("bench/{name}.bench.ts"))
        .env("LORE_SEED", seed)
        .env("LORE_BENCH_ROWS", &file);
    if options.quick {
        cmd = cmd.env("LORE_BENCH_QUICK", "1");
    }
    cmd.to_stderr()?;
    // A program that is run several times leaves a row each time.
    let rows = parse(&std::fs::read_to_string(file)?)?;
    let (single, repeated): (Vec<Row>, Vec<Row>) = rows.into_iter().partition(|row| row.n > 0);
    let mut rows = merge(
        &repeated
            .into_iter()
            .map(|row| vec![row])
            .collect::<Vec<_>>(),
    );
    rows.extend(single);
    Ok(rows)
}

/// Runs a script that drives the page.
pub(crate) fn drive(script: &str) -> Cmd {
    Cmd::new("npm")
        .args(["run", "--silent", "tools", "--", script])
        .dir(paths::browser_tests())
}

/// Builds a program of the package `tests/bench` and returns where it is. The package stands
/// outside of the workspace, so that building the product never compiles contenders.
fn native(program: &str) -> Result<std::path::PathBuf> {
    let folder = paths::target().join("bench");
    Cmd::cargo()
        .args([
            "build",
            "--quiet",
            "--release",
            "--bin",
            program,
            "--target-dir",
        ])
        .arg(&folder)
        .dir(paths::root().join("tests/bench"))
        .run()?;
    Ok(folder.join("release").join(program))
}
