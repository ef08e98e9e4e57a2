//! `seed FILE COUNT`: a codex file with one campaign of COUNT seeded entries. `seed --json COUNT`
//! prints the same titles and texts for other libraries.

use anyhow::{Context, Result};
use lore_bench::{Seeded, System, lore};
use lore_codex::{Draft, Kind};
use lore_replica::Replica;
use lore_seal::Audience;

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().context("usage: seed FILE COUNT")?;
    let count: usize = arguments.next().context("usage: seed FILE COUNT")?.parse()?;
    if file == "--json" {
        let mut random = Seeded(7);
        let entries: Vec<_> = (0..count)
            .map(|number| lore::entry(&mut random, number))
            .map(|(title, body)| serde_json::json!({ "title": title, "body": body }))
            .collect();
        println!("{}", serde_json::Value::from(entries));
        return Ok(());
    }
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
