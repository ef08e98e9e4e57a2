//! Writing into one replica: conditional writes, splices, limits, saving.
#![allow(clippy::unwrap_used)]

mod table;

use std::collections::BTreeSet;

use lore_codex::{
    Draft, EntryDoc, FieldError, FieldName, Kind, Patch, PlainField, ReviseError, limits,
};
use table::*;

#[test]
fn a_new_entry_shows_what_was_drafted_and_who_drafted_it() {
    let mut draft = draft();
    draft.threads = BTreeSet::from(["the ring".into(), "the river".into()]);
    draft.aliases = BTreeSet::from(["old Aldous".into()]);
    draft.derived_from = BTreeSet::from(["notes/session-2.md#L3".into()]);
    draft.status = Some("alive".into());
    let (doc, _) = EntryDoc::create(id(), &draft, MIRA, NOON).unwrap();
    let entry = shown(&doc);
    assert_eq!(entry.id, id());
    assert_eq!(entry.kind, draft.kind);
    assert_eq!(entry.title, draft.title);
    assert_eq!(entry.body, draft.body);
    assert_eq!(entry.threads, draft.threads);
    assert_eq!(entry.aliases, draft.aliases);
    assert_eq!(entry.derived_from, draft.derived_from);
    assert_eq!(entry.when, draft.when);
    assert_eq!(entry.status, draft.status);
    assert_eq!((entry.created_at, entry.created_by), (NOON, MIRA));
    assert_eq!((entry.updated_at, entry.updated_by), (NOON, MIRA));
    assert_eq!(entry.revision, doc.revision());
    assert!(entry.contested.is_empty());
}

#[test]
fn a_stale_revise_says_what_is_there_and_changes_nothing() {
    let (mut doc, _) = two();
    let old = doc.revision();
    write(&mut doc, &title("Aldous of the gate"), TOMAS, NOON + 1);
    let before = (json(&doc), doc.save());
    let refused = doc.revise(&old, &title("Lost"), QUILL, NOON + 2);
    match refused {
        Err(ReviseError::Stale { expected, present }) => {
            assert_eq!(expected, old);
            assert_eq!(present, doc.revision());
        }
        other => panic!("{other:?}"),
    }
    assert_eq!((json(&doc), doc.save()), before);
}

#[test]
fn a_patch_that_changes_nothing_makes_no_change() {
    let (mut doc, _) = two();
    let present = doc.revision();
    let entry = shown(&doc);
    let same = Patch {
        kind: Some(entry.kind),
        title: Some(entry.title),
        body: Some(entry.body),
        when: Some(entry.when),
        status: Some(entry.status),
        remove_threads: BTreeSet::from(["never there".into()]),
        ..Patch::default()
    };
    assert_eq!(doc.revise(&present, &same, TOMAS, NOON + 1).unwrap(), None);
    assert_eq!(doc.revision(), present);
    assert_eq!(shown(&doc).updated_by, MIRA);
}

#[test]
fn every_field_can_be_revised_and_cleared() {
    let (mut doc, _) = two();
    let patch: Patch = serde_json::from_str(
        r#"{"kind":"faction","title":"T","body":"B","when":null,"status":"kept",
            "addThreads":["a","b"],"addAliases":["x"]}"#,
    )
    .unwrap();
    write(&mut doc, &patch, TOMAS, NOON + 1);
    let entry = shown(&doc);
    assert_eq!(entry.kind.as_str(), "faction");
    assert_eq!((entry.title.as_str(), entry.body.as_str()), ("T", "B"));
    assert_eq!((entry.when, entry.status.as_deref()), (None, Some("kept")));
    assert_eq!(entry.threads.len(), 2);
    assert_eq!((entry.updated_at, entry.updated_by), (NOON + 1, TOMAS));
    assert_eq!((entry.created_at, entry.created_by), (NOON, MIRA));
    write(&mut doc, &threads(&[], &["a"]), MIRA, NOON + 2);
    assert_eq!(shown(&doc).threads, BTreeSet::from(["b".to_owned()]));
}

#[test]
fn splices_count_utf16_code_units_and_never_cut_a_character() {
    let (mut doc, _) = two();
    write(&mut doc, &body("a🐉b é c"), MIRA, NOON);
    let base = doc.revision();
    // The dragon is the code units 1 and 2.
    let edits = [splice(1, 2, "🜁🜂"), splice(4, 1, ""), splice(7, 0, "!")];
    doc.splice(&base, &edits, MIRA, NOON + 1).unwrap().unwrap();
    assert_eq!(shown(&doc).body, "a🜁🜂bé !c");
    for wrong in [
        vec![splice(2, 1, "")],
        vec![splice(1, 1, "")],
        vec![splice(2, 0, "x")],
        vec![splice(0, 99, "")],
        vec![splice(99, 0, "x")],
        vec![splice(usize::MAX, usize::MAX, "x")],
        vec![splice(4, 1, ""), splice(0, 1, "")],
        vec![splice(0, 3, ""), splice(1, 1, "")],
    ] {
        let before = json(&doc);
        assert!(
            matches!(
                doc.splice(&base, &wrong, MIRA, NOON + 2),
                Err(ReviseError::Splice { .. })
            ),
            "{wrong:?}"
        );
        assert_eq!(json(&doc), before);
    }
}

#[test]
fn a_splice_on_an_unknown_state_is_refused() {
    let (mut doc, _) = two();
    let refused = doc.splice(&no_revision(), &[splice(0, 0, "x")], MIRA, NOON);
    assert!(matches!(refused, Err(ReviseError::UnknownBase { base }) if base == no_revision()));
}

#[test]
fn values_beyond_the_limits_are_refused_and_nothing_is_written() {
    let long = "x".repeat(limits::TITLE_CHARS + 1);
    let too_long = FieldError::TooLong {
        field: FieldName::Title,
        limit: limits::TITLE_CHARS,
        unit: "characters",
    };
    assert_eq!(
        Draft::new(Kind::note(), long.clone()).check(),
        Err(too_long)
    );
    assert!(
        Draft::new(Kind::note(), "é".repeat(limits::TITLE_CHARS))
            .check()
            .is_ok()
    );
    assert!(Draft::new(Kind::note(), " ").check().is_err());
    assert!(Draft::new(Kind::note(), "two\nlines").check().is_err());
    for slug in [
        "",
        "Npc",
        "-x",
        "a b",
        "né",
        &"k".repeat(limits::KIND_CHARS + 1),
    ] {
        assert!(Kind::new(slug).is_err(), "{slug}");
    }

    let (mut doc, _) = two();
    let before = (json(&doc), doc.save());
    let present = doc.revision();
    let many: Vec<String> = (0..=limits::THREADS).map(|n| n.to_string()).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let patches = [
        title(&long),
        title(""),
        body(&"x".repeat(limits::BODY_BYTES + 1)),
        status(Some(&"s".repeat(limits::PHRASE_CHARS + 1))),
        threads(&[&"t".repeat(limits::LABEL_CHARS + 1)], &[]),
        threads(&many, &[]),
    ];
    for patch in patches {
        let refused = doc.revise(&present, &patch, TOMAS, NOON);
        assert!(matches!(refused, Err(ReviseError::Field(_))), "{refused:?}");
    }
    let huge = "x".repeat(limits::BODY_BYTES);
    let refused = doc.splice(&present, &[splice(0, 0, &huge)], TOMAS, NOON);
    assert!(matches!(refused, Err(ReviseError::Field(_))), "{refused:?}");
    assert_eq!((json(&doc), doc.save()), before);

    write(&mut doc, &threads(&many[1..], &[]), TOMAS, NOON);
    let present = doc.revision();
    assert!(
        doc.revise(&present, &threads(&["one more"], &[]), TOMAS, NOON)
            .is_err()
    );
    assert!(
        doc.revise(&present, &threads(&["one more"], &["1"]), TOMAS, NOON)
            .is_ok()
    );
}

#[test]
fn the_largest_body_can_be_written_sent_and_replaced() {
    let (mut doc, mut other) = two();
    let prose: String = (0..)
        .flat_map(|n: u32| format!("word{} ", n * 7919 % 10007).into_bytes())
        .map(char::from)
        .take(limits::BODY_BYTES)
        .collect();
    let change = write(&mut doc, &body(&prose), MIRA, NOON);
    other.apply(&[change]).unwrap();
    assert_eq!(shown(&other).body, prose);
    let reversed: String = prose.split(' ').rev().collect::<Vec<_>>().join(" ");
    let change = write(&mut doc, &body(&reversed), MIRA, NOON);
    assert!(change.len() <= limits::CHANGE_BYTES);
    other.apply(&[change]).unwrap();
    assert_eq!(shown(&other).body, reversed);
}

#[test]
fn a_saved_entry_loads_as_it_was() {
    let (mut doc, _) = two();
    write(
        &mut doc,
        &body("Aldous keeps the 🐉 gate."),
        TOMAS,
        NOON + 1,
    );
    let old = doc.revision();
    write(&mut doc, &status(Some("alive")), QUILL, NOON + 2);
    let loaded = EntryDoc::load(id(), &doc.save()).unwrap();
    assert_eq!(json(&loaded), json(&doc));
    assert_eq!(loaded.history(), doc.history());
    assert_eq!(loaded.at(&old), doc.at(&old));
    assert!(loaded.at(&old).is_some());
    assert_eq!(loaded.save(), doc.save());
}

#[test]
fn what_waits_is_saved_too() {
    let (mut doc, mut other) = two();
    let first = write(&mut doc, &title("A"), MIRA, NOON + 1);
    let second = write(&mut doc, &title("B"), MIRA, NOON + 2);
    assert_eq!(other.apply(&[second]).unwrap().waiting, 1);
    assert_eq!(other.missing().len(), 1);
    let mut other = EntryDoc::load(id(), &other.save()).unwrap();
    assert_eq!(shown(&other).title, "Aldous");
    let applied = other.apply(&[first]).unwrap();
    assert_eq!((applied.new, applied.waiting), (2, 0));
    assert_eq!(applied.changed, BTreeSet::from([FieldName::Title]));
    assert_eq!(json(&other), json(&doc));
}

#[test]
fn a_newer_saved_form_is_refused_as_such() {
    let (doc, _) = two();
    let mut saved = doc.save();
    saved[0] = 2;
    let refused = EntryDoc::load(id(), &saved);
    assert!(matches!(
        refused,
        Err(lore_codex::DocError::Newer { found: 2 })
    ));
}

#[test]
fn a_field_that_is_not_contested_cannot_be_settled() {
    let (mut doc, _) = two();
    let present = doc.revision();
    let refused = doc.settle(&present, PlainField::Title, Some("X"), MIRA, NOON);
    assert!(matches!(
        refused,
        Err(ReviseError::NotContested {
            field: PlainField::Title
        })
    ));
    assert_eq!(doc.revision(), present);
}

#[test]
fn small_entries_stay_small() {
    let (mut doc, change) = EntryDoc::create(id(), &draft(), MIRA, NOON).unwrap();
    assert!(
        change.len() < 330,
        "{} bytes for the first change",
        change.len()
    );
    assert!(doc.save().len() < 420, "{} bytes saved", doc.save().len());
    let base = doc.revision();
    let typed = doc
        .splice(&base, &[splice(27, 0, " x")], MIRA, NOON)
        .unwrap()
        .unwrap();
    assert!(
        typed.change.len() < 200,
        "{} bytes for a keystroke",
        typed.change.len()
    );
}
