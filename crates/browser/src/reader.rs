//! A project that is read without the coordinator: also beside an install, from another tab, or while no coordinator runs at all. In
//! workers synchronously, if they like.
//!
//! It is the tree as it was when the reader was opened. The journal is read once; the store's packs are opened for as long as
//! the reader lives. Where the browser shares files (dedicated workers in Chromium) they are read through access handles, about a
//! microsecond each; elsewhere through `File` [snapshots](crate::snapshot). What is recorded in a pack never changes, so
//! neither can see anything but what was installed. Whoever opens a reader keeps the store from being removed meanwhile.

use crate::answers;
use crate::archive_stream::{ArchiveStream, Source};
use crate::catalog::find_catalog;
use crate::error::thrown;
use crate::javascript::from_object;
use crate::open_packs::{OpenPacks, at_once};
use crate::opfs::shares_files;
use crate::project::{OpenProject, tree_fault, unknown_project};
use futures_util::future::try_join_all;
use gantry_engine::Fault;
use gantry_layout::{FileLocation, FileSource};
use gantry_store::PackageKey;
use js_sys::{Array, Promise, Uint8Array};
use serde::Deserialize;
use std::rc::Rc;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::future_to_promise;

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

    /// Bytes of a file. The reader may be closed meanwhile.
    #[wasm_bindgen(js_name = readFile)]
    pub fn read_file(&self, path: &str) -> Promise {
        let (source, packs) = (self.source(path), Rc::clone(&self.packs));
        future_to_promise(async move { thrown(read(&packs, thrown(source)?).await).map(JsValue::from) })
    }

    /// The same at once: in a worker that can.
    #[wasm_bindgen(js_name = readFileSync)]
    pub fn read_file_sync(&self, path: &str) -> Result<Uint8Array, JsValue> {
        thrown(self.source(path).and_then(|source| at_once(read(&self.packs, source))))
    }

    /// Names in a folder, sorted, each with what it is; or paths of all that is below it.
    pub fn readdir(&self, path: &str, recursive: bool) -> Result<JsValue, JsValue> {
        thrown(answers::read_directory(&self.project.tree, path, recursive))
    }

    /// What is at a path, links followed; `undefined` where nothing is.
    pub fn stat(&self, path: &str) -> Result<JsValue, JsValue> {
        thrown(unless_missing(answers::stat(&self.project.tree, path)))
    }

    /// What is at a path, a link at its end not followed; `undefined` where nothing is.
    pub fn lstat(&self, path: &str) -> Result<JsValue, JsValue> {
        thrown(unless_missing(answers::lstat(&self.project.tree, path)))
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

    /// Parts of packages, each by its package's key, an offset and a length. The reader may be closed meanwhile.
    #[wasm_bindgen(js_name = readRanges)]
    pub fn read_ranges(&self, keys: Vec<String>, offsets: Vec<f64>, sizes: Vec<f64>) -> Promise {
        let parts = parts(&keys, &offsets, &sizes);
        let packs = Rc::clone(&self.packs);
        future_to_promise(async move {
            let parts = thrown(parts)?;
            let reads = parts.iter().map(|(key, offset, size)| packs.read(key, *offset, *size));
            thrown(try_join_all(reads).await).map(|bytes| bytes.into_iter().collect::<Array>().into())
        })
    }

    /// The same at once: in a worker that can.
    #[wasm_bindgen(js_name = readRangesSync)]
    pub fn read_ranges_sync(&self, keys: Vec<String>, offsets: Vec<f64>, sizes: Vec<f64>) -> Result<Array, JsValue> {
        let parts = thrown(parts(&keys, &offsets, &sizes))?;
        thrown(parts.iter().map(|(key, offset, size)| self.packs.read(key, *offset, *size)).map(at_once).collect())
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
    fn source(&self, path: &str) -> Result<FileSource, Fault> {
        self.project.tree.open(path).map_err(|error| tree_fault(&error, "open"))
    }

    async fn open_project(options: JsValue) -> Result<Self, Fault> {
        let ReaderOptions { store, project: name } = from_object(options, "the options of a reader")?;
        let (directory, catalog) = find_catalog(&store).await?.ok_or_else(|| unknown_project(&name))?;
        let project = OpenProject::in_catalog(&name, &catalog)?;
        Ok(Self { project, packs: OpenPacks::open(&directory, catalog).await? })
    }
}

async fn read(packs: &OpenPacks, source: FileSource) -> Result<Uint8Array, Fault> {
    match source {
        FileSource::Bytes(bytes) => Ok(Uint8Array::from(&*bytes)),
        FileSource::Stored(FileLocation { key, offset, size, .. }) => packs.read(&key, offset, size).await,
    }
}

/// What is asked for in columns.
fn parts(keys: &[String], offsets: &[f64], sizes: &[f64]) -> Result<Vec<(PackageKey, u64, u64)>, Fault> {
    let part = |((key, offset), size): ((&String, &f64), &f64)| {
        let key = PackageKey::parse(key).ok_or_else(|| Fault::new("INVALID_OPTION", format!("{key} is no key")))?;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "made from whole numbers")]
        let (offset, size) = (*offset as u64, *size as u64);
        Ok((key, offset, size))
    };
    keys.iter().zip(offsets).zip(sizes).map(part).collect()
}

/// Compilers and resolvers mostly ask for what is not there, and a JavaScript error costs some ten times the answer.
fn unless_missing(found: Result<JsValue, Fault>) -> Result<JsValue, Fault> {
    match found {
        Err(fault) if fault.code == "ENOENT" => Ok(JsValue::UNDEFINED),
        found => found,
    }
}
