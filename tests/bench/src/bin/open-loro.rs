//! Bare Loro: one document an entry, kept as snapshots.

use anyhow::{Context, Result};
use loro::{ExportMode, LoroDoc};

fn main() -> Result<()> {
    lore_bench::documents::run(
        "loro",
        |title, body| {
            let document = LoroDoc::new();
            document.get_map("entry").insert("title", title)?;
            document.get_text("body").insert(0, body)?;
            document.commit();
            Ok(document.export(ExportMode::Snapshot)?)
        },
        |bytes| {
            let document = LoroDoc::from_snapshot(bytes)?;
            let value = document.get_map("entry").get("title").context("no title")?;
            let title = value.into_value().ok().and_then(|value| value.into_string().ok());
            let title = title.context("no title")?.to_string();
            Ok((document, title))
        },
    )
}
