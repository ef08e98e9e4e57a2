//! Tasks of the whole project, run as `cargo xtask <task>`.
//!
//! Every task can be run again at any time: what is already there is found by content (a hash
//! kept in a stamp below `target/`) and skipped.

pub mod bench;
pub mod check;
pub mod counts;
pub mod paths;
pub mod play;
pub mod progress;
pub mod screenshots;
pub mod setup;
pub mod shell;
pub mod stamp;
pub mod web;

#[cfg(any(feature = "web", feature = "pack"))]
pub mod heavy;
