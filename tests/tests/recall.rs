//! The sample campaign answers by meaning: real model, real index, whole replica.
#![allow(clippy::unwrap_used)] // a test that cannot set itself up has failed
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

fn replica() -> Replica {
    let conn = Connection::open_in_memory().unwrap();
    Replica::open(conn, Box::new(Fixed(1))).unwrap()
}

fn embedded_sample(model: &Model) -> (Replica, lore_seal::CampaignId) {
    let mut replica = replica();
    let campaign = replica
        .create_sample(&lore_sample::sample().unwrap())
        .unwrap();
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
        let percentages: Vec<_> = found.hits.iter().map(|hit| hit.relevance).collect();
        assert_eq!(percentages.len(), 8);
        assert!(
            percentages.is_sorted_by(|a, b| a >= b),
            "the list and its percentages agree: {lines:#?}"
        );
        assert!(
            percentages[0] > percentages[1],
            "what leads is seen to lead: {lines:#?}"
        );
    }
}

#[test]
fn words_alone_answer_before_any_vector_is_there() {
    let mut replica = replica();
    let campaign = replica
        .create_sample(&lore_sample::sample().unwrap())
        .unwrap();
    let found = replica
        .recall(campaign, &["the toll gate at the Narrows".into()], &[], 8)
        .unwrap();
    assert!(!found.by_meaning);
    assert_eq!(
        found.hits[0].entry.title,
        "The toll gate at Lantern Narrows"
    );
    assert!(found.hits.iter().all(|hit| hit.scores.meaning.is_none()));
    assert!(found.hits.is_sorted_by(|a, b| a.relevance >= b.relevance));
}

#[test]
fn a_misspelt_name_finds_its_entry() {
    let model = model();
    let (mut replica, campaign) = embedded_sample(&model);
    for (question, title) in [
        ("Aldus", "Aldous Wick"),
        ("who is Aldus?", "Aldous Wick"),
        ("Tansey", "Mother Tansy"),
        ("Ysolda", "Ysolde Marr"),
    ] {
        for vector in [None, Some(model.embed(question).to_vec())] {
            let by_meaning = vector.is_some();
            let found = replica
                .recall(campaign, &[question.into()], &[vector], 8)
                .unwrap();
            let titles: Vec<_> = found
                .hits
                .iter()
                .map(|hit| hit.entry.title.as_str())
                .collect();
            assert_eq!(
                titles[0], title,
                "{question} (by meaning: {by_meaning}): {titles:#?}"
            );
        }
    }
}

#[test]
fn recall_of_one_campaign_never_returns_another_campaigns_entry() {
    let model = model();
    let (mut replica, sample) = embedded_sample(&model);
    // The same campaign once more, so that every question has its answer in both.
    let other = replica
        .create_sample(&lore_sample::sample().unwrap())
        .unwrap();
    let empty = replica.create_campaign("Another table").unwrap();
    let question = "who poisoned the water at Harrowmere?";
    let vector = Some(model.embed(question).to_vec());
    for (campaign, entries) in [(sample, true), (other, true), (empty, false)] {
        let own: Vec<_> = replica
            .entry_ids(campaign)
            .unwrap()
            .iter()
            .map(ToString::to_string)
            .collect();
        let found = replica
            .recall(
                campaign,
                &[question.into()],
                std::slice::from_ref(&vector),
                50,
            )
            .unwrap();
        let ids: Vec<_> = found.hits.iter().map(|hit| hit.entry.id.clone()).collect();
        assert_eq!(!ids.is_empty(), entries);
        assert!(ids.iter().all(|id| own.contains(id)));
    }
}
