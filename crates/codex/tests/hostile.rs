//! What comes from outside may be damaged or made up: it is refused, and nothing changes.
#![allow(clippy::unwrap_used)]

mod table;

use lore_codex::{
    Batch, BatchError, BatchItem, ChangeError, DocError, EntryDoc, change_author, limits,
};
use proptest::prelude::*;
use sha2::{Digest, Sha256};
use table::*;

/// An entry with some history, and the changes that a replica at its first state lacks.
fn told() -> (EntryDoc, Vec<Vec<u8>>) {
    let (mut doc, fresh) = two();
    write(
        &mut doc,
        &body("Aldous sleeps at the 🐉 gate."),
        TOMAS,
        NOON + 1,
    );
    write(&mut doc, &threads(&["ring", "river"], &[]), QUILL, NOON + 2);
    write(&mut doc, &status(Some("alive")), MIRA, NOON + 3);
    let changes = doc.changes().split_off(1);
    (fresh, changes)
}

/// The change with its checksum made right again.
fn resealed(mut change: Vec<u8>) -> Vec<u8> {
    if change.len() > 9 {
        let hash: [u8; 32] = Sha256::digest(&change[8..]).into();
        change[4..8].copy_from_slice(&hash[..4]);
    }
    change
}

/// The change with this byte of it replaced.
fn mutated(change: &[u8], at: prop::sample::Index, byte: u8) -> Vec<u8> {
    let mut change = change.to_vec();
    let at = at.index(change.len());
    change[at] = byte;
    change
}

#[test]
fn damaged_and_foreign_bytes_are_refused_with_their_reason() {
    let (mut doc, changes) = told();
    let before = doc.save();
    let mut cut = changes[0].clone();
    cut.pop();
    let mut longer = changes[0].clone();
    longer.push(0);
    let huge = vec![0; limits::CHANGE_BYTES + 1];
    for bad in [Vec::new(), b"lore".to_vec(), cut, longer] {
        // A good change beside it is not taken either.
        let refused = doc.apply(&[changes[1].clone(), bad]);
        assert!(
            matches!(refused, Err(DocError::Change(ChangeError::Damaged { .. }))),
            "{refused:?}"
        );
    }
    assert_eq!(
        change_author(&huge),
        Err(ChangeError::TooLong { bytes: huge.len() })
    );
    assert_eq!(doc.save(), before);
    assert_eq!(change_author(&changes[0]), Ok(TOMAS));
}

#[test]
fn a_whole_document_is_no_change() {
    let (mut doc, _) = told();
    // The saved form holds an Automerge document after its version and length.
    let document = doc.save()[5..].to_vec();
    assert!(doc.apply(&[document]).is_err());
}

#[test]
fn waiting_changes_are_bounded() {
    let (mut doc, mut other) = two();
    write(&mut doc, &title("missing"), MIRA, NOON);
    let mut later = Vec::new();
    for n in 0..=limits::WAITING_CHANGES {
        later.push(write(&mut doc, &title(&n.to_string()), MIRA, NOON));
    }
    assert!(matches!(other.apply(&later), Err(DocError::TooManyWaiting)));
    let applied = other.apply(&later[1..]).unwrap();
    assert_eq!((applied.new, applied.waiting), (0, limits::WAITING_CHANGES));
    assert!(matches!(
        other.apply(&later[..1]),
        Err(DocError::TooManyWaiting)
    ));
    other.apply(&doc.changes()).unwrap();
    assert_eq!(json(&other), json(&doc));
}

#[test]
fn two_changes_with_one_number_of_one_author_do_not_break_the_entry() {
    let (mut a, mut b) = two();
    let mine = write(&mut a, &title("one"), MIRA, NOON + 1);
    // Tomas' device was copied: both copies go on with the same number.
    let mut copy = EntryDoc::load(id(), &b.save()).unwrap();
    let first = write(&mut b, &title("two"), TOMAS, NOON + 1);
    let second = write(&mut copy, &title("three"), TOMAS, NOON + 2);
    a.apply(&[first]).unwrap();
    let applied = a.apply(&[second]).unwrap();
    assert_eq!((applied.new, applied.refused), (0, 1));
    assert_eq!(EntryDoc::load(id(), &a.save()).unwrap().save(), a.save());
    assert!(!mine.is_empty());
}

#[test]
fn batches_come_back_as_they_went_and_are_bounded() {
    let (_, changes) = told();
    let items = vec![
        BatchItem::Changes {
            entry: id(),
            changes,
        },
        BatchItem::Forget {
            entry: id(),
            at: NOON,
        },
        BatchItem::Profile {
            name: "Quill".into(),
            agent: true,
            at: NOON,
        },
    ];
    let batch = Batch::new(items).unwrap();
    let bytes = batch.encode().unwrap();
    assert_eq!(Batch::decode(&bytes), Ok(batch));
    let mut newer = bytes.clone();
    newer[0] = 9;
    assert_eq!(Batch::decode(&newer), Err(BatchError::Newer { found: 9 }));
    let mut longer = bytes;
    longer.push(0);
    assert!(Batch::decode(&longer).is_err());
    assert!(Batch::decode(&[]).is_err());
    assert!(Batch::decode(&vec![1; limits::BATCH_BYTES + 1]).is_err());
    let forget = BatchItem::Forget { entry: id(), at: 0 };
    assert!(Batch::new(vec![forget; limits::BATCH_ITEMS + 1]).is_err());
    let name = "x".repeat(limits::NAME_CHARS + 1);
    assert!(
        Batch::new(vec![BatchItem::Profile {
            name,
            agent: false,
            at: 0
        }])
        .is_err()
    );
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 512,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn a_damaged_change_is_refused(
        which in 0..3_usize,
        at in any::<prop::sample::Index>(),
        byte in any::<u8>(),
    ) {
        let (mut doc, changes) = told();
        let bad = mutated(&changes[which], at, byte);
        prop_assume!(bad != changes[which]);
        let before = doc.save();
        prop_assert!(doc.apply(&[bad]).is_err());
        prop_assert_eq!(doc.save(), before);
    }

    #[test]
    fn a_forged_change_never_breaks_the_entry(
        which in 0..3_usize,
        forgeries in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let (mut doc, mut changes) = told();
        for (at, byte) in forgeries {
            changes[which] = mutated(&changes[which], at, byte);
        }
        changes[which] = resealed(changes[which].clone());
        for change in changes {
            // Taken, refused or waiting: the entry can be read, saved, loaded and written to.
            let _ = doc.apply(&[change]);
        }
        let loaded = EntryDoc::load(id(), &doc.save()).unwrap();
        prop_assert_eq!(json(&loaded), json(&doc));
        let _ = doc.history();
        write(&mut doc, &title("still writable"), MIRA, NOON + 9);
        prop_assert_eq!(shown(&doc).title, "still writable");
    }

    #[test]
    fn a_damaged_file_never_panics(at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let (mut doc, changes) = told();
        doc.apply(&changes[1..]).unwrap();
        let _ = EntryDoc::load(id(), &mutated(&doc.save(), at, byte));
    }

    #[test]
    fn a_made_up_batch_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let mut bytes = bytes;
        if let Some(first) = bytes.first_mut() {
            *first = 1;
        }
        if let Ok(batch) = Batch::decode(&bytes) {
            prop_assert_eq!(Batch::decode(&batch.encode().unwrap()), Ok(batch));
        }
    }
}
