//! Installed projects as virtual trees.

use crate::archive_stream::Source;
use crate::changes::Contents;
use crate::recorded::ProjectOptions;
use crate::store::BrowserStore;
use bytes::Bytes;
use gantry_engine::{EngineError, Fault, InstallMode, LinkReport, PackageStore, ProjectTree};
use gantry_layout::{FileLocation, FileSource, PackageKeys, Plan, TreeDigest, TreeEntry, TreeError, VirtualTree, plan};
use gantry_manifest::Lockfile;
use gantry_store::{Catalog, PackageIndex, PackageKey, ProjectRecord};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

/// A tree that can be read.
#[derive(Debug)]
pub(crate) struct OpenProject {
    /// Text of its lock file.
    pub lockfile: Bytes,
    pub tree: VirtualTree,
    pub packages: u32,
    pub files: u64,
    /// What is installed where, to tell what an install changes.
    pub contents: Contents,
}

/// Gives the index of a stored package.
pub(crate) type Indexes<'a> = &'a dyn Fn(&PackageKey) -> Option<Arc<PackageIndex>>;

impl OpenProject {
    fn new(lockfile: Bytes, plan: &Plan, index: Indexes<'_>) -> Result<Self, Fault> {
        let tree = VirtualTree::new(plan, index).map_err(|error| EngineError::from(error).to_fault())?;
        let files =
            plan.packages.iter().filter_map(|package| index(&package.key)).map(|index| index.files.len() as u64);
        Ok(Self {
            lockfile,
            tree,
            packages: u32::try_from(plan.packages.len()).unwrap_or(u32::MAX),
            files: files.sum(),
            contents: Contents::of_plan(plan),
        })
    }

    /// Opens a project that an earlier install recorded.
    pub fn reopen(name: &str, record: &ProjectRecord, index: Indexes<'_>) -> Result<Self, Fault> {
        let options = ProjectOptions::decode(name, record)?;
        let (lock, inert, omit) = options.selection(record)?;
        let plan = plan(&lock.to_text(), &inert, &omit, PackageKeys::without_scripts(name), index)
            .map_err(|error| EngineError::from(error).to_fault())?;
        Self::new(options.lockfile(&record.lock), &plan, index)
    }

    /// Opens one that a journal tells of.
    pub fn in_catalog(name: &str, catalog: &Catalog) -> Result<Self, Fault> {
        let record = catalog.project(name).ok_or_else(|| unknown_project(name))?;
        Self::reopen(name, record, &|key| catalog.package(key).and_then(|package| package.index().ok()))
    }

    /// Bytes of a file.
    pub async fn read_file(&self, store: &BrowserStore, path: &str) -> Result<Vec<u8>, Fault> {
        match self.tree.open(path).map_err(|error| tree_fault(&error, "open"))? {
            FileSource::Bytes(bytes) => Ok(bytes.to_vec()),
            FileSource::Stored(FileLocation { key, offset, size, .. }) => store.read(&key, offset, size).await,
        }
    }

    /// The digest of the whole tree; reads every file.
    pub async fn digest(&self, source: &Source) -> Result<String, Fault> {
        let mut digest = TreeDigest::new();
        for (path, entry) in self.tree.entries() {
            match entry {
                TreeEntry::Symlink(target) => digest.symlink(&path, &target),
                TreeEntry::File(FileSource::Bytes(bytes)) => digest.file(&path, false, &bytes),
                TreeEntry::File(FileSource::Stored(location)) => {
                    digest.file(&path, location.executable, &source.read(&location).await?);
                }
            }
        }
        Ok(digest.finish())
    }
}

/// Nothing of that name is installed.
pub(crate) fn unknown_project(name: &str) -> Fault {
    Fault::new("PROJECT_UNKNOWN", format!("no project called {name} is installed here")).with_hint("Install it first.")
}

/// Node's code, and Node's kind of message; `call` is what Node would say was called.
pub(crate) fn tree_fault(error: &TreeError, call: &str) -> Fault {
    let what = match error.code() {
        "ENOENT" => "no such file or directory",
        "ENOTDIR" => "not a directory",
        "EISDIR" => "illegal operation on a directory",
        "ELOOP" => "too many symbolic links encountered",
        _ => "invalid argument",
    };
    Fault::new(error.code(), format!("{}: {what}, {call} '{}'", error.code(), error.path))
}

/// Where an install puts its tree: it becomes visible when the install is complete and recorded.
#[derive(Debug)]
pub(crate) struct BrowserProject {
    store: Rc<BrowserStore>,
    /// What of the user's files the page has given, by path.
    files: BTreeMap<String, Bytes>,
    name: String,
    /// How the project was installed before.
    before: Option<ProjectRecord>,
    built: RefCell<Option<OpenProject>>,
}

impl BrowserProject {
    pub fn new(name: &str, store: Rc<BrowserStore>, files: BTreeMap<String, Bytes>) -> Self {
        Self { store, files, name: name.to_owned(), before: None, built: RefCell::default() }
    }

    /// With how the project was installed before.
    pub fn with_record(mut self, record: ProjectRecord) -> Self {
        self.before = Some(record);
        self
    }

    /// The tree that [`ProjectTree::link`] made.
    pub fn take_built(&self) -> Option<OpenProject> {
        self.built.take()
    }
}

impl ProjectTree for BrowserProject {
    fn owner(&self) -> &str {
        &self.name
    }

    async fn folders(&self, path: &str) -> Result<Vec<String>, Fault> {
        // The tree that is installed is not among the files, even if the page hands over what it has made of it.
        if path.split('/').any(|part| part == "node_modules") {
            return Ok(Vec::new());
        }
        let prefix = if path.is_empty() { String::new() } else { format!("{path}/") };
        let below = self.files.keys().filter_map(|file| file.strip_prefix(&prefix));
        let names: BTreeSet<&str> = below.filter_map(|rest| rest.split_once('/').map(|(name, _)| name)).collect();
        Ok(names.into_iter().map(str::to_owned).collect())
    }

    async fn files(&self, path: &str) -> Result<Vec<String>, Fault> {
        let prefix = if path.is_empty() { String::new() } else { format!("{path}/") };
        let inside = self.files.keys().filter_map(|file| file.strip_prefix(&prefix));
        Ok(inside.filter(|rest| !rest.contains('/')).map(str::to_owned).collect())
    }

    async fn read(&self, path: &str) -> Result<Option<Bytes>, Fault> {
        Ok(self.files.get(path).cloned())
    }

    async fn link(&self, plan: &Plan, _mode: InstallMode, _store: &impl PackageStore) -> Result<LinkReport, Fault> {
        let project = OpenProject::new(Bytes::new(), plan, &|key| self.store.index(key))?;
        let report = LinkReport {
            linked: project.packages,
            files: project.files,
            method: "virtual tree".to_owned(),
            ..LinkReport::default()
        };
        *self.built.borrow_mut() = Some(project);
        Ok(report)
    }

    async fn installed(&self, _workspaces: &[String]) -> Result<Option<Lockfile>, Fault> {
        let installed = |record: &ProjectRecord| ProjectOptions::decode(&self.name, record)?.installed(record);
        self.before.as_ref().map(installed).transpose()
    }

    async fn write_manifest(&self, _folder: &str, _bytes: &[u8]) -> Result<(), Fault> {
        Ok(())
    }

    async fn write_lock(&self, _bytes: &[u8]) -> Result<(), Fault> {
        // Lock, options and tree become visible together, by one record, when the install is complete.
        Ok(())
    }
}
