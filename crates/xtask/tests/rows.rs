//! Rows of several rounds become one table, and two runs one comparison.

use xtask::bench::row::{Row, compare, merge, table};

fn row(who: &str, value: Option<f64>) -> Row {
    Row {
        who: who.to_owned(),
        value,
        ..Row::exact("embed", "short-16", "ms_p50", "ms", 0.0)
    }
}

#[test]
fn rounds_merge_into_median_smallest_and_largest() {
    let rounds: Vec<Vec<Row>> = [9.0, 4.0, 5.0, 7.0]
        .iter()
        .map(|&value| {
            vec![
                row("lorekeeper", Some(value)),
                row("ort", Some(value * 2.0)),
            ]
        })
        .collect();
    let merged = merge(&rounds);
    assert_eq!(merged.len(), 2);
    assert_eq!(merged[0].value, Some(6.0));
    assert_eq!(
        (merged[0].min, merged[0].max, merged[0].n),
        (Some(4.0), Some(9.0), 4)
    );
    assert_eq!(merged[1].value, Some(12.0));
}

#[test]
fn who_could_not_be_measured_says_why() {
    let rows = [Row::missing("embed", "all", "ort", "no library")];
    assert!(table(&rows).contains("not measured: no library"));
    let json = serde_json::to_string(&rows[0]).unwrap();
    assert!(json.contains(r#""value":null"#), "{json}");
    assert!(json.contains(r#""why":"no library""#), "{json}");
}

#[test]
fn a_comparison_puts_the_largest_change_first_and_names_what_is_missing() {
    let before = [
        row("lorekeeper", Some(10.0)),
        row("ort", Some(10.0)),
        row("gone", Some(1.0)),
    ];
    let after = [
        row("lorekeeper", Some(9.0)),
        row("ort", Some(15.0)),
        row("new", Some(1.0)),
    ];
    let text = compare(&before, &after);
    let lines: Vec<&str> = text.lines().collect();
    assert!(
        lines[0].contains("+50.0 %") && lines[0].contains("ort"),
        "{text}"
    );
    assert!(
        lines[1].contains("-10.0 %") && lines[1].contains("lorekeeper"),
        "{text}"
    );
    assert!(
        lines[2].starts_with("only after") && lines[2].contains("new"),
        "{text}"
    );
    assert!(
        lines[3].starts_with("only before") && lines[3].contains("gone"),
        "{text}"
    );
}
