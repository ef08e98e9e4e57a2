//! Embedding on this device: the model's file, and the texts that wait for a vector.

use std::{
    io,
    path::PathBuf,
    time::{Duration, Instant},
};

use lore_embed::Model;
use lore_recall::QuantizedVector;
use lore_replica::Replica;

use crate::failure::Failure;

/// The weights' file name.
const FILE: &str = "minilm-l6-v2.lore";
/// Texts that are embedded and stored at a time: a command that is interrupted keeps the rest.
const BATCH: u32 = 16;
/// How long one command embeds waiting texts before it answers with what it has.
const BUDGET: Duration = Duration::from_secs(20);

/// Loads the model from where it may be; `Err` says why there is none.
pub(crate) fn load() -> Result<Model, String> {
    let mut looked = Vec::new();
    for path in places() {
        match std::fs::read(&path) {
            Ok(bytes) => {
                return Model::from_vec(bytes)
                    .map_err(|error| format!("{} is not usable: {error}", path.display()));
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                looked.push(path.display().to_string());
            }
            Err(error) => return Err(format!("{}: {error}", path.display())),
        }
    }
    Err(format!(
        "the embedding model is not here (looked at {}); set LORE_MODEL to its file",
        looked.join(", ")
    ))
}

fn places() -> Vec<PathBuf> {
    if let Some(path) = std::env::var_os("LORE_MODEL") {
        return vec![path.into()];
    }
    let mut places = Vec::new();
    if let Ok(program) = std::env::current_exe()
        && let Some(directory) = program.parent()
    {
        places.push(directory.join(FILE));
        places.push(directory.join("model").join(FILE));
        // A checkout: target/debug/lore beside target/model.
        places.push(directory.join("../model").join(FILE));
    }
    places.push(PathBuf::from("target/model").join(FILE));
    places
}

/// Embeds what waits, in batches, each durable. Returns how many texts still wait.
pub(crate) fn catch_up(
    replica: &mut Replica,
    model: &Model,
    mut progress: impl FnMut(u64, u64),
) -> Result<u64, Failure> {
    replica.set_model(model.id())?;
    let begun = Instant::now();
    loop {
        let pending = replica.pending_texts(BATCH)?;
        let standing = replica.embedding_progress()?;
        let waiting = standing.total.saturating_sub(standing.done);
        if pending.is_empty() || begun.elapsed() > BUDGET {
            return Ok(waiting);
        }
        progress(standing.done, standing.total);
        let vectors: Vec<_> = pending
            .iter()
            .map(|text| {
                let vector = model.embed(&text.text);
                (text.hash, QuantizedVector::from_f32(&vector))
            })
            .collect();
        replica.store_vectors(model.id(), &vectors)?;
    }
}
