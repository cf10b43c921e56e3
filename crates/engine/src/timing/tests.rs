use super::lanes::lanes;
use super::{PhaseSummary, Timing};
use crate::Phase;
use gantry_platform::{Span, Work};

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
        ("c", request(1_050.0, 1_060.0, 0)),
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
    assert_eq!((packuments.count, packuments.failed, packuments.bytes), (3, 1, 30));
    assert_eq!((packuments.wall, packuments.busy, packuments.sum), (50.0, 40.0, 50.0));
    assert_eq!(packuments.concurrency, 1.25);
    assert_eq!((packuments.p50, packuments.p95, packuments.max), (20.0, 20.0, 20.0));
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
    assert_eq!(failed["args"]["status"], 0);
    let stages: Vec<_> = events.iter().filter(|event| event["cat"] == "stage").map(|event| &event["name"]).collect();
    assert_eq!(stages, ["resolve", "lock"]);
}

#[test]
fn what_begins_when_another_ends_takes_its_row() {
    assert_eq!(lanes([(0.0, 5.0), (1.0, 2.0), (2.0, 9.0), (5.0, 6.0), (5.5, 7.0)].into_iter()), [0, 1, 1, 0, 2]);
}
