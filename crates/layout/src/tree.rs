//! A planned tree as a file system.

mod lookup;
mod resolve;

use crate::{LayoutError, Plan, paths};
use gantry_store::{PackageIndex, PackageKey};
use lookup::{Lookup, Node};
use resolve::{LastLink, resolve};
use std::sync::Arc;

/// What is at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// A file.
    File,
    /// A folder.
    Directory,
    /// A symbolic link.
    Symlink,
}

/// What is known of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileStatus {
    /// What is there.
    pub kind: FileKind,
    /// Bytes of a file or of a link's target; 0 for a folder.
    pub size: u64,
    /// Whether a file may be run.
    pub executable: bool,
}

/// Where a file's bytes are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileSource {
    /// In a package of the store.
    Stored(FileLocation),
    /// Made up by the plan: the hidden lock.
    Bytes(Arc<[u8]>),
}

/// Where a stored file's bytes are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileLocation {
    /// The package.
    pub key: PackageKey,
    /// Offset within the package's segment.
    pub offset: u64,
    /// Bytes.
    pub size: u64,
    /// Whether the file may be run.
    pub executable: bool,
}

/// Why a path has no answer; named as Node names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TreeErrorKind {
    /// Nothing is there.
    NotFound,
    /// A file is used as a folder.
    NotDirectory,
    /// A folder is used as a file.
    IsDirectory,
    /// Not a link, or not a path.
    Invalid,
    /// Links lead in a circle.
    Loop,
}

/// A question without an answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}: {path}", self.code())]
pub struct TreeError {
    /// Why.
    pub kind: TreeErrorKind,
    /// The path asked for.
    pub path: String,
}

impl TreeError {
    /// Node's code: `ENOENT`, `ENOTDIR`, `EISDIR`, `EINVAL` or `ELOOP`.
    pub fn code(&self) -> &'static str {
        match self.kind {
            TreeErrorKind::NotFound => "ENOENT",
            TreeErrorKind::NotDirectory => "ENOTDIR",
            TreeErrorKind::IsDirectory => "EISDIR",
            TreeErrorKind::Invalid => "EINVAL",
            TreeErrorKind::Loop => "ELOOP",
        }
    }
}

/// One file or link of a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TreeEntry {
    /// A file.
    File(FileSource),
    /// A symbolic link with its target.
    Symlink(String),
}

/// A planned tree, answering questions without being made.
///
/// Paths are relative to the project, with `/`; a leading slash, empty components and `.` do not matter, `..` means what it
/// means on disk. Of the project itself the tree knows only the folders that lead to a `node_modules`. Cloning is cheap;
/// building takes one map entry for each package and link, none for files.
#[derive(Debug, Clone)]
pub struct VirtualTree {
    lookup: Arc<Lookup>,
}

impl VirtualTree {
    /// The tree of `plan`. `index` gives the index of a stored package.
    pub fn new(plan: &Plan, index: &dyn Fn(&PackageKey) -> Option<Arc<PackageIndex>>) -> Result<Self, LayoutError> {
        Ok(Self { lookup: Arc::new(Lookup::new(plan, index)?) })
    }

    /// What is at `path`, links followed.
    pub fn stat(&self, path: &str) -> Result<FileStatus, TreeError> {
        self.find(path, LastLink::Follow).map(|(_, node)| status(&node))
    }

    /// What is at `path`, a link at its end not followed.
    pub fn lstat(&self, path: &str) -> Result<FileStatus, TreeError> {
        self.find(path, LastLink::Keep).map(|(_, node)| status(&node))
    }

    /// Names in a folder, sorted (byte order), each with what it is; links followed to the folder, not in it.
    pub fn read_directory(&self, path: &str) -> Result<Vec<(String, FileKind)>, TreeError> {
        match self.find(path, LastLink::Follow)? {
            (real, Node::Directory) => Ok(self.lookup.names(&real).into_iter().collect()),
            _ => Err(error(TreeErrorKind::NotDirectory, path)),
        }
    }

    /// All that is below a folder, links not followed: paths relative to it, each folder before what is in it, names in one
    /// folder sorted as by [`read_directory`](Self::read_directory).
    pub fn read_directory_recursively(&self, path: &str) -> Result<Vec<(String, FileKind)>, TreeError> {
        let (real, Node::Directory) = self.find(path, LastLink::Follow)? else {
            return Err(error(TreeErrorKind::NotDirectory, path));
        };
        let mut found = Vec::new();
        self.list_below(&real, "", &mut found);
        Ok(found)
    }

    fn list_below(&self, folder: &str, prefix: &str, found: &mut Vec<(String, FileKind)>) {
        let join = |above: &str, name: &str| if above.is_empty() { name.to_owned() } else { format!("{above}/{name}") };
        for (name, kind) in self.lookup.names(folder) {
            let path = join(prefix, &name);
            found.push((path.clone(), kind));
            if kind == FileKind::Directory {
                self.list_below(&join(folder, &name), &path, found);
            }
        }
    }

    /// Target of a link.
    pub fn read_link(&self, path: &str) -> Result<String, TreeError> {
        match self.find(path, LastLink::Keep)? {
            (_, Node::Symlink(target)) => Ok(target),
            _ => Err(error(TreeErrorKind::Invalid, path)),
        }
    }

    /// The path without links; something is there.
    pub fn real_path(&self, path: &str) -> Result<String, TreeError> {
        self.find(path, LastLink::Follow).map(|(real, _)| real)
    }

    /// The path without links, whether or not something is there: a workspace's folder is the user's and not of this tree.
    /// What is outside of the project starts with `..`.
    pub fn resolve(&self, path: &str) -> Result<String, TreeError> {
        resolve(&self.lookup, path, LastLink::Follow)
    }

    /// Where the bytes of the file at `path` are, links followed.
    pub fn open(&self, path: &str) -> Result<FileSource, TreeError> {
        match self.find(path, LastLink::Follow)? {
            (_, Node::File(source)) => Ok(source),
            _ => Err(error(TreeErrorKind::IsDirectory, path)),
        }
    }

    /// Every file and link of the tree, sorted by path (byte order): what [`TreeDigest`](crate::TreeDigest) takes.
    pub fn entries(&self) -> Vec<(String, TreeEntry)> {
        let entry = |node| match node {
            Node::File(source) => Some(TreeEntry::File(source)),
            Node::Symlink(target) => Some(TreeEntry::Symlink(target)),
            Node::Directory => None,
        };
        self.lookup.entries().into_iter().filter_map(|(path, node)| Some((path, entry(node)?))).collect()
    }

    fn find(&self, path: &str, last: LastLink) -> Result<(String, Node), TreeError> {
        let real = resolve(&self.lookup, path, last)?;
        if let Some(node) = self.lookup.node(&real) {
            // A slash at the end asks for a folder.
            if path.ends_with('/') && matches!(node, Node::File(_)) {
                return Err(error(TreeErrorKind::NotDirectory, path));
            }
            return Ok((real, node));
        }
        let below_a_file = paths::ancestors(&real).any(|above| matches!(self.lookup.node(above), Some(Node::File(_))));
        Err(error(if below_a_file { TreeErrorKind::NotDirectory } else { TreeErrorKind::NotFound }, path))
    }
}

impl FileSource {
    /// Bytes of the file.
    pub fn size(&self) -> u64 {
        match self {
            Self::Stored(location) => location.size,
            Self::Bytes(bytes) => bytes.len() as u64,
        }
    }

    /// Whether the file may be run.
    pub fn is_executable(&self) -> bool {
        matches!(self, Self::Stored(FileLocation { executable: true, .. }))
    }
}

fn status(node: &Node) -> FileStatus {
    let (kind, size, executable) = match node {
        Node::Directory => (FileKind::Directory, 0, false),
        Node::Symlink(target) => (FileKind::Symlink, target.len() as u64, false),
        Node::File(source) => (FileKind::File, source.size(), source.is_executable()),
    };
    FileStatus { kind, size, executable }
}

fn error(kind: TreeErrorKind, path: &str) -> TreeError {
    TreeError { kind, path: path.to_owned() }
}

#[cfg(test)]
mod tests;
