//! Where a tree is built before it is published, and where what it replaces waits to be removed.
//!
//! A workspace is one directory named `.gantry-…` with `new/` and `old/` in it. It is in the project where what is made in
//! it can be renamed to `node_modules`, else in `node_modules`, which is the case where that is a mount point. For each of
//! the user's folders whose `node_modules` is on another mount there is an inner one in that. Nobody but
//! the process with the project's lock has one, so any that is there when the lock is taken is a
//! [leftover](crate::leftovers).

use crate::NativeError;
use crate::hidden_lock::HIDDEN_LOCK_NAME;
use crate::leftovers::sweep_inner;
use crate::mounts::mounts_below;
use crate::moves::{Moves, PUBLISH, SET_ASIDE};
use crate::temporary::{PREFIX, TemporaryDirectory, temporary_stem, unique_name};
use crate::tops::top_of;
use gantry_engine::InstallMode;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The folder that packages are in.
pub(crate) const MODULES: &str = "node_modules";

/// A directory to build in.
#[derive(Debug)]
pub(crate) struct Workspace {
    directory: TemporaryDirectory,
    /// What is mounted in the project, relative to it.
    mounts: Vec<PathBuf>,
    /// By the user's folder whose `node_modules` they are in.
    inner: BTreeMap<String, Workspace>,
    /// A `node_modules` that was made for this.
    made: Option<PathBuf>,
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
        Ok(Self { directory, mounts: Vec::new(), inner: BTreeMap::new(), made: None })
    }

    /// With what is mounted in the project, and inner ones for those of `tops`, folders of the user's, that need one. `wanted`
    /// tells which of them get a `node_modules` if they have none.
    #[must_use]
    pub fn with_mounts<'t>(
        mut self,
        project: &Path,
        tops: impl IntoIterator<Item = &'t str>,
        wanted: &BTreeSet<&str>,
    ) -> Self {
        self.mounts = mounts_below(project);
        let own = if self.is_in(&project.join(MODULES)) { Path::new(MODULES) } else { Path::new("") };
        let own_mount = self.mount_of(own).map(Path::to_owned);
        for top in if self.mounts.is_empty() { Vec::new() } else { tops.into_iter().collect() } {
            let place = Path::new(top).join(MODULES);
            let modules = project.join(&place);
            let is_there = is_directory(&modules);
            let is_apart = self.mount_of(&place) != own_mount.as_deref();
            if !is_apart || !(is_there || wanted.contains(top)) || self.inner.contains_key(top) {
                continue;
            }
            sweep_inner(&modules);
            // Where nothing can be written nothing may have to be.
            if let Ok(inner) = Self::inside(&modules) {
                let made = (!is_there).then_some(modules);
                self.inner.insert(top.to_owned(), Self { made, ..inner });
            }
        }
        self
    }

    /// The one from which `path` of the project is changed.
    pub fn for_path(&self, path: &str) -> &Self {
        top_of(path).and_then(|top| self.inner.get(top)).unwrap_or(self)
    }

    /// Where to build what is to be at `path` of the project.
    pub fn building(&self, path: &str) -> PathBuf {
        self.for_path(path).new_tree().join(path)
    }

    /// Whether the `node_modules` at `place` of the project has to stay where it is, as it is a mount point or has one in it.
    pub fn has_to_stay(&self, place: &str) -> bool {
        let is_below = |mount: &PathBuf| mount.starts_with(place) && mount.as_path() != Path::new(place);
        self.for_path(&format!("{place}/")).path() != self.path() || self.mounts.iter().any(is_below)
    }

    /// Which mount `path` of the project is on; `None` for that of the project itself.
    fn mount_of(&self, path: &Path) -> Option<&Path> {
        let mounts = self.mounts.iter().map(PathBuf::as_path);
        mounts.filter(|mount| path.starts_with(mount)).max_by_key(|mount| mount.components().count())
    }

    /// What is mounted at `path` of the project or below.
    fn mount_in(&self, path: &str) -> Option<&Path> {
        self.mounts.iter().map(PathBuf::as_path).find(|mount| mount.starts_with(path))
    }

    /// Fails where something is mounted at `path` of the project or below, which could not make way without being emptied.
    pub fn check_free(&self, project: &Path, path: &str) -> Result<(), NativeError> {
        match self.mount_in(path) {
            Some(mount) => Err(NativeError::io(SET_ASIDE, &project.join(mount))(io::ErrorKind::ResourceBusy.into())),
            None => Ok(()),
        }
    }

    /// Puts what was built for the `node_modules` at `place` of the project in the place of what is in there, entry by entry.
    /// What is foreign stays in an install, and wherever something is mounted in it.
    pub fn replace_entries(
        &self,
        project: &Path,
        place: &str,
        mode: InstallMode,
        moves: &mut Moves,
    ) -> Result<(), NativeError> {
        let own = self.for_path(&format!("{place}/"));
        let (modules, built, old) = (project.join(place), own.new_tree().join(place), own.old());
        moves.rename(SET_ASIDE, &modules.join(HIDDEN_LOCK_NAME), &old.join("hidden-lock"))?;
        for (number, name) in entries(&modules)?.iter().enumerate() {
            let (from, name) = (modules.join(name), name.to_string_lossy());
            let path = format!("{place}/{name}");
            let stays = is_foreign(&name) && (mode == InstallMode::Install || self.mount_in(&path).is_some());
            if from != own.path() && !stays {
                self.check_free(project, &path)?;
                moves.rename(SET_ASIDE, &from, &old.join(number.to_string()))?;
            }
        }
        for name in entries(&built)?.iter().filter(|name| *name != HIDDEN_LOCK_NAME) {
            moves.rename(PUBLISH, &built.join(name), &modules.join(name))?;
        }
        moves.rename(PUBLISH, &built.join(HIDDEN_LOCK_NAME), &modules.join(HIDDEN_LOCK_NAME)).map(drop)
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
        let mut removed = self.directory.remove();
        for inner in self.inner.into_values() {
            removed = removed.and(inner.remove());
        }
        removed
    }

    /// Ends the work on a failure: `moves` are taken back, and what cannot be put back is not removed.
    pub fn give_up(self, moves: Moves) {
        if moves.take_back() {
            self.discard();
        } else {
            self.leave();
        }
    }

    fn discard(self) {
        drop(self.directory);
        self.inner.into_values().for_each(Self::discard);
        if let Some(modules) = self.made {
            // Not if somebody has put something there meanwhile.
            let _ = fs::remove_dir(modules);
        }
    }

    fn leave(self) {
        self.inner.into_values().for_each(Self::leave);
        self.directory.leave();
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
