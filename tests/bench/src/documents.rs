//! A bare document library opened as an app over it would: one document an entry, their bytes in
//! one SQLite table, and nothing else. Such an app has no index, so that what searching needs is
//! every document in memory.

use std::time::Instant;

use anyhow::{Context, Result};
use rusqlite::Connection;

use crate::{Seeded, lore, ms, peak_rss_mb, row};

/// How many titles the first page shows.
const FIRST: usize = 50;

/// `PROGRAM seed FILE COUNT` stores seeded documents that `make` makes of a title and a text;
/// `PROGRAM open FILE CASE` opens them: `load` returns a document, which is kept, and its title.
pub fn run<D>(
    who: &str,
    make: impl Fn(&str, &str) -> Result<Vec<u8>>,
    load: impl Fn(&[u8]) -> Result<(D, String)>,
) -> Result<()> {
    let begun = Instant::now();
    let usage = "usage: seed FILE COUNT | open FILE CASE";
    let mut arguments = std::env::args().skip(1);
    let mut next = || arguments.next().context(usage);
    let (what, file, last) = (next()?, next()?, next()?);
    let mut connection = Connection::open(file)?;
    match what.as_str() {
        "seed" => seed(&mut connection, last.parse()?, make),
        "open" => open(who, &last, begun, &connection, load),
        _ => anyhow::bail!(usage),
    }
}

fn seed(
    connection: &mut Connection,
    count: usize,
    make: impl Fn(&str, &str) -> Result<Vec<u8>>,
) -> Result<()> {
    let mut random = Seeded(7);
    let transaction = connection.transaction()?;
    transaction.execute("CREATE TABLE documents (id INTEGER PRIMARY KEY, bytes BLOB NOT NULL)", [])?;
    for number in 0..count {
        let (title, body) = lore::entry(&mut random, number);
        transaction.execute("INSERT INTO documents (bytes) VALUES (?1)", [make(&title, &body)?])?;
    }
    Ok(transaction.commit()?)
}

fn open<D>(
    who: &str,
    case: &str,
    begun: Instant,
    connection: &Connection,
    load: impl Fn(&[u8]) -> Result<(D, String)>,
) -> Result<()> {
    let mut statement = connection.prepare("SELECT bytes FROM documents ORDER BY id DESC")?;
    let mut rows = statement.query([])?;
    let mut kept = Vec::new();
    while let Some(found) = rows.next()? {
        kept.push(load(found.get_ref(0)?.as_blob()?)?);
        if kept.len() == FIRST {
            row("open", case, who, "first_cards_ms", "ms", ms(begun.elapsed()));
        }
    }
    anyhow::ensure!(kept.len() >= FIRST, "{} documents", kept.len());
    row("open", case, who, "all_open_ms", "ms", ms(begun.elapsed()));
    if let Some(rss) = peak_rss_mb() {
        row("open", case, who, "rss_mb", "MB", rss);
    }
    std::hint::black_box(kept);
    Ok(())
}
