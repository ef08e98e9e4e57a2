//! Numbered steps that say what they do and how far the whole is.

use std::io::Write;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

/// What a step found or did, in words.
#[derive(Debug)]
pub enum Outcome {
    /// Nothing had to be done.
    AlreadyThere(String),
    /// Done now.
    Done(String),
}

/// Counts the steps of a task and prints one line at the start and end of each.
#[derive(Debug)]
pub struct Progress {
    total: usize,
    started: usize,
}

impl Progress {
    /// A task of `total` steps.
    pub fn new(total: usize) -> Self {
        Self { total, started: 0 }
    }

    /// Runs one step. Its work may print; the closing line follows on a line of its own when it
    /// took noticeable time.
    pub fn step(&mut self, name: &str, work: impl FnOnce() -> Result<Outcome>) -> Result<()> {
        self.started += 1;
        let heading = format!("[{}/{}] {name}", self.started, self.total);
        eprint!("{heading} … ");
        std::io::stderr().flush()?;
        let begun = Instant::now();
        let outcome = work().with_context(|| format!("step “{name}” failed"))?;
        match outcome {
            Outcome::AlreadyThere(what) => eprintln!("already there{}", suffix(&what)),
            Outcome::Done(what) => {
                eprintln!(
                    "{heading}: done in {}{}",
                    human(begun.elapsed()),
                    suffix(&what)
                );
            }
        }
        Ok(())
    }
}

/// Says, below a step's heading, what is being done now.
pub fn say(what: &str) {
    eprintln!("\n      {what}");
}

fn suffix(what: &str) -> String {
    if what.is_empty() {
        String::new()
    } else {
        format!(" ({what})")
    }
}

/// A duration for people: `0.4 s`, `12 s`, `3 min 5 s`.
pub fn human(duration: Duration) -> String {
    let seconds = duration.as_secs();
    match seconds {
        0..10 => format!("{:.1} s", duration.as_secs_f64()),
        10..60 => format!("{seconds} s"),
        _ => format!("{} min {} s", seconds / 60, seconds % 60),
    }
}
