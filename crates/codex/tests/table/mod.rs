//! Shared by the tests: authors, drafts and small shorthands.
#![allow(dead_code, unreachable_pub, missing_docs, clippy::unwrap_used)]

use lore_codex::{AuthorId, Draft, Entry, EntryDoc, EntryId, Kind, Patch, Revision, Splice};

pub const MIRA: AuthorId = AuthorId::from_bytes([1; 16]);
pub const TOMAS: AuthorId = AuthorId::from_bytes([2; 16]);
pub const QUILL: AuthorId = AuthorId::from_bytes([3; 16]);
pub const NOON: i64 = 1_790_000_000_000;

pub fn id() -> EntryId {
    EntryId::from_parts(NOON as u64, [7; 10])
}

pub fn draft() -> Draft {
    Draft {
        body: "Aldous keeps the toll gate.".into(),
        when: Some("3rd of Thaw".into()),
        ..Draft::new(Kind::new(Kind::NPC).unwrap(), "Aldous")
    }
}

/// An entry by Mira and the same entry on another replica.
pub fn two() -> (EntryDoc, EntryDoc) {
    let (mine, change) = EntryDoc::create(id(), &draft(), MIRA, NOON).unwrap();
    let mut theirs = EntryDoc::empty(id());
    theirs.apply(&[change]).unwrap();
    (mine, theirs)
}

pub fn shown(doc: &EntryDoc) -> Entry {
    doc.entry().unwrap()
}

pub fn title(title: &str) -> Patch {
    Patch {
        title: Some(title.into()),
        ..Patch::default()
    }
}

pub fn body(body: &str) -> Patch {
    Patch {
        body: Some(body.into()),
        ..Patch::default()
    }
}

pub fn status(status: Option<&str>) -> Patch {
    Patch {
        status: Some(status.map(str::to_owned)),
        ..Patch::default()
    }
}

pub fn threads(add: &[&str], remove: &[&str]) -> Patch {
    Patch {
        add_threads: add.iter().map(|s| (*s).to_owned()).collect(),
        remove_threads: remove.iter().map(|s| (*s).to_owned()).collect(),
        ..Patch::default()
    }
}

/// Revises at the present state; the change's bytes.
pub fn write(doc: &mut EntryDoc, patch: &Patch, by: AuthorId, at: i64) -> Vec<u8> {
    let present = doc.revision();
    doc.revise(&present, patch, by, at).unwrap().unwrap()
}

pub fn splice(at: usize, delete: usize, insert: &str) -> Splice {
    Splice {
        at,
        delete,
        insert: insert.into(),
    }
}

/// Both take what the other has.
pub fn meet(a: &mut EntryDoc, b: &mut EntryDoc) {
    let (from_a, from_b) = (a.changes(), b.changes());
    a.apply(&from_b).unwrap();
    b.apply(&from_a).unwrap();
    assert_eq!(json(a), json(b));
}

pub fn json(doc: &EntryDoc) -> String {
    serde_json::to_string(&doc.entry()).unwrap()
}

/// What `text` becomes when the splices are made one after the other, each in the coordinates that
/// the ones before it left.
pub fn follow(text: &str, splices: &[Splice]) -> String {
    let mut units: Vec<u16> = text.encode_utf16().collect();
    for s in splices {
        units.splice(s.at..s.at + s.delete, s.insert.encode_utf16());
    }
    String::from_utf16(&units).unwrap()
}

pub fn no_revision() -> Revision {
    Revision::from_bytes([9; 16])
}
