//! What the coordinator says of installed trees, and reads of them.

use super::{Coordinator, thrown};
use crate::answers;
use crate::archive_stream::{ArchiveStream, Source};
use gantry_engine::Fault;
use gantry_store::PackageKey;
use js_sys::{Array, Uint8Array};
use std::rc::Rc;
use wasm_bindgen::prelude::*;

#[wasm_bindgen]
impl Coordinator {
    /// Bytes of a file.
    #[wasm_bindgen(js_name = readFile)]
    pub async fn read_file(&self, project: &str, path: &str) -> Result<Uint8Array, JsValue> {
        let bytes = thrown(self.read(project, path).await)?;
        Ok(Uint8Array::from(bytes.as_slice()))
    }

    /// Bytes of several files; `undefined` for what is not there or not a file. All are of the tree of now, whatever is installed
    /// meanwhile.
    #[wasm_bindgen(js_name = readMany)]
    pub async fn read_many(&self, project: &str, paths: Vec<String>) -> Result<Array, JsValue> {
        let results = Array::new();
        let project = thrown(self.opened(project))?;
        for path in &paths {
            match project.read_file(&self.current_store(), path).await {
                Ok(bytes) => results.push(&Uint8Array::from(bytes.as_slice())),
                Err(fault) if fault.code.starts_with('E') => results.push(&JsValue::UNDEFINED),
                Err(fault) => return Err(crate::error::to_javascript(&fault)),
            };
        }
        Ok(results)
    }

    /// Names in a folder, sorted, each with what it is; or paths of all that is below it.
    pub fn readdir(&self, project: &str, path: &str, recursive: bool) -> Result<JsValue, JsValue> {
        thrown(self.opened(project).and_then(|project| answers::read_directory(&project.tree, path, recursive)))
    }

    /// What is at a path, links followed.
    pub fn stat(&self, project: &str, path: &str) -> Result<JsValue, JsValue> {
        thrown(self.opened(project).and_then(|project| answers::stat(&project.tree, path)))
    }

    /// What is at a path, a link at its end not followed.
    pub fn lstat(&self, project: &str, path: &str) -> Result<JsValue, JsValue> {
        thrown(self.opened(project).and_then(|project| answers::lstat(&project.tree, path)))
    }

    /// Target of a link.
    pub fn readlink(&self, project: &str, path: &str) -> Result<String, JsValue> {
        thrown(self.opened(project).and_then(|project| answers::read_link(&project.tree, path)))
    }

    /// The path without links.
    pub fn realpath(&self, project: &str, path: &str) -> Result<String, JsValue> {
        thrown(self.opened(project).and_then(|project| answers::real_path(&project.tree, path)))
    }

    /// Where a file's bytes are.
    pub fn locate(&self, project: &str, path: &str) -> Result<JsValue, JsValue> {
        thrown(self.opened(project).and_then(|project| answers::locate(&project.tree, path)))
    }

    /// Every file and link of a tree.
    pub fn listing(&self, project: &str) -> Result<JsValue, JsValue> {
        thrown(self.opened(project)).map(|project| answers::listing(&project.tree))
    }

    /// Parts of packages, each by its package's key, an offset and a length; places are those that `locate` and `listing` give.
    #[wasm_bindgen(js_name = readRanges)]
    pub async fn read_ranges(&self, keys: Vec<String>, offsets: Vec<f64>, sizes: Vec<f64>) -> Result<Array, JsValue> {
        let results = Array::new();
        for ((key, offset), size) in keys.iter().zip(offsets).zip(sizes) {
            let bytes = thrown(self.read_range(key, offset, size).await)?;
            results.push(&Uint8Array::from(bytes.as_slice()));
        }
        Ok(results)
    }

    /// A tree as an archive (`tar` or `zip`), in parts. It is the tree of now, whatever is installed meanwhile.
    pub fn archive(&self, project: &str, format: &str) -> Result<ArchiveStream, JsValue> {
        let stream = self
            .opened(project)
            .and_then(|project| ArchiveStream::new(format, &project.tree, Source::Store(Rc::clone(&self.store))));
        thrown(stream)
    }

    /// From now on this store is what `archive` is read from.
    #[wasm_bindgen(js_name = continueArchive)]
    pub fn continue_archive(&self, archive: &mut ArchiveStream) {
        archive.read_from(Source::Store(self.current_store()));
    }
}

impl Coordinator {
    async fn read(&self, project: &str, path: &str) -> Result<Vec<u8>, Fault> {
        let project = self.opened(project)?;
        let store = self.current_store();
        project.read_file(&store, path).await
    }

    async fn read_range(&self, key: &str, offset: f64, size: f64) -> Result<Vec<u8>, Fault> {
        let key = PackageKey::parse(key).ok_or_else(|| Fault::new("INVALID_OPTION", format!("{key} is no key")))?;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "made from whole numbers")]
        let (offset, size) = (offset as u64, size as u64);
        self.current_store().read(&key, offset, size).await
    }
}
