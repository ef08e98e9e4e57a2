//! Bare Automerge: one document an entry, with the features that the product builds it with.

use anyhow::{Context, Result};
use automerge::transaction::Transactable as _;
use automerge::{AutoCommit, ObjType, ROOT, ReadDoc as _};

fn main() -> Result<()> {
    lore_bench::documents::run(
        "automerge",
        |title, body| {
            let mut document = AutoCommit::new();
            document.put(ROOT, "title", title)?;
            let text = document.put_object(ROOT, "body", ObjType::Text)?;
            document.splice_text(&text, 0, 0, body)?;
            Ok(document.save())
        },
        |bytes| {
            let document = AutoCommit::load(bytes)?;
            let (value, _) = document.get(ROOT, "title")?.context("no title")?;
            let title = value.as_str().context("no title")?.to_owned();
            Ok((document, title))
        },
    )
}
