//! What is derived can be dropped and made again; what is embedded is embedded once.
#![allow(clippy::unwrap_used)] // a test that cannot set itself up has failed
#![allow(missing_docs)]

mod common;

use common::{exchange, id, in_memory, record, revision, seen, table};
use lore_codex::Patch;
use lore_recall::QuantizedVector;
use lore_replica::{ListQuery, Replica, WriteOutcome};
use lore_seal::CampaignId;

fn answers(replica: &mut Replica, campaign: CampaignId, question: &str) -> Vec<String> {
    let found = replica
        .recall(campaign, &[question.into()], &[], 10)
        .unwrap();
    found.hits.into_iter().map(|hit| hit.entry.title).collect()
}

/// A vector that points along one of the axes.
fn axis(index: usize) -> Vec<f32> {
    let mut vector = vec![0.0; 384];
    vector[index] = 1.0;
    vector
}

fn embed_all(replica: &mut Replica, model: &str) -> usize {
    let mut made = 0;
    loop {
        let pending = replica.pending_texts(7).unwrap();
        if pending.is_empty() {
            return made;
        }
        let vectors: Vec<_> = pending
            .iter()
            .map(|text| {
                let axis = axis(text.text.len() % 384);
                (text.hash, QuantizedVector::from_slice(&axis).unwrap())
            })
            .collect();
        made += vectors.len();
        replica.store_vectors(model, &vectors).unwrap();
    }
}

#[test]
fn everything_derived_can_be_made_anew() {
    let (mut keeper, mut player, campaign) = table();
    for n in 0..20 {
        record(
            &mut keeper,
            campaign,
            &format!("Place {n}"),
            &format!("A mill by water {n}.\n\n## Inside\n\nMillstone {n}."),
        );
    }
    exchange(&mut keeper, &mut player, campaign);
    record(&mut player, campaign, "By Tomas", "A bell rings.");
    exchange(&mut keeper, &mut player, campaign);
    for replica in [&mut keeper, &mut player] {
        let shown = seen(replica, campaign);
        let list = replica.list(campaign, &ListQuery::default()).unwrap();
        let (facets, found) = (
            replica.facets(campaign).unwrap(),
            answers(replica, campaign, "millstone bell"),
        );
        assert!(!found.is_empty());
        replica.rebuild().unwrap();
        assert_eq!(seen(replica, campaign), shown);
        assert_eq!(replica.list(campaign, &ListQuery::default()).unwrap(), list);
        assert_eq!(replica.facets(campaign).unwrap(), facets);
        assert_eq!(answers(replica, campaign, "millstone bell"), found);
    }
}

#[test]
fn the_index_follows_every_write_and_stays_within_the_campaign() {
    let mut replica = in_memory(1);
    let here = replica.create_campaign("Here").unwrap();
    let there = replica.create_campaign("There").unwrap();
    assert!(answers(&mut replica, here, "lantern").is_empty());
    let entry = record(&mut replica, here, "Old light", "A lantern on each bank.");
    record(
        &mut replica,
        there,
        "Other world",
        "A lantern of another world.",
    );
    assert_eq!(answers(&mut replica, here, "lantern"), ["Old light"]);
    let patch = Patch {
        body: Some("A candle on each bank.".into()),
        ..Patch::default()
    };
    let WriteOutcome::Done { entry } = replica
        .revise(id(&entry), &revision(&entry), &patch)
        .unwrap()
    else {
        panic!("refused")
    };
    assert!(answers(&mut replica, here, "lantern").is_empty());
    assert_eq!(answers(&mut replica, here, "candle"), ["Old light"]);
    replica.forget(id(&entry), &revision(&entry)).unwrap();
    assert!(answers(&mut replica, here, "candle").is_empty());
    assert_eq!(answers(&mut replica, there, "lantern"), ["Other world"]);
}

#[test]
fn a_text_is_embedded_once_however_often_it_is_written_or_opened() {
    let mut replica = in_memory(1);
    let campaign = replica.create_campaign("Reach").unwrap();
    replica.set_model("model-a").unwrap();
    let entry = record(&mut replica, campaign, "Gate", "Aldous keeps the gate.");
    record(&mut replica, campaign, "Gate", "Aldous keeps the gate.");
    assert_eq!(embed_all(&mut replica, "model-a"), 1);
    // A change that leaves the text alone queues nothing.
    let patch = Patch {
        status: Some(Some("open".into())),
        ..Patch::default()
    };
    replica
        .revise(id(&entry), &revision(&entry), &patch)
        .unwrap();
    replica.set_model("model-a").unwrap();
    assert_eq!(embed_all(&mut replica, "model-a"), 0);
    let progress = replica.embedding_progress().unwrap();
    assert_eq!((progress.done, progress.total), (1, 1));
    // Another model's vectors are no substitute.
    replica.set_model("model-b").unwrap();
    assert_eq!(embed_all(&mut replica, "model-b"), 1);
}

#[test]
fn a_text_that_has_gone_takes_its_vector_with_it() {
    let mut replica = in_memory(1);
    let campaign = replica.create_campaign("Reach").unwrap();
    replica.set_model("model").unwrap();
    let entry = record(&mut replica, campaign, "Gate", "Aldous keeps the gate.");
    embed_all(&mut replica, "model");
    let count = |replica: &mut Replica| -> i64 {
        replica
            .connection()
            .query_row("SELECT count(*) FROM vectors", [], |row| row.get(0))
            .unwrap()
    };
    assert_eq!(count(&mut replica), 1);
    replica.forget(id(&entry), &revision(&entry)).unwrap();
    assert_eq!(count(&mut replica), 0);
}
