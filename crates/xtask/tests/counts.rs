//! What the test runners report becomes one sum.

use serde_json::json;
use xtask::counts::Counts;

#[test]
fn the_closing_lines_of_cargo_test_are_read_and_other_lines_are_not() {
    let good = "test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 3 filtered out";
    assert_eq!(
        Counts::of_cargo_line(good),
        Some(Counts {
            passed: 12,
            failed: 0
        })
    );
    let bad = "test result: FAILED. 7 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out";
    assert_eq!(
        Counts::of_cargo_line(bad),
        Some(Counts {
            passed: 7,
            failed: 2
        })
    );
    assert_eq!(Counts::of_cargo_line("test result_is_shown ... ok"), None);
    assert_eq!(Counts::of_cargo_line("running 3 tests"), None);
}

#[test]
fn a_flaky_browser_test_and_an_error_outside_of_tests_count_as_failed() {
    let report = json!({
        "stats": { "expected": 9, "unexpected": 1, "flaky": 1, "skipped": 2 },
        "errors": [{ "message": "a worker ended" }],
    });
    assert_eq!(
        Counts::of_playwright(&report),
        Some(Counts {
            passed: 9,
            failed: 3
        })
    );
    assert_eq!(Counts::of_playwright(&json!({ "errors": [] })), None);
}

#[test]
fn counts_add_up_and_read_as_the_closing_line() {
    let mut total = Counts::of_vitest(&json!({ "numPassedTests": 4, "numFailedTests": 1 }))
        .expect("both numbers are there");
    total += Counts {
        passed: 6,
        failed: 0,
    };
    assert_eq!(total.to_string(), "10 passed, 1 failed");
}
