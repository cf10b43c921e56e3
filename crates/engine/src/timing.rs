//! Where the time of an install went: what the platform and the registry client noted, in figures and as a waterfall.

use crate::Phase;
use gantry_platform::{Ending, Span, Work};
pub use overlap::Overlap;
use serde::Serialize;
use serde_json::{Value, json};

mod lanes;
mod overlap;
#[cfg(test)]
mod tests;

/// All that was done in one install, and when, on the platform's clock until it is finished, then since it began.
#[derive(Debug, Default)]
pub(crate) struct Timing {
    spans: Vec<(String, Span)>,
    waits: Vec<(Work, f64)>,
    phases: Vec<(Phase, f64)>,
    /// How long the install took.
    elapsed: f64,
}

/// One kind of work in figures; times in milliseconds.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkSummary {
    /// Its short name: `packument`, `version`, `tarball` (requests), `backoff` (waiting before one is made again), `inflate`,
    /// `kept`, `scan`, `mirror` (not in pages; one piece for the documents that are written together), `verify`, `unpack`,
    /// `store`, `resolve`.
    pub work: &'static str,
    /// How many pieces there were.
    pub count: usize,
    /// Requests without an answer, or with one that was of no use.
    pub failed: usize,
    /// Requests that nobody waited for any longer.
    pub abandoned: usize,
    /// Their times together.
    #[serde(flatten)]
    pub times: Overlap,
    /// What they waited for a free slot, and then in the client for their turn, on average.
    pub queued: f64,
    /// The longest wait for either.
    pub queued_max: f64,
    /// Bytes received, read or written.
    pub bytes: u64,
}

/// One stage of an install.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PhaseSummary {
    /// Which.
    pub phase: Phase,
    /// When it began, in milliseconds since the install did.
    pub began: f64,
    /// When the next began, or the install ended.
    pub ended: f64,
}

/// Where the time of an install went.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TimingReport {
    /// The stages, in order.
    pub phases: Vec<PhaseSummary>,
    /// Each kind of work that there was.
    pub work: Vec<WorkSummary>,
    /// Every piece of it, in the Trace Event Format; not part of what is serialised, being long.
    #[serde(skip)]
    pub trace: Value,
}

impl Timing {
    pub fn spans(&mut self, package: &str, spans: &[Span]) {
        self.spans.extend(spans.iter().map(|span| (package.to_owned(), span.clone())));
    }

    /// Something waited for a slot.
    pub fn wait(&mut self, work: Work, milliseconds: f64) {
        self.waits.push((work, milliseconds));
    }

    pub fn phase(&mut self, phase: Phase, began: f64) {
        self.phases.push((phase, began));
    }

    /// The install that began at `start` on the platform's clock is over.
    pub fn finish(&mut self, start: f64, elapsed: f64) {
        for (_, span) in &mut self.spans {
            span.began -= start;
            span.ended -= start;
            if span.answered > 0.0 {
                span.answered -= start;
            }
        }
        self.elapsed = elapsed;
    }

    pub fn report(&self) -> TimingReport {
        TimingReport { phases: self.phases(), work: self.summary(), trace: self.trace() }
    }

    /// The stages, in order.
    fn phases(&self) -> Vec<PhaseSummary> {
        let ends = self.phases.iter().skip(1).map(|(_, began)| *began).chain([self.elapsed]);
        self.phases
            .iter()
            .zip(ends)
            .map(|((phase, began), ended)| PhaseSummary { phase: *phase, began: *began, ended })
            .collect()
    }

    /// Each kind of work that there was.
    fn summary(&self) -> Vec<WorkSummary> {
        Work::ALL.into_iter().filter_map(|work| self.summary_of(work)).collect()
    }

    fn summary_of(&self, work: Work) -> Option<WorkSummary> {
        let spans: Vec<&Span> = self.spans.iter().map(|(_, span)| span).filter(|span| span.work == work).collect();
        if spans.is_empty() {
            return None;
        }
        let times: Vec<(f64, f64)> = spans.iter().map(|span| (span.began, span.ended)).collect();
        let waits: Vec<f64> = self.waits.iter().filter(|(kind, _)| *kind == work).map(|(_, wait)| *wait).collect();
        let in_client: Vec<f64> = spans.iter().map(|span| span.queued).collect();
        Some(WorkSummary {
            work: work.name(),
            count: spans.len(),
            failed: spans.iter().filter(|span| work.is_request() && has_failed(span)).count(),
            abandoned: spans.iter().filter(|span| work.is_request() && span.ending == Ending::Abandoned).count(),
            times: Overlap::of(&times),
            queued: mean(&waits) + mean(&in_client),
            queued_max: waits.iter().chain(&in_client).copied().fold(0.0, f64::max),
            bytes: spans.iter().map(|span| span.bytes).sum(),
        })
    }

    /// A waterfall in the Trace Event Format, which Chrome's trace viewer and Perfetto open: the stages, and below them one
    /// group for each kind of work, with as many rows as were under way at once.
    fn trace(&self) -> Value {
        let mut events = vec![metadata("process_name", 0, 0, "stages")];
        for PhaseSummary { phase, began, ended } in self.phases() {
            events.push(event(&format!("{phase:?}").to_lowercase(), "stage", (0, 0), (began, ended), json!({})));
        }
        for (group, work) in (1_u32..).zip(Work::ALL) {
            let mut spans: Vec<&(String, Span)> = self.spans.iter().filter(|(_, span)| span.work == work).collect();
            if spans.is_empty() {
                continue;
            }
            spans.sort_by(|(_, a), (_, b)| a.began.total_cmp(&b.began));
            events.push(metadata("process_name", group, 0, work.name()));
            let rows = lanes::lanes(spans.iter().map(|(_, span)| (span.began, span.ended)));
            for ((package, span), row) in spans.into_iter().zip(rows) {
                let mut facts = json!({ "bytes": span.bytes });
                if work.is_request() {
                    facts["status"] = span.status.into();
                    facts["ending"] = span.ending.name().into();
                    facts["waiting"] = json!((span.answered - span.began).max(0.0));
                }
                events.push(event(package, work.name(), (group, row), (span.began, span.ended), facts));
            }
        }
        json!({ "displayTimeUnit": "ms", "traceEvents": events })
    }
}

fn event(name: &str, category: &str, (group, row): (u32, usize), (began, ended): (f64, f64), facts: Value) -> Value {
    // The format counts microseconds.
    let (start, duration) = (began * 1000.0, (ended - began) * 1000.0);
    json!({ "name": name, "cat": category, "ph": "X", "pid": group, "tid": row, "ts": start, "dur": duration, "args": facts })
}

fn metadata(name: &str, group: u32, row: usize, value: &str) -> Value {
    json!({ "name": name, "ph": "M", "pid": group, "tid": row, "args": { "name": value } })
}

fn has_failed(span: &Span) -> bool {
    span.ending != Ending::Abandoned && !matches!(span.status, 200 | 203 | 304)
}

fn mean(values: &[f64]) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a count of requests")]
    let count = values.len().max(1) as f64;
    // A sum of nothing would be −0.
    values.iter().fold(0.0, |sum, value| sum + value) / count
}
