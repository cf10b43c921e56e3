//! Packages as directories.
//!
//! `<store>/v1/packages/<aa>/<key>/` holds `files/`, the package with its final modes, and `index`, its file list. A
//! package is built in `<store>/v1/temporary/` and published by one rename, so that what has its final name is complete:
//!
//! 1. verify the tarball;
//! 2. write all files;
//! 3. write the index;
//! 4. rename.
//!
//! A large tarball is [verified while its files are written](arriving), which ends before the index is.
//!
//! A linked file's inode is shared with projects, so nothing here is changed after that.

mod altered;
mod arriving;
mod boots;
mod in_use;
mod lent;
mod projects;
mod record;
mod removal;
mod unpack;
mod upkeep;
mod workers;

pub(crate) use altered::{Standing, mend_if_altered};
pub(crate) use lent::{Loan, SharedStore};
pub use upkeep::{DamagedPackage, StorePruned, StoreUpkeep, StoreUsage, StoreVerified, StoredPackage};

use crate::link::Sample;
use crate::temporary::{TemporaryDirectory, age_of_name, remove_any, unique_name};
use crate::{NativeClock, NativeError, NativeHttp};
use arriving::{ArrivingHttp, Destination};
use boots::Boots;
use bytes::Bytes;
use gantry_engine::{Fault, IngestJob, IngestReport, PackageStore};
use gantry_layout::PlannedPackage;
use gantry_platform::{Span, Work};
use gantry_registry::{FetchedTarball, Held, Refusal, Slot, TarballRequest, fetch_tarball};
use gantry_store::{FileRecord, PackageIndex, PackageKey};
use in_use::StoreLock;
use record::Record;
use removal::discard;
use rustc_hash::FxHashMap;
use std::cell::{Cell, OnceCell, RefCell};
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::sync::{Semaphore, SemaphorePermit};
use unpack::{Built, Unpacking};
use workers::{Handed, Workers};

/// The folder of this layout in a store.
const VERSION: &str = "v1";

/// Of a file's mode.
const RUN_BY_OWNER: u32 = 0o100;

/// When more than this many bytes of bodies wait for a thread, connections wait with them.
const WAITING_BYTES: u64 = 16 << 20;

/// A temporary directory older than this belongs to a process that died, also where nothing tells who uses the store.
const STALE_SECONDS: u64 = 24 * 3600;

/// Where things are in a store.
#[derive(Debug)]
pub(crate) struct Layout {
    root: PathBuf,
    packages: PathBuf,
    temporary: PathBuf,
    /// Whether modes of files mean anything here; found out when one is another than it should be.
    keeps_modes: OnceLock<bool>,
}

impl Layout {
    /// Of the store below `directory`.
    fn below(directory: &Path) -> Self {
        let root = directory.join(VERSION);
        Self { packages: root.join("packages"), temporary: root.join("temporary"), root, keeps_modes: OnceLock::new() }
    }

    /// The directory of a package.
    fn directory(&self, key: &PackageKey) -> PathBuf {
        let digest = key.as_str().rsplit('-').next().unwrap_or_default();
        self.packages.join(digest.get(..2).unwrap_or("00")).join(key.as_str())
    }

    /// How a stored file is another one than the package's list says, as far as can be told without reading it.
    fn difference(&self, data: &Metadata, file: &FileRecord) -> Option<&'static str> {
        if !data.is_file() {
            Some("is no file")
        } else if data.len() != file.size {
            Some("has another size")
        } else if (data.mode() & RUN_BY_OWNER != 0) != file.executable && self.keeps_modes() {
            Some("has another mode")
        } else {
            None
        }
    }

    /// Whether the file system remembers which files may be run: exFAT, NTFS and shares of other systems say the same of all.
    /// Where that cannot be tried it is taken to.
    fn keeps_modes(&self) -> bool {
        let kept = |mode: u32| {
            let path = self.temporary.join(unique_name("mode-"));
            let file = OpenOptions::new().write(true).create_new(true).mode(mode).open(&path)?;
            let kept = file.metadata().map(|data| data.mode() & RUN_BY_OWNER == mode & RUN_BY_OWNER);
            fs::remove_file(&path).and(kept)
        };
        *self.keeps_modes.get_or_init(|| {
            let tried = fs::create_dir_all(&self.temporary).and_then(|()| Ok(kept(0o700)? && kept(0o600)?));
            tried.unwrap_or(true)
        })
    }

    /// A package's files as they stand in its list; `None` where there is none that can be read.
    fn read_index(&self, key: &PackageKey) -> Option<PackageIndex> {
        let bytes = fs::read(self.directory(key).join("index")).ok()?;
        Record::decode_index(&bytes).ok()
    }

    /// Everything temporary.
    fn temporaries(&self) -> Vec<PathBuf> {
        listed(&self.temporary).unwrap_or_default().iter().map(fs::DirEntry::path).collect()
    }

    /// All packages that are there, sorted.
    fn stored(&self) -> Result<Vec<PackageKey>, NativeError> {
        let mut keys = Vec::new();
        for folder in listed(&self.packages)? {
            let names = match folder.file_type() {
                Ok(kind) if kind.is_dir() => listed(&folder.path())?,
                _ => continue,
            };
            let named = names.iter().filter_map(|name| PackageKey::parse(name.file_name().to_str()?));
            keys.extend(named.filter(|key| self.directory(key).parent() == Some(&*folder.path())));
        }
        keys.sort_unstable();
        Ok(keys)
    }
}

/// What is in a folder; nothing if that is not there.
fn listed(folder: &Path) -> Result<Vec<fs::DirEntry>, NativeError> {
    match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        entries => entries.and_then(Iterator::collect).map_err(NativeError::io("read", folder)),
    }
}

/// The native package store.
#[derive(Debug)]
pub struct PackageDirectories {
    http: NativeHttp,
    clock: NativeClock,
    layout: Layout,
    /// Keeps what is there from being taken out; empty as long as there is no store, and while scripts run.
    in_use: RefCell<Option<Arc<StoreLock>>>,
    /// What scripts had changed that installs which died had run.
    left_changed: Vec<String>,
    /// Which packages have to be looked at; read when the first one is wanted.
    boots: OnceCell<Boots>,
    known: RefCell<FxHashMap<PackageKey, Known>>,
    workers: Arc<Workers<NativeClock>>,
    /// Connections for tarballs.
    connections: Semaphore,
}

/// What a tarball holds while it is fetched, and is asked for again without: its slot, and one of the connections, which the
/// body takes over.
struct Connected<'s> {
    connections: &'s Semaphore,
    connection: Cell<Option<SemaphorePermit<'s>>>,
    slot: Slot,
}

impl Held for Connected<'_> {
    async fn given_up_during(&self, pause: impl Future<Output = ()>) {
        drop(self.connection.take());
        self.slot.given_up_during(pause).await;
        self.connect().await;
    }
}

impl Connected<'_> {
    /// Waits for a connection.
    async fn connect(&self) {
        self.connection.set(self.connections.acquire().await.ok());
    }
}

/// What was read of a package, or has just been written.
#[derive(Debug)]
struct Known {
    index: Arc<PackageIndex>,
    /// Of its `index`; `None` of what this process has stored itself.
    standing: Option<Standing>,
}

/// A package's files, and how long it took to verify, to unpack and to store them.
type Taken = (PackageIndex, [Span; 3]);

impl PackageDirectories {
    /// The store below `directory`; nothing is made before the first package is. At most `fetches` tarballs are fetched at
    /// once.
    pub fn new(directory: &Path, http: NativeHttp, clock: NativeClock, fetches: usize) -> Self {
        let parallelism = std::thread::available_parallelism().map_or(2, usize::from);
        let mut store = Self {
            http,
            layout: Layout::below(directory),
            in_use: RefCell::default(),
            left_changed: Vec::new(),
            boots: OnceCell::new(),
            known: RefCell::default(),
            workers: Arc::new(Workers::new(parallelism, clock.clone())),
            clock,
            connections: Semaphore::new(fetches),
        };
        store.hold_first();
        store.left_changed = lent::settle(&store.layout);
        store
    }

    /// Keeps others from taking out what this install relies on, from the first moment that there is a store.
    fn hold(&self) {
        if self.is_held() {
            return;
        }
        if let Some(lock) = StoreLock::shared(&self.layout.root) {
            self.in_use.replace(Some(Arc::new(lock)));
        }
    }

    fn is_held(&self) -> bool {
        self.in_use.borrow().is_some()
    }

    /// Relies on nothing any more until it is [prepared](Self::prepare) again: a script may want to take out what is of no use, and
    /// would wait for the install that waits for it.
    pub(crate) fn let_go(&self) {
        self.in_use.take();
    }

    /// What a thread has to keep that has something in hand: it may go on when this is dropped, and whoever is alone in a store
    /// takes what is in hand there for the dead's.
    fn held(&self) -> Option<Arc<StoreLock>> {
        self.in_use.borrow().clone()
    }

    /// As [`hold`](Self::hold), before anything is in this process's hands: where nobody else uses the store either, what is
    /// temporary in it is of processes that died.
    fn hold_first(&self) {
        let mut left = Vec::new();
        if let Some(lock) = StoreLock::shared_after(&self.layout.root, || left = self.layout.temporaries()) {
            self.in_use.replace(Some(Arc::new(lock)));
        }
        remove_all(&left);
    }

    /// Labels of packages that scripts of installs which died had changed for all projects, found when this store was opened. They
    /// are not in it any more.
    pub(crate) fn left_changed(&self) -> &[String] {
        &self.left_changed
    }

    /// Notes that the project in `path` is made from this store.
    pub(crate) fn note_project(&self, path: &Path) {
        projects::note(&self.layout, path);
    }

    /// Where temporary things of this store go.
    pub(crate) fn temporary(&self) -> &Path {
        &self.layout.temporary
    }

    /// The directory of a package.
    pub(crate) fn directory(&self, key: &PackageKey) -> PathBuf {
        self.layout.directory(key)
    }

    /// The package's files, as they are linked into projects.
    pub fn files(&self, key: &PackageKey) -> PathBuf {
        self.directory(key).join("files")
    }

    /// Whose a package is that was there before, once its [`index`](PackageStore::index) was asked for.
    pub(crate) fn standing(&self, key: &PackageKey) -> Option<Standing> {
        self.known.borrow().get(key)?.standing
    }

    /// Takes a package out of the store if it lacks a file or has one of another size; it is fetched anew when it is next
    /// wanted.
    pub(crate) fn evict_if_damaged(&self, key: &PackageKey) -> Result<(), NativeError> {
        if self.index(key).is_some_and(|index| self.is_whole(key, &index)) {
            return Ok(());
        }
        self.known.borrow_mut().remove(key);
        self.take_out(key)
    }

    /// Whether a package has all its files, in their sizes, and whoever may run those that are to be run.
    fn is_whole(&self, key: &PackageKey, index: &PackageIndex) -> bool {
        let files = self.files(key);
        index.files.iter().all(|file| {
            fs::symlink_metadata(files.join(&file.path)).is_ok_and(|data| self.layout.difference(&data, file).is_none())
        })
    }

    /// Verifies and unpacks a tarball on one of the threads for it, once one is free.
    ///
    /// `connection` is let go of as soon as the body is here, unless so much waits already that the network has to be held
    /// up.
    async fn take(
        &self,
        request: &Arc<TarballRequest>,
        body: Bytes,
        target: PathBuf,
        connection: Option<SemaphorePermit<'_>>,
    ) -> Result<Taken, Refusal<Fault>> {
        let request = Arc::clone(request);
        let (temporary, clock, in_use) = (self.layout.temporary.clone(), self.clock.clone(), self.held());
        let (tarball, compressed) = (Arc::clone(&request), body.clone());
        let Handed { begun, result } = self.workers.hand_in(tarball, body, move |verified, extractor| {
            verified.result.map_err(Refusal::Mismatch)?;
            let (request, compressed) = (&*request, &*compressed);
            let unpacking = Unpacking { request, compressed, temporary: &temporary, clock: &clock };
            let built = if unpacking.is_large() { unpacking.piece_by_piece() } else { unpacking.at_once(extractor) };
            let Built { directory, index, spans: [unpacked, stored] } = built.map_err(Refusal::Other)?;
            publish(directory, &temporary, &target).map_err(|error| Refusal::Other(error.into()))?;
            drop(in_use);
            Ok((index, [verified.span, unpacked, stored]))
        });
        let held = connection.filter(|_| self.workers.waiting() > WAITING_BYTES);
        if held.is_some() {
            // Closed or answered, it waits no more.
            let _ = begun.await;
        }
        drop(held);
        result.await.unwrap_or_else(|_| Err(lost()))
    }

    /// Makes the place for temporary things and removes what dead processes left there. A store that cannot be written to does
    /// for whom it lacks nothing: who has to write to it says why that is not possible.
    pub(crate) fn prepare(&self) -> Result<(), NativeError> {
        match make_folder(&self.layout.temporary) {
            Err(error) if !error.is_denied() => return Err(error),
            _ => sweep(&self.layout.temporary),
        }
        self.hold();
        Ok(())
    }

    /// Something kept of `packages`, to try linking with.
    pub(crate) fn sample(&self, packages: &[PlannedPackage]) -> Option<Sample> {
        packages.iter().find_map(|package| {
            let index = self.index(&package.key)?;
            let file = index.file("package.json").or(index.files.first())?.path.clone();
            let directory = self.files(&package.key);
            directory.join(&file).is_file().then_some(Sample { directory, file })
        })
    }
}

impl SharedStore for PackageDirectories {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn listed_files(&self, key: &PackageKey) -> Option<Arc<PackageIndex>> {
        self.index(key)
    }
}

impl PackageStore for PackageDirectories {
    fn index(&self, key: &PackageKey) -> Option<Arc<PackageIndex>> {
        if let Some(known) = self.known.borrow().get(key) {
            return Some(Arc::clone(&known.index));
        }
        // Before anything is published: a store that is new has nothing that is in doubt.
        let boots = self.boots.get_or_init(|| Boots::of(&self.layout.root));
        let path = self.directory(key).join("index");
        let (bytes, data) = read_with_metadata(&path).ok()?;
        // A list that cannot be read is a package that is not there; ingesting replaces it.
        let index = Arc::new(Record::decode_index(&bytes).ok()?);
        let is_copy = Record::is_copy(&bytes, data.ino());
        if is_copy || boots.doubts(&data) {
            if !self.is_whole(key, &index) {
                // Nor is one that a power cut has taken something of, or whoever copied the store.
                let _ = discard(&self.directory(key), &self.layout.temporary);
                return None;
            }
            Boots::settle(&path);
            if is_copy {
                // Else it is looked at again the next time.
                let _ = Record::settle(&path, data.ino());
            }
        }
        let known = Known { index: Arc::clone(&index), standing: Some((&data).into()) };
        self.known.borrow_mut().insert(key.clone(), known);
        Some(index)
    }

    async fn ingest(&self, job: IngestJob) -> Result<IngestReport, Fault> {
        if !self.is_held() {
            // The first package of a new store.
            let _ = fs::create_dir_all(&self.layout.root);
            self.hold();
        }
        let request = Arc::new(job.tarball);
        let held = Connected { connections: &self.connections, connection: Cell::default(), slot: job.slot };
        held.connect().await;
        let http = ArrivingHttp::new(
            &self.http,
            Destination {
                request: Arc::clone(&request),
                temporary: self.layout.temporary.clone(),
                target: self.directory(&job.key),
                clock: self.clock.clone(),
                _in_use: self.held(),
            },
        );
        let arrived = Cell::new(None);
        let take = async |body| {
            let Some(arrival) = http.arrival() else {
                return self.take(&request, body, self.directory(&job.key), held.connection.take()).await;
            };
            drop(held.connection.take());
            let (result, bytes) = arrival.await.map_err(|_| lost())?;
            arrived.set(Some(bytes));
            result
        };
        let fetched = fetch_tarball(&http, &self.clock, &request, &held, take).await?;
        let FetchedTarball { contents: (index, timed), mut bytes, requests, mut spans } = fetched;
        if let Some(arrived) = arrived.get() {
            // A body that was handed on was empty to whoever asked for it.
            bytes = arrived;
            if let Some(last) = spans.iter_mut().rfind(|span| span.work == Work::Tarball) {
                last.bytes = bytes;
            }
        }
        spans.extend(timed);
        let index = Arc::new(index);
        let known = Known { index: Arc::clone(&index), standing: None };
        self.known.borrow_mut().insert(job.key, known);
        Ok(IngestReport { index, bytes, requests, spans })
    }

    fn forget(&self, key: &PackageKey) -> Result<(), Fault> {
        self.known.borrow_mut().remove(key);
        Ok(self.take_out(key)?)
    }

    async fn commit(&self) -> Result<(), Fault> {
        // Every package was published by a rename when it was ingested.
        Ok(())
    }

    async fn read_file(&self, key: &PackageKey, path: &str) -> Result<Option<Vec<u8>>, Fault> {
        let Some(index) = self.index(key) else { return Ok(None) };
        if index.file(path).is_none() {
            return Ok(None);
        }
        let path = self.files(key).join(path);
        match fs::read(&path) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.evict_if_damaged(key)?;
                Err(NativeError::Corrupt { path: self.directory(key) }.into())
            }
            Err(error) => Err(NativeError::io("read", &path)(error).into()),
        }
    }
}

/// Makes a folder of the store, and those that it is in.
fn make_folder(folder: &Path) -> Result<(), NativeError> {
    in_place_of_files(folder, || fs::create_dir_all(folder).map_err(NativeError::io("create", folder)))
}

/// A new temporary directory of the store.
pub(crate) fn temporary_directory(temporary: &Path, prefix: &str) -> Result<TemporaryDirectory, NativeError> {
    in_place_of_files(temporary, || TemporaryDirectory::create(temporary, prefix))
}

/// Makes something in `folder` of the store. Where it or one that it is in has become a file, which nothing of the store is that is
/// called so, that makes way; a link stays, which somebody may have made to have the folder elsewhere.
fn in_place_of_files<T>(folder: &Path, make: impl Fn() -> Result<T, NativeError>) -> Result<T, NativeError> {
    let made = make();
    let Err(NativeError::Io { source, .. }) = &made else { return made };
    if !matches!(source.kind(), io::ErrorKind::AlreadyExists | io::ErrorKind::NotADirectory) {
        return made;
    }
    // Whoever names any folder as the store may have a file of that layout's name there.
    let depth = folder.ancestors().position(|above| above.ends_with(VERSION)).unwrap_or(0);
    let is_file = |path: &&Path| fs::symlink_metadata(path).is_ok_and(|data| data.is_file());
    if let Some(file) = folder.ancestors().take(depth).find(is_file) {
        // Another thread may have been here: then this is the folder by now, and stays.
        let _ = fs::remove_file(file);
    }
    make()
}

/// Removes what dead processes left in the folder for temporary things.
fn sweep(temporary: &Path) {
    for entry in listed(temporary).unwrap_or_default() {
        if is_stale(&entry.path()) {
            let _ = remove_any(&entry.path());
        }
    }
}

/// Whether something temporary is of a process that died, by its age. Both the file system and the name have to say that
/// it is old: the clock of a server is not this machine's, and some file systems know no times.
fn is_stale(path: &Path) -> bool {
    let is_old = |age: Duration| age.as_secs() > STALE_SECONDS;
    let age = fs::symlink_metadata(path).and_then(|data| data.modified()).ok().and_then(|time| time.elapsed().ok());
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    age.is_some_and(is_old) && age_of_name(&name).is_none_or(is_old)
}

/// Removes what can be removed of what nobody uses any more.
fn remove_all(paths: &[PathBuf]) {
    for path in paths {
        let _ = remove_any(path);
    }
}

/// What becomes of a tarball whose thread panicked.
fn lost() -> Refusal<Fault> {
    Refusal::Other(NativeError::Task { message: "a thread that unpacks was lost".to_owned() }.into())
}

/// A file, and what its file system says of it.
fn read_with_metadata(path: &Path) -> io::Result<(Vec<u8>, Metadata)> {
    let mut file = File::open(path)?;
    let data = file.metadata()?;
    let mut bytes = vec![0; usize::try_from(data.len()).unwrap_or_default()];
    file.read_exact(&mut bytes)?;
    Ok((bytes, data))
}

/// Gives a finished package its name.
fn publish(building: TemporaryDirectory, temporary: &Path, target: &Path) -> Result<(), NativeError> {
    if let Some(parent) = target.parent() {
        make_folder(parent)?;
    }
    if let Some(building) = building.publish(target)? {
        // Somebody else published the same, and theirs stays; unless it is damaged, then it makes way.
        if !has_index(target) {
            discard(target, temporary)?;
            building.publish(target)?;
        }
    }
    Ok(())
}

/// Whether a package's directory has a file list that can be read.
fn has_index(directory: &Path) -> bool {
    fs::read(directory.join("index")).is_ok_and(|bytes| Record::decode_index(&bytes).is_ok())
}

#[cfg(test)]
mod tests;
