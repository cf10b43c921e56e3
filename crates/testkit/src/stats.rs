//! What a server was asked, counted and timed. Counting never waits: plain atomics, and one short lock for the journal of
//! requests.
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

/// The kind of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum RequestKind {
    /// All versions, every field.
    FullPackument,
    /// All versions, the fields an install needs.
    AbbreviatedPackument,
    /// One version.
    Version,
    /// A tarball.
    Tarball,
    /// A CORS preflight.
    Preflight,
    /// Anything else, such as a ping or an audit.
    Other,
}

/// Counts since the start or the last reset. Control requests are not counted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stats {
    /// All requests, preflights included.
    pub requests: u64,
    /// Full packuments asked for.
    pub full_packuments: u64,
    /// Abbreviated packuments asked for.
    pub abbreviated_packuments: u64,
    /// Single versions asked for.
    pub versions: u64,
    /// Tarballs asked for.
    pub tarballs: u64,
    /// Preflights.
    pub preflights: u64,
    /// Other requests.
    pub others: u64,
    /// Answers 304.
    pub not_modified: u64,
    /// Answers 401 for want of the token.
    pub unauthorized: u64,
    /// Packages, versions and tarballs that were not there.
    pub misses: u64,
    /// Faults played.
    pub faults: u64,
    /// Documents and tarballs asked of the upstream registry.
    pub upstream_fetches: u64,
    /// Bytes of bodies handed to connections, after compression.
    pub bytes: u64,
    /// Requests under way now.
    pub in_flight: u64,
    /// Most requests ever under way at once, until the last byte of their bodies.
    pub max_in_flight: u64,
    /// Microseconds during which a request was under way.
    pub busy_microseconds: u64,
    /// Microseconds of all requests together; divided by the busy ones it is the average concurrency.
    pub request_microseconds: u64,
}

/// One request in the log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogEntry {
    /// Method.
    pub method: String,
    /// Decoded path.
    pub path: String,
    /// Kind.
    pub kind: RequestKind,
    /// Status answered; 0 if a fault kept every answer back.
    pub status: u16,
    /// Whether an `Authorization` header came along (never its value).
    pub authorized: bool,
    /// Whether it was a miss.
    pub miss: bool,
    /// When it came, in microseconds since the start or the last reset.
    pub started_microseconds: u64,
    /// How long until its last byte was handed to the connection; 0 while it is under way.
    pub microseconds: u64,
}

/// A server that runs for days must not grow without end; no test asks this much.
const LOG_LIMIT: usize = 200_000;

#[derive(Debug, Default)]
pub(crate) struct Counters {
    kinds: [AtomicU64; 6],
    pub(crate) not_modified: AtomicU64,
    pub(crate) unauthorized: AtomicU64,
    pub(crate) misses: AtomicU64,
    pub(crate) faults: AtomicU64,
    pub(crate) bytes: AtomicU64,
    journal: Mutex<Journal>,
}

/// What is known of requests in time.
#[derive(Debug)]
struct Journal {
    since: Instant,
    /// Tells requests of before a reset from those after.
    generation: u64,
    log: Vec<LogEntry>,
    in_flight: u64,
    max_in_flight: u64,
    busy_since: Instant,
    busy: Duration,
    requests: Duration,
}

impl Default for Journal {
    fn default() -> Self {
        let now = Instant::now();
        Self {
            since: now,
            generation: 0,
            log: Vec::new(),
            in_flight: 0,
            max_in_flight: 0,
            busy_since: now,
            busy: Duration::ZERO,
            requests: Duration::ZERO,
        }
    }
}

impl Journal {
    fn busy(&self) -> Duration {
        if self.in_flight == 0 { self.busy } else { self.busy + self.busy_since.elapsed() }
    }
}

/// One request under way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Underway {
    started: Instant,
    generation: u64,
    /// Its place in the log.
    entry: Option<usize>,
}

fn microseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

impl Counters {
    fn journal(&self) -> MutexGuard<'_, Journal> {
        self.journal.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn begin(&self) -> Underway {
        let mut journal = self.journal();
        let started = Instant::now();
        if journal.in_flight == 0 {
            journal.busy_since = started;
        }
        journal.in_flight += 1;
        journal.max_in_flight = journal.max_in_flight.max(journal.in_flight);
        Underway { started, generation: journal.generation, entry: None }
    }

    pub(crate) fn end(&self, underway: Underway) {
        let mut journal = self.journal();
        let now = Instant::now();
        journal.in_flight -= 1;
        if journal.in_flight == 0 {
            let busy = now.saturating_duration_since(journal.busy_since);
            journal.busy += busy;
        }
        if underway.generation != journal.generation {
            return;
        }
        let took = now.saturating_duration_since(underway.started);
        journal.requests += took;
        if let Some(entry) = underway.entry.and_then(|entry| journal.log.get_mut(entry)) {
            entry.microseconds = microseconds(took).max(1);
        }
    }

    pub(crate) fn record(&self, mut entry: LogEntry, underway: &mut Underway) {
        self.kinds[entry.kind as usize].fetch_add(1, Ordering::Relaxed);
        let mut journal = self.journal();
        if journal.log.len() < LOG_LIMIT {
            entry.started_microseconds = microseconds(underway.started.saturating_duration_since(journal.since));
            // One that came before a reset is logged after it, and timed in neither.
            underway.entry = (underway.generation == journal.generation).then_some(journal.log.len());
            journal.log.push(entry);
        }
    }

    pub(crate) fn log(&self) -> Vec<LogEntry> {
        self.journal().log.clone()
    }

    pub(crate) fn snapshot(&self) -> Stats {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let kind = |kind: RequestKind| read(&self.kinds[kind as usize]);
        let journal = self.journal();
        Stats {
            requests: self.kinds.iter().map(read).sum(),
            full_packuments: kind(RequestKind::FullPackument),
            abbreviated_packuments: kind(RequestKind::AbbreviatedPackument),
            versions: kind(RequestKind::Version),
            tarballs: kind(RequestKind::Tarball),
            preflights: kind(RequestKind::Preflight),
            others: kind(RequestKind::Other),
            not_modified: read(&self.not_modified),
            unauthorized: read(&self.unauthorized),
            misses: read(&self.misses),
            faults: read(&self.faults),
            upstream_fetches: 0,
            bytes: read(&self.bytes),
            in_flight: journal.in_flight,
            max_in_flight: journal.max_in_flight,
            busy_microseconds: microseconds(journal.busy()),
            request_microseconds: microseconds(journal.requests),
        }
    }

    pub(crate) fn reset(&self) {
        let counters = [&self.not_modified, &self.unauthorized, &self.misses, &self.faults, &self.bytes];
        for counter in self.kinds.iter().chain(counters) {
            counter.store(0, Ordering::Relaxed);
        }
        let mut journal = self.journal();
        let (generation, in_flight) = (journal.generation + 1, journal.in_flight);
        *journal = Journal { generation, in_flight, max_in_flight: in_flight, ..Journal::default() };
    }
}
