//! Suites whose contenders are programs of their own: each prints rows, each is run in turn.

use std::path::{Path, PathBuf};

use anyhow::Result;

use super::row::{Row, merge};
use super::{Options, parse};
use crate::setup::{self, Extent};
use crate::shell::Cmd;
use crate::{check, paths, web};

/// Sentence embedding. Every contender is a process of its own, so that its memory is its own.
pub(super) fn embed(options: &Options) -> Result<Vec<Row>> {
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

/// Record on one replica → shown on the other: native peers first, then two browsers.
pub(super) fn table(options: &Options) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    if options.wants("native") {
        rows.extend(match native("table-native") {
            Ok(program) => native_table(&program, options)?,
            Err(why) => vec![Row::missing(
                "table",
                "native",
                "lorekeeper",
                &format!("{why:#}"),
            )],
        });
    }
    rows.extend(browser("table", options)?);
    Ok(rows)
}

fn native_table(program: &Path, options: &Options) -> Result<Vec<Row>> {
    let count = if options.quick { "2000" } else { "10000" };
    let codex = seeded(count)?;
    let mut rounds = Vec::new();
    for round in 0..options.rounds() {
        eprintln!("round {} of {}", round + 1, options.rounds());
        let mut cmd = Cmd::new(program).arg(&codex).arg(count);
        if options.quick {
            cmd = cmd.arg("--quick");
        }
        rounds.push(parse(&cmd.output()?)?);
    }
    Ok(merge(&rounds))
}

/// A codex file of `count` entries, seeded once and shared with the suites that Playwright drives.
fn seeded(count: &str) -> Result<PathBuf> {
    let folder = paths::target().join("bench-data");
    std::fs::create_dir_all(&folder)?;
    let codex = folder.join(format!("seed-{count}.codex"));
    if !codex.exists() {
        let partial = codex.with_extension("codex.partial");
        Cmd::new(native("seed")?).arg(&partial).arg(count).run()?;
        std::fs::rename(partial, &codex)?;
    }
    Ok(codex)
}

/// Opening a codex of many entries, beside bare document libraries over the same entries.
pub(super) fn open(options: &Options) -> Result<Vec<Row>> {
    let mut missing = Vec::new();
    for who in ["automerge", "loro", "yrs"] {
        if let Err(why) = native(&format!("open-{who}")) {
            missing.push(Row::missing("open", "native", who, &format!("{why:#}")));
        }
    }
    if let Err(why) = contender_pages() {
        // Without their pages the browser's contenders fail one by one, and say so in their rows.
        eprintln!("the contenders' pages: {why:#}");
    }
    let mut rows = browser("open", options)?;
    rows.extend(missing);
    Ok(rows)
}

/// Bundles the pages of the browser's contenders.
fn contender_pages() -> Result<()> {
    let folder = paths::root().join("tests/bench/page");
    Cmd::new("npm")
        .args(["ci", "--no-audit", "--no-fund", "--loglevel=error"])
        .dir(&folder)
        .to_stderr()?;
    Cmd::new("npm")
        .args(["run", "--silent", "build"])
        .dir(&folder)
        .to_stderr()
}

/// A suite that Playwright drives, with the native programs that it starts.
fn browser(name: &str, options: &Options) -> Result<Vec<Row>> {
    setup::ensure(Extent::All)?;
    web::build_for_serving()?;
    check::build_native()?;
    native("open-native")?;
    let seed = native("seed")?;
    let file = check::fresh_report(&format!("bench-{name}.jsonl"))?;
    let mut words = vec![
        format!("bench/{name}.bench.ts"),
        "--pass-with-no-tests".to_owned(),
    ];
    if let Some(case) = &options.only {
        words.extend(["--grep".to_owned(), case.clone()]);
    }
    let mut cmd = drive(&words)
        .env("LORE_SEED", seed)
        .env("LORE_BENCH_ROWS", &file);
    if options.quick {
        cmd = cmd.env("LORE_BENCH_QUICK", "1");
    }
    cmd.to_stderr()?;
    // A program that is run several times leaves a row each time.
    let rows = match std::fs::read_to_string(file) {
        Ok(text) => parse(&text)?,
        // No case of this suite was asked for.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(error.into()),
    };
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

/// Runs a script that drives the page; `words` are Playwright's arguments, the script first.
pub(crate) fn drive<W: AsRef<std::ffi::OsStr>>(words: &[W]) -> Cmd {
    Cmd::new("npm")
        .args(["run", "--silent", "tools", "--"])
        .args(words)
        .dir(paths::browser_tests())
}

/// Builds a program of the package `tests/bench` and returns where it is. The package stands
/// outside of the workspace, so that building the product never compiles contenders.
fn native(program: &str) -> Result<std::path::PathBuf> {
    let folder = paths::target().join("bench");
    // A contender with dependencies of its own is a feature, so that nobody else needs them.
    let features = match program.split_once('-') {
        Some(("open", "native")) => "",
        Some(("open", contender)) => contender,
        Some(("table", _)) => "table",
        _ => "",
    };
    Cmd::cargo()
        .args([
            "build",
            "--quiet",
            "--release",
            "--bin",
            program,
            "--features",
            features,
            "--target-dir",
        ])
        .arg(&folder)
        .dir(paths::root().join("tests/bench"))
        .run()?;
    Ok(folder.join("release").join(program))
}
