//! What a journal adds up to.

use super::{
    JournalRecord, SegmentPlace,
    format::{journal_name, journal_of},
    journal::{Replay, replay},
};
use crate::{PackageIndex, PackageKey, StoreError};
use bytes::Bytes;
use rustc_hash::FxHashMap;
use std::{
    collections::BTreeMap,
    sync::{Arc, OnceLock},
};

/// A stored package.
#[derive(Debug, Clone)]
pub struct StoredPackage {
    /// Where its bytes are.
    pub place: SegmentPlace,
    /// Kept encoded until asked for, so that opening a store costs next to nothing.
    encoded: Bytes,
    decoded: OnceLock<Arc<PackageIndex>>,
}

impl StoredPackage {
    /// Its files and facts; decoded when first asked for.
    pub fn index(&self) -> Result<Arc<PackageIndex>, StoreError> {
        if let Some(index) = self.decoded.get() {
            return Ok(index.clone());
        }
        let index = PackageIndex::decode(&self.encoded)?;
        let (length, recorded) = (index.segment_length(), self.place.length);
        // Written down as it came, a package may have bytes that are no file's any more.
        if length > recorded || (length < recorded && index.is_in_order()) {
            return Err(StoreError::Corrupt {
                file: "package index".into(),
                problem: "its files do not add up to the package's length",
            });
        }
        Ok(self.decoded.get_or_init(|| Arc::new(index)).clone())
    }

    /// The index as [`PackageIndex::encode`] gives it, to be sent elsewhere.
    pub fn encoded_index(&self) -> &Bytes {
        &self.encoded
    }
}

/// An installed project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectRecord {
    /// Its lock file.
    pub lock: Bytes,
    /// How it was installed.
    pub options: Bytes,
    /// Grows with every install.
    pub sequence: u64,
}

/// Packages and projects of a store, in memory.
#[derive(Debug, Default)]
pub struct Catalog {
    packages: FxHashMap<PackageKey, StoredPackage>,
    projects: BTreeMap<String, ProjectRecord>,
    /// Where the last segment ever recorded in each pack, or reserved, ends.
    pack_ends: BTreeMap<u32, u64>,
}

impl Catalog {
    /// Reads the bytes of a journal file without changing it; a torn tail is left out. For those who may not write. The
    /// newest is meant: the one whose name has the highest number.
    pub fn read(journal: Bytes) -> Result<Self, StoreError> {
        let generation = journal.get(12..16).and_then(|bytes| bytes.try_into().ok()).map_or(0, u32::from_le_bytes);
        Ok(replay(journal, generation)?.catalog)
    }

    /// Reads the journal files of a directory, each with its name, as [`read`](Self::read) does one. The newest counts that
    /// was finished: one that a crash left without its seal says nothing as long as the one before is there. `None` where
    /// there is no journal.
    pub fn read_newest(files: Vec<(String, Bytes)>) -> Result<Option<Self>, StoreError> {
        let mut journals: Vec<(u32, Bytes)> =
            files.into_iter().filter_map(|(name, bytes)| Some((journal_of(&name)?, bytes))).collect();
        journals.sort_unstable_by_key(|(generation, _)| *generation);
        while let Some((generation, bytes)) = journals.pop() {
            let Replay { catalog, sealed, .. } = replay(bytes, generation)?;
            if generation == 0 || sealed {
                return Ok(Some(catalog));
            }
            if journals.is_empty() {
                let problem = "it was not finished, and the one before it is gone";
                return Err(StoreError::Corrupt { file: journal_name(generation), problem });
            }
        }
        Ok(None)
    }

    /// The package stored under `key`.
    pub fn package(&self, key: &PackageKey) -> Option<&StoredPackage> {
        self.packages.get(key)
    }

    /// All packages, sorted by key.
    pub fn packages(&self) -> Vec<(&PackageKey, &StoredPackage)> {
        let mut packages: Vec<_> = self.packages.iter().collect();
        packages.sort_unstable_by_key(|(key, _)| *key);
        packages
    }

    /// The project called `name`.
    pub fn project(&self, name: &str) -> Option<&ProjectRecord> {
        self.projects.get(name)
    }

    /// All projects, sorted by name.
    pub fn projects(&self) -> impl Iterator<Item = (&str, &ProjectRecord)> {
        self.projects.iter().map(|(name, project)| (name.as_str(), project))
    }

    /// What it adds up to without packages that nobody wants, and with others at new places; `place_of` gives `None` for the
    /// former.
    pub(super) fn pruned(&self, place_of: impl Fn(&PackageKey, SegmentPlace) -> Option<SegmentPlace>) -> Self {
        let mut pruned = Self { projects: self.projects.clone(), ..Self::default() };
        for (key, package) in &self.packages {
            if let Some(place) = place_of(key, package.place) {
                pruned.reserve(&place);
                pruned.packages.insert(key.clone(), StoredPackage { place, ..package.clone() });
            }
        }
        pruned
    }

    /// The records that add up to this.
    pub(super) fn records(&self) -> impl Iterator<Item = JournalRecord> {
        let packages = self.packages().into_iter().map(|(key, package)| JournalRecord::Package {
            key: key.clone(),
            place: package.place,
            index: package.encoded.clone(),
        });
        let projects = self.projects.iter().map(|(name, project)| JournalRecord::Project {
            name: name.clone(),
            lock: project.lock.clone(),
            options: project.options.clone(),
            sequence: project.sequence,
        });
        packages.chain(projects)
    }

    /// Takes a record into account.
    pub fn apply(&mut self, record: JournalRecord) {
        match record {
            JournalRecord::Package { key, place, index } => {
                self.reserve(&place);
                self.packages.insert(key, StoredPackage { place, encoded: index, decoded: OnceLock::new() });
            }
            JournalRecord::PackageRemoved { key } => {
                self.packages.remove(&key);
            }
            JournalRecord::Project { name, lock, options, sequence } => {
                self.projects.insert(name, ProjectRecord { lock, options, sequence });
            }
            JournalRecord::ProjectRemoved { name } => {
                self.projects.remove(&name);
            }
            JournalRecord::Seal => {}
        }
    }

    /// Keeps writers off a package's place.
    pub(super) fn reserve(&mut self, place: &SegmentPlace) {
        let end = self.pack_ends.entry(place.pack).or_default();
        *end = (*end).max(place.end().unwrap_or(u64::MAX));
    }

    /// Number of packages.
    pub fn package_count(&self) -> usize {
        self.packages.len()
    }

    /// Bytes of packs that all packages take, with the checksums of their blocks.
    pub fn package_bytes(&self) -> u64 {
        self.packages.values().fold(0, |total, package| total.saturating_add(package.place.stored_length()))
    }

    /// Packs that have ever been recorded, each with where its last segment ends. What a removed package leaves is not
    /// written again before compaction: somebody may still read it.
    pub(super) fn pack_ends(&self) -> &BTreeMap<u32, u64> {
        &self.pack_ends
    }

    /// Keeps what it holds in memory of its own, and no journal that it was read from.
    pub(super) fn detach(&mut self) {
        let copy = |bytes: &mut Bytes| *bytes = Bytes::copy_from_slice(bytes);
        self.packages.values_mut().for_each(|package| copy(&mut package.encoded));
        for project in self.projects.values_mut() {
            copy(&mut project.lock);
            copy(&mut project.options);
        }
    }

    /// Reserves what another has reserved.
    pub(super) fn reserve_all(&mut self, ends: &BTreeMap<u32, u64>) {
        for (pack, end) in ends {
            let own = self.pack_ends.entry(*pack).or_default();
            *own = (*own).max(*end);
        }
    }

    /// Forgets the packages of packs that are gone.
    pub(super) fn retain_packs(&mut self, is_there: impl Fn(u32) -> bool) {
        self.packages.retain(|_, package| is_there(package.place.pack));
    }
}
