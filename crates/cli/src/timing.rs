//! Where the time of an install went, as a table.

use gantry_engine::{Overlap, PhaseSummary, TimingReport, WorkSummary};
use std::fmt::Write;

/// The stages, and each kind of work: how many there were, how long and how many at once, what they waited.
pub fn table(report: &TimingReport) -> String {
    let mut text = String::new();
    for PhaseSummary { phase, began, ended } in &report.phases {
        let name = format!("{phase:?}").to_lowercase();
        let _ = writeln!(text, "{name:<10}{:>10} from {}", milliseconds(ended - began), milliseconds(*began));
    }
    let titles = [
        "count", "failed", "given up", "wall", "busy", "sum", "at once", "p50", "p95", "max", "queued", "longest", "MB",
    ];
    let _ = write!(text, "\n{:<10}", "");
    for title in titles {
        let _ = write!(text, "{title:>10}");
    }
    for work in &report.work {
        let WorkSummary { count, failed, abandoned, times, queued, queued_max, bytes, .. } = work;
        let Overlap { wall, busy, sum, concurrency, p50, p95, max } = times;
        let _ = write!(text, "\n{:<10}{count:>10}{failed:>10}{abandoned:>10}", work.work);
        for time in [wall, busy, sum] {
            let _ = write!(text, "{:>10}", milliseconds(*time));
        }
        let _ = write!(text, "{concurrency:>10.1}");
        for time in [p50, p95, max, queued, queued_max] {
            let _ = write!(text, "{:>10}", milliseconds(*time));
        }
        #[expect(clippy::cast_precision_loss, reason = "shown with one decimal")]
        let megabytes = *bytes as f64 / 1e6;
        let _ = write!(text, "{megabytes:>10.1}");
    }
    text
}

fn milliseconds(value: f64) -> String {
    if value < 10.0 { format!("{value:.2} ms") } else { format!("{value:.0} ms") }
}
