//! What a command prints: JSON for programs, short text for people.

use std::{
    fmt::Write as _,
    io::{self, IsTerminal as _, Write as _},
};

use lore_replica::{
    CampaignView, ContestedView, DeliveryState, EntryView, ListView, RecallView, Why,
};
use serde::Serialize;

/// Where and how to print.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Output {
    pub(crate) json: bool,
}

impl Output {
    /// The command's result: `value` as JSON, or `text`.
    pub(crate) fn result(self, value: &impl Serialize, text: impl FnOnce() -> String) {
        let printed = if self.json {
            // Plain records serialise; were one not to, an empty line would be the worst answer.
            serde_json::to_string_pretty(value)
                .unwrap_or_else(|error| format!("{{\"code\":\"json\",\"message\":\"{error}\"}}"))
        } else {
            text()
        };
        // A reader that has gone (`lore list | head`) is no failure.
        let _ = writeln!(io::stdout(), "{}", printed.trim_end());
    }
}

/// Something beside the result, for people: to standard error, so that JSON stays JSON.
pub(crate) fn note(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}

/// Progress that overwrites itself, only where a person watches.
pub(crate) fn progress(text: &str) {
    if io::stderr().is_terminal() {
        let _ = write!(io::stderr(), "\r\x1b[K{text}");
        let _ = io::stderr().flush();
    }
}

/// Ends [`progress`].
pub(crate) fn progress_end() {
    progress("");
}

/// One line for a list.
fn line(entry: &EntryView) -> String {
    let mut line = format!("{}  [{}] {}", entry.id, entry.kind, entry.title);
    if let Some(status) = &entry.status {
        let _ = write!(line, " · {status}");
    }
    if entry.audience != "table" {
        let _ = write!(line, " · {} only", entry.audience);
    }
    if !entry.contested.is_empty() {
        line.push_str(" · contested");
    }
    line
}

/// An entry, whole.
pub(crate) fn entry(entry: &EntryView) -> String {
    let mut text = line(entry);
    let _ = write!(text, "\nrevision {}", entry.revision);
    let author = if entry.updated_by.own {
        "you"
    } else if entry.updated_by.name.is_empty() {
        "a device without a name yet"
    } else {
        &entry.updated_by.name
    };
    let _ = write!(text, " · last written by {author}");
    let mut listed = |label: &str, values: &[String]| {
        if !values.is_empty() {
            let _ = write!(text, "\n{label}: {}", values.join(", "));
        }
    };
    listed("threads", &entry.threads);
    listed("aliases", &entry.aliases);
    if let Some(when) = &entry.when {
        let _ = write!(text, "\nwhen: {when}");
    }
    for contested in &entry.contested {
        text.push_str(&contest(contested));
    }
    if !entry.body.is_empty() {
        let _ = write!(text, "\n\n{}", entry.body);
    }
    text
}

fn contest(contested: &ContestedView) -> String {
    let mut text = format!("\ncontested {}:", contested.field);
    for candidate in &contested.candidates {
        let value = candidate.value.as_deref().unwrap_or("(cleared)");
        let name = if candidate.by.own {
            "you"
        } else {
            &candidate.by.name
        };
        let _ = write!(text, " {value:?} by {name};");
    }
    text.trim_end_matches(';').to_owned()
}

/// A page of a list.
pub(crate) fn list(view: &ListView) -> String {
    if view.entries.is_empty() {
        return "nothing here".into();
    }
    let mut text: String = view
        .entries
        .iter()
        .map(|entry| line(entry) + "\n")
        .collect();
    if view.total > view.entries.len() as u64 {
        let _ = write!(text, "{} of {}", view.entries.len(), view.total);
    }
    text
}

/// Passages. What they say is lore, never instructions.
pub(crate) fn recall(view: &RecallView) -> String {
    if view.hits.is_empty() {
        return format!("nothing found by words in {} entries", view.searched);
    }
    let mut text = String::new();
    for hit in &view.hits {
        let why = match hit.why {
            Why::Words => "words",
            Why::Meaning => "meaning",
            Why::Both => "words and meaning",
        };
        let _ = write!(
            text,
            "{:>3} %  [{}] {}  ({why})\n       {}",
            hit.relevance, hit.entry.kind, hit.entry.title, hit.entry.id
        );
        if let Some(anchor) = &hit.anchor {
            let _ = write!(text, " # {anchor}");
        }
        let _ = writeln!(text, " lines {}–{}", hit.start_line, hit.end_line);
        for line in hit.text.lines().filter(|line| !line.trim().is_empty()) {
            let _ = writeln!(text, "       │ {line}");
        }
    }
    let _ = write!(text, "searched {} entries", view.searched);
    text
}

/// One campaign.
pub(crate) fn campaign(view: &CampaignView) -> String {
    let name = if view.name.is_empty() {
        "(its lore is still arriving)"
    } else {
        &view.name
    };
    let place = if view.table {
        "a table"
    } else {
        "this device only"
    };
    format!(
        "{name}  {}\n  {} · {} entries · {} contested · {place}",
        view.id, view.role, view.entries, view.contested
    )
}

/// How far an entry's newest change of this device has got.
pub(crate) fn delivery(entry: &EntryView, table: bool) -> &'static str {
    match entry.delivery.state {
        DeliveryState::Relay => "saved here, at the relay",
        DeliveryState::Here if table => "saved here; will be sent when the relay is reachable",
        DeliveryState::Here | DeliveryState::Received => "saved here",
    }
}
