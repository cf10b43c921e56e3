//! The pack store in a folder, and how packages get into it.
//!
//! What has been unpacked is visible to the install that asked for it at once, and durable after the next commit: the pack
//! is flushed, then the records are appended to the journal and flushed. Commits are grouped by bytes.

use crate::clock::WasiClock;
use crate::directory::{FolderDirectory, FolderFile};
use crate::executor::at_once;
use crate::http::NoNetwork;
use crate::tarballs::Tarballs;
use bytes::Bytes;
use gantry_engine::{Fault, IngestJob, IngestReport, PackageStore, refusal};
use gantry_platform::{Clock, Directory, Span, Work};
use gantry_registry::{FetchedTarball, Refusal, RegistryError, TarballRequest, fetch_tarball};
use gantry_store::{
    Incoming, JournalRecord, PackStore, PackWriter, PackageIndex, PackageKey, SegmentCheck, SegmentPlace, StoreError,
    Usage,
};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// Unpacked bytes between two commits: what is lost at worst where the host ends the command.
const BYTES_BETWEEN_COMMITS: u64 = 48 << 20;

/// Unpacked, and not yet in the journal.
#[derive(Debug)]
struct Pending {
    place: SegmentPlace,
    encoded: Bytes,
    index: Arc<PackageIndex>,
}

/// Packs in one folder, filled from a folder of tarballs.
#[derive(Debug)]
pub struct WasiStore {
    directory: FolderDirectory,
    packs: RefCell<PackStore<FolderDirectory>>,
    /// Opened when the first package comes: a store that lacks nothing is only read.
    writer: RefCell<Option<PackWriter<FolderFile>>>,
    pending: RefCell<BTreeMap<PackageKey, Pending>>,
    uncommitted: Cell<u64>,
    /// Whether a damaged package has left the store.
    removed: Cell<bool>,
    tarballs: Tarballs,
    clock: WasiClock,
}

/// What a look at every package has found.
#[derive(Debug, Default)]
pub(crate) struct Verified {
    /// How many there were.
    pub packages: usize,
    /// Those that were damaged, as `name@version` where that can still be read, sorted.
    pub damaged: Vec<String>,
}

/// A package as `store ls` tells it.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Listed {
    pub name: String,
    pub version: String,
    pub key: String,
    pub bytes: u64,
}

impl WasiStore {
    /// Opens the store in `folder`, or makes one there; what it lacks is taken from `tarballs`.
    pub fn open(folder: &Path, tarballs: Tarballs) -> Result<Self, Fault> {
        let directory = FolderDirectory::new(folder.to_owned());
        let packs = at_once(PackStore::open(directory.clone())).map_err(|error| Fault::from(&error))?;
        Ok(Self {
            directory,
            packs: RefCell::new(packs),
            writer: RefCell::default(),
            pending: RefCell::default(),
            uncommitted: Cell::default(),
            removed: Cell::default(),
            tarballs,
            clock: WasiClock::default(),
        })
    }

    /// Where tarballs are looked for.
    pub(crate) fn tarballs(&self) -> &Tarballs {
        &self.tarballs
    }

    /// How much is stored.
    pub(crate) fn usage(&self) -> Usage {
        self.packs.borrow().usage()
    }

    /// All packages, by name and version.
    pub(crate) fn list(&self) -> Vec<Listed> {
        let packs = self.packs.borrow();
        let listed = packs.catalog().packages().into_iter().map(|(key, package)| {
            let facts = package.index().map(|index| index.facts.clone()).unwrap_or_default();
            let (name, version) = (facts.name.unwrap_or_default(), facts.version.unwrap_or_default());
            Listed { name, version, key: key.to_string(), bytes: package.place.length }
        });
        let mut listed: Vec<Listed> = listed.collect();
        listed.sort();
        listed
    }

    /// Reads every package and compares its checksum. Those that are damaged leave the store, so that the next install
    /// takes them from their tarballs again.
    pub(crate) fn verify(&self) -> Result<Verified, Fault> {
        let mut packs = self.packs.borrow_mut();
        let keys: Vec<PackageKey> = packs.catalog().packages().into_iter().map(|(key, _)| key.clone()).collect();
        let mut verified = Verified { packages: keys.len(), damaged: Vec::new() };
        let mut removed = Vec::new();
        for key in keys {
            let index = packs.lookup(&key).map(|package| package.index()).transpose();
            let whole = match &index {
                Ok(_) => at_once(packs.verify_package(&key)),
                Err(error) => Err(error.clone()),
            };
            match whole {
                Ok(()) => continue,
                Err(StoreError::Corrupt { .. } | StoreError::Format { .. }) => {}
                Err(error) => return Err(Fault::from(&error)),
            }
            let facts = index.ok().flatten().map(|index| index.facts.clone()).unwrap_or_default();
            verified.damaged.push(match (facts.name, facts.version) {
                (Some(name), Some(version)) => format!("{name}@{version}"),
                _ => key.to_string(),
            });
            removed.push(JournalRecord::PackageRemoved { key });
        }
        packs.commit(removed).map_err(|error| Fault::from(&error))?;
        verified.damaged.sort_unstable();
        Ok(verified)
    }

    /// Removes everything in the store of `folder`, readable or not.
    pub(crate) fn destroy(folder: &Path) -> Result<(), Fault> {
        at_once(PackStore::destroy(&FolderDirectory::new(folder.to_owned()))).map_err(|error| Fault::from(&error))
    }

    /// Reads part of a package.
    pub(crate) fn read(&self, key: &PackageKey, offset: u64, size: u64) -> Result<Vec<u8>, Fault> {
        let place = self.pending.borrow().get(key).map(|pending| pending.place);
        let read = match (place, &*self.writer.borrow()) {
            (Some(place), Some(writer)) => writer.read(place.offset + offset, size),
            _ => at_once(self.packs.borrow_mut().read(key, offset, size)),
        };
        read.map_err(|error| Fault::from(&error))
    }

    /// Reads all of a package and compares its checksum. One that is damaged leaves the store, so that it is taken from its
    /// tarball again.
    pub(crate) fn read_whole(&self, key: &PackageKey) -> Result<Vec<u8>, Fault> {
        let recorded = self.packs.borrow().lookup(key).map(|package| package.place);
        let place = recorded.or_else(|| self.pending.borrow().get(key).map(|pending| pending.place));
        let missing = || Fault::from(&StoreError::Missing { key: key.to_string() });
        let place = place.ok_or_else(missing)?;
        let mut check = SegmentCheck::new(place);
        let mut bytes = self.read(key, 0, place.stored_length());
        match &mut bytes {
            Ok(bytes) => {
                check.update(bytes);
                bytes.truncate(usize::try_from(place.length).unwrap_or(usize::MAX));
            }
            Err(fault) if fault.code == "STORE_CORRUPT" => {}
            Err(_) => return bytes,
        }
        if check.is_whole() {
            return bytes;
        }
        let removed = vec![JournalRecord::PackageRemoved { key: key.clone() }];
        self.packs.borrow_mut().commit(removed).map_err(|error| Fault::from(&error))?;
        self.removed.set(true);
        Err(Fault::new("STORE_CORRUPT", format!("the stored package {key} is damaged"))
            .with_hint("It was removed from the store: run again, and it is taken from its tarball."))
    }

    /// Whether a damaged package has left the store since the last call.
    pub(crate) fn take_removed(&self) -> bool {
        self.removed.take()
    }

    /// Verifies a tarball, unpacks it and appends its files to the pack.
    fn take(&self, request: &TarballRequest, body: &[u8]) -> Result<(Pending, [Span; 3]), Refusal<Fault>> {
        let refused = |error: StoreError| refusal(error.into(), &request.package);
        let mut writer = self.writer.borrow_mut();
        if writer.is_none() {
            *writer = Some(self.open_writer().map_err(refused)?);
        }
        let writer = writer.as_mut().expect("it has just been opened");
        let integrity = request.integrity.as_ref();
        let now = || self.clock.monotonic_milliseconds();
        let began = now();
        let mut incoming = Incoming::new(&request.package, integrity, writer.begin());
        incoming.verify(body);
        let verified = now();
        incoming.unpack(body).map_err(refused)?;
        let unpacked = now();
        let (place, index) = incoming.append().map_err(|error| refusal(error, &request.package))?;
        writer.settle().map_err(refused)?;
        // What does not fit into the writer's buffer is written while it is unpacked.
        let spans = [
            Span::of(Work::Verify, began, verified, body.len() as u64),
            Span::of(Work::Unpack, verified, unpacked, place.length),
            Span::of(Work::Store, unpacked, now(), place.length),
        ];
        Ok((Pending { place, encoded: index.encode().into(), index: Arc::new(index) }, spans))
    }

    fn open_writer(&self) -> Result<PackWriter<FolderFile>, StoreError> {
        let assignment = self.packs.borrow().packs_for_writers(1).into_iter().next();
        let pack = assignment.expect("there is always a pack for one writer");
        PackWriter::open(at_once(self.directory.open(&pack.name))?, pack.pack, pack.start)
    }

    fn commit_now(&self) -> Result<(), Fault> {
        self.uncommitted.set(0);
        if let Some(writer) = &*self.writer.borrow() {
            writer.flush().map_err(|error| Fault::from(&error))?;
        }
        let mut pending = self.pending.borrow_mut();
        let record = |(key, pending): (&PackageKey, &Pending)| JournalRecord::Package {
            key: key.clone(),
            place: pending.place,
            index: pending.encoded.clone(),
        };
        let records = pending.iter().map(record).collect();
        self.packs.borrow_mut().commit(records).map_err(|error| Fault::from(&error))?;
        pending.clear();
        Ok(())
    }
}

impl PackageStore for WasiStore {
    fn index(&self, key: &PackageKey) -> Option<Arc<PackageIndex>> {
        let recorded = self.packs.borrow().lookup(key).and_then(|package| package.index().ok());
        recorded.or_else(|| self.pending.borrow().get(key).map(|pending| Arc::clone(&pending.index)))
    }

    async fn ingest(&self, job: IngestJob) -> Result<IngestReport, Fault> {
        let IngestJob { key, name, version, tarball, .. } = job;
        let body = match &tarball.body {
            Some(body) => body.clone(),
            None => self
                .tarballs
                .read(&key, &name, &version)?
                .ok_or_else(|| RegistryError::NotCached { package: tarball.package.clone() })?,
        };
        let bytes = body.len() as u64;
        let request = TarballRequest { body: Some(body), ..tarball };
        let take = async |body: Bytes| self.take(&request, &body);
        let fetched: FetchedTarball<_> = fetch_tarball(&NoNetwork, &self.clock, &request, &(), take).await?;
        let (pending, spans) = fetched.contents;
        let index = Arc::clone(&pending.index);
        self.uncommitted.set(self.uncommitted.get() + pending.place.length);
        self.pending.borrow_mut().insert(key, pending);
        if self.uncommitted.get() >= BYTES_BETWEEN_COMMITS {
            self.commit_now()?;
        }
        Ok(IngestReport { index, bytes, requests: 0, spans: spans.to_vec() })
    }

    async fn commit(&self) -> Result<(), Fault> {
        self.commit_now()
    }

    async fn read_file(&self, key: &PackageKey, path: &str) -> Result<Option<Vec<u8>>, Fault> {
        let Some(index) = self.index(key) else { return Ok(None) };
        let Some(file) = index.file(path) else { return Ok(None) };
        self.read(key, file.offset, file.size).map(Some)
    }
}
