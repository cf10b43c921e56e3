//! Which projects were made from the store, and so what of it is in use.
//!
//! A file's link count tells that some project has it, where projects are made of hard links. Copies and clones leave no trace.
//! So the store notes the path of each project in `projects/<hash of the path>`, and what that needs stands in its hidden
//! lock. A project that is gone, or has nothing installed any more, needs nothing. Nor does what is there and names no project:
//! somebody has cut it, or has put something else in its place.

use super::{Layout, listed};
use crate::NativeError;
use crate::descriptor::write_file;
use crate::hidden_lock;
use crate::temporary::{remove_any, unique_name};
use gantry_layout::{PackageKeys, Scripts};
use gantry_store::PackageKey;
use rustc_hash::FxHashSet;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::xxh3_128;

const NOTES: &str = "projects";

/// Of a note: the digits of a hash.
const NAME_LENGTH: usize = 32;

/// Notes that the project in `path` is made from the store. A store that cannot be written to is somebody else's to look after.
///
/// What is not yet a note is among the [temporary things](Layout::temporary), where nobody takes it for one, and where it is
/// removed if this process dies.
pub(super) fn note(layout: &Layout, path: &Path) {
    let path = path.as_os_str().as_bytes();
    let notes = layout.root.join(NOTES);
    let note = notes.join(format!("{:0NAME_LENGTH$x}", xxh3_128(path)));
    if fs::symlink_metadata(&note).is_ok() {
        return;
    }
    let temporary = layout.temporary.join(unique_name("project-"));
    let written = fs::create_dir_all(&notes)
        .and_then(|()| write_file(&temporary, path))
        .and_then(|()| fs::rename(&temporary, &note));
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
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
        remove_any(&self.note)
    }
}

/// All projects that were noted in the store in `root`, sorted by path.
pub(super) fn noted(root: &Path) -> Result<Vec<NotedProject>, NativeError> {
    let mut projects = Vec::new();
    for entry in listed(&root.join(NOTES))? {
        let note = entry.path();
        let path = match fs::read(&note) {
            // What a process that died had not given its name yet, as it once was done.
            _ if !is_name(&entry.file_name()) => PathBuf::new(),
            Ok(bytes) => PathBuf::from(OsStr::from_bytes(&bytes)),
            // A folder, a link to nothing.
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::IsADirectory) => {
                PathBuf::new()
            }
            Err(error) => return Err(NativeError::io("read", &note)(error)),
        };
        let keys = if path.is_absolute() { needed(&path) } else { FxHashSet::default() };
        projects.push(NotedProject { keys, path, note });
    }
    projects.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(projects)
}

/// Whether a note may be called so.
fn is_name(name: &OsStr) -> bool {
    name.len() == NAME_LENGTH && name.as_bytes().iter().all(u8::is_ascii_hexdigit)
}

/// What the hidden lock of a project names. Which repositories were built it does not say: then both packages are needed.
fn needed(project: &Path) -> FxHashSet<PackageKey> {
    let Some((_, lock)) = hidden_lock::read(project) else { return FxHashSet::default() };
    let owner = project.to_string_lossy();
    let keys = [&Scripts::None, &Scripts::All].map(|scripts| PackageKeys::new(&owner, scripts));
    let entries = lock.packages.iter().filter(|entry| !entry.link);
    entries.flat_map(|entry| keys.map(|keys| keys.of(entry))).flatten().collect()
}
