//! A project's folder: its manifest, its lock, and `node_modules`.
//!
//! A first install builds the whole of `node_modules` beside its place and publishes it by one rename. Later ones change
//! what differs from the hidden lock that the last one left:
//!
//! 1. take the lock on the folder;
//! 2. set the hidden lock aside: a run that dies from here on leaves none, and a tree without one is made anew;
//! 3. move out what is not wanted any more;
//! 4. link what is new beside its place and rename it there, parents first;
//! 5. bring bin links in order;
//! 6. write the hidden lock.

use crate::link::{LinkMethod, Linker};
use crate::place::{make_link, place_all};
use crate::temporary::{TemporaryDirectory, make_parent, remove_any, replace_file, unique_name};
use crate::{NativeError, PackageDirectories};
use gantry_engine::{Fault, LinkReport, PackageStore, ProjectTree};
use gantry_layout::{Plan, PlannedPackage};
use gantry_manifest::Lockfile;
use rustix::fs::{FlockOperation, Mode, OFlags};
use rustix::io::Errno;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::rc::Rc;

const HIDDEN_LOCK: &str = "node_modules/.package-lock.json";
const LOCK: &str = "package-lock.json";
const SHRINKWRAP: &str = "npm-shrinkwrap.json";

/// What an install starts from.
#[derive(Debug, Default)]
pub struct ProjectFiles {
    /// Text of `package.json`; `None` if there is none.
    pub package_json: Option<Vec<u8>>,
    /// Text of the lock; `None` if there is none.
    pub lockfile: Option<Vec<u8>>,
    /// The lock's file name: `npm-shrinkwrap.json` where that is there, as npm prefers it.
    pub lockfile_name: &'static str,
}

/// One project folder.
#[derive(Debug)]
pub struct ProjectDirectory {
    path: PathBuf,
    store: Rc<PackageDirectories>,
    best_method: LinkMethod,
}

impl ProjectDirectory {
    /// The project in `path`, whose packages come from `store`.
    pub fn new(path: PathBuf, store: Rc<PackageDirectories>) -> Self {
        Self { path, store, best_method: LinkMethod::BEST }
    }

    /// Links by `method` at best: the ladder is not tried above it.
    pub fn with_best_method(mut self, method: LinkMethod) -> Self {
        self.best_method = method;
        self
    }

    /// Reads what an install starts from.
    pub fn read(path: &Path) -> Result<ProjectFiles, NativeError> {
        let package_json = read_optional(&path.join("package.json"))?;
        let shrinkwrap = read_optional(&path.join(SHRINKWRAP))?;
        let (lockfile, lockfile_name) = match shrinkwrap {
            Some(bytes) => (Some(bytes), SHRINKWRAP),
            None => (read_optional(&path.join(LOCK))?, LOCK),
        };
        Ok(ProjectFiles { package_json, lockfile, lockfile_name })
    }

    fn lock_folder(&self) -> Result<OwnedFd, NativeError> {
        let folder = rustix::fs::open(&self.path, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
            .map_err(|errno| NativeError::io("open", &self.path)(errno.into()))?;
        match rustix::fs::flock(&folder, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(folder),
            Err(Errno::WOULDBLOCK) => Err(NativeError::Busy { path: self.path.clone() }),
            Err(errno) => Err(NativeError::io("lock", &self.path)(errno.into())),
        }
    }

    fn apply(&self, plan: &Plan) -> Result<LinkReport, NativeError> {
        let _guard = self.lock_folder()?;
        fs::create_dir_all(self.store.temporary()).map_err(NativeError::io("create", self.store.temporary()))?;
        self.store.sweep();
        let modules = self.path.join("node_modules");
        if plan.packages.is_empty() && plan.links.is_empty() && fs::symlink_metadata(&modules).is_err() {
            return Ok(LinkReport { method: "nothing to link".to_owned(), ..LinkReport::default() });
        }
        let previous = self.previous_packages()?;
        let linker = Linker::probe(self.best_method, self.store.temporary(), &self.path)?;
        let mut report = LinkReport {
            method: linker.method.describe().to_owned(),
            reason: linker.reason.clone(),
            ..LinkReport::default()
        };
        match previous {
            None => self.build_anew(plan, &linker, &modules, &mut report)?,
            Some(previous) => self.change(plan, &previous, &linker, &mut report)?,
        }
        Ok(report)
    }

    /// Path and digest of each package of the last install; `None` where there is no tree that can be relied on.
    fn previous_packages(&self) -> Result<Option<BTreeMap<String, Option<String>>>, NativeError> {
        let Some(bytes) = read_optional(&self.path.join(HIDDEN_LOCK))? else { return Ok(None) };
        let Ok(lock) = Lockfile::parse(&bytes, HIDDEN_LOCK) else { return Ok(None) };
        let entries =
            lock.packages.into_iter().filter(|entry| !entry.link && !entry.in_bundle && !entry.path.is_empty());
        Ok(Some(entries.map(|entry| (entry.path, entry.integrity)).collect()))
    }

    /// First install, or one over a tree that nobody accounts for.
    fn build_anew(
        &self,
        plan: &Plan,
        linker: &Linker,
        modules: &Path,
        report: &mut LinkReport,
    ) -> Result<(), NativeError> {
        let building = TemporaryDirectory::create(&self.path, ".gantry-new-")?;
        place_all(&self.store, plan, plan.packages.iter(), linker, building.path(), report)?;
        for link in &plan.links {
            make_link(&building.path().join(&link.path), &link.target)?;
        }
        let hidden = building.path().join(HIDDEN_LOCK);
        make_parent(&hidden)?;
        fs::write(&hidden, &plan.hidden_lock).map_err(NativeError::io("write", &hidden))?;
        let aside = self.path.join(unique_name(".gantry-old-"));
        let had_tree = match fs::rename(modules, &aside) {
            Ok(()) => true,
            Err(error) if error.kind() == io::ErrorKind::NotFound => false,
            Err(error) => return Err(NativeError::io("set aside", modules)(error)),
        };
        fs::rename(building.path().join("node_modules"), modules).map_err(NativeError::io("publish", modules))?;
        if had_tree {
            remove_any(&aside)?;
        }
        Ok(())
    }

    /// Steps 2 to 6 of the module's protocol.
    fn change(
        &self,
        plan: &Plan,
        previous: &BTreeMap<String, Option<String>>,
        linker: &Linker,
        report: &mut LinkReport,
    ) -> Result<(), NativeError> {
        let mut kept: BTreeSet<&str> = BTreeSet::new();
        let mut new: Vec<&PlannedPackage> = Vec::new();
        for package in &plan.packages {
            // Packages come sorted by path, so a parent is decided before what is nested in it.
            let same = previous
                .get(&package.path)
                .is_some_and(|integrity| integrity.is_some() && *integrity == package.integrity);
            let parent_stays = enclosing(&package.path).is_none_or(|parent| kept.contains(parent));
            if same && parent_stays && self.path.join(&package.path).join("package.json").symlink_metadata().is_ok() {
                kept.insert(&package.path);
                report.kept += 1;
                report.files += self.store.index(&package.key).map_or(0, |index| index.files.len() as u64);
            } else {
                new.push(package);
            }
        }
        let gone: Vec<&String> = previous.keys().filter(|path| !kept.contains(path.as_str())).collect();

        let hidden = self.path.join(HIDDEN_LOCK);
        let trash = TemporaryDirectory::create(&self.path, ".gantry-old-")?;
        let aside = |path: &Path, number: usize| match fs::rename(path, trash.path().join(number.to_string())) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(NativeError::io("set aside", path)(error)),
            _ => Ok(()),
        };
        aside(&hidden, 0)?;
        let places = gone.iter().map(|path| path.as_str()).chain(new.iter().map(|package| package.path.as_str()));
        for (number, path) in places.enumerate() {
            aside(&self.path.join(path), number + 1)?;
        }
        let building = TemporaryDirectory::create(&self.path, ".gantry-new-")?;
        place_all(&self.store, plan, new.iter().copied(), linker, building.path(), report)?;
        for package in &new {
            let built = building.path().join(&package.path);
            // What is nested in another new package came along with it.
            if built.symlink_metadata().is_ok() {
                let target = self.path.join(&package.path);
                make_parent(&target)?;
                fs::rename(&built, &target).map_err(NativeError::io("publish", &target))?;
            }
        }
        self.order_links(plan)?;
        replace_file(&hidden, &plan.hidden_lock)
    }

    /// Makes the planned links, and removes bin links that nothing planned.
    fn order_links(&self, plan: &Plan) -> Result<(), NativeError> {
        let planned: BTreeMap<&str, &str> =
            plan.links.iter().map(|link| (link.path.as_str(), link.target.as_str())).collect();
        let mut folders: BTreeSet<String> = BTreeSet::from(["node_modules/.bin".to_owned()]);
        folders.extend(plan.packages.iter().map(|package| format!("{}/node_modules/.bin", package.path)));
        for folder in folders {
            let Ok(entries) = fs::read_dir(self.path.join(&folder)) else { continue };
            for entry in entries.flatten() {
                let path = format!("{folder}/{}", entry.file_name().to_string_lossy());
                let is_link = entry.file_type().is_ok_and(|kind| kind.is_symlink());
                if is_link && !planned.contains_key(path.as_str()) {
                    fs::remove_file(entry.path()).map_err(NativeError::io("remove", &entry.path()))?;
                }
            }
            // Fails where links remain, which is what is wanted.
            let _ = fs::remove_dir(self.path.join(&folder));
        }
        for (path, target) in planned {
            let path = self.path.join(path);
            if fs::read_link(&path).is_ok_and(|now| now == Path::new(target)) {
                continue;
            }
            if path.symlink_metadata().is_ok() {
                remove_any(&path)?;
            }
            make_link(&path, target)?;
        }
        Ok(())
    }
}

impl ProjectTree for ProjectDirectory {
    async fn link(&self, plan: &Plan, _store: &impl PackageStore) -> Result<LinkReport, Fault> {
        Ok(self.apply(plan)?)
    }

    async fn write_lock(&self, bytes: &[u8]) -> Result<(), Fault> {
        let shrinkwrap = self.path.join(SHRINKWRAP);
        let path = if shrinkwrap.symlink_metadata().is_ok() { shrinkwrap } else { self.path.join(LOCK) };
        Ok(replace_file(&path, bytes)?)
    }
}

/// The package that `path` is nested in: `node_modules/a` for `node_modules/a/node_modules/b`.
fn enclosing(path: &str) -> Option<&str> {
    path.rfind("/node_modules/").map(|position| &path[..position])
}

fn read_optional(path: &Path) -> Result<Option<Vec<u8>>, NativeError> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(NativeError::io("read", path)(error)),
    }
}
