//! From scores to a plain percentage for people.

/// Percentage shown beside a hit: a logistic map of cosine and word coverage, rising in both.
///
/// `meaning` is the cosine with the question, if both have a vector; `coverage` is the share of
/// the question's word weight that the span holds, 0 to 1. The result is 1 to 99: nothing is ever
/// certain or ruled out, and it never decides whether a hit is shown. The constants are set by hand against
/// measured shares of right answers; `docs/recall.md` says how.
pub fn relevance_percent(meaning: Option<f32>, coverage: f32) -> u8 {
    let coverage = if coverage.is_finite() {
        coverage.clamp(0.0, 1.0)
    } else {
        0.0
    };
    let logit = match meaning.filter(|cosine| cosine.is_finite()) {
        Some(cosine) => -4.8 + 8.0 * cosine.clamp(-1.0, 1.0) + 2.4 * coverage,
        None => -3.2 + 4.8 * coverage,
    };
    let share = 1.0 / (1.0 + (-logit).exp());
    (share * 100.0).round().clamp(1.0, 99.0) as u8
}
