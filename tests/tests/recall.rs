//! The sample campaign answers by meaning: real model, real index, whole replica.
#![allow(missing_docs)]

use std::path::PathBuf;

use lore_embed::Model;
use lore_recall::QuantizedVector;
use lore_replica::{Host, Replica};
use rusqlite::Connection;

struct Fixed(u64);

impl Host for Fixed {
    fn now(&self) -> i64 {
        1_780_000_000_000
    }

    fn random(&mut self, bytes: &mut [u8]) {
        for byte in bytes {
            self.0 = self
                .0
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            *byte = (self.0 >> 33) as u8;
        }
    }
}

fn model() -> Model {
    let path = std::env::var_os("LORE_MODEL").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../target/model/minilm-l6-v2.lore"),
        PathBuf::from,
    );
    let bytes = std::fs::read(&path)
        .unwrap_or_else(|error| panic!("{}: {error}; run `cargo xtask setup`", path.display()));
    Model::from_vec(bytes).unwrap()
}

fn embedded_sample(model: &Model) -> (Replica, lore_seal::CampaignId) {
    let conn = Connection::open_in_memory().unwrap();
    let mut replica = Replica::open(conn, Box::new(Fixed(1))).unwrap();
    let campaign = replica.create_sample().unwrap();
    replica.set_model(model.id()).unwrap();
    loop {
        let pending = replica.pending_texts(64).unwrap();
        if pending.is_empty() {
            break;
        }
        let vectors: Vec<_> = pending
            .iter()
            .map(|text| {
                (
                    text.hash,
                    QuantizedVector::from_slice(&model.embed(&text.text)[..]).unwrap(),
                )
            })
            .collect();
        replica.store_vectors(model.id(), &vectors).unwrap();
    }
    let progress = replica.embedding_progress().unwrap();
    assert_eq!(progress.done, progress.total);
    (replica, campaign)
}

#[test]
fn the_suggested_questions_find_what_they_ask_for_first() {
    let model = model();
    let (mut replica, campaign) = embedded_sample(&model);
    for (question, title) in [
        (
            "why do people in the river villages keep getting sick?",
            "The tainted wells",
        ),
        (
            "what did we promise the ferryman back in spring?",
            "Aldous, toll gate, brother's ring",
        ),
    ] {
        let vector = model.embed(question).to_vec();
        let found = replica
            .recall(campaign, &[question.into()], &[Some(vector)], 8)
            .unwrap();
        let lines: Vec<_> = found
            .hits
            .iter()
            .map(|hit| {
                format!(
                    "{}% {} {:?} {:?} {:?}",
                    hit.relevance, hit.entry.title, hit.why, hit.scores.words, hit.scores.meaning
                )
            })
            .collect();
        println!("{question}\n  {}", lines.join("\n  "));
        assert_eq!(found.hits[0].entry.title, title, "{lines:#?}");
    }
}
