//! The tree that is there, compared with the one that was installed.
//!
//! What was installed is known from the hidden lock and the store. Preview 1 tells no modes, so that whether a file is
//! executable is taken from there too, and a script that stands for a link counts as the link.

use crate::WasiError;
use crate::links::script;
use crate::project::{owner_of, read_optional, settled, tree_of};
use crate::store::WasiStore;
use gantry_engine::{EngineError, Fault, PackageStore};
use gantry_layout::{FileSource, Omit, PackageKeys, TreeDigest, TreeEntry, plan};
use gantry_manifest::Lockfile;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

pub(crate) const HIDDEN_LOCK: &str = "node_modules/.package-lock.json";

/// What is at a path.
enum Found {
    File(Vec<u8>),
    Link(String),
}

/// An installed project.
pub(crate) struct InstalledTree<'a> {
    project: &'a Path,
    store: &'a WasiStore,
    pub lock: Lockfile,
    expected: BTreeMap<String, TreeEntry>,
}

/// How a tree differs from what was installed: paths relative to the project, sorted.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Differences {
    pub missing: Vec<String>,
    pub changed: Vec<String>,
    pub unknown: Vec<String>,
}

/// The hidden lock of a project.
pub(crate) fn hidden_lock(project: &Path) -> Result<Lockfile, Fault> {
    let path = project.join(HIDDEN_LOCK);
    let bytes = read_optional(&path)?.ok_or(WasiError::TreeMissing { path })?;
    Lockfile::parse(&bytes, HIDDEN_LOCK).map_err(|error| EngineError::from(error).to_fault())
}

impl<'a> InstalledTree<'a> {
    /// The tree in `project`, whose packages must be in `store`.
    pub fn open(project: &'a Path, store: &'a WasiStore) -> Result<Self, Fault> {
        let lock = hidden_lock(project)?;
        let owner = owner_of(project);
        let keys = PackageKeys::without_scripts(&owner);
        let plan = plan(&lock.to_text(), &BTreeSet::new(), &Omit::default(), keys, &|key| store.index(key))
            .map_err(|error| EngineError::from(error).to_fault())?;
        let tree = tree_of(store, &settled(project, store, &plan)?.0)?;
        let expected = tree.entries().into_iter().filter(|(path, _)| path != HIDDEN_LOCK).collect();
        Ok(Self { project, store, lock, expected })
    }

    /// The digest of what is there.
    pub fn digest(&self) -> Result<String, Fault> {
        let mut digest = TreeDigest::new();
        for path in self.paths()? {
            match self.find(&path)? {
                Found::Link(target) => digest.symlink(&path, &target),
                Found::File(bytes) => digest.file(&path, self.is_executable(&path), &bytes),
            }
        }
        Ok(digest.finish())
    }

    /// Reads everything and compares it.
    pub fn differences(&self) -> Result<Differences, Fault> {
        let found: BTreeSet<String> = self.paths()?.into_iter().filter(|path| path != HIDDEN_LOCK).collect();
        let mut differences = Differences {
            missing: self.expected.keys().filter(|path| !found.contains(*path)).cloned().collect(),
            ..Differences::default()
        };
        for path in found {
            match self.expected.get(&path) {
                None => differences.unknown.push(path),
                Some(expected) if !self.is_as(&path, expected)? => differences.changed.push(path),
                Some(_) => {}
            }
        }
        Ok(differences)
    }

    fn is_as(&self, path: &str, expected: &TreeEntry) -> Result<bool, Fault> {
        Ok(match (self.find(path)?, expected) {
            (Found::Link(target), TreeEntry::Symlink(wanted)) => target == *wanted,
            (Found::File(bytes), TreeEntry::File(FileSource::Bytes(wanted))) => bytes[..] == wanted[..],
            (Found::File(bytes), TreeEntry::File(FileSource::Stored(place))) => {
                bytes.len() as u64 == place.size && bytes == self.store.read(&place.key, place.offset, place.size)?
            }
            _ => false,
        })
    }

    /// What is at `path`; a script that stands for the link that is to be there is the link.
    fn find(&self, path: &str) -> Result<Found, Fault> {
        let place = self.project.join(path);
        let metadata = fs::symlink_metadata(&place).map_err(WasiError::io("read", &place))?;
        if metadata.is_symlink() {
            let target = fs::read_link(&place).map_err(WasiError::io("read", &place))?;
            return Ok(Found::Link(target.to_string_lossy().into_owned()));
        }
        let bytes = fs::read(&place).map_err(WasiError::io("read", &place))?;
        Ok(match self.expected.get(path) {
            Some(TreeEntry::Symlink(target)) if bytes == script(target).as_bytes() => Found::Link(target.clone()),
            _ => Found::File(bytes),
        })
    }

    fn is_executable(&self, path: &str) -> bool {
        matches!(self.expected.get(path), Some(TreeEntry::File(source)) if source.is_executable())
    }

    /// Every file and link below `node_modules`, and below that of each of the user's folders that was given one; sorted.
    fn paths(&self) -> Result<Vec<String>, Fault> {
        let mut paths = Vec::new();
        self.collect("node_modules", &mut paths)?;
        let tops = self.lock.packages.iter().filter_map(|entry| Some(entry.path.split_once("/node_modules/")?.0));
        let tops: BTreeSet<&str> = tops.filter(|top| top.split('/').all(|part| part != "node_modules")).collect();
        for top in tops {
            self.collect(&format!("{top}/node_modules"), &mut paths)?;
        }
        paths.sort_unstable();
        Ok(paths)
    }

    fn collect(&self, relative: &str, paths: &mut Vec<String>) -> Result<(), Fault> {
        let folder = self.project.join(relative);
        for entry in fs::read_dir(&folder).map_err(WasiError::io("read", &folder))? {
            let entry = entry.map_err(WasiError::io("read", &folder))?;
            let path = format!("{relative}/{}", entry.file_name().to_string_lossy());
            if entry.file_type().map_err(WasiError::io("read", &folder))?.is_dir() {
                self.collect(&path, paths)?;
            } else {
                paths.push(path);
            }
        }
        Ok(())
    }
}
