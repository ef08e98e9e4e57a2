//! `seed FILE COUNT`: a codex file with one campaign of COUNT seeded entries.

use anyhow::{Context, Result};
use lore_bench::{Seeded, lore};
use lore_codex::{Draft, Kind};
use lore_replica::{Host, Replica};
use lore_seal::Audience;

/// The system's clock and randomness.
struct System;

impl Host for System {
    fn now(&self) -> i64 {
        std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .map_or(0, |since| since.as_millis() as i64)
    }

    fn random(&mut self, bytes: &mut [u8]) {
        getrandom::fill(bytes).expect("the system has randomness");
    }
}

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().context("usage: seed FILE COUNT")?;
    let count: usize = arguments.next().context("usage: seed FILE COUNT")?.parse()?;
    let mut replica = Replica::open(rusqlite::Connection::open(file)?, Box::new(System))?;
    let campaign = replica.create_campaign("Bench")?;
    let mut random = Seeded(7);
    for number in 0..count {
        let (title, body) = lore::entry(&mut random, number);
        let mut draft = Draft::new(Kind::new("note")?, title);
        draft.body = body;
        replica.record(campaign, Audience::Table, &draft)?;
    }
    Ok(())
}
