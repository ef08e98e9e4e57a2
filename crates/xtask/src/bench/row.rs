//! One measurement a row, the same in every suite.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

/// One measurement: what was measured, on whom, and the spread over the rounds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The suite.
    pub bench: String,
    /// The case within the suite.
    pub case: String,
    /// `lorekeeper`, a peer's name, or `limit` for the bound measured in the same run.
    pub who: String,
    /// What was measured.
    pub metric: String,
    /// Its unit.
    pub unit: String,
    /// The median of the rounds; nothing when it could not be measured.
    pub value: Option<f64>,
    /// The smallest of the rounds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<f64>,
    /// The largest of the rounds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<f64>,
    /// Rounds.
    #[serde(default)]
    pub n: usize,
    /// Whether it was measured with fewer rounds.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub quick: bool,
    /// Why there is no value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// Which rows are the same measurement.
type Key<'a> = (&'a str, &'a str, &'a str, &'a str);

impl Row {
    /// A row of one exact number, such as a size.
    pub fn exact(bench: &str, case: &str, metric: &str, unit: &str, value: f64) -> Self {
        Self {
            bench: bench.to_owned(),
            case: case.to_owned(),
            who: "lorekeeper".to_owned(),
            metric: metric.to_owned(),
            unit: unit.to_owned(),
            value: Some(value),
            min: Some(value),
            max: Some(value),
            n: 1,
            quick: false,
            why: None,
        }
    }

    /// A row for someone who could not be measured.
    pub fn missing(bench: &str, case: &str, who: &str, why: &str) -> Self {
        Self {
            bench: bench.to_owned(),
            case: case.to_owned(),
            who: who.to_owned(),
            metric: String::new(),
            unit: String::new(),
            value: None,
            min: None,
            max: None,
            n: 0,
            quick: false,
            why: Some(why.to_owned()),
        }
    }

    fn key(&self) -> Key<'_> {
        (&self.bench, &self.case, &self.who, &self.metric)
    }
}

/// Joins the rows of several rounds: one row a measurement, with median, smallest and largest.
/// The order is that of the first appearance.
pub fn merge(rounds: &[Vec<Row>]) -> Vec<Row> {
    let mut merged: Vec<Row> = Vec::new();
    for row in rounds.iter().flatten() {
        if merged.iter().any(|known| known.key() == row.key()) {
            continue;
        }
        let mut values: Vec<f64> = rounds
            .iter()
            .flatten()
            .filter(|other| other.key() == row.key())
            .filter_map(|other| other.value)
            .collect();
        values.sort_by(f64::total_cmp);
        merged.push(Row {
            value: median(&values),
            min: values.first().copied(),
            max: values.last().copied(),
            n: values.len(),
            ..row.clone()
        });
    }
    merged
}

/// The middle of sorted values; the mean of the middle two of an even number.
fn median(sorted: &[f64]) -> Option<f64> {
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        odd if odd % 2 == 1 => Some(sorted[middle]),
        _ => Some(f64::midpoint(sorted[middle - 1], sorted[middle])),
    }
}

/// A table for people.
pub fn table(rows: &[Row]) -> String {
    let mut text = String::new();
    for row in rows {
        let name = format!("{}/{}", row.bench, row.case);
        let _ = write!(text, "{name:<28} {:<20} ", row.who);
        let _ = match (row.value, &row.why) {
            (Some(value), _) => write!(
                text,
                "{:<20} {:>12} {:<5} [{} … {}] n={}",
                row.metric,
                number(value),
                row.unit,
                row.min.map_or_else(|| "–".to_owned(), number),
                row.max.map_or_else(|| "–".to_owned(), number),
                row.n
            ),
            (None, why) => write!(
                text,
                "not measured: {}",
                why.as_deref().unwrap_or("unknown")
            ),
        };
        text.push('\n');
    }
    text
}

/// Three significant figures, without needless ones.
pub(super) fn number(value: f64) -> String {
    match value.abs() {
        big if big >= 100.0 => format!("{value:.0}"),
        middle if middle >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

/// What changed between two runs: a line for every measurement that both hold, largest change
/// first, then what only one of them holds.
pub fn compare(before: &[Row], after: &[Row]) -> String {
    let mut changes: Vec<(f64, String)> = Vec::new();
    let mut alone = String::new();
    for new in after {
        let old = before.iter().find(|old| old.key() == new.key());
        let name = format!("{}/{} {} {}", new.bench, new.case, new.who, new.metric);
        match (old.and_then(|old| old.value), new.value) {
            (Some(old), Some(value)) if old != 0.0 => {
                let change = (value / old - 1.0) * 100.0;
                let line = format!(
                    "{change:>+8.1} %  {name}: {} → {} {}",
                    number(old),
                    number(value),
                    new.unit
                );
                changes.push((change, line));
            }
            _ if old.is_none() => {
                let _ = writeln!(alone, "only after   {name}");
            }
            _ => {}
        }
    }
    for old in before {
        if !after.iter().any(|new| new.key() == old.key()) {
            let _ = writeln!(
                alone,
                "only before  {}/{} {} {}",
                old.bench, old.case, old.who, old.metric
            );
        }
    }
    changes.sort_by(|a, b| b.0.abs().total_cmp(&a.0.abs()));
    let mut text: String = changes.into_iter().map(|(_, line)| line + "\n").collect();
    text.push_str(&alone);
    text
}
