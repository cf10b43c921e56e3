//! What is installed in a project, for commands that look at it without installing: what the lock in `node_modules` says, and the
//! project itself. Costs reading that lock.

use crate::hidden_lock::{self, HIDDEN_LOCK};
use crate::workspace::{MODULES, is_directory};
use gantry_engine::Fault;
use gantry_manifest::{LockEntry, Lockfile, Manifest, WorkspacePatterns};
use std::collections::BTreeSet;
use std::path::Path;

/// What is installed.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct InstalledTree {
    /// The packages and links, and last the project as the entry without a path: who asks for what is there tells what it is, and
    /// of the project the lock in the tree does not say so.
    pub lock: Lockfile,
    /// The folders of workspaces.
    pub workspaces: BTreeSet<String>,
}

impl InstalledTree {
    /// Reads it; `root` is the project's own manifest. Where nothing is to be installed, nothing has to tell what is.
    pub fn read(project: &Path, root: Manifest) -> Result<Self, Fault> {
        let asked = [&root.dependencies, &root.dev_dependencies, &root.optional_dependencies, &root.peer_dependencies];
        let is_alone = asked.iter().all(|asked| asked.is_empty()) && root.workspaces.is_none();
        let mut lock = match hidden_lock::read(project) {
            Some((_, lock)) => lock,
            None if is_alone && !is_directory(&project.join(MODULES)) => Lockfile::default(),
            None => {
                let message =
                    format!("nothing tells what is installed in {}: {HIDDEN_LOCK} is missing", project.display());
                return Err(Fault::new("TREE_UNKNOWN", message).with_hint("Run `gantry install` first."));
            }
        };
        lock.packages.push(LockEntry { manifest: root, ..LockEntry::default() });
        Ok(Self::of(lock))
    }

    /// The same of a lock in which the project is.
    pub fn of(lock: Lockfile) -> Self {
        let root = lock.packages.iter().find(|entry| entry.path.is_empty());
        let patterns = root.and_then(|root| root.manifest.workspaces.as_ref());
        let patterns = patterns.and_then(|value| WorkspacePatterns::parse(value).ok()).unwrap_or_default();
        let folders = lock.packages.iter().filter(|entry| entry.is_top()).map(|entry| entry.path.as_str());
        let workspaces = patterns.select(folders).into_iter().collect();
        Self { lock, workspaces }
    }
}
