//! Packages that get files of their own where others share the store's, since what is in them changes in the project: by patches,
//! or by their own scripts.

use crate::NativeError;
use crate::patched::Patched;
use crate::store::{Loan, SharedStore};
use crate::temporary::{Successor, replace_users_file};
use crate::workspace::entries;
use gantry_layout::{PackageKeys, Plan, is_carried};
use gantry_manifest::{LockEntry, Lockfile};
use gantry_store::PackageKey;
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::thread;
use std::time::{Duration, SystemTime};

/// How far the time of a file may be behind the clock that is asked: file systems have one that ticks.
const TICK: Duration = Duration::from_millis(10);

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

impl<'p> InPlace<'p> {
    /// Those of what is installed that are from the store.
    pub fn of_lock(lock: &'p Lockfile, keys: PackageKeys<'_>) -> Vec<Self> {
        let entries = lock.packages.iter().filter(|entry| !entry.link && !entry.is_top() && !is_carried(entry));
        let in_place =
            |entry: &'p LockEntry| Some(Self { path: &entry.path, key: keys.of(entry).ok()?, label: entry.label() });
        entries.filter_map(in_place).collect()
    }
}

/// Scripts that run in a project, some of whose files others share.
pub(crate) struct Watch<'s, S> {
    store: &'s S,
    since: SystemTime,
    loan: Option<Loan>,
}

impl<'s, S: SharedStore> Watch<'s, S> {
    /// Before they run: `packages` may be changed by them. What was unpacked and linked just now (`has_new`) is no change, for which
    /// this waits until that is told apart.
    pub fn begin(store: &'s S, packages: &[InPlace<'_>], has_new: bool) -> Self {
        if has_new {
            thread::sleep(2 * TICK);
        }
        let since = SystemTime::now() - TICK;
        Self { store, since, loan: store.lend(packages.iter().map(|package| &package.key), since) }
    }

    /// When none has run.
    pub fn call_off(self) {
        if let Some(loan) = self.loan {
            loan.end();
        }
    }

    /// Gives packages of which somebody has changed files that others share, what is in them or who may run them, files of
    /// their own as they are now. They leave the store, which would hand that on. Gives their labels, sorted.
    pub fn end(self, project: &Path, packages: Vec<InPlace<'_>>) -> Result<Vec<String>, NativeError> {
        let mut changed = Vec::new();
        for package in packages {
            if self.store.has_changed(&package.key, self.since)? {
                changed.push(package);
            }
        }
        // First, so that others do not get what was changed where the disk has no room for copies. What only the store has had,
        // too, is the project's own by that.
        changed.iter().try_for_each(|package| self.store.take_out(&package.key))?;
        let mut labels = BTreeSet::new();
        for InPlace { path, label, .. } in &changed {
            separate(project, &project.join(path))?;
            labels.insert(label.clone());
        }
        self.call_off();
        Ok(labels.into_iter().collect())
    }
}
