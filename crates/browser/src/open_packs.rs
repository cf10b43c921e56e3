//! The packs of a store, open for reading by a worker that does not write it.

use crate::catalog::find_catalog;
use crate::error::file_fault;
use crate::opfs::{OpfsDirectory, OpfsFile, shares_files};
use crate::snapshot::Snapshot;
use crate::store::{damaged, gone, outside};
use futures_util::FutureExt;
use gantry_engine::Fault;
use gantry_store::{Catalog, CheckedSegment, PackageKey, pack_name};
use js_sys::Uint8Array;
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ops::Range;
use std::rc::Rc;

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

impl OpenPacks {
    /// Those of `store` as it is now; `None` where nothing is stored.
    pub async fn of_store(store: &str) -> Result<Option<Rc<Self>>, Fault> {
        let Some((directory, catalog)) = find_catalog(store).await? else { return Ok(None) };
        Self::open(&directory, catalog).await.map(Some)
    }

    /// Those of a catalog.
    pub async fn open(directory: &OpfsDirectory, catalog: Catalog) -> Result<Rc<Self>, Fault> {
        let packs = catalog.packages().into_iter().map(|(_, package)| package.place.pack);
        let mut files = FxHashMap::default();
        for pack in packs.collect::<BTreeSet<u32>>() {
            files.insert(pack, PackFile::open(directory, &pack_name(pack)).await?);
        }
        Ok(Rc::new(Self { catalog, files, checked: RefCell::default() }))
    }

    /// Part of a package's segment. Nothing is given out that is damaged.
    pub async fn read(&self, key: &PackageKey, offset: u64, size: u64) -> Result<Uint8Array, Fault> {
        let place = self.catalog.package(key).map(|package| package.place).ok_or_else(gone)?;
        let end = offset.checked_add(size).filter(|end| *end <= place.length).ok_or_else(outside)?;
        let file = self.files.get(&place.pack).ok_or_else(gone)?;
        let read = async |part: &Range<u64>| file.read(place.offset + part.start, length(part)?).await;
        let part = offset..end;
        if !self.checked.borrow().contains_key(key) {
            let list = read(&place.checksums()).await?.to_vec();
            let unknown = CheckedSegment::new(&place, &list).ok_or_else(|| self.damaged(key))?;
            self.checked.borrow_mut().entry(key.clone()).or_insert(unknown);
        }
        let Some(wanted) = self.unchecked(key, &part) else { return read(&part).await };
        let bytes = read(&wanted).await?;
        let mut checked = self.checked.borrow_mut();
        if !checked.get_mut(key).is_some_and(|segment| segment.accept(wanted.start, &bytes.to_vec())) {
            return Err(self.damaged(key));
        }
        let start = length(&(wanted.start..offset))?;
        Ok(bytes.slice(start, start + length(&part)?))
    }

    /// What has to be read and compared before `part` can be given out; nothing once it has been.
    fn unchecked(&self, key: &PackageKey, part: &Range<u64>) -> Option<Range<u64>> {
        let checked = self.checked.borrow();
        let segment = checked.get(key)?;
        (!segment.is_right(part)).then(|| segment.wanted(part))
    }

    fn damaged(&self, key: &PackageKey) -> Fault {
        let index = self.catalog.package(key).and_then(|package| package.index().ok());
        // A reader cannot take it out of the store.
        let hint = "Call verify() of the open store, then install the project again, which fetches the package anew.";
        damaged(key, index.as_deref()).with_hint(hint)
    }
}

/// What a read gives at once, in a worker that reads synchronously.
pub(crate) fn at_once<T>(read: impl Future<Output = Result<T, Fault>>) -> Result<T, Fault> {
    let nowhere = || Err(Fault::new("STORAGE_UNAVAILABLE", "nothing can be read synchronously outside of workers"));
    read.now_or_never().unwrap_or_else(nowhere)
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
        Snapshot::take(directory, name).await.map(Self::Snapshot)
    }

    async fn read(&self, offset: u64, size: u32) -> Result<Uint8Array, Fault> {
        match self {
            Self::Handle(file) => file.read_array(offset, size).map_err(|error| file_fault(&error)),
            Self::Snapshot(snapshot) => snapshot.read(offset, size).await,
        }
    }
}
