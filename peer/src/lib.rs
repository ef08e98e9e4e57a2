//! `lore`: a device peer. This crate is the command line over a [`lore_replica::Replica`], and the
//! native network client that whole-system tests and benchmarks share with it.

mod cli;
mod codex;
mod commands;
mod failure;
mod line;
mod meaning;
pub mod net;
mod output;
mod status;
mod values;

use std::process::ExitCode;

use clap::Parser as _;

/// Parses the process's arguments and carries the command out.
pub fn main() -> ExitCode {
    let cli = cli::Cli::parse();
    let out = output::Output { json: cli.json };
    let runtime = match tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
    {
        Ok(runtime) => runtime,
        Err(error) => {
            output::note(&format!("lore: {error}"));
            return ExitCode::FAILURE;
        }
    };
    match runtime.block_on(commands::run(cli)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(failure) => {
            if out.json {
                out.result(&failure, String::new);
            } else {
                output::note(&format!("lore: {}", failure.message));
            }
            ExitCode::from(failure.exit_code())
        }
    }
}
