//! Everything under way, in two lanes: packuments and packages.
//!
//! A lane's slots bound how much of its kind is under way, so that neither starves the other; what does not fit waits,
//! packuments in the order they were asked for, packages biggest first (the last to finish decides when an install ends).
//! One owner polls all flights: a landing is handled before the next slot is filled, and dropping the owner cancels
//! everything.

use crate::host::{Host, IngestJob, IngestReport, PackageStore};
use crate::progress::Progress;
use crate::{Event, Fault};
use futures_util::future::LocalBoxFuture;
use futures_util::stream::{FuturesUnordered, StreamExt};
use gantry_manifest::Packument;
use gantry_registry::RegistryError;
use gantry_spec::PackageName;
use gantry_store::PackageKey;
use rustc_hash::FxHashSet;
use std::cmp::Ordering;
use std::collections::{BinaryHeap, VecDeque};
use std::sync::Arc;

/// Something that arrived.
pub(crate) enum Landing {
    Packument(PackageName, Result<Arc<Packument>, RegistryError>),
    Package(IngestJob, Result<IngestReport, Fault>),
}

/// A waiting package; the biggest is the greatest, then the first by name.
struct Waiting(IngestJob);

impl Ord for Waiting {
    fn cmp(&self, other: &Self) -> Ordering {
        let names = (&other.0.name, &other.0.version).cmp(&(&self.0.name, &self.0.version));
        self.0.size_hint.cmp(&other.0.size_hint).then(names)
    }
}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Waiting {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Waiting {}

/// Both lanes and what flies in them.
pub(crate) struct Traffic<'a, H: Host> {
    host: &'a H,
    flights: FuturesUnordered<LocalBoxFuture<'a, Landing>>,
    demanded: VecDeque<PackageName>,
    prefetched: VecDeque<PackageName>,
    packages: BinaryHeap<Waiting>,
    /// Keys that were ever asked for; each is fetched once.
    asked: FxHashSet<PackageKey>,
    failures: Vec<(PackageKey, Fault)>,
    packuments_flying: usize,
    packages_flying: usize,
}

impl<'a, H: Host> Traffic<'a, H> {
    pub fn new(host: &'a H) -> Self {
        Self {
            host,
            flights: FuturesUnordered::new(),
            demanded: VecDeque::new(),
            prefetched: VecDeque::new(),
            packages: BinaryHeap::new(),
            asked: FxHashSet::default(),
            failures: Vec::new(),
            packuments_flying: 0,
            packages_flying: 0,
        }
    }

    pub fn demand(&mut self, name: PackageName) {
        self.demanded.push_back(name);
    }

    pub fn prefetch(&mut self, name: PackageName) {
        self.prefetched.push_back(name);
    }

    /// Asks for a package unless the store has it or it was asked for before.
    pub fn want(&mut self, job: IngestJob, progress: &Progress<'_, H::Clock>) {
        if !self.asked.insert(job.key.clone()) {
            return;
        }
        if self.host.store().index(&job.key).is_some() {
            progress.count(|counters| {
                counters.wanted += 1;
                counters.reused += 1;
            });
            progress.emit(Event::Package { name: job.name, version: job.version, reused: true });
            return;
        }
        progress.count(|counters| counters.wanted += 1);
        self.packages.push(Waiting(job));
    }

    /// Drops waiting packages that `keep` does not want: guesses that placement did not confirm.
    pub fn retain_packages(&mut self, mut keep: impl FnMut(&PackageKey) -> bool) {
        let asked = &mut self.asked;
        self.packages.retain(|waiting| {
            let kept = keep(&waiting.0.key);
            if !kept {
                asked.remove(&waiting.0.key);
            }
            kept
        });
    }

    /// Remembers that a package fetched on a guess failed, until it is known whether it matters.
    pub fn failed(&mut self, key: PackageKey, fault: Fault) {
        self.failures.push((key, fault));
    }

    /// How a package failed that was asked for before.
    pub fn failure(&self, key: &PackageKey) -> Option<&Fault> {
        self.failures.iter().find(|(failed, _)| failed == key).map(|(_, fault)| fault)
    }

    pub fn take_failures(&mut self) -> Vec<(PackageKey, Fault)> {
        std::mem::take(&mut self.failures)
    }

    /// Fills the slots and waits for the next landing; `None` when idle.
    pub async fn next(&mut self, progress: &Progress<'_, H::Clock>) -> Option<Landing> {
        self.depart();
        let landing = self.flights.next().await?;
        match &landing {
            Landing::Packument(..) => {
                self.packuments_flying -= 1;
                progress.count(|counters| counters.requests += self.host.registry().take_requests());
            }
            Landing::Package(job, result) => {
                self.packages_flying -= 1;
                if let Ok(report) = result {
                    progress.count(|counters| {
                        counters.downloaded += 1;
                        counters.unpacked += 1;
                        counters.bytes += report.bytes;
                        counters.requests += report.requests;
                    });
                    progress.emit(Event::Package {
                        name: job.name.clone(),
                        version: job.version.clone(),
                        reused: false,
                    });
                }
            }
        }
        self.depart();
        Some(landing)
    }

    fn depart(&mut self) {
        let host = self.host;
        let slots = host.slots();
        while self.packuments_flying < slots.packuments {
            let Some(name) = self.demanded.pop_front().or_else(|| self.prefetched.pop_front()) else { break };
            self.packuments_flying += 1;
            self.flights.push(Box::pin(async move {
                let result = host.registry().packument(name.as_str()).await;
                Landing::Packument(name, result)
            }));
        }
        while self.packages_flying < slots.packages {
            let Some(Waiting(job)) = self.packages.pop() else { break };
            self.packages_flying += 1;
            self.flights.push(Box::pin(async move {
                let result = host.store().ingest(job.clone()).await;
                Landing::Package(job, result)
            }));
        }
    }
}
