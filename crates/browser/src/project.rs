//! Installed projects as virtual trees.

use crate::archive_stream::Source;
use crate::changes::Contents;
use crate::store::BrowserStore;
use bytes::Bytes;
use gantry_engine::{EngineError, Fault, InstallMode, LinkReport, Outcome, PackageStore, ProjectTree};
use gantry_layout::{
    FileLocation, FileSource, Omit, Plan, TreeDigest, TreeEntry, TreeError, VirtualTree, installed, plan,
};
use gantry_manifest::Lockfile;
use gantry_resolver::{ResolveOptions, Target, check_machine};
use gantry_store::{Catalog, PackageIndex, PackageKey, ProjectRecord};
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

/// How a project was installed: with its lock, all that its tree is made from again after a reload.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ProjectOptions {
    pub os: String,
    pub cpu: String,
    pub libc: Option<String>,
    #[serde(default)]
    pub omit: Vec<String>,
    /// Optional packages that could not be had.
    #[serde(default)]
    pub left_out: Vec<String>,
    /// The project's lock file, where it is not the lock that the tree was made from: `ci` keeps it as it was given, and
    /// installs of it only what is asked for; settings of npm have it stay as it is; version 1 of the format says too little to make a tree from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub given_lock: Option<String>,
    /// Whether the lock that the tree is made from is that of a part of the project: then the tree has all that it names, what
    /// an earlier install for another machine has left included.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_part: bool,
    /// What has become of the lock file.
    #[serde(default, skip_serializing_if = "LockFile::is_default")]
    pub lock_file: LockFile,
    /// Whether packages for other machines are there all the same: npm's `force`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub force: bool,
    /// Whether peers count for nothing: npm's `legacy-peer-deps`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub legacy_peer_deps: bool,
    /// npm's `node-version`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_version: Option<String>,
}

/// What has become of a project's lock file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum LockFile {
    /// It was written, or `ci` has read it.
    #[default]
    Current,
    /// It is as it was given, whatever was installed: npm's `save=false` and `package-lock=false`.
    Kept,
    /// There is none: by the same settings.
    Missing,
}

impl LockFile {
    fn is_default(&self) -> bool {
        *self == Self::Current
    }
}

impl ProjectOptions {
    /// The machine that it is for.
    pub fn target(&self) -> Target {
        let mut target =
            Target { os: self.os.clone(), cpu: self.cpu.clone(), libc: self.libc.clone(), ..Target::default() };
        if let Some(version) = &self.node_version {
            target.node_version.clone_from(version);
        }
        target
    }

    /// Target and rules by which packages are chosen from the lock.
    fn rules(&self) -> Result<ResolveOptions, Fault> {
        let omit = self.omit()?;
        let mut rules = ResolveOptions::default();
        rules.target = self.target();
        rules.omit_dev = omit.dev;
        rules.omit_optional = omit.optional;
        rules.omit_peer = omit.peer;
        rules.force = self.force;
        rules.legacy_peer_deps = self.legacy_peer_deps;
        Ok(rules)
    }

    pub fn omit(&self) -> Result<Omit, Fault> {
        Omit::from_names(self.omit.iter().map(String::as_str))
            .map_err(|other| Fault::new("INVALID_OPTION", format!("omit: {other} is none of dev, optional, peer")))
    }

    pub fn encode(&self) -> Bytes {
        Bytes::from(serde_json::to_vec(self).expect("strings are always JSON"))
    }

    /// The options in the record of the project `name`.
    pub fn decode(name: &str, record: &ProjectRecord) -> Result<Self, Fault> {
        serde_json::from_slice(&record.options).map_err(|error| {
            Fault::new("STORE_CORRUPT", format!("the record of project {name}: {error}"))
                .with_hint("Install under another name, or clear the store.")
        })
    }

    /// These options after an install.
    pub fn concluded(mut self, outcome: &Outcome) -> Self {
        self.left_out.clone_from(&outcome.left_out);
        self.is_part = outcome.is_part;
        if self.is_part {
            self.omit.clear();
        }
        self
    }

    /// What of the recorded lock is installed: the lock, paths of what is not, and the kinds that are left out.
    pub fn selection(&self, record: &ProjectRecord) -> Result<(Lockfile, BTreeSet<String>, Omit), Fault> {
        let fault = |error: EngineError| error.to_fault();
        let lock = Lockfile::parse(&record.lock, "package-lock.json").map_err(|error| fault(error.into()))?;
        let mut inert = BTreeSet::from_iter(self.left_out.iter().cloned());
        if !self.is_part {
            inert.extend(check_machine(&lock, &self.rules()?).map_err(|error| fault(error.into()))?.inert);
        }
        Ok((lock, inert, self.omit()?))
    }

    /// All that is installed.
    fn installed(&self, record: &ProjectRecord) -> Result<Lockfile, Fault> {
        let (mut lock, inert, omit) = self.selection(record)?;
        let installed = installed(&lock, &inert, &omit).map_err(|error| EngineError::from(error).to_fault())?;
        lock.packages.retain(|entry| !entry.path.is_empty() && installed.contains(&entry.path));
        Ok(lock)
    }

    /// Text of the project's lock file; `lock` is the one that its tree was made from.
    pub fn lockfile(&self, lock: &Bytes) -> Bytes {
        self.given_lock.as_ref().map_or_else(|| lock.clone(), |given| Bytes::from(given.clone()))
    }
}

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
        let plan =
            plan(&lock.to_text(), &inert, &omit, name, index).map_err(|error| EngineError::from(error).to_fault())?;
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

    async fn read(&self, path: &str) -> Result<Option<Bytes>, Fault> {
        Ok(self.files.get(path).cloned())
    }

    async fn link(&self, plan: &Plan, _mode: InstallMode, _store: &impl PackageStore) -> Result<LinkReport, Fault> {
        let project = OpenProject::new(Bytes::new(), plan, &|key| self.store.index(key))?;
        let report = LinkReport {
            linked: project.packages,
            placed: Vec::new(),
            kept: 0,
            files: project.files,
            method: "virtual tree".to_owned(),
            reason: None,
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
