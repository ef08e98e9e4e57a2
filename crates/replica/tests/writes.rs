//! What a write promises: durable, conditional, done once.
#![allow(clippy::unwrap_used)] // a test that cannot set itself up has failed
#![allow(missing_docs)]

mod common;

use common::{at, draft, id, in_memory, record, revision};
use lore_codex::{Patch, Splice};
use lore_replica::{ListQuery, OpenError, Replica, SpliceOutcome, WriteError, WriteOutcome};
use lore_seal::Audience;
use rusqlite::Connection;

fn body(text: &str) -> Patch {
    Patch {
        body: Some(text.into()),
        ..Patch::default()
    }
}

#[test]
fn what_was_acknowledged_is_there_after_the_process_is_gone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("codex.db");
    let mut replica = at(&path, 1);
    let campaign = replica.create_campaign("Reach").unwrap();
    let entry = record(&mut replica, campaign, "The toll gate", "Aldous keeps it.");
    // As if killed: nothing is closed, and the file is copied as it lies on the disk.
    let copy = folder.path().join("copy.db");
    std::fs::copy(&path, &copy).unwrap();
    std::fs::copy(path.with_extension("db-wal"), copy.with_extension("db-wal")).unwrap();
    let mut reopened = at(&copy, 9);
    assert_eq!(reopened.device(), replica.device());
    let again = reopened.entry(id(&entry)).unwrap().unwrap();
    assert_eq!(again, entry);
}

#[test]
fn a_stale_revision_changes_nothing_and_says_what_is_there() {
    let mut replica = in_memory(1);
    let campaign = replica.create_campaign("Reach").unwrap();
    let first = record(&mut replica, campaign, "The wells", "Clean.");
    let done = replica
        .revise(id(&first), &revision(&first), &body("Foul."))
        .unwrap();
    let WriteOutcome::Done { entry: second } = done else {
        panic!("{done:?}")
    };
    let before = replica.history(id(&first)).unwrap().unwrap().len();
    let refused = replica
        .revise(id(&first), &revision(&first), &body("Sweet."))
        .unwrap();
    let WriteOutcome::Stale { current } = refused else {
        panic!("{refused:?}")
    };
    assert_eq!(current, second);
    assert_eq!(replica.entry(id(&first)).unwrap().unwrap(), *second);
    assert_eq!(replica.history(id(&first)).unwrap().unwrap().len(), before);
    // Re-read and re-applied, it goes through.
    let done = replica
        .revise(id(&first), &revision(&current), &body("Sweet."))
        .unwrap();
    assert!(matches!(done, WriteOutcome::Done { entry } if entry.body == "Sweet."));
}

#[test]
fn an_edit_of_an_older_body_merges_with_what_came_after() {
    let mut replica = in_memory(1);
    let campaign = replica.create_campaign("Reach").unwrap();
    let base = record(&mut replica, campaign, "Ford", "The ferry waits.");
    let first = [Splice {
        at: 16,
        delete: 0,
        insert: " It is late.".into(),
    }];
    replica.splice(id(&base), &revision(&base), &first).unwrap();
    let second = [Splice {
        at: 0,
        delete: 3,
        insert: "A".into(),
    }];
    let merged = replica
        .splice(id(&base), &revision(&base), &second)
        .unwrap();
    let SpliceOutcome::Done { body, .. } = merged else {
        panic!("{merged:?}")
    };
    assert_eq!(body, "A ferry waits. It is late.");
}

#[test]
fn an_operation_sent_again_is_done_once() {
    let mut replica = in_memory(1);
    let campaign = replica.create_campaign("Reach").unwrap();
    replica.begin_operation("op-1");
    let entry = record(&mut replica, campaign, "Once", "");
    assert_eq!(replica.operation_done("op-1").unwrap(), Some(id(&entry)));
    assert_eq!(replica.operation_done("op-2").unwrap(), None);
}

#[test]
fn two_processes_on_one_file_lose_no_write() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("codex.db");
    let mut first = at(&path, 1);
    let campaign = first.create_campaign("Reach").unwrap();
    let shared = record(&mut first, campaign, "Shared", "");
    let workers: Vec<_> = (0..4u64)
        .map(|worker| {
            let path = path.clone();
            let entry = id(&shared);
            std::thread::spawn(move || {
                let mut replica = at(&path, 100 + worker);
                for turn in 0..25 {
                    record(&mut replica, campaign, &format!("{worker}-{turn}"), "");
                    // Re-read and re-applied until it holds.
                    loop {
                        let now = replica.entry(entry).unwrap().unwrap();
                        let text = format!("{}{worker}", now.body);
                        match replica
                            .revise(entry, &revision(&now), &body(&text))
                            .unwrap()
                        {
                            WriteOutcome::Done { .. } => break,
                            WriteOutcome::Stale { .. } => {}
                            WriteOutcome::Forgotten => panic!("nobody forgot it"),
                        }
                    }
                }
            })
        })
        .collect();
    for worker in workers {
        worker.join().unwrap();
    }
    assert_eq!(
        first.list(campaign, &ListQuery::default()).unwrap().total,
        101
    );
    let text = first.entry(id(&shared)).unwrap().unwrap().body;
    for worker in ['0', '1', '2', '3'] {
        assert_eq!(text.matches(worker).count(), 25, "{text}");
    }
}

#[test]
fn a_write_outside_its_limits_is_refused_whole() {
    let mut replica = in_memory(1);
    let campaign = replica.create_campaign("Reach").unwrap();
    let long = "x".repeat(300 * 1024);
    let refused = replica.record(campaign, Audience::Table, &draft("note", "Long", &long));
    assert!(
        matches!(refused, Err(WriteError::Invalid(_))),
        "{refused:?}"
    );
    let refused = replica.record(campaign, Audience::Table, &draft("note", "", "text"));
    assert!(
        matches!(refused, Err(WriteError::Invalid(_))),
        "{refused:?}"
    );
    assert_eq!(
        replica.list(campaign, &ListQuery::default()).unwrap().total,
        0
    );
}

#[test]
fn a_full_disk_is_an_error_that_keeps_what_was_there() {
    let mut replica = in_memory(1);
    let campaign = replica.create_campaign("Reach").unwrap();
    let kept = record(&mut replica, campaign, "Kept", "before");
    let pages: i64 = replica
        .connection()
        .query_row("PRAGMA page_count", [], |row| row.get(0))
        .unwrap();
    replica
        .connection()
        .pragma_update(None, "max_page_count", pages)
        .unwrap();
    let text = "The river rises. ".repeat(4_000);
    let refused = replica.record(campaign, Audience::Table, &draft("note", "Lost", &text));
    assert!(matches!(refused, Err(WriteError::Store(_))), "{refused:?}");
    assert_eq!(replica.entry(id(&kept)).unwrap().unwrap(), kept);
    replica
        .connection()
        .pragma_update(None, "max_page_count", 1_000_000)
        .unwrap();
    record(&mut replica, campaign, "After", &text);
    assert_eq!(
        replica.list(campaign, &ListQuery::default()).unwrap().total,
        2
    );
}

#[test]
fn a_foreign_or_newer_file_is_refused_and_left_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let foreign = folder.path().join("foreign.db");
    Connection::open(&foreign)
        .unwrap()
        .execute_batch("CREATE TABLE t (x); INSERT INTO t VALUES (1)")
        .unwrap();
    let open = |path| {
        Replica::open(
            Connection::open(path).unwrap(),
            Box::new(common::Seeded::new(1)),
        )
    };
    assert!(matches!(open(&foreign), Err(OpenError::NotACodex)));
    let newer = folder.path().join("newer.db");
    drop(at(&newer, 1));
    Connection::open(&newer)
        .unwrap()
        .pragma_update(None, "user_version", 99)
        .unwrap();
    let before = std::fs::read(&newer).unwrap();
    assert!(matches!(
        open(&newer),
        Err(OpenError::Newer { found: 99, .. })
    ));
    assert_eq!(std::fs::read(&newer).unwrap(), before);
    let torn = folder.path().join("torn.db");
    std::fs::write(&torn, [7; 8192]).unwrap();
    assert!(matches!(open(&torn), Err(OpenError::Sqlite(_))));
}
