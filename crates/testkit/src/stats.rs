//! What a server was asked, counted. Counting never waits: plain atomics, and one short lock for the log.
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

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
    in_flight: AtomicU64,
    max_in_flight: AtomicU64,
    log: Mutex<Vec<LogEntry>>,
}

impl Counters {
    pub(crate) fn begin(&self) {
        let now = self.in_flight.fetch_add(1, Ordering::Relaxed) + 1;
        self.max_in_flight.fetch_max(now, Ordering::Relaxed);
    }

    pub(crate) fn end(&self) {
        self.in_flight.fetch_sub(1, Ordering::Relaxed);
    }

    pub(crate) fn record(&self, entry: LogEntry) {
        self.kinds[entry.kind as usize].fetch_add(1, Ordering::Relaxed);
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        if log.len() < LOG_LIMIT {
            log.push(entry);
        }
    }

    pub(crate) fn log(&self) -> Vec<LogEntry> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn snapshot(&self) -> Stats {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let kind = |kind: RequestKind| read(&self.kinds[kind as usize]);
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
            in_flight: read(&self.in_flight),
            max_in_flight: read(&self.max_in_flight),
        }
    }

    pub(crate) fn reset(&self) {
        let counters = [&self.not_modified, &self.unauthorized, &self.misses, &self.faults, &self.bytes];
        for counter in self.kinds.iter().chain(counters) {
            counter.store(0, Ordering::Relaxed);
        }
        self.max_in_flight.store(self.in_flight.load(Ordering::Relaxed), Ordering::Relaxed);
        self.log.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}
