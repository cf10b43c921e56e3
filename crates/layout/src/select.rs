//! Which entries of a lock are installed.

use crate::{LayoutError, paths};
use gantry_manifest::{LockEntry, Lockfile};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

/// Kinds of dependencies to leave out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Omit {
    /// What only development asks for.
    pub dev: bool,
    /// What only optional dependencies ask for.
    pub optional: bool,
    /// What only peers ask for.
    pub peer: bool,
}

impl Omit {
    /// From npm's names of the kinds. The error is the first name that is none of them.
    pub fn from_names<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<Self, &'a str> {
        let mut omit = Self::default();
        for name in names {
            match name {
                "dev" => omit.dev = true,
                "optional" => omit.optional = true,
                "peer" => omit.peer = true,
                other => return Err(other),
            }
        }
        Ok(omit)
    }

    /// Whether an entry's flags say that it is left out.
    fn covers(&self, entry: &LockEntry) -> bool {
        (self.peer && entry.peer)
            || (self.dev && entry.dev)
            || (self.optional && entry.optional)
            || (self.dev && self.optional && entry.dev_optional)
    }
}

/// The entries of a lock that an install is about.
pub(crate) struct Selection<'a> {
    /// Every entry by its path.
    by_path: FxHashMap<&'a str, &'a LockEntry>,
    /// Paths of what is not installed, with all that is below.
    left_out: FxHashSet<&'a str>,
    /// What has a folder or link of its own in a `node_modules`, sorted by path.
    placed: Vec<&'a LockEntry>,
}

impl<'a> Selection<'a> {
    /// Applies what does not fit the target (`inert`) and what is not wanted (`omit`). Refuses paths that lead elsewhere.
    pub fn new(lock: &'a Lockfile, inert: &BTreeSet<String>, omit: &Omit) -> Result<Self, LayoutError> {
        let by_path: FxHashMap<&str, &LockEntry> =
            lock.packages.iter().map(|entry| (entry.path.as_str(), entry)).collect();
        let mut sorted: Vec<&LockEntry> = lock.packages.iter().filter(|entry| !entry.path.is_empty()).collect();
        sorted.sort_by(|left, right| left.path.cmp(&right.path));

        let mut selection = Self { by_path, left_out: FxHashSet::default(), placed: Vec::new() };
        for entry in sorted {
            // Sorted, so that what is above has been decided.
            let above = paths::ancestors(&entry.path).any(|folder| selection.left_out.contains(folder));
            if above || inert.contains(&entry.path) || selection.omits(omit, entry) || is_nothing(entry) {
                selection.left_out.insert(&entry.path);
                continue;
            }
            if entry.is_top() && !entry.link {
                selection.check_folder(entry)?;
                continue;
            }
            paths::check_package(&entry.path)?;
            if let Some(link) = paths::ancestors(&entry.path).find(|folder| selection.is_link(folder)) {
                return Err(LayoutError::Path { path: format!("{} (below the link {link})", entry.path) });
            }
            selection.placed.push(entry);
        }
        Ok(selection)
    }

    /// What is installed and has a place in a `node_modules`, sorted by path; parts of other packages' tarballs too.
    pub fn placed(&self) -> &[&'a LockEntry] {
        &self.placed
    }

    /// What has a tarball of its own, sorted by path.
    pub fn packages(&self) -> impl Iterator<Item = &'a LockEntry> {
        self.placed.iter().copied().filter(|entry| !entry.link && !is_carried(entry))
    }

    /// Whether an entry is left out. A link is what it leads to.
    pub fn leaves_out(&self, entry: &LockEntry) -> bool {
        self.left_out.contains(entry.path.as_str())
    }

    /// The folder that a link leads to, if the lock knows it.
    pub fn target(&self, link: &LockEntry) -> Option<&'a LockEntry> {
        self.by_path.get(link.resolved.as_deref().unwrap_or_default()).copied()
    }

    /// Refuses what would be a package outside of the project: in somebody else's `node_modules` there are folders that links lead
    /// to, or led to once, and nothing else.
    fn check_folder(&self, entry: &LockEntry) -> Result<(), LayoutError> {
        let path = entry.path.as_str();
        let leads_there = |other: &&LockEntry| other.link && other.resolved.as_deref() == Some(path);
        let is_elsewhere = path.starts_with("../") && !paths::modules_of(path).is_empty();
        if is_elsewhere && !entry.extraneous && !self.by_path.values().any(leads_there) {
            return paths::check_package(path);
        }
        Ok(())
    }

    fn is_link(&self, path: &str) -> bool {
        self.by_path.get(path).is_some_and(|entry| entry.link)
    }

    fn omits(&self, omit: &Omit, entry: &LockEntry) -> bool {
        // The lock keeps a link's flags at its target.
        let flags = if entry.link { self.target(entry) } else { Some(entry) };
        flags.is_some_and(|flags| omit.covers(flags)) && self.belongs_to_the_project(&entry.path)
    }

    /// Whether what is at `path` belongs to the root or a workspace, as opposed to a folder that a `file:` specifier
    /// names: there npm leaves nothing out.
    fn belongs_to_the_project(&self, path: &str) -> bool {
        let top = paths::top(path);
        if top.is_empty() {
            return true;
        }
        let Some(root) = self.by_path.get("").map(|entry| &entry.manifest) else { return false };
        let named = [&root.dependencies, &root.dev_dependencies, &root.optional_dependencies, &root.peer_dependencies]
            .into_iter()
            .flatten()
            .filter_map(|(_, specifier)| specifier.strip_prefix("file:"))
            .any(|folder| paths::normalise(folder).as_deref() == Some(top));
        root.workspaces.is_some() && !named
    }
}

/// Whether an entry says nothing of what it is. npm writes one for a folder without a `package.json` that a tarball carries.
fn is_nothing(entry: &LockEntry) -> bool {
    !entry.link
        && !entry.is_top()
        && entry.resolved.is_none()
        && entry.integrity.is_none()
        && !entry.in_bundle
        && entry.manifest.version.is_none()
}

/// Whether a package comes inside the tarball of a package above it. What the project itself bundles does not.
pub fn is_carried(entry: &LockEntry) -> bool {
    entry.in_bundle && entry.resolved.is_none() && entry.integrity.is_none()
}
