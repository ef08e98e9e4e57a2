//! `cargo xtask test`: every check and test of the project, with one closing line of counts.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::counts::{Counts, report};
use crate::progress::human;
use crate::setup::wasm::Route;
use crate::setup::{self, Extent, wasm};
use crate::shell::Cmd;
use crate::{paths, web};

/// Options of `test`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Only one part.
    #[arg(long, value_enum)]
    only: Option<Part>,
    /// Further arguments for Playwright, such as the name of a spec; after `--`.
    #[arg(last = true)]
    playwright: Vec<String>,
}

/// A part of the tests that can be run alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Part {
    /// Formatting, lints and tests of the Rust workspace.
    Rust,
    /// Types and unit tests of the page.
    Web,
    /// Whole-system tests in real browsers.
    Browser,
}

/// What a step reported: `None` for a check that counts no tests.
type Reported = Option<Counts>;

struct Finished {
    name: &'static str,
    took: Duration,
    result: Result<Reported>,
}

#[derive(Default)]
struct Run {
    finished: Vec<Finished>,
}

impl Run {
    /// Runs one named step and keeps its result; returns whether it succeeded.
    fn step(&mut self, name: &'static str, work: impl FnOnce() -> Result<Reported>) -> bool {
        println!("\n── {name}");
        let begun = Instant::now();
        let result = work();
        if let Err(error) = &result {
            eprintln!("── {name} FAILED: {error:#}");
        }
        let good = matches!(&result, Ok(counts) if counts.is_none_or(|counts| counts.failed == 0));
        self.finished.push(Finished {
            name,
            took: begun.elapsed(),
            result,
        });
        good
    }

    /// Prints a line a step and the closing counts. A step that failed without counting tests
    /// counts as one failed test, so that the counts never look green when the run is not.
    fn close(self) -> Counts {
        println!();
        let mut total = Counts::default();
        for Finished { name, took, result } in self.finished {
            let (shown, counts) = match result {
                Ok(None) => ("ok".to_owned(), Counts::default()),
                Ok(Some(counts)) => (counts.to_string(), counts),
                Err(_) => (
                    "FAILED".to_owned(),
                    Counts {
                        passed: 0,
                        failed: 1,
                    },
                ),
            };
            println!("{name:<34} {:>12}   {shown}", human(took));
            total += counts;
        }
        println!("\n{total}");
        total
    }
}

/// Runs the task.
pub fn run(args: &Args) -> Result<()> {
    let wanted = |part| args.only.is_none_or(|only| only == part);
    let mut run = Run::default();
    let ready = run.step("set-up", || setup::ensure(Extent::All).map(|()| None));
    if ready && wanted(Part::Rust) {
        rust(&mut run);
    }
    if ready && (wanted(Part::Web) || wanted(Part::Browser)) {
        let built = run.step("page", || web::build_for_serving().map(|()| None));
        if built && wanted(Part::Web) {
            run.step("types of the page", || types(paths::web()));
            run.step("unit tests of the page", vitest);
        }
        if built && wanted(Part::Browser) {
            run.step("types of the browser tests", || {
                types(paths::browser_tests())
            });
            if run.step("relay and lore", || build_native().map(|()| None)) {
                run.step("browser tests", || playwright(&args.playwright));
            }
        }
    }
    let total = run.close();
    if total.failed > 0 {
        // The line above says all; a second message would follow the closing line.
        std::process::exit(1);
    }
    if total.passed == 0 {
        bail!("no test ran");
    }
    Ok(())
}

fn rust(run: &mut Run) {
    run.step("formatting", || {
        Cmd::cargo()
            .args(["fmt", "--all", "--check"])
            .dir(paths::root())
            .run()
            .map(|()| None)
    });
    run.step("lints", || {
        let lint = ["clippy", "--quiet", "--all-targets", "--", "-D", "warnings"];
        Cmd::cargo()
            .args(lint)
            .dir(paths::root())
            .run()
            .map(|()| None)
    });
    run.step("lints of the wasm modules", || {
        if wasm::find()? != Some(Route::Installed) {
            println!("left out: Debian's compiler for wasm comes without clippy");
            return Ok(None);
        }
        wasm::cargo("clippy")?
            .args(["--quiet", "--profile", "web", "--target-dir"])
            .arg(paths::target().join("web"))
            .args(web::module_packages())
            .args(["--", "-D", "warnings"])
            .run()
            .map(|()| None)
    });
    run.step("Rust tests", || {
        let mut counts = Counts::default();
        let good = Cmd::cargo()
            .args(["test", "--no-fail-fast"])
            .dir(paths::root())
            .watch(|line| counts += Counts::of_cargo_line(line).unwrap_or_default())?;
        if !good && counts.failed == 0 {
            bail!("cargo test failed before or between tests");
        }
        Ok(Some(counts))
    });
}

fn types(folder: PathBuf) -> Result<Reported> {
    Cmd::new("npm")
        .args(["run", "--silent", "check"])
        .dir(folder)
        .run()
        .map(|()| None)
}

fn vitest() -> Result<Reported> {
    let file = fresh_report("vitest.json")?;
    let good = Cmd::new("npm")
        .args([
            "run",
            "--silent",
            "test",
            "--",
            "--reporter=default",
            "--reporter=json",
        ])
        .arg(format!("--outputFile.json={}", file.display()))
        .dir(paths::web())
        .succeeds()?;
    let counts = Counts::of_vitest(&report(&file)?).context("vitest's report has no counts")?;
    closed(good, counts)
}

fn playwright(arguments: &[String]) -> Result<Reported> {
    let file = fresh_report("playwright.json")?;
    let good = Cmd::new("npm")
        .args(["run", "--silent", "test", "--"])
        .args(arguments)
        .env("LORE_BROWSER_REPORT", &file)
        .dir(paths::browser_tests())
        .succeeds()?;
    let counts =
        Counts::of_playwright(&report(&file)?).context("Playwright's report has no counts")?;
    closed(good, counts)
}

/// A runner that failed although no test did has failed all the same.
fn closed(good: bool, counts: Counts) -> Result<Reported> {
    if !good && counts.failed == 0 {
        bail!("the test runner failed outside of its tests");
    }
    Ok(Some(counts))
}

/// Where a runner's report goes; an old one is removed, so that it cannot be taken for new.
pub(crate) fn fresh_report(name: &str) -> Result<PathBuf> {
    let folder = paths::target().join("reports");
    fs::create_dir_all(&folder)?;
    let file = folder.join(name);
    if file.exists() {
        fs::remove_file(&file)?;
    }
    Ok(file)
}

/// Builds the two native programs that browser tests and `play` start.
pub(crate) fn build_native() -> Result<()> {
    Cmd::cargo()
        .args([
            "build",
            "--quiet",
            "--package",
            "lore-relay",
            "--package",
            "lore-peer",
        ])
        .dir(paths::root())
        .run()
}
