//! The package store of one origin: the journal in this worker, the packs in the workers of the pool.
//!
//! What the pool has unpacked is visible to the install that asked for it at once, and durable after the next commit:
//! the pool flushes its packs, then the records are appended to the journal and flushed. Commits are grouped by bytes,
//! so that a tab that is closed loses little and flushing costs little.

mod checking;
mod forgetting;
mod lending;
mod mark;
mod reading;
mod usage;

pub(crate) use checking::{Verified, damaged, outside};
pub(crate) use usage::StoreUsage;

use crate::clock::BrowserClock;
use crate::error::file_fault;
use crate::opfs::{GUARD, OpfsDirectory, OpfsFile};
use crate::pool::{PoolPort, UnpackReport};
use crate::store::mark::mark_of;
use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::lock::Mutex;
use gantry_engine::{Fault, IngestJob, IngestReport, PackageStore};
use gantry_platform::{Clock, Directory, Ending, Span, Work};
use gantry_registry::{Retries, TarballRequest};
use gantry_store::{
    CheckedSegment, JournalRecord, PackEnds, PackStore, PackageIndex, PackageKey, ProjectRecord, Pruned, SegmentPlace,
    StoreError,
};
use js_sys::Promise;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};
use std::sync::Arc;

/// Unpacked bytes between two commits: about a second of work lost at worst, for a flush of some ten milliseconds.
const BYTES_BETWEEN_COMMITS: u64 = 48 << 20;

fn closed() -> Fault {
    Fault::new("STORE_LOST", "the store is being cleared, or could not be opened again afterwards")
        .with_hint("Clear it again, or reload the page.")
}

/// The browser, or its user, removed what this origin had stored, while an install wrote it.
pub(crate) fn cleared() -> Fault {
    Fault::new("STORE_LOST", "the storage of this site was cleared during the install").with_hint("Install again.")
}

/// Of what a tree says that it is there.
pub(crate) fn gone() -> Fault {
    Fault::new("STORE_LOST", "a package of this project is not in the store any more")
        .with_hint("Install the project again.")
}

async fn open_packs(directory: &OpfsDirectory, full_pack: Option<u64>) -> Result<PackStore<OpfsDirectory>, StoreError> {
    let packs = PackStore::open(directory.clone()).await?;
    Ok(match full_pack {
        Some(bytes) => packs.with_full_packs_of(bytes),
        None => packs,
    })
}

/// Unpacked, and not yet in the journal.
#[derive(Debug, Clone)]
struct Pending {
    place: SegmentPlace,
    encoded: Bytes,
    index: Arc<PackageIndex>,
}

/// The store as the pipeline sees it.
#[derive(Debug)]
pub(crate) struct BrowserStore {
    directory: OpfsDirectory,
    /// Name of the file that tells this store from others of its name.
    mark: String,
    full_pack: Option<u64>,
    pool: PoolPort,
    /// `None` only while everything is being removed, and where the store could not be opened again after that.
    packs: RefCell<Option<PackStore<OpfsDirectory>>>,
    pending: RefCell<FxHashMap<PackageKey, Pending>>,
    uncommitted: Cell<u64>,
    /// What this install has recorded, and where packs ended before it.
    added: RefCell<(PackEnds, FxHashSet<PackageKey>)>,
    /// Whether unpack workers are to say how long each step took.
    timed: Cell<bool>,
    /// Packs open for reading, none of them lent.
    readers: RefCell<FxHashMap<u32, Rc<OpfsFile>>>,
    /// The packs that the pool's workers have, in their order. Each is asked for what is in its own: where files are not
    /// shared an open pack is its worker's alone. (A snapshot of the file cannot be relied on: Chromium refuses to read one
    /// that was appended to since it was taken.)
    lent: RefCell<Vec<[u32; 2]>>,
    /// What was right when it was first read, of packages that have been read, unpacked or verified since the store was opened.
    checked: RefCell<FxHashMap<PackageKey, CheckedSegment>>,
    /// The handing over of packs that this install has begun; resolves to `undefined`, or to why it failed.
    lending: RefCell<Option<Promise>>,
    /// Whether a pack has much that was never recorded.
    has_remains: Cell<bool>,
    /// Itself, for what goes on when nobody waits for it any more.
    this: Weak<BrowserStore>,
    /// Held while a reader is opened: two at once would lock each other out. Also while packs are handed over, taken back
    /// or removed, which an open one would prevent.
    opening: Mutex<()>,
    /// Held during a commit, so that records reach the journal in one order.
    committing: Mutex<()>,
}

impl BrowserStore {
    /// Takes what a worker says of a package. Not inlined into what is polled for every package at every step.
    #[inline(never)]
    fn take_report(&self, job: IngestJob, report: UnpackReport) -> Result<IngestReport, Fault> {
        let spans = report.spans();
        let result =
            report.into_result().inspect_err(|_| spans.iter().cloned().for_each(|span| job.tarball.log.note(span)))?;
        let place = result.place();
        let index = Arc::new(PackageIndex::decode(&result.index).map_err(|error| Fault::from(&error))?);
        let encoded = Bytes::from(result.index);
        self.checked.borrow_mut().insert(job.key.clone(), CheckedSegment::whole(&place));
        self.pending.borrow_mut().insert(job.key, Pending { place, encoded, index: Arc::clone(&index) });
        self.uncommitted.set(self.uncommitted.get() + place.length);
        Ok(IngestReport { index, bytes: result.bytes, requests: result.requests, spans })
    }

    /// Has a worker do a job, and has it done again where that may help; gives how often it was in vain. A job that waits is in
    /// no worker and holds no slot.
    async fn run(&self, job: &IngestJob) -> (Result<UnpackReport, Fault>, u32) {
        let TarballRequest { retry, url, log, .. } = &job.tarball;
        let attempt = async || {
            let handed_over = HandedOver::now(job);
            let report = self.pool.run(job, self.timed.get()).await;
            handed_over.came_back();
            match report {
                Ok(report) if report.repeatable().is_none() => Ok(report),
                failed => Err(failed),
            }
        };
        let in_vain = Cell::new(0);
        let repeatable = |failed: &Result<UnpackReport, Fault>| {
            let report = failed.as_ref().ok()?;
            let repeatable = report.repeatable()?;
            report.spans().into_iter().for_each(|span| log.note(span));
            in_vain.set(in_vain.get() + 1);
            Some(repeatable)
        };
        let retries = Retries { policy: retry, clock: &BrowserClock, url, slot: &job.slot };
        let report = retries.run(repeatable, |span| log.note(span), attempt).await;
        (report.map_or_else(|failed| failed, Ok), in_vain.get())
    }

    /// Opens the store in `directory`. Packs of `full_pack` bytes get no more packages, if that is given.
    pub async fn open(directory: OpfsDirectory, pool: PoolPort, full_pack: Option<u64>) -> Result<Rc<Self>, Fault> {
        let packs = open_packs(&directory, full_pack).await.map_err(|error| Fault::from(&error))?;
        let mark = mark_of(&directory).await.map_err(|error| file_fault(&error))?;
        Ok(Rc::new_cyclic(|this| Self {
            directory,
            mark,
            full_pack,
            pool,
            packs: RefCell::new(Some(packs)),
            pending: RefCell::default(),
            uncommitted: Cell::default(),
            added: RefCell::default(),
            timed: Cell::default(),
            readers: RefCell::default(),
            lent: RefCell::default(),
            lending: RefCell::default(),
            has_remains: Cell::default(),
            this: this.clone(),
            checked: RefCell::default(),
            opening: Mutex::new(()),
            committing: Mutex::new(()),
        }))
    }

    /// The folder that all of it is in.
    pub fn directory(&self) -> &OpfsDirectory {
        &self.directory
    }

    /// Whether unpack workers are to say from now on how long each step takes.
    pub fn set_timed(&self, timed: bool) {
        self.timed.set(timed);
    }

    /// What is recorded of a project.
    pub fn project(&self, name: &str) -> Option<ProjectRecord> {
        self.packs.borrow().as_ref()?.catalog().project(name).cloned()
    }

    /// Records a project.
    pub fn record_project(&self, name: &str, lock: Bytes, options: Bytes) -> Result<(), Fault> {
        let sequence = self.project(name).map_or(0, |record| record.sequence) + 1;
        let record = JournalRecord::Project { name: name.to_owned(), lock, options, sequence };
        self.record(vec![record])
    }

    fn record(&self, records: Vec<JournalRecord>) -> Result<(), Fault> {
        let mut packs = self.packs.borrow_mut();
        packs.as_mut().ok_or_else(closed)?.commit(records).map_err(|error| Fault::from(&error))
    }

    fn with_packs<T>(&self, question: impl FnOnce(&PackStore<OpfsDirectory>) -> T) -> Result<T, Fault> {
        self.packs.borrow().as_ref().map(question).ok_or_else(closed)
    }

    /// Whether the files of the store are still there, and are those of this one. The browser may remove them at any time, or its
    /// user; what is open stays open then, but is nowhere any more.
    pub async fn is_there(&self) -> Result<bool, Fault> {
        self.directory.has(&self.mark).await.map_err(|error| file_fault(&error))
    }

    /// Name of a file that this store has, and no other one.
    pub fn mark(&self) -> &str {
        &self.mark
    }

    /// How much is stored.
    pub fn usage(&self) -> Result<StoreUsage, Fault> {
        self.with_packs(|packs| StoreUsage::of(packs.catalog()))
    }

    /// The names of all projects, sorted.
    pub fn project_names(&self) -> Result<Vec<String>, Fault> {
        self.with_packs(|packs| packs.catalog().projects().map(|(name, _)| name.to_owned()).collect())
    }

    /// Removes the packages that are not needed, and waste. Must not run beside an install, nor beside a read. On any
    /// failure the store is what it was.
    pub async fn prune(&self, needed: &FxHashSet<PackageKey>) -> Result<Pruned, Fault> {
        let _guard = self.opening.lock().await;
        self.readers.borrow_mut().clear();
        let mut packs = self.packs.borrow_mut().take().ok_or_else(closed)?;
        let pruned = packs.prune(|key| needed.contains(key)).await;
        *self.packs.borrow_mut() = Some(packs);
        // Those of packs that are gone; where that fails nobody is in the way.
        let _ = self.remove_guards().await;
        pruned.map_err(|error| Fault::from(&error))
    }

    /// Forgets a project. What only it needed stays until the store is pruned.
    pub fn forget_project(&self, name: &str) -> Result<(), Fault> {
        self.record(vec![JournalRecord::ProjectRemoved { name: name.to_owned() }])
    }

    /// Removes everything. Must not run beside an install. When it fails, what is left can still be used.
    pub async fn clear(&self) -> Result<(), Fault> {
        let _guard = self.opening.lock().await;
        self.readers.borrow_mut().clear();
        self.pending.borrow_mut().clear();
        self.uncommitted.set(0);
        self.added.take();
        self.checked.borrow_mut().clear();
        // The journal's file is exclusive: the old store has to let go of it before a new one can be opened.
        drop(self.packs.borrow_mut().take());
        let removed = self.destroy().await;
        let opened = open_packs(&self.directory, self.full_pack).await;
        *self.packs.borrow_mut() = Some(opened.map_err(|error| Fault::from(&error))?);
        removed.map_err(|error| Fault::from(&error))
    }

    async fn destroy(&self) -> Result<(), StoreError> {
        PackStore::destroy(&self.directory).await?;
        self.remove_guards().await
    }

    /// Removes what kept other writers off packs that are not there any more.
    async fn remove_guards(&self) -> Result<(), StoreError> {
        let names = self.directory.list().await?;
        for name in &names {
            if let Some(pack) = name.strip_suffix(GUARD)
                && !names.iter().any(|other| other == pack)
            {
                self.directory.remove(name).await?;
            }
        }
        Ok(())
    }
}

impl PackageStore for BrowserStore {
    fn index(&self, key: &PackageKey) -> Option<Arc<PackageIndex>> {
        let recorded = self.packs.borrow().as_ref()?.lookup(key).and_then(|package| package.index().ok());
        recorded.or_else(|| self.pending.borrow().get(key).map(|pending| Arc::clone(&pending.index)))
    }

    async fn ingest(&self, job: IngestJob) -> Result<IngestReport, Fault> {
        // Boxes, since this is polled for every package at every step, and these hardly ever have anything to do.
        self.packs_are_lent().boxed_local().await?;
        let (report, before) = self.run(&job).boxed_local().await;
        let mut report = self.take_report(job, report?)?;
        report.requests += before;
        if self.uncommitted.get() >= BYTES_BETWEEN_COMMITS {
            self.commit().boxed_local().await?;
        }
        Ok(report)
    }

    async fn commit(&self) -> Result<(), Fault> {
        let _guard = self.committing.lock().await;
        self.uncommitted.set(0);
        let batch: Vec<(PackageKey, Pending)> =
            self.pending.borrow().iter().map(|(key, pending)| (key.clone(), pending.clone())).collect();
        if batch.is_empty() {
            return Ok(());
        }
        self.pool.flush_packs().await?;
        let mut records: Vec<JournalRecord> = batch
            .into_iter()
            .map(|(key, pending)| JournalRecord::Package { key, place: pending.place, index: pending.encoded })
            .collect();
        records.sort_by(|a, b| key_of(a).cmp(&key_of(b)));
        let keys: Vec<PackageKey> = records.iter().filter_map(key_of).cloned().collect();
        let new: Vec<PackageKey> =
            self.with_packs(|packs| keys.iter().filter(|key| packs.lookup(key).is_none()).cloned().collect())?;
        self.record(records)?;
        self.added.borrow_mut().1.extend(new);
        let mut pending = self.pending.borrow_mut();
        for key in &keys {
            pending.remove(key);
        }
        Ok(())
    }

    async fn read_file(&self, key: &PackageKey, path: &str) -> Result<Option<Vec<u8>>, Fault> {
        let Some(index) = self.index(key) else { return Ok(None) };
        let Some(file) = index.file(path).cloned() else { return Ok(None) };
        self.read(key, file.offset, file.size).await.map(Some)
    }
}

/// A job that a worker has. When the install gives it up nobody hears of the worker again: what is known of it, that it was
/// under way, is noted here.
struct HandedOver<'a> {
    job: &'a IngestJob,
    began: f64,
    is_back: bool,
}

impl<'a> HandedOver<'a> {
    fn now(job: &'a IngestJob) -> Self {
        Self { job, began: BrowserClock.monotonic_milliseconds(), is_back: false }
    }

    fn came_back(mut self) {
        self.is_back = true;
    }
}

impl Drop for HandedOver<'_> {
    fn drop(&mut self) {
        if !self.is_back {
            let ended = BrowserClock.monotonic_milliseconds();
            let span = Span { ending: Ending::Abandoned, ..Span::of(Work::Tarball, self.began, ended, 0) };
            self.job.tarball.log.note(span);
        }
    }
}

fn key_of(record: &JournalRecord) -> Option<&PackageKey> {
    match record {
        JournalRecord::Package { key, .. } => Some(key),
        _ => None,
    }
}
