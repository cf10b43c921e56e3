//! An installed tree as one archive, made in parts while it is read: never more in memory than a part and one file.
//!
//! It knows the packages that its files are in, not where these are: between two parts it can let go of what it reads them
//! from, and go on with something else that has them.

use crate::error::to_javascript;
use crate::open_packs::OpenPacks;
use crate::store::{BrowserStore, gone};
use gantry_archive::{ArchiveFormat, TreeArchive};
use gantry_engine::Fault;
use gantry_layout::{FileLocation, FileSource, TreeEntry, VirtualTree};
use js_sys::Uint8Array;
use std::rc::Rc;
use std::vec::IntoIter;
use wasm_bindgen::prelude::*;

/// Bytes of one part, or more where one file has more: large enough that a message for each costs nothing.
const PART: usize = 1 << 20;

/// Where the bytes of files come from.
#[derive(Debug)]
pub(crate) enum Source {
    Store(Rc<BrowserStore>),
    Packs(Rc<OpenPacks>),
}

impl Source {
    pub async fn read(&self, FileLocation { key, offset, size, .. }: &FileLocation) -> Result<Vec<u8>, Fault> {
        match self {
            Self::Store(store) => store.read(key, *offset, *size).await,
            Self::Packs(packs) => packs.read(key, *offset, *size).await.map(|bytes| bytes.to_vec()),
        }
    }
}

/// An archive that is being made.
#[wasm_bindgen]
#[derive(Debug)]
pub struct ArchiveStream {
    entries: IntoIter<(String, TreeEntry)>,
    /// `None` when it is complete.
    archive: Option<TreeArchive>,
    /// `None` while it holds nothing of the store.
    source: Option<Source>,
}

impl ArchiveStream {
    pub(crate) fn new(format: &str, tree: &VirtualTree, source: Source) -> Result<Self, Fault> {
        let format = match format {
            "tar" => ArchiveFormat::Tar,
            "zip" => ArchiveFormat::Zip,
            other => return Err(Fault::new("INVALID_OPTION", format!("{other} is neither tar nor zip"))),
        };
        Ok(Self { entries: tree.entries().into_iter(), archive: Some(TreeArchive::new(format)), source: Some(source) })
    }

    /// From now on read from `source`.
    pub(crate) fn read_from(&mut self, source: Source) {
        self.source = Some(source);
    }

    async fn make_part(&mut self) -> Result<Option<Vec<u8>>, Fault> {
        let source = self.source.as_ref().ok_or_else(|| Fault::new("INTERNAL", "the archive is read from nowhere"))?;
        let Some(mut archive) = self.archive.take() else { return Ok(None) };
        let failed = |error: std::io::Error| Fault::new("INTERNAL", error.to_string());
        while archive.made() < PART {
            let Some((path, entry)) = self.entries.next() else {
                return archive.finish().map(Some).map_err(failed);
            };
            match entry {
                TreeEntry::Symlink(target) => archive.symlink(&path, &target),
                TreeEntry::File(FileSource::Bytes(bytes)) => archive.file(&path, false, &bytes),
                TreeEntry::File(FileSource::Stored(location)) => {
                    archive.file(&path, location.executable, &source.read(&location).await?)
                }
            }
            .map_err(failed)?;
        }
        let part = archive.take();
        self.archive = Some(archive);
        Ok(Some(part))
    }
}

#[wasm_bindgen]
impl ArchiveStream {
    /// The next part, or `undefined` after the last. After a failure there is none.
    pub async fn next(&mut self) -> Result<Option<Uint8Array>, JsValue> {
        let part = self.make_part().await.map_err(|fault| to_javascript(&fault))?;
        Ok(part.map(|part| Uint8Array::from(part.as_slice())))
    }

    /// Lets go of what it is read from: the next part needs another.
    #[wasm_bindgen(js_name = letGo)]
    pub fn let_go(&mut self) {
        self.source = None;
    }

    /// From now on it is read from the files of `store`, as they are now.
    pub async fn reopen(&mut self, store: &str) -> Result<(), JsValue> {
        let packs = OpenPacks::of_store(store).await.and_then(|packs| packs.ok_or_else(gone));
        self.read_from(Source::Packs(packs.map_err(|fault| to_javascript(&fault))?));
        Ok(())
    }
}
