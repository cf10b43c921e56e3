//! Looking after the store: what is in it, whether it still is what it was, and giving back what nothing uses.
//!
//! Nothing that is removed here is missed by a project, which has files of its own or links that keep theirs; it is fetched
//! again when it is wanted again.

use super::in_use::StoreLock;
use super::lent::SharedStore;
use super::projects::{NotedProject, noted};
use super::removal::{discard, set_aside};
use super::{Layout, listed, remove_all};
use crate::NativeError;
use crate::temporary::{make_parent, remove_any, unique_name};
use gantry_store::{PackageIndex, PackageKey};
use rustc_hash::FxHashSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

mod checking;

pub(super) use checking::{Condition, check};

use checking::check_all;

/// How the name of what is on its way out of the store begins.
const REMOVED: &str = "removed-";

/// The store, for whoever looks after it.
#[derive(Debug)]
pub struct StoreUpkeep {
    layout: Layout,
}

/// A package in the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredPackage {
    /// The store's name for it.
    pub key: PackageKey,
    /// `name@version` as its own `package.json` has it; the key where that says neither.
    pub label: String,
    /// How many files it has.
    pub files: u64,
    /// Bytes of these files.
    pub bytes: u64,
    /// Whether a project has it.
    pub is_used: bool,
}

/// What is in the store.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StoreUsage {
    /// How many packages.
    pub packages: u64,
    /// How many files they have.
    pub files: u64,
    /// Bytes of these files.
    pub bytes: u64,
    /// Packages that no project has, which [`prune`](StoreUpkeep::prune) would remove.
    pub unused_packages: u64,
    /// Bytes of their files.
    pub unused_bytes: u64,
    /// Projects made from the store that still are there.
    pub projects: u64,
    /// Bytes of registries' documents.
    pub metadata_bytes: u64,
}

/// What [`verify`](StoreUpkeep::verify) has found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StoreVerified {
    /// How many packages were looked at.
    pub packages: u64,
    /// How many of them are of before the store knew what files hash to: of these only sizes were compared.
    pub without_sums: u64,
    /// Those that were not what they should be, and are out of the store.
    pub damaged: Vec<DamagedPackage>,
    /// Projects that have one of these, sorted.
    pub projects: Vec<PathBuf>,
}

/// A package that is not what it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DamagedPackage {
    /// As [`StoredPackage::label`].
    pub label: String,
    /// What is wrong with it.
    pub problem: String,
}

/// What [`prune`](StoreUpkeep::prune) has removed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StorePruned {
    /// How many packages.
    pub packages: u64,
    /// Bytes of their files.
    pub bytes: u64,
    /// How many packages stay.
    pub kept: u64,
    /// How many projects were forgotten, which have nothing installed any more.
    pub forgotten: u64,
}

impl StoreUpkeep {
    /// The store below `directory`, which need not be there.
    pub fn new(directory: &Path) -> Self {
        Self { layout: Layout::below(directory) }
    }

    /// The packages in the store, sorted by label.
    pub fn list(&self) -> Result<Vec<StoredPackage>, NativeError> {
        let _lock = StoreLock::shared(&self.layout.root);
        let mut list = self.packages_of(&noted(&self.layout.root)?)?;
        list.sort_by(|one, other| (&one.label, &one.key).cmp(&(&other.label, &other.key)));
        Ok(list)
    }

    /// The packages in the store, told whether one of `projects` has them.
    fn packages_of(&self, projects: &[NotedProject]) -> Result<Vec<StoredPackage>, NativeError> {
        let used = Used::of(projects);
        Ok(self.layout.stored()?.iter().map(|key| self.stored_package(key, &used)).collect())
    }

    /// Adds up what is in the store.
    pub fn usage(&self) -> Result<StoreUsage, NativeError> {
        let _lock = StoreLock::shared(&self.layout.root);
        let projects = noted(&self.layout.root)?;
        let mut usage = StoreUsage {
            projects: projects.iter().filter(|project| !project.keys.is_empty()).count() as u64,
            metadata_bytes: size_of(&self.layout.root.join("metadata"))?,
            ..StoreUsage::default()
        };
        for package in self.packages_of(&projects)? {
            usage.packages += 1;
            usage.files += package.files;
            usage.bytes += package.bytes;
            if !package.is_used {
                usage.unused_packages += 1;
                usage.unused_bytes += package.bytes;
            }
        }
        Ok(usage)
    }

    /// Looks at every file of every package, and takes packages out of which one is not what was unpacked.
    pub fn verify(&self) -> Result<StoreVerified, NativeError> {
        let _lock = StoreLock::shared(&self.layout.root);
        let keys = self.layout.stored()?;
        let mut verified = StoreVerified { packages: keys.len() as u64, ..StoreVerified::default() };
        let mut damaged_keys = FxHashSet::default();
        for (key, condition) in keys.iter().zip(check_all(&self.layout, &keys)?) {
            match condition {
                Condition::Whole => {}
                Condition::WithoutSums => verified.without_sums += 1,
                Condition::Damaged { problem } => {
                    let label = self.stored_package(key, &Used::default()).label;
                    discard(&self.layout.directory(key), &self.layout.temporary)?;
                    verified.damaged.push(DamagedPackage { label, problem });
                    damaged_keys.insert(key.clone());
                }
            }
        }
        verified.damaged.sort_by(|one, other| one.label.cmp(&other.label));
        if !damaged_keys.is_empty() {
            let projects = noted(&self.layout.root)?.into_iter();
            let concerned = projects.filter(|project| !project.keys.is_disjoint(&damaged_keys));
            verified.projects = concerned.map(|project| project.path).collect();
        }
        Ok(verified)
    }

    /// Removes packages that no project has. `tell` is called if installs that use the store have to be waited for.
    pub fn prune(&self, tell: impl FnOnce()) -> Result<StorePruned, NativeError> {
        let Some(lock) = StoreLock::exclusive(&self.layout.root, tell)? else { return Ok(StorePruned::default()) };
        let projects = noted(&self.layout.root)?;
        let mut pruned = StorePruned::default();
        for project in projects.iter().filter(|project| project.keys.is_empty()) {
            project.forget()?;
            pruned.forgotten += 1;
        }
        let left = self.layout.temporaries();
        let aside = self.layout.temporary.join(unique_name(REMOVED));
        for package in self.packages_of(&projects)? {
            if package.is_used {
                pruned.kept += 1;
                continue;
            }
            take_out(&self.layout.directory(&package.key), &aside.join(package.key.as_str()))?;
            pruned.packages += 1;
            pruned.bytes += package.bytes;
        }
        // From here on nothing is in anybody's way.
        drop(lock);
        remove_all(&left);
        if pruned.packages > 0 { remove_any(&aside).map(|()| pruned) } else { Ok(pruned) }
    }

    /// Removes everything: packages, documents, what is known of projects. `tell` as in [`prune`](Self::prune).
    pub fn clear(&self, tell: impl FnOnce()) -> Result<(), NativeError> {
        let root = &self.layout.root;
        let Some(lock) = StoreLock::exclusive(root, tell)? else { return Ok(()) };
        let aside = root.join(unique_name(REMOVED));
        let mut leftovers = vec![aside.clone()];
        for entry in listed(root)? {
            if entry.file_name().to_string_lossy().starts_with(REMOVED) {
                // Of one that was killed.
                leftovers.push(entry.path());
            } else {
                take_out(&entry.path(), &aside.join(entry.file_name()))?;
            }
        }
        drop(lock);
        leftovers.iter().filter(|path| path.exists()).try_for_each(|path| remove_any(path))
    }

    fn stored_package(&self, key: &PackageKey, used: &Used) -> StoredPackage {
        // One that cannot be read is of no use to anybody.
        let index = self.layout.read_index(key).unwrap_or_default();
        StoredPackage {
            key: key.clone(),
            label: label_of(key, &index),
            files: index.files.len() as u64,
            bytes: index.files.iter().map(|file| file.size).sum(),
            is_used: used.has(key, &index, &self.layout.directory(key).join("files")),
        }
    }
}

/// `name@version` as a package's own `package.json` has it; the key where that says neither.
pub(super) fn label_of(key: &PackageKey, index: &PackageIndex) -> String {
    match (&index.facts.name, &index.facts.version) {
        (Some(name), Some(version)) => format!("{name}@{version}"),
        (Some(name), None) => name.clone(),
        _ => key.as_str().to_owned(),
    }
}

impl SharedStore for StoreUpkeep {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn listed_files(&self, key: &PackageKey) -> Option<Arc<PackageIndex>> {
        self.layout.read_index(key).map(Arc::new)
    }
}

/// What projects have.
#[derive(Debug, Default)]
struct Used {
    keys: FxHashSet<PackageKey>,
}

impl Used {
    fn of(projects: &[NotedProject]) -> Self {
        Self { keys: projects.iter().flat_map(|project| &project.keys).cloned().collect() }
    }

    /// Whether a project names it, or has one of its files.
    fn has(&self, key: &PackageKey, index: &PackageIndex, files: &Path) -> bool {
        let is_linked = |path: &str| fs::symlink_metadata(files.join(path)).is_ok_and(|data| data.nlink() > 1);
        self.keys.contains(key) || index.files.iter().any(|file| is_linked(&file.path))
    }
}

/// Moves something out of the store's way.
fn take_out(from: &Path, to: &Path) -> Result<(), NativeError> {
    make_parent(to)?;
    set_aside(from, to).map_err(NativeError::io("remove", from))
}

/// Bytes of the files in a folder; none if it is not there.
fn size_of(folder: &Path) -> Result<u64, NativeError> {
    let size =
        |entry: &fs::DirEntry| entry.metadata().map(|data| data.len()).map_err(NativeError::io("read", &entry.path()));
    listed(folder)?.iter().map(size).sum()
}
