//! What requests under way at once add up to.
use serde::Serialize;

/// Begin and end of one request, in seconds since a common start.
pub type Span = (f64, f64);

/// The figures of a run, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    /// From the first begin to the last end.
    pub wall: f64,
    /// Time with at least one request under way.
    pub busy: f64,
    /// All requests' times together.
    pub sum: f64,
    /// `sum` over `busy`: how many were under way at once on average.
    pub concurrency: f64,
    /// Half of the requests took no longer.
    pub p50: f64,
    /// 95 of 100 took no longer.
    pub p95: f64,
    /// The longest.
    pub max: f64,
}

impl Summary {
    /// Adds up; everything is zero for no requests.
    pub fn of(spans: &[Span]) -> Self {
        let mut by_begin = spans.to_vec();
        by_begin.sort_by(|one, other| one.0.total_cmp(&other.0));
        let (Some(first), Some(last)) = (by_begin.first(), by_begin.iter().map(|span| span.1).max_by(f64::total_cmp))
        else {
            return Self::default();
        };
        let mut busy = 0.0;
        let mut covered = first.0;
        for &(begin, end) in &by_begin {
            busy += (end - begin.max(covered)).max(0.0);
            covered = covered.max(end);
        }
        let mut durations: Vec<f64> = spans.iter().map(|(begin, end)| end - begin).collect();
        durations.sort_by(f64::total_cmp);
        let sum = durations.iter().sum();
        // The nearest rank: of n sorted values the one at n * share, rounded up.
        let rank = |percent: usize| durations[(durations.len() * percent).div_ceil(100).max(1) - 1];
        Self {
            wall: last - first.0,
            busy,
            sum,
            concurrency: if busy > 0.0 { sum / busy } else { 0.0 },
            p50: rank(50),
            p95: rank(95),
            max: rank(100),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlaps_are_busy_once_and_gaps_are_not() {
        let summary = Summary::of(&[(1.0, 3.0), (2.0, 4.0), (2.5, 3.5), (6.0, 7.0)]);
        assert_eq!(summary.wall, 6.0);
        assert_eq!(summary.busy, 4.0);
        assert_eq!(summary.sum, 6.0);
        assert_eq!(summary.concurrency, 1.5);
        assert_eq!((summary.p50, summary.p95, summary.max), (1.0, 2.0, 2.0));
    }

    #[test]
    fn percentiles_are_of_the_nearest_rank() {
        let spans: Vec<Span> = (1..=100).map(|n| (0.0, f64::from(n))).collect();
        let summary = Summary::of(&spans);
        assert_eq!((summary.p50, summary.p95, summary.max), (50.0, 95.0, 100.0));
        assert_eq!(Summary::of(&[]), Summary::default());
    }
}
