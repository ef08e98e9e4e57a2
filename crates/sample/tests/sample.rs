//! The sample campaign is whole, and makes its point.
#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};

use lore_sample::{ENTRIES, Sample, SampleAudience, SampleEntry, SampleError, sample};

/// Words that carry no content; every other word of a question does.
const FUNCTION_WORDS: [&str; 12] = [
    "do", "in", "the", "what", "did", "we", "back", "to", "a", "of", "us", "is",
];

fn words(text: &str) -> BTreeSet<String> {
    text.to_lowercase()
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Everything of an entry that a search reads.
fn searched(entry: &SampleEntry) -> String {
    let mut text = format!("{} {} {}", entry.kind, entry.title, entry.body);
    for part in entry.threads.iter().chain(&entry.aliases) {
        text.push(' ');
        text.push_str(part);
    }
    for part in entry.when.iter().chain(&entry.status) {
        text.push(' ');
        text.push_str(part);
    }
    text
}

/// Whether two words are likely forms of one: they share their first four letters.
fn akin(a: &str, b: &str) -> bool {
    let stem = |word: &str| word.chars().take(4).collect::<String>();
    a == b || (a.chars().count() >= 4 && stem(a) == stem(b))
}

fn entry<'a>(sample: &'a Sample, key: &str) -> &'a SampleEntry {
    sample
        .entries
        .iter()
        .find(|entry| entry.key == key)
        .unwrap()
}

#[test]
fn the_shipped_sample_can_be_read_and_has_the_promised_size() {
    let sample = sample().unwrap();
    assert!(
        ENTRIES.contains(&sample.entries.len()),
        "{}",
        sample.entries.len()
    );
    assert!((5..=6).contains(&sample.suggested.len()));
    for entry in &sample.entries {
        let count = entry.body.split_whitespace().count();
        assert!((40..=160).contains(&count), "{}: {count} words", entry.key);
    }
    let kinds: BTreeSet<_> = sample.entries.iter().map(|e| e.kind.as_str()).collect();
    for kind in [
        "npc", "place", "faction", "item", "promise", "lie", "thread", "event", "session", "note",
    ] {
        assert!(kinds.contains(kind), "no {kind}");
    }
}

#[test]
fn the_wells_answer_their_question_without_sharing_a_word_with_it() {
    let sample = sample().unwrap();
    let question = &sample.suggested[0];
    assert_eq!(
        question,
        "why do people in the river villages keep getting sick?"
    );
    let told = words(&searched(entry(&sample, "wells")));
    for word in words(question) {
        if FUNCTION_WORDS.contains(&word.as_str()) {
            continue;
        }
        let shared: Vec<_> = told.iter().filter(|other| akin(&word, other)).collect();
        assert!(shared.is_empty(), "`{word}` is there as {shared:?}");
    }
}

#[test]
fn no_other_entry_is_about_illness() {
    let sample = sample().unwrap();
    for entry in sample.entries.iter().filter(|entry| entry.key != "wells") {
        let told = words(&searched(entry));
        for word in [
            "sick", "sickness", "ill", "illness", "fever", "fevers", "poison", "plague", "village",
            "villages",
        ] {
            assert!(!told.contains(word), "{} says `{word}`", entry.key);
        }
    }
}

#[test]
fn nothing_names_the_trade_of_the_man_at_the_toll_gate() {
    let sample = sample().unwrap();
    assert!(
        sample
            .suggested
            .iter()
            .any(|q| q == "what did we promise the ferryman back in spring?")
    );
    for entry in &sample.entries {
        assert!(
            !searched(entry).to_lowercase().contains("ferry"),
            "{}",
            entry.key
        );
    }
    let promise = entry(&sample, "promise-ring");
    assert_eq!(promise.title, "Aldous, toll gate, brother's ring");
    assert!(promise.when.as_ref().unwrap().starts_with("Spring"));
}

#[test]
fn entries_cluster_on_eight_weekly_evenings_of_one_session_each() {
    let sample = sample().unwrap();
    let mut evenings: BTreeMap<u32, Vec<&SampleEntry>> = BTreeMap::new();
    for entry in &sample.entries {
        evenings.entry(entry.days_ago).or_default().push(entry);
    }
    let days: Vec<_> = evenings.keys().copied().collect();
    assert_eq!(days.len(), 8);
    assert!(
        days.windows(2).all(|pair| pair[1] - pair[0] == 7),
        "{days:?}"
    );
    for (day, entries) in evenings {
        let sessions = entries
            .iter()
            .filter(|entry| entry.kind == "session")
            .count();
        assert_eq!(sessions, 1, "{day} days ago");
        assert!(
            entries.iter().all(|entry| entry.minute >= 18 * 60),
            "{day} days ago"
        );
    }
}

#[test]
fn every_link_leads_somewhere_that_its_reader_may_go() {
    let sample = sample().unwrap();
    let mut links = 0;
    for entry in &sample.entries {
        for link in entry.body.split("[[").skip(1) {
            let (name, _) = link.split_once("]]").unwrap();
            let target = sample
                .linked(name)
                .unwrap_or_else(|| panic!("{}: [[{name}]]", entry.key));
            assert!(
                target.audience == SampleAudience::Table
                    || entry.audience == SampleAudience::Keeper,
                "{} links to a secret",
                entry.key
            );
            links += 1;
        }
    }
    assert!(links > 20, "{links}");
}

#[test]
fn there_are_secrets_an_agent_and_one_contest_to_learn_from() {
    let sample = sample().unwrap();
    let secrets = sample
        .entries
        .iter()
        .filter(|e| e.audience == SampleAudience::Keeper)
        .count();
    assert!(secrets >= 3, "{secrets}");
    let agents: Vec<_> = sample.people.iter().filter(|p| p.agent).collect();
    assert_eq!(agents.len(), 1);
    assert!(sample.entries.iter().any(|e| e.author == agents[0].name));
    let contests: Vec<_> = sample
        .entries
        .iter()
        .filter_map(|e| e.contested.as_ref())
        .collect();
    assert_eq!(contests.len(), 1);
    assert_eq!(contests[0].values.len(), 2);
}

#[test]
fn data_that_contradicts_itself_is_refused() {
    let whole = serde_json::to_value(sample().unwrap()).unwrap();
    let refused = |change: &dyn Fn(&mut serde_json::Value)| {
        let mut data = whole.clone();
        change(&mut data);
        Sample::parse(&data.to_string()).unwrap_err()
    };
    assert!(matches!(
        refused(&|d| d["version"] = 2.into()),
        SampleError::Version { found: 2 }
    ));
    assert!(matches!(
        refused(&|d| d["entries"][0]["author"] = "Nobody".into()),
        SampleError::Entry { .. }
    ));
    assert!(matches!(
        refused(&|d| d["entries"][0]["minute"] = 1440.into()),
        SampleError::Entry { .. }
    ));
    let twice = |d: &mut serde_json::Value| d["entries"][1] = d["entries"][0].clone();
    assert!(matches!(refused(&twice), SampleError::Entry { .. }));
    assert!(matches!(Sample::parse("{}"), Err(SampleError::Form(_))));
}

#[test]
fn times_lie_on_the_evening_they_belong_to() {
    let sample = sample().unwrap();
    let entry = &sample.entries[0];
    let midnight = 1_790_035_200_000;
    let expected =
        midnight - i64::from(entry.days_ago) * 86_400_000 + i64::from(entry.minute) * 60_000;
    assert_eq!(entry.written_at(midnight), expected);
}
