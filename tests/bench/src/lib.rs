//! What the programs of the benchmarks share: seeded texts, timing, memory, rows.

#[cfg(feature = "table")]
pub mod desk;
pub mod documents;
pub mod embedding;
pub mod lore;

use std::time::Duration;

use lore_replica::Host;
use serde_json::json;

/// The system's clock and randomness.
pub struct System;

impl Host for System {
    fn now(&self) -> i64 {
        std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .map_or(0, |since| since.as_millis() as i64)
    }

    fn random(&mut self, bytes: &mut [u8]) {
        getrandom::fill(bytes).expect("the system has randomness");
    }
}

/// Prints one row.
pub fn row(bench: &str, case: &str, who: &str, metric: &str, unit: &str, value: f64) {
    println!(
        "{}",
        json!({ "bench": bench, "case": case, "who": who, "metric": metric, "unit": unit, "value": value })
    );
}

/// The value below which `share` of the samples lie.
pub fn quantile(samples: &mut [Duration], share: f64) -> Duration {
    samples.sort();
    let at = (samples.len() as f64 * share) as usize;
    samples.get(at.min(samples.len().saturating_sub(1))).copied().unwrap_or_default()
}

/// A duration in milliseconds.
pub fn ms(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}

/// This process's resident memory at its highest, in MB; `None` where the system does not say.
pub fn peak_rss_mb() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kib: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib * 1024.0 / 1e6)
}

/// A small generator with a fixed seed, so that every run has the same data (splitmix64).
#[derive(Debug, Clone)]
pub struct Seeded(pub u64);

impl Seeded {
    /// The next number.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// One of the items.
    pub fn pick<'a, T: ?Sized>(&mut self, items: &[&'a T]) -> &'a T {
        items[(self.next_u64() % items.len() as u64) as usize]
    }
}
