//! A project that a worker reads by itself, synchronously, without the coordinator: also beside an install, from another
//! tab, or while no coordinator runs at all.
//!
//! It is the tree as it was when the reader was opened. The journal is read once; the store's packs are opened for as long as
//! the reader lives. Where the browser shares files (Chromium) they are read through access handles, about a
//! microsecond each; elsewhere through `File` [snapshots](crate::snapshot). What is recorded in a pack never changes, so
//! neither can see anything but what was installed. Whoever opens a reader keeps the store from being removed meanwhile.

use crate::answers;
use crate::archive_stream::{ArchiveStream, Source};
use crate::coordinator::unknown_project;
use crate::error::{failed, thrown};
use crate::javascript::from_object;
use crate::opfs::{OpfsDirectory, OpfsFile, shares_files};
use crate::project::{OpenProject, tree_fault};
use crate::snapshot::Snapshot;
use crate::store::{damaged, file_fault, gone, outside};
use bytes::Bytes;
use gantry_engine::Fault;
use gantry_layout::{FileLocation, FileSource};
use gantry_platform::Directory;
use gantry_store::{Catalog, CheckedSegment, PackageKey, is_journal, pack_name};
use js_sys::{Array, Uint8Array};
use rustc_hash::FxHashMap;
use serde::Deserialize;
use std::cell::RefCell;
use std::collections::{BTreeSet, hash_map::Entry};
use std::ops::Range;
use std::rc::Rc;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;

/// How often the journal is read again when it grows under the reading.
const ATTEMPTS: usize = 20;

/// An open project.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Reader {
    project: OpenProject,
    packs: Rc<OpenPacks>,
}

#[derive(Deserialize)]
struct ReaderOptions {
    store: String,
    project: String,
}

/// The packs of a store, and what is where in them. All of them, and not those of one tree: a file that was opened before a
/// refresh is read after it.
#[derive(Debug)]
pub(crate) struct OpenPacks {
    catalog: Catalog,
    files: FxHashMap<u32, PackFile>,
    /// What was right when it was first read.
    checked: RefCell<FxHashMap<PackageKey, CheckedSegment>>,
}

#[derive(Debug)]
enum PackFile {
    Handle(OpfsFile),
    Snapshot(Snapshot),
}

#[wasm_bindgen]
impl Reader {
    /// Opens a project of a store.
    pub async fn open(options: JsValue) -> Result<Reader, JsValue> {
        thrown(Self::open_project(options).await)
    }

    /// Text of the project's lock file.
    pub fn lockfile(&self) -> String {
        String::from_utf8_lossy(&self.project.lockfile).into_owned()
    }

    /// How the packs are read: `access handles` or `snapshots`.
    pub fn method(&self) -> String {
        if shares_files() { "access handles".to_owned() } else { "snapshots".to_owned() }
    }

    /// Bytes of a file.
    #[wasm_bindgen(js_name = readFile)]
    pub fn read_file(&self, path: &str) -> Result<Uint8Array, JsValue> {
        thrown(match self.project.tree.open(path) {
            Ok(FileSource::Bytes(bytes)) => Ok(Uint8Array::from(&*bytes)),
            Ok(FileSource::Stored(FileLocation { key, offset, size, .. })) => self.packs.read(&key, offset, size),
            Err(error) => Err(tree_fault(&error, "open")),
        })
    }

    /// Names in a folder, sorted, each with what it is; or paths of all that is below it.
    pub fn readdir(&self, path: &str, recursive: bool) -> Result<JsValue, JsValue> {
        thrown(answers::read_directory(&self.project.tree, path, recursive))
    }

    /// What is at a path, links followed.
    pub fn stat(&self, path: &str) -> Result<JsValue, JsValue> {
        thrown(answers::stat(&self.project.tree, path))
    }

    /// What is at a path, a link at its end not followed.
    pub fn lstat(&self, path: &str) -> Result<JsValue, JsValue> {
        thrown(answers::lstat(&self.project.tree, path))
    }

    /// Target of a link.
    pub fn readlink(&self, path: &str) -> Result<String, JsValue> {
        thrown(answers::read_link(&self.project.tree, path))
    }

    /// The path without links.
    pub fn realpath(&self, path: &str) -> Result<String, JsValue> {
        thrown(answers::real_path(&self.project.tree, path))
    }

    /// Where a file's bytes are.
    pub fn locate(&self, path: &str) -> Result<JsValue, JsValue> {
        thrown(answers::locate(&self.project.tree, path))
    }

    /// Every file and link of the tree.
    pub fn listing(&self) -> JsValue {
        answers::listing(&self.project.tree)
    }

    /// Parts of packages, each by its package's key, an offset and a length.
    #[wasm_bindgen(js_name = readRanges)]
    pub fn read_ranges(&self, keys: Vec<String>, offsets: Vec<f64>, sizes: Vec<f64>) -> Result<Array, JsValue> {
        let results = Array::new();
        for ((key, offset), size) in keys.iter().zip(offsets).zip(sizes) {
            let key = PackageKey::parse(key).ok_or_else(|| Fault::new("INVALID_OPTION", format!("{key} is no key")));
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "made from whole numbers")]
            let (offset, size) = (offset as u64, size as u64);
            let bytes = thrown(key.and_then(|key| self.packs.read(&key, offset, size)))?;
            results.push(&bytes);
        }
        Ok(results)
    }

    /// The tree as an archive (`tar` or `zip`), in parts.
    pub fn archive(&self, format: &str) -> Result<ArchiveStream, JsValue> {
        thrown(ArchiveStream::new(format, &self.project.tree, Source::Packs(Rc::clone(&self.packs))))
    }

    /// The digest of the whole tree, equal on every platform for the same tree. Until it resolves the reader must not be closed.
    #[wasm_bindgen(js_name = treeDigest)]
    pub async fn tree_digest(&self) -> Result<String, JsValue> {
        thrown(self.project.digest(&Source::Packs(Rc::clone(&self.packs))).await)
    }

    /// Lets go of the packs.
    pub fn close(self) {
        drop(self);
    }
}

impl Reader {
    async fn open_project(options: JsValue) -> Result<Self, Fault> {
        let ReaderOptions { store, project: name } = from_object(options, "the options of a reader")?;
        let (directory, catalog) = find_catalog(&store).await?.ok_or_else(|| unknown_project(&name))?;
        let project = OpenProject::in_catalog(&name, &catalog)?;
        Ok(Self { project, packs: OpenPacks::open(&directory, catalog).await? })
    }
}

/// The folder of a store and what its journal says now; `None` where nothing is stored.
pub(crate) async fn find_catalog(store: &str) -> Result<Option<(OpfsDirectory, Catalog)>, Fault> {
    let found = OpfsDirectory::find_store(store).await.map_err(|error| file_fault(&error))?;
    let Some(directory) = found else { return Ok(None) };
    let catalog = Catalog::read_newest(read_journals(&directory).await?).map_err(|error| Fault::from(&error))?;
    Ok(catalog.map(|catalog| (directory, catalog)))
}

/// The journals with their names: one, but for what a crash may leave. The coordinator may be appending: a snapshot of before
/// cannot be read any more then, and new ones are taken. What is torn at an end is left out by who reads it.
async fn read_journals(directory: &OpfsDirectory) -> Result<Vec<(String, Bytes)>, Fault> {
    let mut last = None;
    for _ in 0..ATTEMPTS {
        match try_read_journals(directory).await {
            Ok(journals) => return Ok(journals),
            Err(fault) => last = Some(fault),
        }
    }
    Err(last.unwrap_or_else(|| Fault::new("STORE_IO", "the journal cannot be read")))
}

async fn try_read_journals(directory: &OpfsDirectory) -> Result<Vec<(String, Bytes)>, Fault> {
    let mut journals = Vec::new();
    for name in directory.list().await.map_err(|error| file_fault(&error))? {
        if !is_journal(&name) {
            continue;
        }
        let file = directory.snapshot(&name).await.map_err(|error| file_fault(&error))?;
        let buffer = JsFuture::from(file.array_buffer()).await.map_err(|error| failed(&error))?;
        journals.push((name, Bytes::from(Uint8Array::new(&buffer).to_vec())));
    }
    Ok(journals)
}

impl OpenPacks {
    /// Those of `store` as it is now; `None` where nothing is stored.
    pub async fn of_store(store: &str) -> Result<Option<Rc<Self>>, Fault> {
        let Some((directory, catalog)) = find_catalog(store).await? else { return Ok(None) };
        Self::open(&directory, catalog).await.map(Some)
    }

    async fn open(directory: &OpfsDirectory, catalog: Catalog) -> Result<Rc<Self>, Fault> {
        let packs = catalog.packages().into_iter().map(|(_, package)| package.place.pack);
        let mut files = FxHashMap::default();
        for pack in packs.collect::<BTreeSet<u32>>() {
            files.insert(pack, PackFile::open(directory, &pack_name(pack)).await?);
        }
        Ok(Rc::new(Self { catalog, files, checked: RefCell::default() }))
    }

    /// Part of a package's segment. Nothing is given out that is damaged.
    pub fn read(&self, key: &PackageKey, offset: u64, size: u64) -> Result<Uint8Array, Fault> {
        let place = self.catalog.package(key).map(|package| package.place).ok_or_else(gone)?;
        let end = offset.checked_add(size).filter(|end| *end <= place.length).ok_or_else(outside)?;
        let file = self.files.get(&place.pack).ok_or_else(gone)?;
        let read = |part: &Range<u64>| file.read(place.offset + part.start, length(part)?);
        let part = offset..end;
        let mut checked = self.checked.borrow_mut();
        let checked = match checked.entry(key.clone()) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(unknown) => {
                let list = read(&place.checksums())?.to_vec();
                unknown.insert(CheckedSegment::new(&place, &list).ok_or_else(|| self.damaged(key))?)
            }
        };
        if checked.is_right(&part) {
            return read(&part);
        }
        let wanted = checked.wanted(&part);
        let bytes = read(&wanted)?;
        if !checked.accept(wanted.start, &bytes.to_vec()) {
            return Err(self.damaged(key));
        }
        let start = length(&(wanted.start..offset))?;
        Ok(bytes.slice(start, start + length(&part)?))
    }

    fn damaged(&self, key: &PackageKey) -> Fault {
        let index = self.catalog.package(key).and_then(|package| package.index().ok());
        // A reader cannot take it out of the store.
        let hint = "Call verify() of the open store, then install the project again, which fetches the package anew.";
        damaged(key, index.as_deref()).with_hint(hint)
    }
}

/// Bytes of a part, as JavaScript counts them.
fn length(part: &Range<u64>) -> Result<u32, Fault> {
    let large = |_| Fault::new("STORE_TOO_LARGE", "a file has more than 4 GB");
    u32::try_from(part.end - part.start).map_err(large)
}

impl PackFile {
    async fn open(directory: &OpfsDirectory, name: &str) -> Result<Self, Fault> {
        if shares_files() {
            return directory.open_for_reading(name).await.map(Self::Handle).map_err(|error| file_fault(&error));
        }
        let file = directory.snapshot(name).await.map_err(|error| file_fault(&error))?;
        Snapshot::new(file).map(Self::Snapshot)
    }

    fn read(&self, offset: u64, size: u32) -> Result<Uint8Array, Fault> {
        match self {
            Self::Handle(file) => file.read_array(offset, size).map_err(|error| file_fault(&error)),
            Self::Snapshot(snapshot) => snapshot.read(offset, size),
        }
    }
}
