//! A project that a worker reads by itself, synchronously, without the coordinator: also beside an install, from another
//! tab, or while no coordinator runs at all.
//!
//! It is the tree as it was when the reader was opened. The journal is read once; the store's packs are opened for as long as
//! the reader lives. Where the browser shares files (Chromium) they are read through access handles, about a
//! microsecond each; elsewhere through `File` [snapshots](crate::snapshot). What is recorded in a pack never changes, so
//! neither can see anything but what was installed. Whoever opens a reader keeps the store from being removed meanwhile.

use crate::answers;
use crate::archive_stream::{ArchiveStream, Source};
use crate::catalog::find_catalog;
use crate::error::thrown;
use crate::javascript::from_object;
use crate::open_packs::OpenPacks;
use crate::opfs::shares_files;
use crate::project::{OpenProject, tree_fault, unknown_project};
use gantry_engine::Fault;
use gantry_layout::{FileLocation, FileSource};
use gantry_store::PackageKey;
use js_sys::{Array, Uint8Array};
use serde::Deserialize;
use std::rc::Rc;
use wasm_bindgen::prelude::*;

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

/// Compilers and resolvers mostly ask for what is not there, and a JavaScript error costs some ten times the answer.
fn unless_missing(found: Result<JsValue, Fault>) -> Result<JsValue, Fault> {
    match found {
        Err(fault) if fault.code == "ENOENT" => Ok(JsValue::UNDEFINED),
        found => found,
    }
}
