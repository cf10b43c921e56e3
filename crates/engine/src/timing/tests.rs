use super::lanes::lanes;
use super::{Overlap, PhaseSummary, Timing};
use crate::Phase;
use gantry_platform::{Ending, HttpErrorKind, Span, Work};

fn request(began: f64, ended: f64, status: u16) -> Span {
    Span { answered: began + 1.0, status, ..Span::of(Work::Packument, began, ended, 10) }
}

fn timing() -> Timing {
    let mut timing = Timing::default();
    timing.phase(Phase::Resolve, 0.0);
    timing.phase(Phase::Lock, 90.0);
    // Two at once, a gap, one that fails.
    for (package, span) in [
        ("b", request(1_020.0, 1_040.0, 200)),
        ("a", request(1_010.0, 1_030.0, 304)),
        ("c", Span { ending: Ending::Failed(HttpErrorKind::Timeout), ..request(1_050.0, 1_060.0, 0) }),
    ] {
        timing.spans(package, &[span]);
    }
    timing.spans("a", &[Span::of(Work::Scan, 1_030.0, 1_031.0, 10)]);
    timing.wait(Work::Packument, 4.0);
    timing.wait(Work::Packument, 2.0);
    timing.finish(1_000.0, 100.0);
    timing
}

#[test]
fn sums_overlaps_and_gaps_are_told_apart() {
    let summary = timing().summary();
    assert_eq!(summary.iter().map(|work| work.work).collect::<Vec<_>>(), ["packument", "scan"]);
    let packuments = &summary[0];
    assert_eq!((packuments.count, packuments.failed, packuments.abandoned, packuments.bytes), (3, 1, 0, 30));
    assert_eq!((packuments.times.wall, packuments.times.busy, packuments.times.sum), (50.0, 40.0, 50.0));
    assert_eq!(packuments.times.concurrency, 1.25);
    assert_eq!((packuments.times.p50, packuments.times.p95, packuments.times.max), (20.0, 20.0, 20.0));
    assert_eq!((packuments.queued, packuments.queued_max), (3.0, 4.0));
}

#[test]
fn a_stage_ends_where_the_next_begins() {
    let expected = [
        PhaseSummary { phase: Phase::Resolve, began: 0.0, ended: 90.0 },
        PhaseSummary { phase: Phase::Lock, began: 90.0, ended: 100.0 },
    ];
    assert_eq!(timing().phases(), expected);
}

#[test]
fn the_trace_has_a_row_for_each_of_those_that_overlap() {
    let trace = timing().trace();
    let events = trace["traceEvents"].as_array().unwrap();
    let of = |package: &str| {
        let event = events.iter().find(|event| event["name"] == package && event["cat"] == "packument").unwrap();
        (event["tid"].as_u64().unwrap(), event["ts"].as_f64().unwrap(), event["dur"].as_f64().unwrap())
    };
    assert_eq!(of("a"), (0, 10_000.0, 20_000.0));
    assert_eq!(of("b"), (1, 20_000.0, 20_000.0));
    assert_eq!(of("c"), (0, 50_000.0, 10_000.0));
    let failed = events.iter().find(|event| event["name"] == "c").unwrap();
    assert_eq!((&failed["args"]["status"], &failed["args"]["ending"]), (&0.into(), &"timeout".into()));
    let stages: Vec<_> = events.iter().filter(|event| event["cat"] == "stage").map(|event| &event["name"]).collect();
    assert_eq!(stages, ["resolve", "lock"]);
}

#[test]
fn what_begins_when_another_ends_takes_its_row() {
    assert_eq!(lanes([(0.0, 5.0), (1.0, 2.0), (2.0, 9.0), (5.0, 6.0), (5.5, 7.0)].into_iter()), [0, 1, 1, 0, 2]);
}

#[test]
fn overlaps_are_busy_once_and_gaps_are_not() {
    let overlap = Overlap::of(&[(1.0, 3.0), (2.0, 4.0), (2.5, 3.5), (6.0, 7.0)]);
    assert_eq!(overlap.wall, 6.0);
    assert_eq!(overlap.busy, 4.0);
    assert_eq!(overlap.sum, 6.0);
    assert_eq!(overlap.concurrency, 1.5);
    assert_eq!((overlap.p50, overlap.p95, overlap.max), (1.0, 2.0, 2.0));
}

#[test]
fn percentiles_are_of_the_nearest_rank() {
    let spans: Vec<(f64, f64)> = (1..=100).map(|n| (0.0, f64::from(n))).collect();
    let overlap = Overlap::of(&spans);
    assert_eq!((overlap.p50, overlap.p95, overlap.max), (50.0, 95.0, 100.0));
    assert_eq!(Overlap::of(&[]), Overlap::default());
}
