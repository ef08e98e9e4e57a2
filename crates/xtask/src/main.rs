//! `cargo xtask`: set-up, build, play, test and bench.

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Set-up, build, play, test and bench of the whole project.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Fetch and install what building and testing need; costs nothing when it is there.
    Setup(xtask::setup::Args),
    /// Build the page: both wasm modules, their bindings, the app, compressed for serving.
    BuildWeb(xtask::web::Args),
    /// Set up, build, start the relay, and open the sample campaign to a table.
    Play(xtask::play::Args),
    /// Run every check and test; the last line is `N passed, M failed`.
    Test(xtask::check::Args),
    /// Make pictures of every state of the page, in both themes and two sizes.
    Screenshots(xtask::screenshots::Args),
    /// Measure one suite beside its contenders, or compare two runs.
    Bench(xtask::bench::Args),
    /// Parts that only the build itself calls.
    #[cfg(any(feature = "web", feature = "pack"))]
    #[command(hide = true, subcommand)]
    Heavy(xtask::heavy::Part),
}

fn main() -> ExitCode {
    let done = match Cli::parse().task {
        Task::Setup(args) => xtask::setup::run(&args),
        Task::BuildWeb(args) => xtask::web::run(&args),
        Task::Play(args) => xtask::play::run(&args),
        Task::Screenshots(args) => xtask::screenshots::run(&args),
        Task::Bench(args) => xtask::bench::run(&args),
        Task::Test(args) => xtask::check::run(&args),
        #[cfg(any(feature = "web", feature = "pack"))]
        Task::Heavy(part) => xtask::heavy::run(&part),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("\nerror: {error:#}");
            ExitCode::FAILURE
        }
    }
}
