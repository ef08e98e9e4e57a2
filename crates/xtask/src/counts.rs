//! How many tests passed and failed, read from what each runner reports.

use std::ops::AddAssign;
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::Value;

/// Tests that passed and failed. Ignored and skipped ones count as neither.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Tests that passed.
    pub passed: u64,
    /// Tests that failed.
    pub failed: u64,
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
    }
}

impl std::fmt::Display for Counts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} passed, {} failed", self.passed, self.failed)
    }
}

impl Counts {
    /// Reads the line with which each binary of `cargo test` ends:
    /// `test result: ok. 12 passed; 0 failed; 1 ignored; …`. Other lines give `None`.
    pub fn of_cargo_line(line: &str) -> Option<Self> {
        let rest = line.trim().strip_prefix("test result: ")?;
        let (_, numbers) = rest.split_once(". ")?;
        let mut counts = Self::default();
        for part in numbers.split(';') {
            match part.trim().split_once(' ') {
                Some((number, "passed")) => counts.passed = number.parse().ok()?,
                Some((number, "failed")) => counts.failed = number.parse().ok()?,
                _ => {}
            }
        }
        Some(counts)
    }

    /// Reads a report of vitest's JSON reporter.
    pub fn of_vitest(report: &Value) -> Option<Self> {
        Some(Self {
            passed: report.get("numPassedTests")?.as_u64()?,
            failed: report.get("numFailedTests")?.as_u64()?,
        })
    }

    /// Reads a report of Playwright's JSON reporter. A test that passed only when it was tried
    /// again counts as failed.
    pub fn of_playwright(report: &Value) -> Option<Self> {
        let stats = report.get("stats")?;
        let errors = report
            .get("errors")
            .and_then(Value::as_array)
            .map_or(0, Vec::len) as u64;
        Some(Self {
            passed: stats.get("expected")?.as_u64()?,
            failed: stats.get("unexpected")?.as_u64()? + stats.get("flaky")?.as_u64()? + errors,
        })
    }
}

/// Reads the JSON report that a runner left.
pub(crate) fn report(file: &Path) -> Result<Value> {
    let text = std::fs::read(file)
        .with_context(|| format!("the test runner left no report at {}", file.display()))?;
    Ok(serde_json::from_slice(&text)?)
}
