//! What a question brings back.

use lore_recall::{
    DIMENSIONS, Document, MAX_RESULTS, MAX_WORDINGS, QuantizedVector, Query, RecallIndex, SpanKey,
    Standing, Why, embed_text, relevance_percent,
};

fn key(entry: u8, ordinal: u32) -> SpanKey {
    SpanKey {
        entry: [entry; 16],
        ordinal,
    }
}

fn document(entry: u8, title: &str, text: &str) -> Document {
    Document {
        key: key(entry, 0),
        title: title.to_owned(),
        aliases: Vec::new(),
        threads: Vec::new(),
        kind: "note".to_owned(),
        headings: Vec::new(),
        text: text.to_owned(),
    }
}

fn index(documents: impl IntoIterator<Item = Document>) -> RecallIndex {
    let mut index = RecallIndex::new();
    for document in documents {
        index.insert(document);
    }
    index
}

fn ask(wording: &str) -> Query {
    Query {
        wordings: vec![wording.to_owned()],
        limit: 10,
        ..Query::default()
    }
}

fn entries(index: &RecallIndex, query: &Query) -> Vec<u8> {
    index
        .search(query)
        .iter()
        .map(|hit| hit.key.entry[0])
        .collect()
}

/// A vector that points along one axis, with a little of another.
fn towards(axis: usize, lean: f32) -> [f32; DIMENSIONS] {
    let mut vector = [0.0; DIMENSIONS];
    vector[axis] = 1.0;
    vector[axis + 1] = lean;
    vector
}

fn village() -> RecallIndex {
    index([
        document(
            1,
            "Tainted wells",
            "Black silt from the mine seeps into the water of Dunmere.",
        ),
        document(
            2,
            "Mirela Voss",
            "The miller's widow keeps the ferry and a loaded crossbow.",
        ),
        document(
            3,
            "The Gilded Hand",
            "A guild of thieves; they tax the ferry at night.",
        ),
    ])
}

#[test]
fn forms_accents_and_case_do_not_matter() {
    let index = village();
    assert_eq!(entries(&index, &ask("WATERS seeping")), [1]);
    assert_eq!(entries(&index, &ask("mirelà")), [2]);
    assert_eq!(entries(&index, &ask("thief guilds")), [3]);
}

#[test]
fn punctuation_in_a_question_is_harmless() {
    let index = village();
    for wording in [
        "Mirela's ferry",
        "Mirela’s ferry",
        "\"ferry\" Mirela",
        "ferry -Mirela",
        "ferry AND Mirela",
        "ferry* OR (Mirela",
        "Mirela:ferry^2~",
        "NEAR(Mirela, ferry)",
        "ferry\\ Mirela\0",
        "and ferry and mirela and",
        "mirela--ferry''",
    ] {
        assert_eq!(
            entries(&index, &ask(wording)).first(),
            Some(&2),
            "{wording:?}"
        );
    }
    for wording in ["", "'", "-", "\"", "* * *", "?"] {
        assert!(index.search(&ask(wording)).is_empty(), "{wording:?}");
    }
}

#[test]
fn a_title_outweighs_a_mention_and_names_are_found() {
    let mut named = document(4, "Ashford", "A town.");
    named.aliases = vec!["Ravenmoor".to_owned()];
    named.threads = vec!["salt-war".to_owned()];
    named.headings = vec!["Garrison".to_owned()];
    named.kind = "place".to_owned();
    let index = index([
        document(1, "Ferry", "It crosses the river."),
        document(2, "River", "There is a ferry."),
        named,
    ]);
    assert_eq!(entries(&index, &ask("ferry")), [1, 2]);
    for wording in ["ravenmoor", "the salt war", "garrison", "place"] {
        assert_eq!(entries(&index, &ask(wording)), [4], "{wording:?}");
    }
}

#[test]
fn a_typo_or_a_beginning_finds_the_word() {
    let index = village();
    for wording in ["crosbow", "crossbwo", "crossbowx", "crossb", "crozsbow"] {
        assert_eq!(entries(&index, &ask(wording)), [2], "{wording:?}");
    }
    assert!(
        entries(&index, &ask("crzzsbow")).is_empty(),
        "two typos are another word"
    );
    // A word that exists is never bent into another.
    let index = self::index([document(1, "", "cavern"), document(2, "", "tavern")]);
    assert_eq!(entries(&index, &ask("tavern")), [2]);
}

#[test]
fn meaning_finds_what_words_cannot() {
    let mut index = village();
    assert!(index.set_vector(key(1, 0), &QuantizedVector::from_f32(&towards(0, 0.2))));
    assert!(index.set_vector(key(2, 0), &QuantizedVector::from_f32(&towards(5, 0.0))));
    assert!(index.set_vector(key(3, 0), &QuantizedVector::from_f32(&towards(9, 0.0))));
    assert_eq!(index.vector_count(), 3);
    let hits = index.search(&Query {
        vectors: vec![Some(towards(0, 0.0).to_vec())],
        ..ask("why is everyone ill?")
    });
    assert_eq!(hits[0].key, key(1, 0));
    assert_eq!(hits[0].why, Why::Meaning);
    assert_eq!(hits[0].words, None);
    assert!(hits[0].meaning.is_some_and(|cosine| cosine > 0.95));
    assert!(hits[0].relevance > hits[1].relevance);
    // Nothing is cut off, however far away.
    assert_eq!(hits.len(), 3);
}

#[test]
fn an_answer_says_whether_words_or_meaning_brought_it() {
    let mut index = village();
    for (entry, axis) in [(1, 0), (2, 5), (3, 9)] {
        index.set_vector(
            key(entry, 0),
            &QuantizedVector::from_f32(&towards(axis, 0.0)),
        );
    }
    let hits = index.search(&Query {
        vectors: vec![Some(towards(5, 0.0).to_vec())],
        ..ask("ferry")
    });
    let why = |entry: u8| {
        hits.iter()
            .find(|hit| hit.key == key(entry, 0))
            .map(|hit| hit.why)
    };
    assert_eq!(hits[0].key, key(2, 0));
    assert_eq!(why(2), Some(Why::Both));
    assert_eq!(why(3), Some(Why::Words));
    assert_eq!(why(1), Some(Why::Meaning));
}

#[test]
fn a_vector_of_the_wrong_shape_is_as_good_as_none() {
    let index = village();
    for vector in [
        vec![],
        vec![1.0; 3],
        vec![f32::NAN; DIMENSIONS],
        vec![0.0; DIMENSIONS],
    ] {
        let hits = index.search(&Query {
            vectors: vec![Some(vector)],
            ..ask("ferry")
        });
        assert_eq!(hits.len(), 2);
        assert_eq!(hits[0].meaning, None);
    }
}

#[test]
fn several_wordings_are_fused() {
    let index = village();
    let query = Query {
        wordings: vec!["silt".to_owned(), "crossbow".to_owned()],
        limit: 10,
        ..Query::default()
    };
    let mut found = entries(&index, &query);
    found.sort_unstable();
    assert_eq!(found, [1, 2]);
    // Beyond the stated number, wordings are not read.
    let mut wordings = vec!["silt".to_owned(); MAX_WORDINGS];
    wordings.push("crossbow".to_owned());
    assert_eq!(entries(&index, &Query { wordings, ..query }), [1]);
}

#[test]
fn an_entry_appears_once_with_its_best_span() {
    let mut second = document(1, "Log", "The crossbow was stolen.");
    second.key.ordinal = 1;
    let mut third = document(1, "Log", "The crossbow, again the crossbow.");
    third.key.ordinal = 2;
    let index = index([document(1, "Log", "Rain."), second, third]);
    let hits = index.search(&ask("crossbow"));
    assert_eq!(hits.len(), 1);
    assert_eq!(hits[0].key, key(1, 2));
}

#[test]
fn equal_texts_are_shown_once_and_the_other_is_named() {
    let text = "The bell of Saint Orla rings at low tide, and no one pulls the rope.";
    let index = index([
        document(1, "Bell", text),
        document(2, "The bell (copy)", &text.to_uppercase()),
        document(3, "Guard", "To be written."),
        document(4, "Smith", "To be written."),
    ]);
    let hits = index.search(&ask("Saint Orla bell"));
    assert_eq!(hits.len(), 1);
    let other = if hits[0].key == key(1, 0) { 2 } else { 1 };
    assert_eq!(hits[0].duplicates, [key(other, 0)]);
    // A stub says too little to make two entries one.
    assert_eq!(entries(&index, &ask("written")), [3, 4]);
}

#[test]
fn the_filter_comes_before_the_ranking() {
    let documents = (0..200).map(|entry| document(entry, "Ferry", "The ferry."));
    let index = index(documents);
    let hits = index.search_where(&ask("ferry"), |key| key.entry[0] >= 197);
    assert_eq!(hits.len(), 1);
    assert_eq!(hits[0].key, key(197, 0));
    // Not even as a duplicate is anything named that the filter keeps out.
    assert_eq!(hits[0].duplicates, [key(198, 0), key(199, 0)]);
}

#[test]
fn ties_are_in_key_order_and_limits_hold() {
    let words = ["ash", "birch", "cedar"];
    let documents = (0..=255_u8).rev().map(|entry| {
        document(
            entry,
            "",
            &format!("oak {} {}", words[usize::from(entry) % 3], entry),
        )
    });
    let index = index(documents);
    let found = entries(&index, &ask("oak"));
    assert_eq!(found, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    assert_eq!(
        index
            .search(&Query {
                limit: usize::MAX,
                ..ask("oak")
            })
            .len(),
        MAX_RESULTS
    );
    assert!(
        index
            .search(&Query {
                limit: 0,
                ..ask("oak")
            })
            .is_empty()
    );
}

#[test]
fn matched_words_are_whole_and_counted_in_utf16() {
    let index = index([document(
        1,
        "",
        "🜁 Poisoned wells; the Poisoner's mark 🜂 poisons.",
    )]);
    let hits = index.search(&ask("poisoning"));
    let text: Vec<u16> = "🜁 Poisoned wells; the Poisoner's mark 🜂 poisons."
        .encode_utf16()
        .collect();
    let shown: Vec<String> = hits[0]
        .matched
        .iter()
        .map(|range| String::from_utf16_lossy(&text[range.start as usize..range.end as usize]))
        .collect();
    assert_eq!(shown, ["Poisoned", "Poisoner", "poisons"]);
}

#[test]
fn replaced_and_removed_spans_are_gone_with_their_vectors() {
    let mut index = village();
    let vector = QuantizedVector::from_f32(&towards(0, 0.0));
    index.set_vector(key(1, 0), &vector);
    index.set_vector(key(2, 0), &vector);
    index.insert(document(1, "Clean wells", "The spring is clear."));
    assert_eq!((index.len(), index.vector_count()), (3, 1));
    assert!(!index.has_vector(key(1, 0)) && index.has_vector(key(2, 0)));
    assert!(entries(&index, &ask("silt")).is_empty());
    assert_eq!(entries(&index, &ask("wells")), [1]);

    assert_eq!(index.remove_entry([2; 16]), 1);
    assert_eq!(index.remove_entry([2; 16]), 0);
    assert_eq!((index.len(), index.vector_count()), (2, 0));
    assert!(!index.set_vector(key(2, 0), &vector));
    assert!(entries(&index, &ask("mirela")).is_empty());
}

#[test]
fn relevance_rises_with_the_score_and_the_lead_and_never_claims_certainty() {
    for by_meaning in [false, true] {
        for best in [-0.2, 0.1, 0.44, 0.9, 2.4] {
            for lead in [0.0, 0.05, 0.2, 1.0] {
                let standing = Standing {
                    best,
                    next: best - lead,
                    by_meaning,
                };
                let mut before = 100;
                for step in 0..40 {
                    let here = relevance_percent(best - f64::from(step) / 20.0, &standing);
                    assert!((1..=99).contains(&here) && here <= before);
                    before = here;
                }
                let clearer = Standing {
                    next: standing.next - 0.1,
                    ..standing
                };
                assert!(relevance_percent(best, &clearer) >= relevance_percent(best, &standing));
            }
        }
    }
    let nowhere = Standing {
        best: f64::NAN,
        next: f64::INFINITY,
        by_meaning: true,
    };
    assert!((1..=99).contains(&relevance_percent(f64::NAN, &nowhere)));
}

#[test]
fn a_percentage_does_not_depend_on_how_many_hits_are_asked_for() {
    let index = village();
    let all = index.search(&ask("the ferry guild"));
    assert!(all.len() > 1);
    let one = index.search(&Query {
        limit: 1,
        ..ask("the ferry guild")
    });
    assert_eq!(one[0], all[0]);
}

#[test]
fn an_ordinary_or_short_word_is_never_bent_into_another() {
    let index = index([
        document(
            1,
            "Grain",
            "A sack of flour, the house, the plaque, the silvery pond.",
        ),
        document(
            2,
            "Aldous Wick",
            "He keeps the chain at the Narrows with Tansy.",
        ),
    ]);
    for wording in [
        "sick", "horse", "horses", "plague", "sil", "silver", "bldous",
    ] {
        assert!(entries(&index, &ask(wording)).is_empty(), "{wording}");
    }
    for wording in ["Aldus", "Aldouss", "Aldos", "narows", "Tansey"] {
        assert_eq!(entries(&index, &ask(wording)), [2], "{wording}");
    }
}

#[test]
fn a_stray_word_does_not_outvote_the_one_clear_meaning() {
    // Many spans, one of which is near; another holds one common word of a long question.
    let mut index = RecallIndex::new();
    for entry in 1..=40 {
        let text = if entry == 2 {
            "A river of ink."
        } else {
            "Ink."
        };
        index.insert(document(entry, "Blot", &format!("{text} {entry}")));
        // The others differ too, as they do in any real codex.
        let lean = if entry == 1 {
            1.5
        } else {
            3.0 + f32::from(entry % 6)
        };
        let vector = QuantizedVector::from_f32(&towards(0, lean));
        index.set_vector(key(entry, 0), &vector);
    }
    let hits = index.search(&Query {
        vectors: vec![Some(towards(0, 0.0).to_vec())],
        ..ask("why are fisherfolk in the river villages feverish and dying?")
    });
    assert_eq!(hits[0].key.entry[0], 1);
    assert!(hits[0].relevance > hits[1].relevance);
}

#[test]
fn what_is_embedded_begins_with_the_names() {
    assert_eq!(
        embed_text(
            "Mirela",
            ["the Widow", " "],
            Some("Her oath"),
            "She swore.\n"
        ),
        "Mirela, the Widow - Her oath: She swore."
    );
    assert_eq!(embed_text("Mirela", &[] as &[String], None, ""), "Mirela");
}
