//! Bare Yrs: one document an entry, kept as one update each.

use anyhow::{Context, Result};
use yrs::updates::decoder::Decode as _;
use yrs::{Doc, Map as _, ReadTxn as _, StateVector, Text as _, Transact as _, Update};

fn main() -> Result<()> {
    lore_bench::documents::run(
        "yrs",
        |title, body| {
            let document = Doc::new();
            let entry = document.get_or_insert_map("entry");
            let text = document.get_or_insert_text("body");
            let mut transaction = document.transact_mut();
            entry.insert(&mut transaction, "title", title);
            text.insert(&mut transaction, 0, body);
            Ok(transaction.encode_state_as_update_v1(&StateVector::default()))
        },
        |bytes| {
            let document = Doc::new();
            let entry = document.get_or_insert_map("entry");
            document.get_or_insert_text("body");
            document.transact_mut().apply_update(Update::decode_v1(bytes)?)?;
            let title = entry
                .get(&document.transact(), "title")
                .and_then(|value| value.cast::<String>().ok())
                .context("no title")?;
            Ok((document, title))
        },
    )
}
