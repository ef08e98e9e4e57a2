//! `open-native FILE`: opening a seeded codex, its first page of entries, its first recall.

use std::time::Instant;

use anyhow::{Context, Result};
use lore_bench::{ms, peak_rss_mb, row};
use lore_replica::{Host, ListQuery, Replica};

/// Reading needs neither clock nor randomness of any quality.
struct Still;

impl Host for Still {
    fn now(&self) -> i64 {
        0
    }

    fn random(&mut self, bytes: &mut [u8]) {
        bytes.fill(7);
    }
}

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().context("usage: open-native FILE CASE")?;
    let case = arguments.next().context("usage: open-native FILE CASE")?;
    let begun = Instant::now();
    let mut replica = Replica::open(rusqlite::Connection::open(file)?, Box::new(Still))?;
    let campaign = *replica.campaign_ids()?.first().context("no campaign")?;
    let page = replica.list(campaign, &ListQuery { limit: 50, ..ListQuery::default() })?;
    anyhow::ensure!(page.entries.len() == 50, "{} entries", page.entries.len());
    row("open", &case, "lorekeeper", "first_cards_ms", "ms", ms(begun.elapsed()));
    let found = replica.recall(campaign, &["who poisoned the wells?".to_owned()], &[], 10)?;
    anyhow::ensure!(!found.hits.is_empty(), "nothing recalled");
    row("open", &case, "lorekeeper", "first_recall_ms", "ms", ms(begun.elapsed()));
    if let Some(rss) = peak_rss_mb() {
        row("open", &case, "lorekeeper", "rss_mb", "MB", rss);
    }
    Ok(())
}
