//! From evidence to a plain percentage for people.

/// What an answer says about each of its hits: how strong its best is, and how clearly it leads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Standing {
    /// Fused score of the first hit.
    pub best: f64,
    /// Fused score of the next entry with another text; 0 if there is none.
    pub next: f64,
    /// Whether meaning was compared; scores by words alone have another scale.
    pub by_meaning: bool,
}

/// A logistic map: logit = base + own · score + best · best + lead · (best − next).
struct Map {
    base: f64,
    own: f64,
    best: f64,
    lead: f64,
}

/// Fitted with cosines present; `docs/recall.md` says on what, and how it held elsewhere.
const BY_BOTH: Map = Map {
    base: -2.21,
    own: 9.54,
    best: -8.05,
    lead: 4.34,
};
/// Fitted on words alone.
const BY_WORDS: Map = Map {
    base: -1.67,
    own: 14.25,
    best: -12.58,
    lead: 6.87,
};

/// Percentage shown beside a hit: of the questions whose evidence is among the first ten hits, the
/// share in which a hit that stands like this one is it.
///
/// `score` is the hit's fused score. Within one answer the percentage rises with it, so it never
/// increases along the list. The result is 1 to 99: nothing is ever certain or ruled out, and it
/// never decides whether a hit is shown. A score that is not finite counts as 0.
pub fn relevance_percent(score: f64, standing: &Standing) -> u8 {
    let finite = |value: f64| if value.is_finite() { value } else { 0.0 };
    let map = if standing.by_meaning {
        &BY_BOTH
    } else {
        &BY_WORDS
    };
    let best = finite(standing.best);
    let lead = (best - finite(standing.next).max(0.0)).max(0.0);
    let logit = map.base + map.own * finite(score) + map.best * best + map.lead * lead;
    let share = 1.0 / (1.0 + (-logit).exp());
    (share * 100.0).round().clamp(1.0, 99.0) as u8
}
