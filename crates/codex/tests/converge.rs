//! Whatever three replicas write, and in whatever order it reaches them, they come to show the
//! same.
#![allow(clippy::unwrap_used)]

mod table;

use lore_codex::{AuthorId, EntryDoc, Patch, PlainField};
use proptest::prelude::*;
use table::*;

const AUTHORS: [AuthorId; 3] = [MIRA, TOMAS, QUILL];

#[derive(Debug, Clone)]
enum Op {
    Title(u8),
    Status(Option<u8>),
    Body(String),
    Splice(prop::sample::Index, u8, String),
    /// A splice on the state that the replica began with.
    OldSplice(prop::sample::Index, String),
    Threads(Vec<u8>, Vec<u8>),
    Settle,
}

fn op() -> impl Strategy<Value = Op> {
    let text = "[a-c 🐉]{0,6}";
    prop_oneof![
        (0..3_u8).prop_map(Op::Title),
        prop::option::of(0..3_u8).prop_map(Op::Status),
        "[a-c 🐉]{0,20}".prop_map(Op::Body),
        (any::<prop::sample::Index>(), 0..4_u8, text).prop_map(|(a, d, t)| Op::Splice(a, d, t)),
        (any::<prop::sample::Index>(), text).prop_map(|(a, t)| Op::OldSplice(a, t)),
        (
            prop::collection::vec(0..4_u8, 0..3),
            prop::collection::vec(0..4_u8, 0..3)
        )
            .prop_map(|(a, r)| Op::Threads(a, r)),
        Just(Op::Settle),
    ]
}

/// Makes `op` at this replica; the change, if there was anything to change.
fn make(
    doc: &mut EntryDoc,
    op: Op,
    by: AuthorId,
    at: i64,
    first: &lore_codex::Revision,
) -> Option<Vec<u8>> {
    let present = doc.revision();
    let patch = match op {
        Op::Title(n) => title(&format!("title {n}")),
        Op::Status(n) => status(n.map(|n| format!("status {n}")).as_deref()),
        Op::Body(text) => body(&text),
        Op::Threads(add, remove) => {
            let names = |set: Vec<u8>| set.into_iter().map(|n| format!("t{n}")).collect();
            Patch {
                add_threads: names(add),
                remove_threads: names(remove),
                ..Patch::default()
            }
        }
        Op::Splice(at_index, delete, text) => {
            // Whole characters only.
            let body: Vec<char> = shown(doc).body.chars().collect();
            let from = at_index.index(body.len() + 1);
            let to = (from + usize::from(delete)).min(body.len());
            let units = |chars: &[char]| chars.iter().map(|c| c.len_utf16()).sum();
            let edit = splice(units(&body[..from]), units(&body[from..to]), &text);
            return doc
                .splice(&present, &[edit], by, at)
                .unwrap()
                .map(|s| s.change);
        }
        Op::OldSplice(at_index, text) => {
            let length = doc.at(first).unwrap().body.len();
            let edit = splice(at_index.index(length + 1), 0, &text);
            return doc
                .splice(first, &[edit], by, at)
                .unwrap()
                .map(|s| s.change);
        }
        Op::Settle => {
            let contested = shown(doc).contested.into_iter().next()?;
            let value = contested.candidates.last().unwrap().value.clone();
            return Some(
                doc.settle(&present, contested.field, value.as_deref(), by, at)
                    .unwrap(),
            );
        }
    };
    doc.revise(&present, &patch, by, at).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 96,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn replicas_with_the_same_changes_show_the_same(
        ops in prop::collection::vec((0..3_usize, op(), prop::collection::vec(any::<prop::sample::Index>(), 0..3)), 1..24),
        last in prop::collection::vec(any::<prop::sample::Index>(), 0..16),
        shuffles in prop::collection::vec(any::<u64>(), 3),
    ) {
        let (doc, change) = EntryDoc::create(id(), &draft(), MIRA, NOON).unwrap();
        let first = doc.revision();
        let mut replicas = [doc, EntryDoc::empty(id()), EntryDoc::empty(id())];
        for replica in &mut replicas[1..] {
            replica.apply(std::slice::from_ref(&change)).unwrap();
        }
        let mut sent = vec![change];
        for (n, (at, op, reach)) in ops.into_iter().enumerate() {
            // Times repeat, so that ties have to be broken alike.
            sent.extend(make(&mut replicas[at], op, AUTHORS[at], NOON + (n as i64 / 3), &first));
            // Some of what was sent reaches someone, in no order, perhaps again.
            for (step, index) in reach.into_iter().enumerate() {
                let change = sent[index.index(sent.len())].clone();
                replicas[(at + step + 1) % 3].apply(&[change]).unwrap();
            }
        }
        // In the end all of it reaches everyone, each time in another order and some of it twice.
        for (replica, seed) in replicas.iter_mut().zip(&shuffles) {
            let mut order: Vec<_> = sent.iter().collect();
            order.extend(last.iter().map(|index| &sent[index.index(sent.len())]));
            order.sort_by_key(|change| {
                change.iter().fold(*seed, |hash, byte| {
                    (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3)
                })
            });
            for change in order {
                replica.apply(std::slice::from_ref(change)).unwrap();
            }
        }
        let [a, b, c] = &replicas;
        prop_assert_eq!(json(a), json(b));
        prop_assert_eq!(json(b), json(c));
        prop_assert_eq!(a.history(), b.history());
        prop_assert_eq!(a.revision(), c.revision());
        let loaded = EntryDoc::load(id(), &c.save()).unwrap();
        prop_assert_eq!(json(&loaded), json(a));
        prop_assert!(a.missing().is_empty());
        for field in PlainField::ALL {
            prop_assert!(shown(a).contested.iter().filter(|c| c.field == field).count() <= 1);
        }
    }
}
