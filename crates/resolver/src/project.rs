//! What a project's files say, before anything is resolved.

use gantry_manifest::{Lockfile, Manifest, WorkspacePatterns};

/// A project: its own manifest and those of the user's folders that belong to it.
#[derive(Debug, Clone, Default)]
pub struct Project {
    /// The root `package.json`.
    pub root: Manifest,
    /// Its workspaces, in the order in which its patterns name them.
    pub workspaces: Vec<Workspace>,
    /// Other folders of the user whose manifests are known, such as those that a lock links to. What is missing here is
    /// asked for when it is needed; what a lock says of a folder gives way to what stands here.
    pub folders: Vec<Folder>,
}

/// One workspace.
#[derive(Debug, Clone)]
pub struct Workspace {
    /// Its name: that of its manifest, else that of its folder.
    pub name: String,
    /// Its folder, relative to the project, with `/`.
    pub path: String,
    /// Its `package.json`.
    pub manifest: Manifest,
}

/// A folder of the user that is a package.
#[derive(Debug, Clone)]
pub struct Folder {
    /// Relative to the project, with `/`; what is outside of it starts with `..`.
    pub path: String,
    /// Its `package.json`; empty where there is none.
    pub manifest: Manifest,
}

impl Workspace {
    pub(crate) fn into_folder(self) -> Folder {
        Folder { path: self.path, manifest: self.manifest }
    }
}

impl Project {
    /// The project as its lock knows it: root and workspaces are those of the lock's own entries.
    pub fn of_lock(lock: &Lockfile) -> Self {
        let root = lock.entry("").map(|entry| entry.manifest.clone()).unwrap_or_default();
        let patterns = root.workspaces.as_ref().and_then(|value| WorkspacePatterns::parse(value).ok());
        let mut workspaces = Vec::new();
        let paths = || lock.packages.iter().filter(|entry| !entry.link).map(|entry| entry.path.as_str());
        for path in patterns.map(|patterns| patterns.select(paths())).unwrap_or_default() {
            let Some(entry) = lock.entry(&path) else { continue };
            let name = entry.package_name().to_owned();
            let mut manifest = entry.manifest.clone();
            // The lock leaves out one that is the folder's.
            manifest.name.get_or_insert_with(|| name.as_str().into());
            workspaces.push(Workspace { name, path, manifest });
        }
        Self { root, workspaces, folders: Vec::new() }
    }
}

impl From<Manifest> for Project {
    /// A project without workspaces and folders.
    fn from(root: Manifest) -> Self {
        Self { root, ..Self::default() }
    }
}
