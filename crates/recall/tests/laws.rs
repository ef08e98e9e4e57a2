//! Laws of the index, over random histories and random text.

use lore_recall::{DIMENSIONS, Document, QuantizedVector, Query, RecallIndex, SpanKey, spans};
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Step {
    Insert {
        entry: u8,
        ordinal: u32,
        title: String,
        text: String,
    },
    Vector {
        entry: u8,
        ordinal: u32,
        axis: usize,
    },
    Remove {
        entry: u8,
    },
}

const ENTRIES: u8 = 12;

fn text() -> impl Strategy<Value = String> {
    prop::collection::vec(
        prop::sample::select(vec![
            "ferry", "ferries", "river", "the", "oath", "Mirela", "mirela's", "well", "wells",
            "crossbow", "night", "ring", "Éowyn", "竜", "half-elf",
        ]),
        0..12,
    )
    .prop_map(|words| words.join(" "))
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        5 => (0..ENTRIES, 0..3_u32, text(), text()).prop_map(|(entry, ordinal, title, text)| {
            Step::Insert { entry, ordinal, title, text }
        }),
        3 => (0..ENTRIES, 0..3_u32, 0..DIMENSIONS).prop_map(|(entry, ordinal, axis)| {
            Step::Vector { entry, ordinal, axis }
        }),
        2 => (0..ENTRIES).prop_map(|entry| Step::Remove { entry }),
    ]
}

fn key(entry: u8, ordinal: u32) -> SpanKey {
    SpanKey {
        entry: [entry; 16],
        ordinal,
    }
}

fn document(entry: u8, ordinal: u32, title: &str, text: &str) -> Document {
    Document {
        key: key(entry, ordinal),
        title: title.to_owned(),
        aliases: vec![format!("alias{entry}")],
        threads: vec!["salt war".to_owned()],
        kind: "npc".to_owned(),
        headings: Vec::new(),
        text: text.to_owned(),
    }
}

fn vector(axis: usize) -> [f32; DIMENSIONS] {
    std::array::from_fn(|at| {
        if at == axis {
            1.0
        } else {
            (at % 7) as f32 * 0.01
        }
    })
}

/// What a history leaves, as a plain map.
type Model = std::collections::BTreeMap<SpanKey, (String, String, Option<usize>)>;

fn apply(index: &mut RecallIndex, model: &mut Model, step: &Step) {
    match step {
        Step::Insert {
            entry,
            ordinal,
            title,
            text,
        } => {
            index.insert(document(*entry, *ordinal, title, text));
            model.insert(key(*entry, *ordinal), (title.clone(), text.clone(), None));
        }
        Step::Vector {
            entry,
            ordinal,
            axis,
        } => {
            let held = index.set_vector(
                key(*entry, *ordinal),
                &QuantizedVector::from_f32(&vector(*axis)),
            );
            let known = model.get_mut(&key(*entry, *ordinal));
            assert_eq!(held, known.is_some());
            if let Some(known) = known {
                known.2 = Some(*axis);
            }
        }
        Step::Remove { entry } => {
            index.remove_entry([*entry; 16]);
            model.retain(|key, _| key.entry != [*entry; 16]);
        }
    }
}

fn rebuilt(model: &Model) -> RecallIndex {
    let mut index = RecallIndex::new();
    for (key, (title, text, axis)) in model.iter().rev() {
        index.insert(document(key.entry[0], key.ordinal, title, text));
        if let Some(axis) = axis {
            index.set_vector(*key, &QuantizedVector::from_f32(&vector(*axis)));
        }
    }
    index
}

fn questions() -> Vec<Query> {
    let ask = |wordings: &[&str], axes: &[Option<usize>]| Query {
        wordings: wordings.iter().map(|&wording| wording.to_owned()).collect(),
        vectors: axes
            .iter()
            .map(|axis| axis.map(|axis| vector(axis).to_vec()))
            .collect(),
        limit: 20,
    };
    vec![
        ask(&["the ferry at night"], &[]),
        ask(&["ferry", "Mirela oath"], &[Some(3), None]),
        ask(&["wel crossbo"], &[Some(200)]),
        ask(&[], &[Some(7)]),
        ask(&["eowyn 竜 half"], &[None, Some(1)]),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn an_index_is_what_it_holds_however_it_grew(steps in prop::collection::vec(step(), 0..80)) {
        let (mut index, mut model) = (RecallIndex::new(), Model::new());
        for step in &steps {
            apply(&mut index, &mut model, step);
        }
        let fresh = rebuilt(&model);
        prop_assert_eq!(index.len(), model.len());
        prop_assert_eq!(index.vector_count(), fresh.vector_count());
        for question in questions() {
            let hits = index.search(&question);
            prop_assert_eq!(&hits, &fresh.search(&question));
            prop_assert!(hits.iter().all(|hit| model.contains_key(&hit.key)));
        }
    }

    #[test]
    fn no_question_and_no_text_is_an_error(
        bodies in prop::collection::vec(any::<String>(), 0..6),
        wordings in prop::collection::vec(any::<String>(), 0..10),
        numbers in prop::collection::vec(any::<f32>(), DIMENSIONS),
        limit in any::<usize>(),
    ) {
        let mut index = RecallIndex::new();
        for (entry, body) in bodies.iter().enumerate() {
            for (ordinal, span) in spans(body).into_iter().enumerate() {
                index.insert(Document {
                    key: key(entry as u8, ordinal as u32),
                    title: body.clone(),
                    aliases: vec![body.clone()],
                    threads: Vec::new(),
                    kind: String::new(),
                    headings: span.headings(),
                    text: span.text,
                });
                if let Ok(vector) = QuantizedVector::from_slice(&numbers) {
                    index.set_vector(key(entry as u8, ordinal as u32), &vector);
                }
            }
        }
        let mut wordings = wordings;
        wordings.extend(bodies.first().cloned());
        let hits = index.search(&Query { wordings, vectors: vec![Some(numbers)], limit });
        prop_assert!(hits.is_sorted_by(|a, b| a.score >= b.score && a.relevance >= b.relevance));
        for hit in hits {
            prop_assert!(hit.score.is_finite());
            prop_assert!((1..=99).contains(&hit.relevance));
            prop_assert!(hit.matched.is_sorted_by(|a, b| a.end <= b.start));
        }
    }
}

#[test]
fn dropping_dead_spans_changes_no_answer() {
    // Enough edits of few entries that the index compacts itself more than once.
    let (mut index, mut model) = (RecallIndex::new(), Model::new());
    let words = ["ferry", "river", "oath", "well", "night"];
    let same = |entry| Step::Insert {
        entry,
        ordinal: 0,
        title: format!("Bell {entry}"),
        text: "The bell rings at low tide and no one pulls the rope.".into(),
    };
    apply(&mut index, &mut model, &same(20));
    for round in 0..4_000_usize {
        let entry = (round % 9) as u8;
        let text = format!("{} word{round} {}", words[round % 5], words[round / 7 % 5]);
        apply(
            &mut index,
            &mut model,
            &Step::Insert {
                entry,
                ordinal: 0,
                title: "T".into(),
                text,
            },
        );
        if round % 3 == 0 {
            apply(
                &mut index,
                &mut model,
                &Step::Vector {
                    entry,
                    ordinal: 0,
                    axis: round % DIMENSIONS,
                },
            );
        }
        if round % 11 == 0 {
            apply(
                &mut index,
                &mut model,
                &Step::Remove {
                    entry: ((round + 4) % 9) as u8,
                },
            );
        }
        if round % 500 == 499 {
            let fresh = rebuilt(&model);
            for question in questions() {
                assert_eq!(
                    index.search(&question),
                    fresh.search(&question),
                    "round {round}"
                );
            }
        }
    }
    assert_eq!(index.len(), model.len());
    // Texts taken in before and after are still known to be equal.
    apply(&mut index, &mut model, &same(21));
    let hits = index.search(&Query {
        wordings: vec!["bell".into()],
        limit: 5,
        ..Query::default()
    });
    assert_eq!(hits.len(), 1);
    assert_eq!(hits[0].duplicates, [key(21, 0)]);
}
