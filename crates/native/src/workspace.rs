//! Where a tree is built before it is published, and where what it replaces waits to be removed.
//!
//! A workspace is one directory named `.gantry-…` with `new/` and `old/` in it. It is in the project where what is made in
//! it can be renamed to `node_modules`, else in `node_modules`, which is the case where that is a mount point. Nobody but
//! the process with the project's lock has one, so any that is there when the lock is taken is a
//! [leftover](crate::leftovers).

use crate::NativeError;
use crate::moves::{Moves, PUBLISH};
use crate::temporary::{PREFIX, TemporaryDirectory, temporary_stem, unique_name};
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A directory to build in.
#[derive(Debug)]
pub(crate) struct Workspace {
    directory: TemporaryDirectory,
}

impl Workspace {
    /// One from which things can be renamed into `node_modules`, and to `node_modules` itself if the system allows that.
    pub fn create(project: &Path, modules: &Path) -> Result<Self, NativeError> {
        let has_modules = is_directory(modules);
        match TemporaryDirectory::create(project, PREFIX) {
            Ok(beside) if !has_modules || reaches(beside.path(), modules) => Self::of(beside),
            Err(error) if !has_modules => Err(error),
            // Another mount, or a project folder that only lets its node_modules be written to.
            _ => Self::inside(modules),
        }
    }

    /// One in `modules` itself, from which things can be renamed to places in it.
    pub fn inside(modules: &Path) -> Result<Self, NativeError> {
        Self::of(TemporaryDirectory::create(modules, PREFIX)?)
    }

    fn of(directory: TemporaryDirectory) -> Result<Self, NativeError> {
        for part in ["new", "old"] {
            let path = directory.path().join(part);
            fs::create_dir(&path).map_err(NativeError::io("create", &path))?;
        }
        Ok(Self { directory })
    }

    /// The workspace itself.
    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Whether it had to be made in `modules`.
    pub fn is_in(&self, modules: &Path) -> bool {
        self.path().parent() == Some(modules)
    }

    /// Where to build, at the same paths as in the project.
    pub fn new_tree(&self) -> PathBuf {
        self.path().join("new")
    }

    /// Where to put what makes way.
    pub fn old(&self) -> PathBuf {
        self.path().join("old")
    }

    /// Ends the work. Fails where something that made way may not be removed; the next command tries again.
    pub fn remove(self) -> Result<(), NativeError> {
        self.directory.remove()
    }

    /// Ends the work on a failure: `moves` are taken back, and what cannot be put back is not removed.
    pub fn give_up(self, moves: Moves) {
        if !moves.take_back() {
            self.directory.leave();
        }
    }
}

/// Whether a rename leads from `from` into `directory`: it does not where that is mounted from elsewhere.
fn reaches(from: &Path, directory: &Path) -> bool {
    let trial = directory.join(unique_name(PREFIX));
    match fs::rename(from, &trial) {
        Ok(()) => fs::rename(&trial, from).is_ok(),
        Err(_) => false,
    }
}

/// Whether `path` is a directory, not a link to one.
pub(crate) fn is_directory(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_dir())
}

/// Whether an entry of `node_modules` is neither a package nor ours: `.cache` and the like. npm leaves such where they are.
pub(crate) fn is_foreign(name: &str) -> bool {
    name.starts_with('.') && temporary_stem(name).is_none() && !matches!(name, ".bin" | ".package-lock.json")
}

/// Moves the [foreign](is_foreign) entries of one `node_modules` to another that has none of that name.
pub(crate) fn carry_over(from: &Path, to: &Path, moves: &mut Moves) -> Result<(), NativeError> {
    for name in entries(from)?.iter().filter(|name| is_foreign(&name.to_string_lossy())) {
        let target = to.join(name);
        if fs::symlink_metadata(&target).is_err() {
            moves.rename(PUBLISH, &from.join(name), &target)?;
        }
    }
    Ok(())
}

/// Names of what is in a directory; none where there is no such directory.
pub(crate) fn entries(directory: &Path) -> Result<Vec<OsString>, NativeError> {
    let names = fs::read_dir(directory).and_then(|entries| entries.map(|entry| Ok(entry?.file_name())).collect());
    match names {
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(Vec::new()),
        other => other.map_err(NativeError::io("read", directory)),
    }
}
