//! Which projects were made from the store, and so what of it is in use.
//!
//! A file's link count tells that some project has it, where projects are made of hard links. Copies and clones leave no trace.
//! So the store notes the path of each project in `projects/<hash of the path>`, and what that needs stands in its hidden
//! lock. A project that is gone, or has nothing installed any more, needs nothing.

use super::listed;
use crate::NativeError;
use crate::hidden_lock;
use crate::temporary::replace_file;
use gantry_layout::package_key;
use gantry_store::PackageKey;
use rustc_hash::FxHashSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::xxh3_128;

const NOTES: &str = "projects";

/// Notes that the project in `path` is made from the store in `root`. A store that cannot be written to is somebody else's to
/// look after.
pub(super) fn note(root: &Path, path: &Path) {
    let path = path.as_os_str().as_bytes();
    let notes = root.join(NOTES);
    let note = notes.join(format!("{:032x}", xxh3_128(path)));
    if fs::symlink_metadata(&note).is_err() {
        let _ = fs::create_dir_all(&notes).map_err(drop).and_then(|()| replace_file(&note, path).map_err(drop));
    }
}

/// A project that was made from the store.
#[derive(Debug)]
pub(super) struct NotedProject {
    pub path: PathBuf,
    /// What its tree is made of; empty where nothing is installed there any more.
    pub keys: FxHashSet<PackageKey>,
    note: PathBuf,
}

impl NotedProject {
    /// Forgets it.
    pub fn forget(&self) -> Result<(), NativeError> {
        fs::remove_file(&self.note).map_err(NativeError::io("remove", &self.note))
    }
}

/// All projects that were noted in the store in `root`, sorted by path.
pub(super) fn noted(root: &Path) -> Result<Vec<NotedProject>, NativeError> {
    let mut projects = Vec::new();
    for entry in listed(&root.join(NOTES))? {
        let note = entry.path();
        let bytes = fs::read(&note).map_err(NativeError::io("read", &note))?;
        let path = PathBuf::from(OsStr::from_bytes(&bytes));
        projects.push(NotedProject { keys: needed(&path), path, note });
    }
    projects.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(projects)
}

/// What the hidden lock of a project names.
fn needed(project: &Path) -> FxHashSet<PackageKey> {
    let Some((_, lock)) = hidden_lock::read(project) else { return FxHashSet::default() };
    let owner = project.to_string_lossy();
    lock.packages.iter().filter(|entry| !entry.link).filter_map(|entry| package_key(entry, &owner).ok()).collect()
}
