//! What a browser downloads, as it is served.

use anyhow::{Context, Result};

use super::row::Row;
use crate::setup::{self, Extent};
use crate::web::{self, Asset};

/// The parts of a first visit. The model comes later, in the background, and is a case of its own.
pub(super) fn run() -> Result<Vec<Row>> {
    setup::ensure(Extent::Web)?;
    web::build_for_serving()?;
    let assets = web::assets()?;
    let one = |part: &str| {
        assets
            .iter()
            .find(|asset| asset.name.contains(part))
            .with_context(|| format!("the built page has no {part}"))
    };
    let first: Vec<&Asset> = assets
        .iter()
        .filter(|asset| is_first_load(&asset.name))
        .collect();
    let mut rows = Vec::new();
    rows.extend(sizes("engine-wasm", &[one("engine_bg")?]));
    rows.extend(sizes("embed-wasm", &[one("embed_bg")?]));
    rows.extend(sizes("web-first-load", &first));
    rows.extend(sizes("model", &[one("minilm")?]));
    Ok(rows)
}

/// Everything but the model and what is fetched on demand: fonts of other scripts, the editor.
fn is_first_load(name: &str) -> bool {
    let on_demand = [
        "model/",
        "ext-",
        "cyrillic",
        "greek",
        "vietnamese",
        "body-editor",
        "LICENSE",
    ];
    !on_demand.iter().any(|part| name.contains(part))
}

fn sizes(case: &str, assets: &[&Asset]) -> [Row; 3] {
    let kb = |bytes: fn(&Asset) -> u64| {
        assets.iter().map(|asset| bytes(asset)).sum::<u64>() as f64 / 1000.0
    };
    [
        Row::exact("size", case, "raw_kb", "kB", kb(|asset| asset.raw)),
        Row::exact("size", case, "gzip_kb", "kB", kb(|asset| asset.gzip)),
        Row::exact("size", case, "brotli_kb", "kB", kb(|asset| asset.brotli)),
    ]
}
