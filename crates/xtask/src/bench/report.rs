//! `bench report`: runs kept with `--json`, written as the page `docs/benchmarks.md`.

use std::fmt::Write as _;
use std::fs;
use std::process::Command;

use super::row::{Row, number};

/// What the page says before the numbers.
const INTRO: &str = "\
# Benchmarks

Written by `cargo xtask bench report` from runs kept with `--json`; no number is typed by hand. The runs may be of \
different commits and loads: see below. Every contender ran in \
the same run as Lorekeeper, round by round in turn, on the same seeded entries. `limit` is the bound that the machine sets, \
measured in the same run. A value is the median of `n` rounds or samples (or the quantile that the metric names), with the \
smallest and largest beside it. `quick` marks what ran with `--quick`: fewer rounds and smaller cases.

To repeat: `cargo xtask bench table|open|embed|size --json > FILE` one after the other on an idle machine, then \
`cargo xtask bench report FILE… > docs/benchmarks.md`; `cargo xtask bench compare BEFORE AFTER` shows what changed.

## What is measured

- `table`: an entry is recorded on one side of a relay and shown on the other. `native`: two replicas with durable SQLite \
files over raw QUIC, the relay in the same process; shown is when a query of the list returns it. `browser-…`: from the \
submit event in one page to the text in the other's DOM; `own_page` is the recording page itself. `catch_up_ms`: a newcomer \
joins and has the whole codex (the number in the case); `catch_up_first_ms` is its first card. `limit` is 1 KiB on a bare \
quinn stream to an echo and back, with nothing sealed, checked or stored.
- `open`: a codex that is on disk already. `first_cards_ms`: natively from the program's start to the first 50 entries, in a \
browser from navigation to the first card in the DOM. `first_recall_ms`: natively from the start until a question is answered \
by words; in a browser from the question to its answers. Bare libraries have no recall: `all_open_ms` is when every document \
is in memory, which searching them needs at the least. automerge, loro and yrs keep one document an entry as blobs of one \
SQLite table; automerge-repo keeps one an entry and one that lists them; yjs keeps one document with a map an entry; \
other layouts were not tried. None of the contenders seals, signs or indexes anything, and their pages show titles alone. `rss_mb` is \
the process at its highest.
- `embed`: one thread, batch of one, the same int8 weights and the same tokens for both.
- `size`: files as they are served.
";

/// Cases of full runs; those without a row are named on the page.
const FULL: [(&str, &str); 5] = [
    ("table", "native-10000"),
    ("table", "browser-webtransport-10000"),
    ("table", "browser-websocket-10000"),
    ("open", "browser-10k"),
    ("open", "native-100k"),
];

/// A kept run.
pub(super) struct Kept {
    /// The lines that say where and when it ran.
    pub(super) about: Vec<String>,
    /// Its rows.
    pub(super) rows: Vec<Row>,
}

/// Where and when this run takes place, as a line that readers of rows pass over.
pub(super) fn about(suite: &str, quick: bool) -> String {
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load: Vec<&str> = load.split_whitespace().take(3).collect();
    format!(
        "# `{suite}{}`: {}, load averages before the run {}; {}; {}; {}; Node {}; {}",
        if quick { " --quick" } else { "" },
        said("date", &["-u", "+%Y-%m-%d %H:%M UTC"]),
        load.join(" "),
        machine(),
        said("uname", &["-sr"]),
        said("rustc", &["--version"]),
        said("node", &["--version"]),
        said("chromium", &["--version"]),
    )
}

/// Processor, cores and memory.
fn machine() -> String {
    let field = |file: &str, name: &str| {
        let text = fs::read_to_string(file).unwrap_or_default();
        text.lines()
            .find(|line| line.starts_with(name))
            .and_then(|line| line.split_once(':'))
            .map(|(_, value)| value.trim().to_owned())
            .unwrap_or_default()
    };
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let memory = field("/proc/meminfo", "MemTotal");
    let kib: f64 = memory
        .split(' ')
        .next()
        .and_then(|number| number.parse().ok())
        .unwrap_or_default();
    format!(
        "{cores} cores of {}, {:.0} GB",
        field("/proc/cpuinfo", "model name"),
        kib * 1024.0 / 1e9
    )
}

/// The first line that a program prints.
fn said(program: &str, words: &[&str]) -> String {
    let output = Command::new(program).args(words).output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    let text = text.unwrap_or_default();
    let first = text.lines().next().unwrap_or_default().trim();
    if first.is_empty() {
        format!("{program} unknown")
    } else {
        first.to_owned()
    }
}

/// The whole page.
pub(super) fn page(kept: &[Kept]) -> String {
    let rows: Vec<&Row> = kept.iter().flat_map(|kept| &kept.rows).collect();
    let mut text = INTRO.to_owned();
    text.push_str("\n## Where and when\n\n");
    for about in kept.iter().flat_map(|kept| &kept.about) {
        let _ = writeln!(text, "- {about}");
    }
    text.push_str("\n## Rows that we lose\n\n");
    let lost = losses(&rows);
    if lost.is_empty() {
        text.push_str("None of the rows below.\n");
    }
    for line in lost {
        let _ = writeln!(text, "- {line}");
    }
    text.push_str("\nA factor of about 1 with overlapping spreads is no difference.\n");
    let absent: Vec<String> = FULL
        .iter()
        .filter(|case| {
            !rows
                .iter()
                .any(|row| (row.bench.as_str(), row.case.as_str()) == **case)
        })
        .map(|(bench, case)| format!("`{bench}/{case}`"))
        .collect();
    if !absent.is_empty() {
        let _ = write!(text, "\n## Not run\n\n{}\n", absent.join(", "));
    }
    let mut suites: Vec<&str> = Vec::new();
    for row in &rows {
        if !suites.contains(&row.bench.as_str()) {
            suites.push(&row.bench);
        }
    }
    for suite in suites {
        let _ = write!(
            text,
            "\n## {suite}\n\n| case | metric | who | value | unit | smallest … largest | n | |\n\
             | --- | --- | --- | ---: | --- | --- | ---: | --- |\n"
        );
        let mut of_suite: Vec<&&Row> = rows.iter().filter(|row| row.bench == suite).collect();
        // Contenders stand below one another; a stable sort keeps the order of the run within.
        let order: Vec<(&str, &str)> = of_suite.iter().map(|row| place(row)).collect();
        of_suite.sort_by_key(|row| order.iter().position(|known| *known == place(row)));
        for row in of_suite {
            let _ = writeln!(text, "{}", line(row));
        }
    }
    text
}

fn place(row: &Row) -> (&str, &str) {
    (&row.case, &row.metric)
}

fn line(row: &Row) -> String {
    let spread = match (row.min, row.max) {
        (Some(min), Some(max)) if row.n > 1 => format!("{} … {}", number(min), number(max)),
        _ => String::new(),
    };
    let value = row.value.map_or_else(|| "not measured".to_owned(), number);
    let note = match &row.why {
        Some(why) => why.replace('|', "/").replace('\n', " "),
        None if row.quick => "quick".to_owned(),
        None => String::new(),
    };
    format!(
        "| {} | {} | {} | {value} | {} | {spread} | {} | {note} |",
        row.case, row.metric, row.who, row.unit, row.n
    )
}

/// Every measurement in which a peer is better than Lorekeeper; bounds are no peers.
fn losses(rows: &[&Row]) -> Vec<String> {
    let mut lost = Vec::new();
    for ours in rows.iter().filter(|row| row.who == "lorekeeper") {
        let Some(mine) = ours.value else { continue };
        let peers = rows.iter().filter(|peer| {
            peer.bench == ours.bench
                && place(peer) == place(ours)
                && peer.who != "lorekeeper"
                && peer.who != "limit"
        });
        for peer in peers {
            let Some(theirs) = peer.value else { continue };
            // Rates are better when larger; times and sizes when smaller.
            let (better, factor) = if ours.unit.starts_with("1/") {
                (theirs > mine, theirs / mine)
            } else {
                (theirs < mine, mine / theirs)
            };
            if better {
                lost.push(format!(
                    "`{}/{}` {}: {} {} against {} of {} ({factor:.1}×)",
                    ours.bench,
                    ours.case,
                    ours.metric,
                    number(mine),
                    ours.unit,
                    number(theirs),
                    peer.who
                ));
            }
        }
    }
    lost
}
