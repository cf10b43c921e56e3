//! What pieces of work that overlap add up to.

use serde::Serialize;

/// The figures of pieces of work, in the unit of their times.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Overlap {
    /// From the first beginning to the last end.
    pub wall: f64,
    /// Time in which at least one was under way.
    pub busy: f64,
    /// All durations together.
    pub sum: f64,
    /// How many were under way on average while any was: `sum` over `busy`.
    pub concurrency: f64,
    /// Half of them took no longer.
    pub p50: f64,
    /// 95 of 100 took no longer.
    pub p95: f64,
    /// The longest.
    pub max: f64,
}

impl Overlap {
    /// Adds up pieces, each given by its beginning and its end; everything is zero where there are none.
    pub fn of(pieces: &[(f64, f64)]) -> Self {
        let mut by_beginning = pieces.to_vec();
        by_beginning.sort_unstable_by(|one, other| one.0.total_cmp(&other.0));
        let Some(&(first, _)) = by_beginning.first() else { return Self::default() };
        let (mut busy, mut covered) = (0.0, first);
        for &(began, ended) in &by_beginning {
            busy += (ended - began.max(covered)).max(0.0);
            covered = covered.max(ended);
        }
        let mut durations: Vec<f64> = pieces.iter().map(|(began, ended)| ended - began).collect();
        durations.sort_unstable_by(f64::total_cmp);
        let sum: f64 = durations.iter().sum();
        // The nearest rank: of n sorted values the one at n * share, rounded up.
        let rank = |percent: usize| durations[(durations.len() * percent).div_ceil(100).max(1) - 1];
        Self {
            wall: covered - first,
            busy,
            sum,
            // A coarse clock may see no time pass at all.
            concurrency: if busy > 0.0 { sum / busy } else { 1.0 },
            p50: rank(50),
            p95: rank(95),
            max: rank(100),
        }
    }
}
