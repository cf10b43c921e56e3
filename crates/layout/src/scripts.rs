//! Whose scripts are run when they are installed: what the user has allowed to, and workspaces.

mod overrides;
mod policy;
mod sources;

pub use policy::{ScriptPolicy, ScriptVerdict};

use crate::{LinkKind, Plan, PlannedPackage};
use gantry_manifest::{LockEntry, Lockfile, Text};
use gantry_spec::compare_locale;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// Which packages may run scripts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Scripts {
    /// None, nor does any folder of the user: npm's `ignore-scripts`, and wherever there are no processes.
    #[default]
    None,
    /// Those that the user has allowed to: npm's `allowScripts`.
    Allowed(ScriptPolicy),
    /// All: npm's `dangerously-allow-all-scripts`.
    All,
}

impl Scripts {
    /// What is said of the scripts of a repository, which build the package in it: by what a lock calls its commit.
    pub fn verdict_of_commit(&self, resolved: &str) -> ScriptVerdict {
        match self {
            Self::None => ScriptVerdict::Unreviewed,
            Self::Allowed(policy) => policy.verdict_of_commit(resolved),
            Self::All => ScriptVerdict::Allowed,
        }
    }

    /// What is said of the scripts of a folder of which a package is made, by what a lock calls it: of the one that is run in it.
    pub fn verdict_of_folder(&self, resolved: &str) -> ScriptVerdict {
        match self {
            Self::None => ScriptVerdict::Unreviewed,
            Self::Allowed(policy) => policy.verdict_of_place(resolved),
            Self::All => ScriptVerdict::Allowed,
        }
    }
}

/// Something that may run scripts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scripted {
    /// Where it is in the tree: a package, or a link to a folder of the user.
    pub path: String,
    /// The folder that its scripts run in, relative to the project unless it is absolute: for a link what that leads to.
    pub folder: String,
    /// `name@version`
    pub label: String,
    /// Whether it is a link to a folder of the user, of which `prepare` is run, too, and before its commands are linked to.
    pub is_link: bool,
    /// Where it comes from.
    pub resolved: Option<Text>,
    /// What its tarball hashes to.
    pub integrity: Option<Text>,
    /// Whether the tree can do without it.
    pub optional: bool,
    /// Only peers ask for it.
    pub peer: bool,
    /// Only development asks for it.
    pub dev: bool,
    /// Only development and optional dependencies ask for it.
    pub dev_optional: bool,
}

/// What becomes of the scripts in a tree.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ScriptedTree {
    /// What may run them, in npm's order: what is nested later, then by path. All the user's folders are among them that may,
    /// whether they have any or not.
    pub allowed: Vec<Scripted>,
    /// Packages that have some, but may not run them and were not refused that either.
    pub unreviewed: Vec<Scripted>,
    /// Folders of the user of which nothing is said, whether they have any or not.
    pub unreviewed_folders: Vec<Scripted>,
}

impl ScriptedTree {
    /// What of `plan`, which was made from `lock`, is to run scripts. `has_scripts` tells which packages have any; folders of
    /// `workspaces` are the project's own.
    pub fn of(
        lock: &Lockfile,
        plan: &Plan,
        scripts: &Scripts,
        workspaces: &BTreeSet<String>,
        has_scripts: &dyn Fn(&PlannedPackage) -> bool,
    ) -> Self {
        let packages = plan.packages.iter().filter(|package| has_scripts(package)).map(|package| package.path.as_str());
        let links = plan.links.iter().filter(|link| link.kind == LinkKind::Folder).map(|link| link.path.as_str());
        let links: Vec<&str> = if *scripts == Scripts::None { Vec::new() } else { links.collect() };
        Self::of_paths(lock, packages.chain(links).collect(), scripts, workspaces)
    }

    /// The same of these packages and links of a lock.
    pub fn of_paths(lock: &Lockfile, paths: Vec<&str>, scripts: &Scripts, workspaces: &BTreeSet<String>) -> Self {
        let mut tree = Self::default();
        if paths.is_empty() {
            return tree;
        }
        let entries: FxHashMap<&str, &LockEntry> =
            lock.packages.iter().map(|entry| (entry.path.as_str(), entry)).collect();
        for entry in paths.into_iter().filter_map(|path| entries.get(path).copied()) {
            let target = entry.resolved.as_deref().and_then(|folder| entries.get(folder)).filter(|_| entry.link);
            let is_workspace = target.is_some_and(|target| workspaces.contains(&target.path));
            let verdict = match scripts {
                Scripts::None => ScriptVerdict::Unreviewed,
                Scripts::Allowed(_) if is_workspace => ScriptVerdict::Allowed,
                Scripts::Allowed(policy) => policy.verdict(entry, lock, &entries),
                Scripts::All => ScriptVerdict::Allowed,
            };
            // What links in packages lead to is the affair of who made these.
            let is_own = !entry.link || is_of_root(&entry.path) || target.is_some_and(|target| is_inside(&target.path));
            match verdict {
                ScriptVerdict::Allowed if is_own => tree.allowed.push(Scripted::new(entry, target.copied())),
                ScriptVerdict::Unreviewed if !entry.link => tree.unreviewed.push(Scripted::new(entry, None)),
                ScriptVerdict::Unreviewed if is_own => {
                    tree.unreviewed_folders.push(Scripted::new(entry, target.copied()))
                }
                _ => {}
            }
        }
        let order = |left: &Scripted, right: &Scripted| {
            depth(&left.path).cmp(&depth(&right.path)).then_with(|| compare_locale(&left.path, &right.path))
        };
        for list in [&mut tree.allowed, &mut tree.unreviewed, &mut tree.unreviewed_folders] {
            list.sort_by(order);
        }
        tree
    }
}

impl Scripted {
    fn new(entry: &LockEntry, target: Option<&LockEntry>) -> Self {
        // The lock keeps a link's flags at its target.
        let of = target.unwrap_or(entry);
        let folder = entry.resolved.as_deref().map(|folder| folder.strip_prefix("file:").unwrap_or(folder));
        Self {
            path: entry.path.clone(),
            folder: folder.filter(|_| entry.link).unwrap_or(&entry.path).to_owned(),
            label: of.label(),
            is_link: entry.link,
            resolved: of.resolved.clone(),
            integrity: of.integrity.clone(),
            optional: of.optional,
            peer: of.peer,
            dev: of.dev,
            dev_optional: of.dev_optional,
        }
    }

    /// A folder of the user's, by its absolute path, of which a package is to be made.
    pub fn of_folder(folder: String, label: String) -> Self {
        let resolved = Some(folder.as_str().into());
        let (path, integrity) = (String::new(), None);
        let (optional, peer, dev, dev_optional) = (false, false, false, false);
        Self { path, folder, label, is_link: false, resolved, integrity, optional, peer, dev, dev_optional }
    }
}

fn depth(path: &str) -> usize {
    path.split('/').filter(|part| *part == "node_modules").count()
}

fn is_of_root(path: &str) -> bool {
    path.starts_with("node_modules/") && depth(path) == 1
}

fn is_inside(folder: &str) -> bool {
    !folder.starts_with('/') && folder.split('/').next() != Some("..")
}

#[cfg(test)]
mod tests;
