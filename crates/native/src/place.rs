//! Putting many packages in place at once.
//!
//! Packages are placed level by level, since what is nested needs its parent's folder; within a level every core takes
//! the next package as it gets free. The work is system calls: two cores halve the wall time on tmpfs, and on ext4, where
//! one directory is locked by one thread at a time, different packages still do not wait for each other.

use crate::error::MAKE_LINK;
use crate::link::{LinkMethod, Linker};
use crate::own_files::Private;
use crate::store::{Standing, mend_if_altered};
use crate::temporary::{make_parent, replace_file};
use crate::threads::together;
use crate::{Interrupt, NativeError, PackageDirectories};
use gantry_engine::{LinkReport, PackageStore};
use gantry_layout::{Plan, PlannedPackage};
use gantry_store::{PackageIndex, PackageKey};
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// Fewer packages than this are not worth another thread.
const PACKAGES_FOR_A_THREAD: usize = 8;

/// One package and where it goes.
struct Job<'p> {
    key: &'p PackageKey,
    /// The package's in the store, and its files there.
    directory: PathBuf,
    source: PathBuf,
    /// Whose it is, if it was there before.
    standing: Option<Standing>,
    /// Why its files change in the project, if they do.
    changes: Option<Private>,
    index: Arc<PackageIndex>,
    target: PathBuf,
    replaced: Vec<String>,
}

impl Job<'_> {
    /// Whether somebody else has stored the package.
    fn is_foreign(&self, linker: &Linker) -> bool {
        self.standing.is_some_and(|standing| standing.user != linker.user)
    }

    /// Why it is not to share the store's files.
    fn private(&self, linker: &Linker) -> Option<Private> {
        let foreign = self.is_foreign(linker).then_some(Private::Foreign);
        foreign.or(self.changes)
    }
}

/// Places `packages` of `plan`, each at the `target` for its path, and makes the plan's executables executable.
pub(crate) fn place_all<'p>(
    store: &PackageDirectories,
    plan: &Plan,
    packages: impl Iterator<Item = &'p PlannedPackage>,
    linker: &Linker,
    target: impl Fn(&str) -> PathBuf,
    interrupt: &Interrupt,
) -> Result<LinkReport, NativeError> {
    let mut report = LinkReport { method: linker.method.describe().to_owned(), ..LinkReport::default() };
    let mut levels: Vec<Vec<Job<'p>>> = Vec::new();
    for package in packages {
        let source = store.files(&package.key);
        let Some(index) = store.index(&package.key) else {
            return Err(NativeError::Corrupt { path: store.directory(&package.key) });
        };
        report.linked += 1;
        report.placed.push(package.path.clone());
        report.files += index.files.len() as u64;
        let depth = package.path.matches("/node_modules/").count();
        if levels.len() <= depth {
            levels.resize_with(depth + 1, Vec::new);
        }
        let replaced = plan.replaced_in(package, &index);
        let (directory, standing) = (store.directory(&package.key), store.standing(&package.key));
        levels[depth].push(Job {
            key: &package.key,
            directory,
            source,
            standing,
            changes: linker.own_files.why(&package.path),
            index,
            target: target(&package.path),
            replaced,
        });
    }
    for level in &mut levels {
        // The largest first: one that came last would be waited for by all cores but one.
        level.sort_by_key(|job| Reverse(job.index.files.len()));
    }
    for level in &levels {
        let parents: BTreeSet<&Path> = level.iter().filter_map(|job| job.target.parent()).collect();
        for parent in parents {
            fs::create_dir_all(parent).map_err(NativeError::io("create", parent))?;
        }
        place_level(level, linker, store.temporary(), interrupt)
            .map_err(|error| evicting_damaged(store, &levels, linker, error))?;
    }
    // The store's file is shared: an executable bit that only this lock asks for goes to a copy of its own.
    for path in &plan.executables {
        let target = target(path);
        if let Ok(bytes) = fs::read(&target) {
            replace_file(&target, &bytes)?;
            fs::set_permissions(&target, fs::Permissions::from_mode(0o755))
                .map_err(NativeError::io("make executable", &target))?;
        }
    }
    report.reason = linker.reason();
    Ok(report)
}

/// Where a package lacks a file, or is another than was stored, all that are so leave the store, so that running again repairs
/// them together. The error names the first one's directory.
fn evicting_damaged(
    store: &PackageDirectories,
    levels: &[Vec<Job<'_>>],
    linker: &Linker,
    error: NativeError,
) -> NativeError {
    let NativeError::Corrupt { path: source } = error else { return error };
    let jobs = || levels.iter().flatten();
    let evicted = jobs().try_for_each(|job| match mend(job, linker, store.temporary()) {
        Ok(()) | Err(NativeError::Corrupt { .. }) => store.evict_if_damaged(job.key),
        failed => failed,
    });
    let named = jobs().find(|job| source.starts_with(&job.source)).map(|job| store.directory(job.key));
    evicted.err().unwrap_or(NativeError::Corrupt { path: named.unwrap_or(source) })
}

/// Places one package.
fn place(job: &Job<'_>, linker: &Linker, temporary: &Path) -> Result<(), NativeError> {
    mend(job, linker, temporary)?;
    linker.place(&job.source, &job.index, &job.target, &job.replaced, job.private(linker))
}

/// Has a package that projects share as it was stored.
fn mend(job: &Job<'_>, linker: &Linker, temporary: &Path) -> Result<(), NativeError> {
    match job.standing.filter(|_| linker.method == LinkMethod::HardLink && !job.is_foreign(linker)) {
        Some(standing) => mend_if_altered(&job.directory, &job.index, standing, temporary),
        None => Ok(()),
    }
}

fn place_level(jobs: &[Job<'_>], linker: &Linker, temporary: &Path, interrupt: &Interrupt) -> Result<(), NativeError> {
    let next = AtomicUsize::new(0);
    let failure: Mutex<Option<NativeError>> = Mutex::new(None);
    together(jobs.len() / PACKAGES_FOR_A_THREAD, || {
        while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
            let placed = interrupt.check().and_then(|()| place(job, linker, temporary));
            if let Err(error) = placed {
                // The first failure is told; it also ends the others' work.
                next.store(jobs.len(), Ordering::Relaxed);
                failure.lock().expect("no thread panics while it holds this lock").get_or_insert(error);
            }
        }
    });
    failure.into_inner().expect("no thread panics while it holds this lock").map_or(Ok(()), Err)
}

/// Makes a symbolic link and the folder it is in.
pub(crate) fn make_link(path: &Path, target: &str) -> Result<(), NativeError> {
    make_parent(path)?;
    std::os::unix::fs::symlink(target, path).map_err(NativeError::io(MAKE_LINK, path))
}
