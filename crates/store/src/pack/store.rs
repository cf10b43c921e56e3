//! A store over a directory.

use super::{
    Catalog, Journal, JournalRecord, SegmentCheck, SegmentPlace, StoredPackage,
    format::{HEADER, journal_of, pack_name, pack_of},
};
use crate::{PackageKey, StoreError};
use gantry_platform::{Directory, RandomAccessFile};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

/// A pack this long gets no more packages, unless [another length](PackStore::with_full_packs_of) is asked for. Any file size
/// works; smaller packs make compaction cheaper.
const FULL_PACK: u64 = 256 << 20;

/// A pack for a writer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackAssignment {
    /// Number of the pack.
    pub pack: u32,
    /// Name of its file.
    pub name: String,
    /// Where writing starts: the end of the last recorded segment, or 0 for a pack without any. What is behind it goes.
    pub start: u64,
}

/// How much a store holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Packages.
    pub packages: u64,
    /// Projects.
    pub projects: u64,
    /// Bytes that packages take in packs.
    pub package_bytes: u64,
    /// Bytes of packs that no package uses any more.
    pub unused_bytes: u64,
    /// Bytes of the journal.
    pub journal_bytes: u64,
}

/// A store of packs in a flat directory; the only one that writes to the journal.
#[derive(Debug)]
pub struct PackStore<D: Directory> {
    pub(super) directory: D,
    pub(super) journal: Journal<D::File>,
    pub(super) catalog: Catalog,
    /// Packs whose files are there: found when the store was opened, or recorded since.
    pub(super) found: BTreeSet<u32>,
    /// Packs that are damaged: nobody writes to them.
    pub(super) retired: BTreeSet<u32>,
    /// Bytes of a pack that gets no more packages.
    pub(super) full_pack: u64,
    /// Packs open for reading.
    open: FxHashMap<u32, D::File>,
}

impl<D: Directory> PackStore<D> {
    /// Opens the store of `directory`, or makes one there. Packages whose pack is gone are not shown.
    pub async fn open(directory: D) -> Result<Self, StoreError> {
        let found: BTreeSet<u32> = directory.list().await?.iter().filter_map(|name| pack_of(name)).collect();
        let (journal, mut catalog) = Journal::open(&directory).await?;
        catalog.retain_packs(|pack| found.contains(&pack));
        let (retired, full_pack, open) = (BTreeSet::new(), FULL_PACK, FxHashMap::default());
        Ok(Self { directory, journal, catalog, found, retired, full_pack, open })
    }

    /// From now on packs of so many bytes get no more packages: where packs travel to their writers and back, and each byte of
    /// them costs.
    #[must_use]
    pub fn with_full_packs_of(self, bytes: u64) -> Self {
        Self { full_pack: bytes, ..self }
    }

    /// What is stored.
    pub fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// The package stored under `key`.
    pub fn lookup(&self, key: &PackageKey) -> Option<&StoredPackage> {
        self.catalog.package(key)
    }

    /// Records what has been appended to packs and flushed there, and what happened to projects; durable on return. A
    /// package that is stored already is not recorded again, since what is in use stays where it is; only one whose index
    /// cannot be read is. A project is never recorded without what stands before it in the batch.
    pub fn commit(&mut self, batch: Vec<JournalRecord>) -> Result<(), StoreError> {
        let mut added: FxHashSet<PackageKey> = FxHashSet::default();
        let mut records = Vec::with_capacity(batch.len());
        for record in batch {
            match &record {
                JournalRecord::Package { key, .. } => {
                    let stored = self.catalog.package(key);
                    if stored.is_some_and(|package| package.index().is_ok()) || !added.insert(key.clone()) {
                        continue;
                    }
                }
                JournalRecord::PackageRemoved { key } => {
                    added.remove(key);
                }
                JournalRecord::Project { .. } | JournalRecord::ProjectRemoved { .. } | JournalRecord::Seal => {}
            }
            records.push(record);
        }
        let appended = self.journal.append_batch(&records);
        for record in records {
            if let JournalRecord::Package { place, .. } = &record {
                self.found.insert(place.pack);
                if self.journal.is_doubtful() {
                    self.catalog.reserve(place);
                }
            }
            if appended.is_ok() {
                self.catalog.apply(record);
            }
        }
        appended
    }

    /// `count` packs to write to, no two the same: those with room, then new ones. Asking again gives the same packs, so
    /// the writers of the last answer must have ended.
    pub fn packs_for_writers(&self, count: usize) -> Vec<PackAssignment> {
        let recorded = self.catalog.pack_ends();
        let known: BTreeSet<u32> = self.found.iter().chain(recorded.keys()).copied().collect();
        let with_room = known
            .iter()
            .filter(|pack| self.found.contains(pack) && !self.retired.contains(pack))
            .map(|&pack| (pack, recorded.get(&pack).copied().unwrap_or(0)))
            .filter(|&(_, end)| end < self.full_pack);
        let first_new = known.last().map_or(0, |last| last.saturating_add(1));
        let new = (first_new..=u32::MAX).map(|pack| (pack, 0));
        let assignment = |(pack, start)| PackAssignment { pack, name: pack_name(pack), start };
        with_room.chain(new).take(count).map(assignment).collect()
    }

    /// Opens the pack that holds `key` for reading, if it is not open; then [`read_opened`](Self::read_opened) works.
    pub async fn open_pack_of(&mut self, key: &PackageKey) -> Result<(), StoreError> {
        let SegmentPlace { pack, .. } = self.place(key)?;
        if !self.open.contains_key(&pack) {
            let file = self.directory.open(&pack_name(pack)).await?;
            self.open.insert(pack, file);
        }
        Ok(())
    }

    /// Reads `size` bytes at `offset` of a package's segment.
    pub async fn read(&mut self, key: &PackageKey, offset: u64, size: u64) -> Result<Vec<u8>, StoreError> {
        self.open_pack_of(key).await?;
        self.read_opened(key, offset, size)
    }

    /// As [`read`](Self::read), without waiting: the pack must be open, else it is [`StoreError::Missing`].
    pub fn read_opened(&self, key: &PackageKey, offset: u64, size: u64) -> Result<Vec<u8>, StoreError> {
        let place = self.place(key)?;
        let end = offset.checked_add(size).filter(|&end| end <= place.stored_length());
        let (Some(end), Ok(length)) = (end, usize::try_from(size)) else {
            return Err(corrupt(key, "what is to be read is not inside the package"));
        };
        let file = self.open.get(&place.pack).ok_or_else(|| missing(key))?;
        // Asked before memory is taken: a place that is nonsense must not take all of it.
        if place.offset.checked_add(end).is_none_or(|end| file.len().is_ok_and(|length| length < end)) {
            return Err(corrupt(key, "its pack is shorter than what was recorded of it"));
        }
        let mut bytes = vec![0; length];
        file.read_exact_at(place.offset + offset, &mut bytes)?;
        Ok(bytes)
    }

    /// Reads a whole package and compares its checksum.
    pub async fn verify_package(&mut self, key: &PackageKey) -> Result<(), StoreError> {
        self.open_pack_of(key).await?;
        let mut check = SegmentCheck::new(self.place(key)?);
        while let Some((offset, size)) = check.wanted() {
            check.update(&self.read_opened(key, offset, size)?);
        }
        if check.is_whole() { Ok(()) } else { Err(corrupt(key, "it does not match its checksum")) }
    }

    /// Closes all packs that are open for reading, so that writers can have them.
    pub fn close_packs(&mut self) {
        self.open.clear();
    }

    /// How much is stored.
    pub fn usage(&self) -> Usage {
        let package_bytes = self.catalog.package_bytes();
        let used = |total: u64, &end: &u64| total.saturating_add(end.saturating_sub(HEADER));
        let pack_bytes = self.catalog.pack_ends().values().fold(0, used);
        Usage {
            packages: self.catalog.package_count() as u64,
            projects: self.catalog.projects().count() as u64,
            package_bytes,
            unused_bytes: pack_bytes.saturating_sub(package_bytes),
            journal_bytes: self.journal.length(),
        }
    }

    /// Removes everything; gives an empty store.
    pub async fn clear(self) -> Result<Self, StoreError> {
        let Self { directory, journal, catalog, found, retired, full_pack, open } = self;
        drop((journal, catalog, found, retired, open));
        Self::destroy(&directory).await?;
        Ok(Self::open(directory).await?.with_full_packs_of(full_pack))
    }

    /// Removes the store of `directory`, readable or not, and no other files. It must not be open.
    ///
    /// 1. The journal goes, the newest last: from here on nothing is stored.
    /// 2. The packs go. One that is left over is written again from its start.
    pub async fn destroy(directory: &D) -> Result<(), StoreError> {
        let mut names = directory.list().await?;
        names.sort_by_key(|name| (journal_of(name), name.clone()));
        for name in names.iter().filter(|name| journal_of(name).is_some()) {
            directory.remove(name).await?;
        }
        for name in names.iter().filter(|name| pack_of(name).is_some()) {
            directory.remove(name).await?;
        }
        Ok(())
    }

    fn place(&self, key: &PackageKey) -> Result<SegmentPlace, StoreError> {
        self.lookup(key).map(|package| package.place).ok_or_else(|| missing(key))
    }
}

fn missing(key: &PackageKey) -> StoreError {
    StoreError::Missing { key: key.to_string() }
}

fn corrupt(key: &PackageKey, problem: &'static str) -> StoreError {
    StoreError::Corrupt { file: key.to_string(), problem }
}

#[cfg(test)]
mod tests;
