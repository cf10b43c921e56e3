//! Whether what is stored is what was unpacked. Each block of a package is compared with its checksum once for each time the
//! store is opened, before anything in it is given out; and all of them whenever somebody asks for it.
//!
//! What is damaged leaves the store: reading it fails, and the next install of a project that needs it fetches it anew.

use super::{BrowserStore, gone};
use gantry_engine::Fault;
use gantry_store::{
    CheckedSegment, JournalRecord, PackageIndex, PackageKey, SegmentCheck, SegmentPlace, StoredPackage,
};
use std::ops::Range;

/// What a look at every package has found.
#[derive(Debug)]
pub(crate) struct Verified {
    /// How many there were.
    pub packages: usize,
    /// Their bytes.
    pub bytes: u64,
    /// Those that were damaged, as `name@version` where that can still be read, sorted.
    pub damaged: Vec<String>,
}

/// A package that must not be read.
pub(crate) fn damaged(key: &PackageKey, index: Option<&PackageIndex>) -> Fault {
    let name = full_name(index);
    let called = name.as_deref().unwrap_or(key.as_str());
    let message = format!("{called} is damaged in the store: it does not match its checksum");
    let hint = "Install the project again, which fetches the package anew.";
    Fault { package: name, ..Fault::new("STORE_CORRUPT", message).with_hint(hint) }
}

/// A file that cannot be where its package's index says.
pub(crate) fn outside() -> Fault {
    Fault::new("STORE_CORRUPT", "a file of a stored package lies outside of it")
}

/// `name@version`, where that is known.
fn full_name(index: Option<&PackageIndex>) -> Option<String> {
    let facts = &index?.facts;
    Some(format!("{}@{}", facts.name.as_ref()?, facts.version.as_ref()?))
}

impl BrowserStore {
    /// Reads every package and compares its checksum. Those that are damaged leave the store, so that the next install
    /// fetches them anew. Must not run beside an install; dropped before its end it changes nothing.
    pub async fn verify(&self) -> Result<Verified, Fault> {
        let mut stored: Vec<(PackageKey, StoredPackage)> = self.with_packs(|packs| {
            packs.catalog().packages().into_iter().map(|(key, package)| (key.clone(), package.clone())).collect()
        })?;
        stored.sort_unstable_by_key(|(_, package)| (package.place.pack, package.place.offset));
        let mut verified = Verified { packages: stored.len(), bytes: 0, damaged: Vec::new() };
        let mut removed = Vec::new();
        for (key, package) in stored {
            verified.bytes += package.place.length;
            let index = package.index();
            if index.is_ok() && self.is_whole(&key, package.place).await? {
                self.checked.borrow_mut().insert(key, CheckedSegment::whole(&package.place));
                continue;
            }
            let name = full_name(index.ok().as_deref());
            verified.damaged.push(name.unwrap_or_else(|| key.as_str().to_owned()));
            removed.push(key);
        }
        self.drop_damaged(&removed)?;
        verified.damaged.sort_unstable();
        Ok(verified)
    }

    /// Reads part of a package's segment. Nothing is given out that is damaged: then the package leaves the store.
    pub async fn read(&self, key: &PackageKey, offset: u64, size: u64) -> Result<Vec<u8>, Fault> {
        let end = offset.checked_add(size).ok_or_else(outside)?;
        if let Some(bytes) = self.read_right(key, offset..end).await? {
            return Ok(bytes);
        }
        let recorded = self.with_packs(|packs| packs.lookup(key).cloned())?;
        let index = recorded.and_then(|package| package.index().ok());
        // Where there is no room to record it the package stays, and the next read fails as this one does.
        let _ = self.drop_damaged(std::slice::from_ref(key));
        Err(damaged(key, index.as_deref()))
    }

    /// `None` where it is not what was recorded.
    async fn read_right(&self, key: &PackageKey, part: Range<u64>) -> Result<Option<Vec<u8>>, Fault> {
        let place = self.place(key).ok_or_else(gone)?;
        if part.end > place.length {
            return Err(outside());
        }
        let wanted = |checked: &CheckedSegment| checked.wanted(&part);
        let known = self.checked.borrow().get(key).map(wanted);
        let wanted = match known {
            Some(wanted) => wanted,
            None => {
                let Some(list) = self.read_if_there(key, &place.checksums()).await? else { return Ok(None) };
                let Some(segment) = CheckedSegment::new(&place, &list) else { return Ok(None) };
                wanted(self.checked.borrow_mut().entry(key.clone()).or_insert(segment))
            }
        };
        let Some(mut bytes) = self.read_if_there(key, &wanted).await? else { return Ok(None) };
        // Somebody else may have found it damaged meanwhile.
        if !self.checked.borrow_mut().get_mut(key).ok_or_else(gone)?.accept(wanted.start, &bytes) {
            return Ok(None);
        }
        let length = |part: Range<u64>| usize::try_from(part.end - part.start).unwrap_or(usize::MAX);
        bytes.truncate(length(wanted.start..part.end));
        bytes.drain(..length(wanted.start..part.start));
        Ok(Some(bytes))
    }

    /// `None` where the pack ends before what was recorded of it.
    async fn read_if_there(&self, key: &PackageKey, part: &Range<u64>) -> Result<Option<Vec<u8>>, Fault> {
        match self.read_unchecked(key, part).await {
            Ok(bytes) => Ok(Some(bytes)),
            Err(fault) if fault.code == "STORE_CORRUPT" => Ok(None),
            Err(fault) => Err(fault),
        }
    }

    fn drop_damaged(&self, keys: &[PackageKey]) -> Result<(), Fault> {
        for key in keys {
            self.checked.borrow_mut().remove(key);
        }
        self.record(keys.iter().map(|key| JournalRecord::PackageRemoved { key: key.clone() }).collect())
    }

    async fn is_whole(&self, key: &PackageKey, place: SegmentPlace) -> Result<bool, Fault> {
        let mut check = SegmentCheck::new(place);
        while let Some((offset, size)) = check.wanted() {
            match self.read_if_there(key, &(offset..offset + size)).await? {
                Some(bytes) => check.update(&bytes),
                None => return Ok(false),
            }
        }
        Ok(check.is_whole())
    }
}
