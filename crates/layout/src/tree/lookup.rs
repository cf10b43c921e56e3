//! What is where in a planned tree, links not followed.
//!
//! Packages, links and made-up files are *mounts*: they hide what packages around them have at their paths. Everything else
//! is a file or folder of the innermost package around it, or a folder that leads to a mount.

use super::{FileKind, FileLocation, FileSource};
use crate::{LayoutError, Plan, PlannedPackage, paths};
use gantry_store::{PackageIndex, PackageKey};
use rustc_hash::{FxHashMap, FxHashSet};
use std::{collections::BTreeMap, sync::Arc};

/// Where npm keeps its record of what is installed.
const HIDDEN_LOCK: &str = "node_modules/.package-lock.json";

/// Something with a path of its own.
#[derive(Debug, Clone)]
enum Mount {
    Package(PackageKey, Arc<PackageIndex>),
    Link(String),
    Bytes(Arc<[u8]>),
}

impl Mount {
    fn kind(&self) -> FileKind {
        match self {
            Self::Package(..) => FileKind::Directory,
            Self::Link(_) => FileKind::Symlink,
            Self::Bytes(_) => FileKind::File,
        }
    }
}

/// What is at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Node {
    File(FileSource),
    Directory,
    Symlink(String),
}

/// The mounts of a plan.
#[derive(Debug)]
pub(super) struct Lookup {
    mounts: FxHashMap<String, Mount>,
    /// Paths of all mounts, sorted.
    sorted: Vec<String>,
    /// Files that are executable although their package does not say so.
    executables: FxHashSet<String>,
}

impl Lookup {
    pub fn new(plan: &Plan, index: &dyn Fn(&PackageKey) -> Option<Arc<PackageIndex>>) -> Result<Self, LayoutError> {
        let mut mounts = FxHashMap::default();
        for PlannedPackage { path, key, name, version, .. } in &plan.packages {
            let missing = || LayoutError::Missing { package: format!("{name}@{version}"), path: path.clone() };
            mounts.insert(path.clone(), Mount::Package(key.clone(), index(key).ok_or_else(missing)?));
        }
        for link in &plan.links {
            mounts.insert(link.path.clone(), Mount::Link(link.target.clone()));
        }
        mounts.insert(HIDDEN_LOCK.to_owned(), Mount::Bytes(plan.hidden_lock.as_slice().into()));
        let mut sorted: Vec<String> = mounts.keys().cloned().collect();
        sorted.sort_unstable();
        Ok(Self { mounts, sorted, executables: plan.executables.iter().cloned().collect() })
    }

    /// The target of the link at `path`.
    pub fn link(&self, path: &str) -> Option<&str> {
        match self.mounts.get(path) {
            Some(Mount::Link(target)) => Some(target),
            _ => None,
        }
    }

    /// What is at `path`, a path without links above its last component.
    pub fn node(&self, path: &str) -> Option<Node> {
        match self.mounts.get(path) {
            Some(Mount::Package(..)) => return Some(Node::Directory),
            Some(Mount::Link(target)) => return Some(Node::Symlink(target.clone())),
            Some(Mount::Bytes(bytes)) => return Some(Node::File(FileSource::Bytes(bytes.clone()))),
            None => {}
        }
        if let Some((key, index, rest)) = self.package_around(path) {
            if let Some(file) = index.file(rest) {
                return Some(Node::File(FileSource::Stored(FileLocation {
                    key: key.clone(),
                    offset: file.offset,
                    size: file.size,
                    executable: file.executable || self.executables.contains(path),
                })));
            }
            if index.is_directory(rest) {
                return Some(Node::Directory);
            }
        }
        (path.is_empty() || !self.mounts_below(path).is_empty()).then_some(Node::Directory)
    }

    /// Names in the folder `path`, each with what it is.
    pub fn names(&self, path: &str) -> BTreeMap<String, FileKind> {
        let mut names = BTreeMap::new();
        let around = match self.mounts.get(path) {
            Some(Mount::Package(_, index)) => Some((index, "")),
            _ => self.package_around(path).map(|(_, index, rest)| (index, rest)),
        };
        if let Some((index, folder)) = around {
            names_in_package(index, folder, &mut names);
        }
        for mount in self.mounts_below(path) {
            let below = if path.is_empty() { mount } else { &mount[path.len() + 1..] };
            match below.split_once('/') {
                Some((name, _)) => {
                    names.entry(name.to_owned()).or_insert(FileKind::Directory);
                }
                None => {
                    names.insert(below.to_owned(), self.mounts[mount].kind());
                }
            }
        }
        names
    }

    /// Every file and link, sorted by path.
    pub fn entries(&self) -> Vec<(String, Node)> {
        let mut entries = Vec::new();
        for path in &self.sorted {
            match &self.mounts[path] {
                Mount::Package(_, index) => {
                    let files = index.files.iter().map(|file| format!("{path}/{}", file.path));
                    entries.extend(files.filter(|file| !self.is_hidden(file, path)));
                }
                Mount::Link(_) | Mount::Bytes(_) => entries.push(path.clone()),
            }
        }
        entries.sort_unstable();
        entries.into_iter().filter_map(|path| self.node(&path).map(|node| (path, node))).collect()
    }

    /// Whether `file`, a path in the package at `package`, is replaced by a mount inside of it.
    fn is_hidden(&self, file: &str, package: &str) -> bool {
        // Nothing is ever mounted in a package but below its `node_modules`.
        file[package.len()..].contains("/node_modules/")
            && (self.mounts.contains_key(file)
                || paths::ancestors(file).any(|above| above.len() > package.len() && self.mounts.contains_key(above)))
    }

    /// The innermost package around `path`, and the rest of the path.
    fn package_around<'p>(&self, path: &'p str) -> Option<(&PackageKey, &Arc<PackageIndex>, &'p str)> {
        path.rmatch_indices('/').find_map(|(end, _)| match self.mounts.get(&path[..end]) {
            Some(Mount::Package(key, index)) => Some((key, index, &path[end + 1..])),
            _ => None,
        })
    }

    /// Mounts inside the folder `path`.
    fn mounts_below(&self, path: &str) -> &[String] {
        if path.is_empty() {
            return &self.sorted;
        }
        // As '0' follows '/', these two enclose exactly what starts with the path and a slash.
        let before = |end: u8| self.sorted.partition_point(|mount| mount.bytes().lt(path.bytes().chain([end])));
        &self.sorted[before(b'/')..before(b'0')]
    }
}

/// Adds the names in a package's folder. Each folder in it is passed over in one step, however much it holds.
fn names_in_package(index: &PackageIndex, folder: &str, names: &mut BTreeMap<String, FileKind>) {
    let start = if folder.is_empty() { 0 } else { folder.len() + 1 };
    let mut files = index.files_below(folder);
    while let Some(first) = files.first() {
        let below = &first.path[start..];
        match below.split_once('/') {
            None => {
                names.insert(below.to_owned(), FileKind::File);
                files = &files[1..];
            }
            Some((name, _)) => {
                names.insert(name.to_owned(), FileKind::Directory);
                let through = start + name.len() + 1;
                let shared = &first.path.as_bytes()[..through];
                files = &files[files.partition_point(|file| file.path.as_bytes().starts_with(shared))..];
            }
        }
    }
}
