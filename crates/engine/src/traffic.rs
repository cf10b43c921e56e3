//! Everything under way, in two lanes: documents and packages.
//!
//! A lane's slots bound how much of its kind is under way, so that neither starves the other (documents may have what
//! packages leave, where the platform has connections for that); what does not fit waits,
//! packuments in the order they were asked for, packages biggest first (the last to finish decides when an install ends).
//! What only completes the lock has what packuments leave of their lane: over a slow network there is room while the resolver
//! waits for the next level of the tree.
//! A flight whose request waits to be made again [gives its slot up](Lane) meanwhile, and is the first to have one afterwards.
//! One owner polls all flights: a landing is handled before the next slot is filled, and dropping the owner cancels
//! everything.

use crate::ahead::{Ahead, Place};
use crate::found::Found;
use crate::git;
use crate::host::{Host, IngestJob, IngestReport, JobSource, PackageStore};
use crate::jobs::job_of_planned;
use crate::progress::Progress;
use crate::sources::{look_into, pack_folder, read_tarball};
use crate::{EngineError, Event, Fault};
use futures_util::future::{FutureExt, LocalBoxFuture};
use futures_util::stream::{FuturesUnordered, StreamExt};
use gantry_layout::PlannedPackage;
use gantry_manifest::{LockEntry, Packument, Text};
use gantry_platform::{Clock, Http, Work};
use gantry_registry::{Lane, RegistryClient, RegistryError, TarballRequest, VersionAnswer, VersionFacts};
use gantry_resolver::{PackumentRequest, Priority, Source, SourceRequest};
use gantry_spec::PackageName;
use gantry_store::PackageKey;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Ordering;
use std::collections::{BinaryHeap, VecDeque};
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll};

/// How long to wait for signs of a registry that is near: there, asking early costs more than it brings.
const PAUSE_MILLISECONDS: f64 = 6.0;

/// Something that arrived.
pub(crate) enum Landing {
    Packument(PackageName, Result<Arc<Packument>, RegistryError>),
    /// One version alone, which is all that was asked for.
    Version(PackageName, String, Arc<Packument>),
    Package(Box<IngestJob>, Result<IngestReport, Fault>),
    Source(SourceRequest, Result<Box<Found>, Fault>),
}

/// The version of a package, whose own document is asked for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct VersionId {
    pub name: Text,
    pub version: Text,
}

/// What became of asking for a version's own document.
pub(crate) type Facts = Result<VersionFacts, RegistryError>;

/// Something that arrived, with what nobody waits for while resolving.
enum Arrival {
    Landing(Landing),
    Facts(VersionId, Facts),
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
    document_flights: FuturesUnordered<LocalBoxFuture<'a, Arrival>>,
    package_flights: FuturesUnordered<LocalBoxFuture<'a, Arrival>>,
    document_lane: Lane,
    package_lane: Lane,
    /// What waits, and since when on the clock.
    demanded: VecDeque<(PackumentRequest, f64)>,
    prefetched: VecDeque<(PackumentRequest, f64)>,
    /// Versions whose own documents wait, with their integrity.
    versions: VecDeque<(VersionId, Option<Text>, f64)>,
    versions_asked: FxHashSet<VersionId>,
    facts: FxHashMap<VersionId, Facts>,
    /// What nobody has asked for yet.
    ahead: Ahead,
    /// Until when nothing is foretold; `None` once that is over.
    pause: Option<LocalBoxFuture<'a, ()>>,
    /// What was asked for when it had been fetched already.
    here: VecDeque<Landing>,
    packages: BinaryHeap<Waiting>,
    /// Keys that were ever asked for; each is fetched once.
    asked: FxHashSet<PackageKey>,
    failures: Vec<(PackageKey, Fault)>,
    packuments_flying: usize,
    /// What was looked into before, each for the first who asks.
    sources: FxHashMap<Source, Box<Found>>,
    /// Whether packuments have to say when versions were published, which only full ones do.
    needs_dates: bool,
}

impl<'a, H: Host> Traffic<'a, H> {
    pub fn new(host: &'a H, needs_dates: bool) -> Self {
        Self {
            host,
            needs_dates,
            document_flights: FuturesUnordered::new(),
            package_flights: FuturesUnordered::new(),
            document_lane: Lane::default(),
            package_lane: Lane::default(),
            demanded: VecDeque::new(),
            prefetched: VecDeque::new(),
            versions: VecDeque::new(),
            versions_asked: FxHashSet::default(),
            facts: FxHashMap::default(),
            ahead: Ahead::new(host.forecast()),
            pause: Some(Box::pin(host.registry().clock().sleep(PAUSE_MILLISECONDS))),
            here: VecDeque::new(),
            packages: BinaryHeap::new(),
            asked: FxHashSet::default(),
            failures: Vec::new(),
            packuments_flying: 0,
            sources: FxHashMap::default(),
        }
    }

    /// Takes what somebody has looked into already.
    pub fn know_sources(&mut self, sources: impl IntoIterator<Item = (Source, Box<Found>)>) {
        self.sources.extend(sources);
    }

    /// Asks for a packument.
    pub fn want_packument(&mut self, request: PackumentRequest) {
        match self.ahead.asked(&request) {
            Place::Here(answer) => return self.here.push_back(Landing::Packument(request.name, answer)),
            Place::UnderWay => {
                self.packuments_flying += 1;
                return;
            }
            Place::Nowhere => {}
        }
        let now = self.now();
        match request.priority {
            Priority::Demand => self.demanded.push_back((request, now)),
            Priority::Prefetch => self.prefetched.push_back((request, now)),
        }
    }

    /// Asks for a version's own document unless it was asked for before.
    pub fn want_facts(&mut self, version: VersionId, integrity: Option<Text>) {
        if self.versions_asked.insert(version.clone()) {
            self.versions.push_back((version, integrity, self.now()));
        }
    }

    /// Looks into what no registry has.
    pub fn want_source(&mut self, request: SourceRequest) {
        let host = self.host;
        let known = self.sources.remove(&request.source);
        self.depart_document(async move {
            let found = match known {
                Some(found) => Ok(found),
                None => look_into(host, &request).await.map(Box::new),
            };
            Arrival::Landing(Landing::Source(request, found))
        });
    }

    /// Asks for a package unless the store has it or it was asked for before.
    pub fn want(&mut self, job: IngestJob, progress: &Progress<'_, H::Clock>) {
        if self.lacks(&job.key, &job.name, &job.version, progress) {
            self.packages.push(Waiting(job));
        }
    }

    /// As [`want`](Self::want), for a planned package; `entry` is what the lock says of it. What the store has costs next to
    /// nothing.
    pub fn want_planned(
        &mut self,
        package: &PlannedPackage,
        entry: Option<&LockEntry>,
        progress: &Progress<'_, H::Clock>,
    ) -> Result<(), EngineError> {
        if self.lacks(&package.key, &package.name, &package.version, progress) {
            self.packages.push(Waiting(job_of_planned(self.host, package, entry)?));
        }
        Ok(())
    }

    /// Whether a package was asked for before.
    pub fn has_asked_for(&self, key: &PackageKey) -> bool {
        self.asked.contains(key)
    }

    /// Whether a package is to be fetched: it was not asked for before, and the store does not have it.
    fn lacks(&mut self, key: &PackageKey, name: &str, version: &str, progress: &Progress<'_, H::Clock>) -> bool {
        if !self.asked.insert(key.clone()) {
            return false;
        }
        let reused = self.host.store().index(key).is_some();
        progress.count(|counters| {
            counters.wanted += 1;
            counters.reused += u32::from(reused);
        });
        if reused {
            progress.emit(Event::Package { name: name.into(), version: version.into(), reused });
        }
        !reused
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

    /// Foretells nothing of these packages, nor of what they depend on.
    pub fn settle(&mut self, names: impl IntoIterator<Item = String>) {
        self.ahead.settle(names);
    }

    /// All packuments are there that anybody needs.
    pub fn end_packuments(&mut self) {
        self.ahead.end();
    }

    /// Gives up all packages, waiting and under way.
    pub fn give_up_packages(&mut self) {
        self.packages.clear();
        self.package_flights.clear();
    }

    /// Waits for all versions' documents that were asked for.
    pub async fn all_facts(&mut self, progress: &Progress<'_, H::Clock>) -> &FxHashMap<VersionId, Facts> {
        while self.facts.len() < self.versions_asked.len() && self.arrival(progress).await.is_some() {}
        &self.facts
    }

    /// Fills the slots and waits for the next landing; `None` when idle.
    pub fn next<'t>(&'t mut self, progress: &'t Progress<'_, H::Clock>) -> LocalBoxFuture<'t, Option<Landing>> {
        Box::pin(async {
            loop {
                if let Some(landing) = self.arrival(progress).await? {
                    return Some(landing);
                }
            }
        })
    }

    /// Waits for what arrives next; facts are put aside.
    async fn arrival(&mut self, progress: &Progress<'_, H::Clock>) -> Option<Option<Landing>> {
        self.depart(progress);
        if let Some(landing) = self.here.pop_front() {
            return Some(Some(landing));
        }
        let arrival = poll_fn(|context| {
            loop {
                let arrival = self.poll_flights(context);
                if arrival.is_pending() && (self.has_changed_slots() || self.look_ahead(context)) {
                    self.depart(progress);
                } else {
                    return arrival;
                }
            }
        });
        let landing = match arrival.await? {
            Arrival::Landing(Landing::Packument(name, answer)) => match self.ahead.landed(&name, answer) {
                Some(answer) => Landing::Packument(name, answer),
                None => {
                    self.count_requests(progress);
                    self.depart(progress);
                    return Some(None);
                }
            },
            Arrival::Landing(landing) => landing,
            Arrival::Facts(version, facts) => {
                self.count_requests(progress);
                self.facts.insert(version, facts);
                self.depart(progress);
                return Some(None);
            }
        };
        match &landing {
            Landing::Packument(..) | Landing::Version(..) => {
                self.packuments_flying -= 1;
                self.count_requests(progress);
            }
            Landing::Source(..) => {}
            Landing::Package(job, result) => {
                self.count_requests(progress);
                if let Ok(report) = result {
                    if let Some(first) = report.spans.iter().find(|span| span.work == Work::Tarball) {
                        progress.waited(Work::Tarball, first.began - first.queued - job.asked);
                    }
                    progress.spans(&job.tarball.package, &report.spans);
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
        self.depart(progress);
        Some(Some(landing))
    }

    /// What was asked for and is not there by now is a round trip away: time to ask for what is foretold from it. Gives whether
    /// there is any.
    fn look_ahead(&mut self, context: &mut Context<'_>) -> bool {
        if !self.ahead.is_open() {
            return false;
        }
        if let Some(pause) = &mut self.pause {
            if pause.poll_unpin(context).is_pending() {
                return false;
            }
            self.pause = None;
        }
        if self.host.registry().is_near() {
            self.ahead.end();
            return false;
        }
        self.ahead.look()
    }

    /// Whether a slot was given up, or is wanted back, since the last call.
    fn has_changed_slots(&self) -> bool {
        // Of both, or the second would be forgotten.
        self.document_lane.take_change() | self.package_lane.take_change()
    }

    /// Documents that hold a slot.
    fn documents_under_way(&self) -> usize {
        self.document_flights.len().saturating_sub(self.document_lane.resting())
    }

    /// Packages that hold a slot.
    fn packages_under_way(&self) -> usize {
        self.package_flights.len().saturating_sub(self.package_lane.resting())
    }

    fn poll_flights(&mut self, context: &mut Context<'_>) -> Poll<Option<Arrival>> {
        let documents = self.document_flights.poll_next_unpin(context);
        if let Poll::Ready(Some(_)) = documents {
            return documents;
        }
        match (documents, self.package_flights.poll_next_unpin(context)) {
            (Poll::Pending, Poll::Ready(None)) => Poll::Pending,
            (_, packages) => packages,
        }
    }

    /// What has been asked of registries since the last time; of tarballs, what has come to nothing.
    fn count_requests(&self, progress: &Progress<'_, H::Clock>) {
        let registry = self.host.registry();
        progress.count(|counters| counters.requests += registry.take_requests());
        progress.take_spans(registry);
    }

    fn now(&self) -> f64 {
        self.host.registry().clock().monotonic_milliseconds()
    }

    fn depart(&mut self, progress: &Progress<'_, H::Clock>) {
        let host = self.host;
        let slots = host.slots();
        let packages = self.packages_under_way() + self.packages.len();
        let lane = slots.together.saturating_sub(packages).max(slots.documents);
        while self.documents_under_way() < lane {
            if self.document_lane.readmit() {
                continue;
            }
            let (name, version) = match self.demanded.pop_front().or_else(|| self.prefetched.pop_front()) {
                Some((PackumentRequest { name, version, .. }, since)) => {
                    progress.waited(Work::Packument, progress.now() - since);
                    self.packuments_flying += 1;
                    (name, version)
                }
                None => match self.ahead.next() {
                    Some(name) => (name, None),
                    None => break,
                },
            };
            let needs_dates = self.needs_dates;
            self.depart_document(async move {
                Arrival::Landing(packument(host.registry(), name, version, needs_dates).await)
            });
        }
        // While packuments come in others will be asked for: as many slots are kept for them as there are packuments under way, at
        // most a quarter of the lane, and a sixteenth at least. Twice as many would leave slots empty once names are asked for ahead.
        let kept = match self.packuments_flying {
            0 => 0,
            flying => flying.clamp(lane / 16, lane.div_ceil(4)),
        };
        let room = lane - kept;
        while self.documents_under_way() < room {
            let Some((version, integrity, since)) = self.versions.pop_front() else { break };
            progress.waited(Work::Version, progress.now() - since);
            self.depart_document(async move {
                let VersionId { name, version: number } = &version;
                let facts = host.registry().version_facts(name, number, integrity.as_deref()).await;
                Arrival::Facts(version, facts)
            });
        }
        while self.packages_under_way() < slots.packages {
            // Documents may have taken more than they are to have beside this package: then it goes when enough have landed.
            let beside = slots.together.saturating_sub(self.packages_under_way() + 1).max(slots.documents);
            if self.documents_under_way() > beside {
                break;
            }
            if self.package_lane.readmit() {
                continue;
            }
            let Some(Waiting(job)) = self.packages.pop() else { break };
            let job = IngestJob { slot: self.package_lane.slot(), ..job };
            self.package_flights.push(Box::pin(async move {
                let _tracked = Tracked { registry: host.registry(), tarball: job.tarball.clone() };
                let result = ingest(host, job.clone()).await;
                Arrival::Landing(Landing::Package(Box::new(job), result))
            }));
        }
    }

    /// Sends something off in the lane of documents, with a slot of it.
    fn depart_document(&self, flight: impl Future<Output = Arrival> + 'a) {
        let (registry, slot) = (self.host.registry(), self.document_lane.slot());
        self.document_flights.push(Box::pin(registry.holding(slot, flight)));
    }
}

/// A tarball on its way. What is in its log when this is dropped is of requests that failed or were given up.
struct Tracked<'a, T: Http, C: Clock> {
    registry: &'a RegistryClient<T, C>,
    tarball: TarballRequest,
}

impl<T: Http, C: Clock> Drop for Tracked<'_, T, C> {
    fn drop(&mut self) {
        for span in self.tarball.log.take() {
            self.registry.note_span(&self.tarball.package, span);
        }
    }
}

/// Asks for a packument, or for the one version of it that will do.
async fn packument<T: Http, C: Clock>(
    registry: &RegistryClient<T, C>,
    name: PackageName,
    version: Option<String>,
    needs_dates: bool,
) -> Landing {
    let result = match version {
        _ if needs_dates => registry.full_packument(name.as_str()).await,
        None => registry.packument(name.as_str()).await,
        Some(version) => match registry.version(name.as_str(), &version).await {
            Ok(VersionAnswer::Alone(packument)) => return Landing::Version(name, version, packument),
            Ok(VersionAnswer::Whole(packument)) => Ok(packument),
            Err(error) => Err(error),
        },
    };
    Landing::Packument(name, result)
}

/// Brings a package into the store; one that no address serves is got first.
async fn ingest<H: Host>(host: &H, mut job: IngestJob) -> Result<IngestReport, Fault> {
    match &job.source {
        Some(JobSource::File(path)) => {
            job.tarball.body = Some(read_tarball(host, &job.name, path).boxed_local().await?)
        }
        Some(JobSource::Git(resolved)) => {
            job.tarball.body = Some(git::tarball(host, &job.name, resolved).boxed_local().await?)
        }
        Some(JobSource::Folder(resolved)) => {
            job.tarball.body = Some(pack_folder(host, &job.name, resolved).boxed_local().await?)
        }
        None => {}
    }
    host.store().ingest(job).await
}
