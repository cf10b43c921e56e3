//! Packages that get files of their own where others share the store's, since what is in them changes in the project: by patches,
//! or by their own scripts.

use crate::patched::Patched;
use crate::temporary::{Successor, replace_users_file};
use crate::workspace::entries;
use crate::{NativeError, PackageDirectories};
use gantry_layout::Plan;
use gantry_store::PackageKey;
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::thread;
use std::time::{Duration, SystemTime};

/// How far the time of a file may be behind the clock that is asked: file systems have one that ticks.
const TICK: Duration = Duration::from_millis(10);

/// The time from which on [changes](separate_changed) count. What was unpacked and linked just now does not, for which it waits
/// until that is told apart.
pub(crate) fn beginning(has_new: bool) -> SystemTime {
    if has_new {
        thread::sleep(2 * TICK);
    }
    SystemTime::now() - TICK
}

/// Why a package gets files of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Private {
    /// Somebody else has stored it.
    Foreign,
    /// The project changes it in place.
    Patched,
    /// Its scripts are run.
    Scripted,
}

/// Which packages of a project do.
#[derive(Debug, Default)]
pub(crate) struct OwnFiles {
    patched: Patched,
    /// Paths of those that may run scripts.
    scripted: BTreeSet<String>,
}

impl OwnFiles {
    /// Those of a plan.
    pub fn of(project: &Path, plan: &Plan) -> Self {
        let scripted = plan.scripted.iter().filter(|scripted| !scripted.is_link);
        Self { patched: Patched::of(project, plan), scripted: scripted.map(|scripted| scripted.path.clone()).collect() }
    }

    /// Why the package at `path` of the project does; `None` where it may share.
    pub fn why(&self, path: &str) -> Option<Private> {
        let patched = self.patched.has(path).then_some(Private::Patched);
        patched.or_else(|| self.scripted.contains(path).then_some(Private::Scripted))
    }
}

/// Gives what is in `folder` of a project files of its own in the places of those that others share, with what is in them now:
/// they may be changed already. They are written in the project's folder, where what a killed process leaves is found. Tells
/// whether there were any.
pub(crate) fn separate(project: &Path, folder: &Path) -> Result<bool, NativeError> {
    let mut any = false;
    for name in entries(folder)? {
        let path = folder.join(name);
        let Ok(data) = path.symlink_metadata() else { continue };
        if data.is_dir() {
            any |= separate(project, &path)?;
        } else if data.is_file() && data.nlink() > 1 {
            let bytes = fs::read(&path).map_err(NativeError::io("read", &path))?;
            let written = Successor::of_users_file(&path, &bytes, project)?.map(Successor::publish);
            if !matches!(written, Some(Ok(()))) {
                // It is on another disk.
                replace_users_file(&path, &bytes)?;
            }
            any = true;
        }
    }
    Ok(any)
}

/// A package in its place in a project.
pub(crate) struct InPlace<'p> {
    /// Its folder, relative to the project.
    pub path: &'p str,
    pub key: PackageKey,
    /// `name@version`
    pub label: String,
}

/// Gives packages of which somebody has changed files that others share since then, what is in them or who may run them, files of
/// their own as they are now. They leave the store, which would hand that on. Gives their labels, sorted.
pub(crate) fn separate_changed<'p>(
    project: &Path,
    store: &PackageDirectories,
    packages: impl Iterator<Item = InPlace<'p>>,
    since: SystemTime,
) -> Result<Vec<String>, NativeError> {
    let mut changed = Vec::new();
    for package in packages {
        if store.has_changed(&package.key, since)? {
            changed.push(package);
        }
    }
    let mut labels = BTreeSet::new();
    for InPlace { path, key, label } in changed {
        // First, so that others do not get what was changed where the disk has no room for copies. What only the store has had,
        // too, is the project's own by that.
        store.remove(&key)?;
        separate(project, &project.join(path))?;
        labels.insert(label);
    }
    Ok(labels.into_iter().collect())
}
