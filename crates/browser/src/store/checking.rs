//! Whether what is stored is what was unpacked. A package's checksum is compared once for each time the store is opened,
//! before the first of its files is given out; and whenever somebody asks for it.
//!
//! What is damaged leaves the store: reading it fails, and the next install of a project that needs it fetches it anew.

use super::{BrowserStore, gone};
use gantry_engine::Fault;
use gantry_store::{JournalRecord, PackageIndex, PackageKey, SegmentCheck, SegmentPlace, StoredPackage};

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
                self.checked.borrow_mut().insert(key);
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

    /// Compares the checksum of a package that nothing has been read of since the store was opened.
    pub(super) async fn check(&self, key: &PackageKey) -> Result<(), Fault> {
        if self.checked.borrow().contains(key) {
            return Ok(());
        }
        let place = self.place(key).ok_or_else(gone)?;
        if self.is_whole(key, place).await? {
            self.checked.borrow_mut().insert(key.clone());
            return Ok(());
        }
        let recorded = self.with_packs(|packs| packs.lookup(key).cloned())?;
        let index = recorded.and_then(|package| package.index().ok());
        // Where there is no room to record it the package stays, and the next read fails as this one does.
        let _ = self.drop_damaged(std::slice::from_ref(key));
        Err(damaged(key, index.as_deref()))
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
            match self.read_unchecked(key, offset, size).await {
                Ok(bytes) => check.update(&bytes),
                // The pack ends before what was recorded of it.
                Err(fault) if fault.code == "STORE_CORRUPT" => return Ok(false),
                Err(fault) => return Err(fault),
            }
        }
        Ok(check.is_whole())
    }
}
