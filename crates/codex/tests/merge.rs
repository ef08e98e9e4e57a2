//! Two and more replicas: what concurrent writes become.
#![allow(clippy::unwrap_used)]

mod table;

use std::collections::BTreeSet;

use lore_codex::{AuthorId, EntryDoc, FieldName, Patch, PlainField, change_author};
use table::*;

fn values(doc: &EntryDoc, field: PlainField) -> Vec<(AuthorId, Option<String>)> {
    shown(doc)
        .contested
        .into_iter()
        .filter(|c| c.field == field)
        .flat_map(|c| c.candidates)
        .map(|c| (c.by, c.value))
        .collect()
}

/// Two replicas whose titles Tomas and Quill changed concurrently, met.
fn contested() -> (EntryDoc, EntryDoc) {
    let (mut a, mut b) = two();
    write(&mut a, &title("Aldous the tall"), TOMAS, NOON + 5);
    write(&mut b, &title("Aldous the old"), QUILL, NOON + 3);
    meet(&mut a, &mut b);
    (a, b)
}

#[test]
fn concurrent_edits_of_one_text_both_survive() {
    let (mut a, mut b) = two();
    write(
        &mut a,
        &body("Old Aldous keeps the toll gate."),
        TOMAS,
        NOON + 1,
    );
    write(
        &mut b,
        &body("Aldous keeps the toll gate at night."),
        QUILL,
        NOON + 1,
    );
    meet(&mut a, &mut b);
    assert_eq!(shown(&a).body, "Old Aldous keeps the toll gate at night.");
    assert!(shown(&a).contested.is_empty());
}

#[test]
fn concurrent_titles_are_contested_with_the_same_candidates_everywhere() {
    let (a, b) = contested();
    let expected = vec![
        (QUILL, Some("Aldous the old".to_owned())),
        (TOMAS, Some("Aldous the tall".to_owned())),
    ];
    assert_eq!(values(&a, PlainField::Title), expected);
    assert_eq!(values(&b, PlainField::Title), expected);
    let shown = shown(&a);
    assert_eq!(shown.contested.len(), 1);
    assert!(
        expected
            .iter()
            .any(|(_, value)| value.as_ref() == Some(&shown.title))
    );
}

#[test]
fn a_settlement_ends_the_contest_everywhere() {
    let (mut a, mut b) = contested();
    let present = b.revision();
    let change = b
        .settle(&present, PlainField::Title, Some("Aldous"), MIRA, NOON + 9)
        .unwrap();
    assert!(shown(&b).contested.is_empty());
    let applied = a.apply(&[change]).unwrap();
    assert_eq!(applied.changed, BTreeSet::from([FieldName::Title]));
    assert_eq!(json(&a), json(&b));
    assert_eq!(shown(&a).title, "Aldous");
    // Settling for the value that was shown already settles as well.
    let (mut c, _) = contested();
    let title = shown(&c).title;
    let present = c.revision();
    c.settle(&present, PlainField::Title, Some(&title), MIRA, NOON + 9)
        .unwrap();
    assert!(shown(&c).contested.is_empty());
}

#[test]
fn concurrent_settlements_are_contested_again() {
    let (mut a, mut b) = contested();
    let present = a.revision();
    a.settle(&present, PlainField::Title, Some("One"), MIRA, NOON + 9)
        .unwrap();
    b.settle(&present, PlainField::Title, Some("Two"), TOMAS, NOON + 9)
        .unwrap();
    meet(&mut a, &mut b);
    let expected = vec![
        (MIRA, Some("One".to_owned())),
        (TOMAS, Some("Two".to_owned())),
    ];
    assert_eq!(values(&a, PlainField::Title), expected);
}

#[test]
fn equal_concurrent_values_are_no_contest() {
    let (mut a, mut b) = two();
    write(&mut a, &status(Some("dead")), TOMAS, NOON + 1);
    write(&mut b, &status(Some("dead")), QUILL, NOON + 2);
    meet(&mut a, &mut b);
    assert!(shown(&a).contested.is_empty());
    assert_eq!(shown(&a).status.as_deref(), Some("dead"));
}

#[test]
fn clearing_a_field_contests_a_concurrent_value() {
    let (mut a, mut b) = two();
    write(
        &mut a,
        &Patch {
            when: Some(None),
            ..Patch::default()
        },
        TOMAS,
        NOON + 1,
    );
    write(
        &mut b,
        &Patch {
            when: Some(Some("autumn".into())),
            ..Patch::default()
        },
        QUILL,
        NOON + 2,
    );
    meet(&mut a, &mut b);
    let expected = vec![(TOMAS, None), (QUILL, Some("autumn".to_owned()))];
    assert_eq!(values(&a, PlainField::When), expected);
    let present = a.revision();
    a.settle(&present, PlainField::When, None, MIRA, NOON + 3)
        .unwrap();
    assert_eq!((shown(&a).when, shown(&a).contested.len()), (None, 0));
}

#[test]
fn a_form_that_repeats_the_shown_value_settles_nothing() {
    let (mut a, _) = contested();
    let present = a.revision();
    let shown_title = shown(&a).title;
    assert_eq!(
        a.revise(&present, &title(&shown_title), MIRA, NOON)
            .unwrap(),
        None
    );
    assert_eq!(shown(&a).contested.len(), 1);
    write(&mut a, &title("Another"), MIRA, NOON);
    assert!(shown(&a).contested.is_empty());
}

#[test]
fn sets_keep_concurrent_additions_even_against_a_removal() {
    let (mut a, mut b) = two();
    write(&mut a, &threads(&["ring", "river"], &[]), MIRA, NOON + 1);
    meet(&mut a, &mut b);
    // Removed and added again here, removed there: the addition was not seen there.
    write(&mut a, &threads(&[], &["ring"]), TOMAS, NOON + 2);
    write(&mut a, &threads(&["ring", "gate"], &[]), TOMAS, NOON + 3);
    write(
        &mut b,
        &threads(&["gate", "wells"], &["ring", "river"]),
        QUILL,
        NOON + 4,
    );
    meet(&mut a, &mut b);
    let threads: Vec<_> = shown(&a).threads.into_iter().collect();
    assert_eq!(threads, ["gate", "ring", "wells"]);
}

#[test]
fn a_splice_on_an_older_state_merges_with_what_came_after_it() {
    let (mut a, mut b) = two();
    let base = a.revision();
    // "Aldous keeps the toll gate."
    write(
        &mut a,
        &body("Aldous and his dog keep the toll gate."),
        QUILL,
        NOON + 1,
    );
    let spliced = a
        .splice(&base, &[splice(26, 0, " shut")], TOMAS, NOON + 2)
        .unwrap()
        .unwrap();
    assert_eq!(change_author(&spliced.change).unwrap(), TOMAS);
    assert_eq!(
        shown(&a).body,
        "Aldous and his dog keep the toll gate shut."
    );
    // Typing goes on from the branch that the typist has in front of them.
    let typed = "Aldous keeps the toll gate shut.";
    assert_eq!(a.at(&spliced.branch).unwrap().body, typed);
    a.splice(&spliced.branch, &[splice(31, 1, "!")], TOMAS, NOON + 3)
        .unwrap()
        .unwrap();
    assert_eq!(
        shown(&a).body,
        "Aldous and his dog keep the toll gate shut!"
    );
    meet(&mut a, &mut b);
}

#[test]
fn one_author_may_edit_an_older_state_than_their_own_latest() {
    let (mut a, mut b) = two();
    let base = a.revision();
    write(
        &mut a,
        &body("Aldous keeps the old toll gate."),
        MIRA,
        NOON + 1,
    );
    let other = a
        .splice(&base, &[splice(0, 0, "Old ")], MIRA, NOON + 2)
        .unwrap()
        .unwrap();
    assert_eq!(change_author(&other.change).unwrap(), MIRA);
    assert_eq!(shown(&a).body, "Old Aldous keeps the old toll gate.");
    assert_eq!(shown(&a).updated_by, MIRA);
    meet(&mut a, &mut b);
    let loaded = EntryDoc::load(id(), &b.save()).unwrap();
    assert_eq!(json(&loaded), json(&a));
    write(&mut a, &title("Old Aldous"), MIRA, NOON + 3);
    meet(&mut a, &mut b);
}

#[test]
fn body_splices_lead_an_editor_from_one_state_to_another() {
    let (mut a, mut b) = two();
    write(
        &mut a,
        &body("🐉 Aldous keeps the toll gate."),
        TOMAS,
        NOON + 1,
    );
    let base = a.revision();
    let text = shown(&a).body;
    meet(&mut a, &mut b);
    write(
        &mut b,
        &body("🐉🐉 Old Aldous sleeps at the gate, smiling."),
        QUILL,
        NOON + 2,
    );
    a.apply(&b.changes_since(&base).unwrap()).unwrap();
    let splices = a.body_splices(&base, &a.revision()).unwrap();
    assert_eq!(follow(&text, &splices), shown(&a).body);
    let back = a.body_splices(&a.revision(), &base).unwrap();
    assert_eq!(follow(&shown(&a).body, &back), text);
    assert_eq!(a.body_splices(&no_revision(), &base), None);
}

#[test]
fn history_says_who_when_and_what_alike_on_every_replica() {
    let (mut a, mut b) = two();
    write(&mut a, &title("Aldous the tall"), TOMAS, NOON + 50);
    write(
        &mut b,
        &body("Aldous keeps the toll gate. Alone."),
        QUILL,
        NOON + 10,
    );
    write(&mut b, &threads(&["ring"], &[]), QUILL, NOON + 20);
    meet(&mut a, &mut b);
    write(&mut a, &status(Some("alive")), MIRA, NOON + 60);
    meet(&mut a, &mut b);
    let history = a.history();
    assert_eq!(history, b.history());
    let told: Vec<_> = history
        .iter()
        .map(|v| {
            (
                v.by,
                v.at - NOON,
                v.fields.iter().copied().collect::<Vec<_>>(),
            )
        })
        .collect();
    assert_eq!(
        told[1..],
        [
            (QUILL, 10, vec![FieldName::Body]),
            (QUILL, 20, vec![FieldName::Threads]),
            (TOMAS, 50, vec![FieldName::Title]),
            (MIRA, 60, vec![FieldName::Status]),
        ]
    );
    assert_eq!((told[0].0, told[0].1), (MIRA, 0));
    assert_eq!((history[1].inserted, history[1].deleted), (7, 0));
    assert_eq!(history.last().unwrap().revision, a.revision());
    // Every version of the history can be read, on both.
    for version in &history {
        let then = a.at(&version.revision).unwrap();
        assert_eq!(Some(&then), b.at(&version.revision).as_ref());
        assert_eq!(then.revision, version.revision);
    }
    let then = a.at(&history[2].revision).unwrap();
    assert_eq!((then.title.as_str(), then.updated_by), ("Aldous", QUILL));
    assert_eq!(then.body, "Aldous keeps the toll gate. Alone.");
    assert_eq!(a.at(&no_revision()), None);
}

#[test]
fn what_arrives_twice_or_changes_nothing_says_so() {
    let (mut a, mut b) = two();
    let change = write(&mut a, &status(Some("alive")), MIRA, NOON + 1);
    let applied = b.apply(&[change.clone(), change.clone()]).unwrap();
    assert_eq!((applied.new, applied.changed.len()), (1, 1));
    let applied = b.apply(&[change]).unwrap();
    assert_eq!((applied.new, applied.changed.len()), (0, 0));
    // Tomas sets the same status concurrently: a change, but nothing that is seen.
    let (mut c, _) = two();
    let same = write(&mut c, &status(Some("alive")), TOMAS, NOON + 2);
    let applied = b.apply(&[same]).unwrap();
    assert_eq!((applied.new, applied.changed.len()), (1, 0));
}

#[test]
fn the_first_change_may_come_last() {
    let (mut a, _) = two();
    write(&mut a, &title("Second"), MIRA, NOON + 1);
    let changes = a.changes();
    let mut b = EntryDoc::empty(id());
    assert_eq!(b.apply(&changes[1..]).unwrap().waiting, 1);
    assert!(b.is_empty());
    assert_eq!(b.entry(), None);
    assert!(b.revise(&b.revision(), &title("x"), MIRA, NOON).is_err());
    b.apply(&changes[..1]).unwrap();
    assert_eq!(json(&a), json(&b));
}
