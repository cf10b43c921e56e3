//! Directories that fail, packages to store, and a way to wait for futures that never wait.

use super::{JournalRecord, PackStore, PackWriter};
use crate::{PackageIndex, PackageKey, PreparedPackage, prepare};
use core::{
    cell::{Cell, RefCell},
    future::Future,
    pin::pin,
    task::{Context, Poll, Waker},
};
use gantry_archive::Entry;
use gantry_platform::{
    Directory, FileError, FileErrorKind, RandomAccessFile, memory::MemoryDirectory, memory::MemoryFile,
};
use std::{borrow::Cow, rc::Rc};

/// The result of a future that is ready at once, as those of directories in memory are.
pub fn now<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(result) => result,
        Poll::Pending => panic!("a future over memory must not wait"),
    }
}

pub fn key(name: &str) -> PackageKey {
    PackageKey::from_address(name)
}

/// A package of one file, the contents of which follow from its name.
pub fn package(name: &str, size: usize) -> PreparedPackage<'static> {
    let data = name.bytes().cycle().take(size).collect::<Vec<u8>>();
    prepare(vec![Entry { path: "index.js".into(), data: Cow::Owned(data), executable: false }])
}

pub fn opened<D: Directory>(directory: D) -> PackStore<D> {
    now(PackStore::open(directory)).unwrap()
}

/// The first writer of `store`, whose files are in `directory`.
pub fn writer<D: Directory>(store: &PackStore<D>, directory: &D) -> PackWriter<D::File> {
    let assignment = store.packs_for_writers(1).remove(0);
    let file = now(directory.open(&assignment.name)).unwrap();
    PackWriter::open(file, assignment.pack, assignment.start).unwrap()
}

/// Appends packages with the first writer of `store` and gives their records, flushed.
pub fn append<D: Directory>(store: &PackStore<D>, directory: &D, packages: &[(&str, usize)]) -> Vec<JournalRecord> {
    let mut writer = writer(store, directory);
    let records = packages.iter().map(|&(name, size)| record(&mut writer, name, size)).collect();
    writer.flush().unwrap();
    records
}

pub fn record<F: RandomAccessFile>(writer: &mut PackWriter<F>, name: &str, size: usize) -> JournalRecord {
    let package = package(name, size);
    let place = writer.append(&package).unwrap();
    writer.settle().unwrap();
    JournalRecord::Package { key: key(name), place, index: package.index.encode().into() }
}

/// Every package that a store shows is whole: its index can be read and its bytes are there.
pub fn assert_sound<D: Directory>(store: &mut PackStore<D>) {
    let keys: Vec<PackageKey> = store.catalog().packages().into_iter().map(|(key, _)| key.clone()).collect();
    for key in keys {
        let index: &PackageIndex = &store.lookup(&key).unwrap().index().unwrap();
        assert_eq!(index.files.len(), 1);
        now(store.verify_package(&key)).unwrap();
    }
    store.close_packs();
}

/// What a [`Recorder`] does.
#[derive(Debug, Clone, Default)]
pub struct Recorder {
    pub directory: MemoryDirectory,
    /// What a crash could leave after each write, cut and removal: everything as it was then, and the journal as it was
    /// then with all other files as they were last flushed.
    pub snapshots: Rc<RefCell<Vec<MemoryDirectory>>>,
    /// Files as they were last flushed.
    pub durable: MemoryDirectory,
    /// Writes left before all of them fail; what is written then is half there, as on a full disk.
    pub writes_left: Rc<Cell<Option<usize>>>,
    /// Whether there is no room in packs; the journal has some.
    pub packs_are_full: Rc<Cell<bool>>,
    /// Whether cutting files works.
    pub cannot_truncate: Rc<Cell<bool>>,
}

#[derive(Debug)]
pub struct RecordedFile {
    name: String,
    file: MemoryFile,
    recorder: Recorder,
}

impl RecordedFile {
    fn note(&self) {
        self.recorder.note();
    }
}

impl Recorder {
    fn note(&self) {
        let mixed = self.durable.snapshot();
        copy(&self.directory, &mixed, "journal");
        self.snapshots.borrow_mut().extend([self.directory.snapshot(), mixed]);
    }
}

/// Makes a file of one directory what it is in another.
fn copy(from: &MemoryDirectory, to: &MemoryDirectory, name: &str) {
    now(to.remove(name)).unwrap();
    if now(from.list()).unwrap().iter().any(|found| found == name) {
        let file = now(from.open(name)).unwrap();
        let mut bytes = vec![0; usize::try_from(file.len().unwrap()).unwrap()];
        file.read_exact_at(0, &mut bytes).unwrap();
        now(to.open(name)).unwrap().write_all_at(0, &bytes).unwrap();
    }
}

fn no_space() -> FileError {
    FileError { kind: FileErrorKind::NoSpace, path: "file".into(), message: "full".into() }
}

impl RandomAccessFile for RecordedFile {
    fn len(&self) -> Result<u64, FileError> {
        self.file.len()
    }

    fn read_exact_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), FileError> {
        self.file.read_exact_at(offset, buffer)
    }

    fn write_all_at(&self, offset: u64, bytes: &[u8]) -> Result<(), FileError> {
        // A crash may come while half of it is written.
        self.file.write_all_at(offset, &bytes[..bytes.len() / 2])?;
        self.note();
        if self.recorder.packs_are_full.get() && self.name.starts_with("pack") {
            return Err(no_space());
        }
        match self.recorder.writes_left.get() {
            Some(0) => return Err(no_space()),
            Some(left) => self.recorder.writes_left.set(Some(left - 1)),
            None => {}
        }
        self.file.write_all_at(offset, bytes)?;
        self.note();
        Ok(())
    }

    fn truncate(&self, length: u64) -> Result<(), FileError> {
        if self.recorder.cannot_truncate.get() {
            return Err(no_space());
        }
        self.file.truncate(length)?;
        self.note();
        Ok(())
    }

    fn flush(&self) -> Result<(), FileError> {
        copy(&self.recorder.directory, &self.recorder.durable, &self.name);
        self.file.flush()
    }
}

impl Directory for Recorder {
    type File = RecordedFile;

    async fn open(&self, name: &str) -> Result<RecordedFile, FileError> {
        Ok(RecordedFile { name: name.to_owned(), file: self.directory.open(name).await?, recorder: self.clone() })
    }

    async fn remove(&self, name: &str) -> Result<(), FileError> {
        self.directory.remove(name).await?;
        self.durable.remove(name).await?;
        self.note();
        Ok(())
    }

    async fn list(&self) -> Result<Vec<String>, FileError> {
        self.directory.list().await
    }
}
