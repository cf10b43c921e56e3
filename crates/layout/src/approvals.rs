//! Who may be approved in npm's `allowScripts`, and which of its entries mean nothing any more (npm 12,
//! `npm/lib/utils/allow-scripts-{cmd,writer,prune}.js`).
//!
//! Every key that is given here has been tried: it is one that [`ScriptPolicy`] takes to mean the package. So where npm would
//! write what that does not heed, such as a folder as seen from `node_modules`, something else is written.

mod writer;

pub use writer::{Approval, ApprovalChange, ApprovalProblem};

use crate::{ScriptPolicy, ScriptedTree, Scripts, is_git};
use gantry_manifest::{LockEntry, Lockfile};
use gantry_spec::{GitSpec, Spec, SpecKind, Version};
use serde_json::Value;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

/// A tree of which is to be said what may run scripts.
#[derive(Debug, Clone, Copy)]
pub struct ScriptReview<'t> {
    lock: &'t Lockfile,
    package_json: &'t Value,
    workspaces: &'t BTreeSet<String>,
}

/// A package, or a folder of the user that a link leads to, that could run scripts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScriptOwner<'t> {
    /// Of the package, or of the link.
    entry: &'t LockEntry,
    version: Option<&'t str>,
}

/// The same with what it is known to be.
#[derive(Debug, Clone, PartialEq)]
pub struct ScriptSubject<'t> {
    /// Where it is.
    pub owner: ScriptOwner<'t>,
    /// What it is called: by the registry that it is from, else by who asks for it.
    pub name: &'t str,
    source: Source,
    /// The key that means it in all versions.
    every: String,
    /// The key that means what is installed and nothing else, if there is one.
    exact: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
enum Source {
    Registry,
    Repository(GitSpec),
    /// A tarball at an address, or of the user, or a folder.
    Place,
}

/// Why an entry means nothing any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unused {
    /// Nothing that it means is installed.
    NotInstalled,
    /// What it means has no scripts.
    NoScripts,
}

impl<'t> ScriptOwner<'t> {
    /// Where it is in the tree: the package, or the link.
    pub fn path(&self) -> &'t str {
        &self.entry.path
    }

    /// The folder that its scripts are in, relative to the project unless it is absolute.
    pub fn folder(&self) -> &'t str {
        self.target().unwrap_or(&self.entry.path)
    }

    /// `name@version`, as scripts that did not run are named by.
    pub fn label(&self) -> String {
        self.entry.label()
    }

    /// What `gantry rebuild` calls it.
    pub fn folder_name(&self) -> &'t str {
        self.entry.folder_name()
    }

    /// The version that the lock has of it.
    pub fn version(&self) -> Option<&'t str> {
        self.version
    }

    /// Whether it is a folder of the user.
    pub fn is_link(&self) -> bool {
        self.entry.link
    }

    /// Whether it is the package of a git repository, in which it may be built.
    pub fn is_repository(&self) -> bool {
        !self.entry.link && self.entry.resolved.as_deref().is_some_and(is_git)
    }

    fn target(&self) -> Option<&'t str> {
        let target = self.entry.resolved.as_deref().filter(|_| self.entry.link)?;
        Some(target.strip_prefix("file:").unwrap_or(target))
    }
}

impl<'t> ScriptReview<'t> {
    /// Of a tree by its lock, in which the project is the entry without a path; `package_json` is the project's.
    pub fn new(lock: &'t Lockfile, package_json: &'t Value, workspaces: &'t BTreeSet<String>) -> Self {
        Self { lock, package_json, workspaces }
    }

    /// Whatever could run scripts if it was allowed to, in the lock's order. Workspaces may in any case; what a tarball carries
    /// and folders of folders elsewhere never.
    pub fn owners(&self) -> Vec<ScriptOwner<'t>> {
        let paths = self.lock.packages.iter().filter(|entry| entry.link).map(|entry| entry.path.as_str());
        let own = self.judged(paths.collect(), &Scripts::All).allowed;
        let own: BTreeSet<&str> = own.iter().map(|scripted| scripted.path.as_str()).collect();
        let mut links: BTreeMap<&str, &LockEntry> = BTreeMap::new();
        for entry in self.lock.packages.iter().filter(|entry| own.contains(entry.path.as_str())) {
            if let Some(target) = (ScriptOwner { entry, version: None }).target() {
                links.entry(target).or_insert(entry);
            }
        }
        let owner = |entry: &'t LockEntry| {
            let is_package = !entry.is_top() && !entry.link && !entry.in_bundle;
            let is_folder = !entry.path.is_empty() && entry.is_top() && !self.workspaces.contains(&entry.path);
            let link = || links.get(entry.path.as_str()).copied();
            let of = if is_package { Some(entry) } else { Some(()).filter(|()| is_folder).and_then(|()| link()) };
            Some(ScriptOwner { entry: of?, version: entry.manifest.version.as_deref() })
        };
        self.lock.packages.iter().filter_map(owner).collect()
    }

    /// Those of which `scripts` says nothing.
    pub fn unreviewed(&self, owners: &[ScriptOwner<'t>], scripts: &Scripts) -> Vec<ScriptOwner<'t>> {
        let tree = self.judged(owners.iter().map(ScriptOwner::path).collect(), scripts);
        let lists = [&tree.unreviewed, &tree.unreviewed_folders];
        let paths: BTreeSet<&str> = lists.into_iter().flatten().map(|scripted| scripted.path.as_str()).collect();
        owners.iter().filter(|owner| paths.contains(owner.path())).copied().collect()
    }

    /// What something is known to be; `None` where nothing but itself says so.
    pub fn subject(&self, owner: ScriptOwner<'t>) -> Option<ScriptSubject<'t>> {
        let entry = owner.entry;
        let heeded = |key: &String| self.is_heeded(key, owner);
        let subject = |source, name, every, exact: Option<String>| {
            Some(ScriptSubject { owner, name, source, every, exact: exact.filter(heeded) })
        };
        let resolved = entry.resolved.as_deref();
        if let Some(git) = resolved.filter(|_| !entry.link).and_then(repository) {
            let exact = git.saved_by_install();
            let every = every_commit(&git, &exact);
            return if heeded(&every) {
                subject(Source::Repository(git), owner.folder_name(), every, Some(exact))
            } else {
                None
            };
        }
        let name = entry.package_name();
        if !entry.link && heeded(&name.to_owned()) {
            let exact = owner.version().map(|version| format!("{name}@{version}"));
            return subject(Source::Registry, name, name.to_owned(), exact);
        }
        let place = match owner.target() {
            Some(folder) => format!("file:{folder}"),
            None => resolved?.to_owned(),
        };
        if heeded(&place) { subject(Source::Place, owner.folder_name(), place.clone(), Some(place)) } else { None }
    }

    /// What `argument` means, a name that may have a version or a range behind it. Packages of a registry go by what that calls
    /// them, whatever they are installed as.
    pub fn find(&self, argument: &str) -> Vec<ScriptSubject<'t>> {
        let (name, spec) = match Spec::parse_argument(argument) {
            Ok((name, spec)) if !name.is_empty() => (name, Some(spec)),
            _ => (argument.to_owned(), None),
        };
        let is_version = |version: Option<&str>| match (spec.as_ref().map(|spec| &spec.kind), version) {
            (Some(SpecKind::Range(range)), _) if range.is_any() => true,
            (Some(SpecKind::Range(range)), version) => {
                version.and_then(Version::parse).is_some_and(|version| range.satisfied_by(&version))
            }
            (Some(SpecKind::Version(wanted)), version) => {
                version.and_then(Version::parse).is_some_and(|version| wanted.precedence(&version) == Ordering::Equal)
            }
            _ => true,
        };
        let may_be = |owner: &ScriptOwner<'t>| owner.folder_name() == name || owner.entry.package_name() == name;
        let subjects = self.owners().into_iter().filter(may_be).filter_map(|owner| self.subject(owner));
        subjects.filter(|subject| subject.name == name && is_version(subject.owner.version())).collect()
    }

    /// Which of these entries mean nothing any more. `has_scripts` is asked of what they mean.
    pub fn unused(
        &self,
        entries: &serde_json::Map<String, Value>,
        has_scripts: &dyn Fn(ScriptOwner<'t>) -> bool,
    ) -> Vec<(String, Unused)> {
        let owners = self.owners();
        let unused = |(key, value): (&String, &Value)| {
            // What cannot be read may mean something to somebody.
            let (name, spec) = Spec::parse_argument(key).ok()?;
            let meant: Vec<ScriptOwner<'t>> =
                owners.iter().filter(|owner| may_mean(&name, &spec.kind, owner)).copied().collect();
            let meant = self.meant(key, value != &Value::Bool(false), &meant);
            let unused = match (meant.is_empty(), meant.into_iter().any(has_scripts)) {
                (true, _) => Unused::NotInstalled,
                (false, false) => Unused::NoScripts,
                (false, true) => return None,
            };
            Some((key.clone(), unused))
        };
        entries.iter().filter_map(unused).collect()
    }

    /// Whether a key is about the same package as `subject`, in whatever version.
    fn is_about(&self, key: &str, subject: &ScriptSubject<'t>) -> bool {
        let Ok((name, spec)) = Spec::parse_argument(key) else { return false };
        match (spec.kind, &subject.source) {
            (SpecKind::Version(_) | SpecKind::Range(_) | SpecKind::Tag(_), Source::Registry) => name == subject.name,
            (SpecKind::Git(other), Source::Repository(git)) => {
                let is_repository = match (&other.hosted, &git.hosted) {
                    (Some(other), Some(hosted)) => other.ssh_url(None) == hosted.ssh_url(None),
                    _ => other.url == git.url,
                };
                is_repository && (other.path.is_none() || other.path == git.path)
            }
            (SpecKind::Remote { .. } | SpecKind::File { .. } | SpecKind::Directory { .. }, _) => {
                self.is_heeded(key, subject.owner)
            }
            _ => false,
        }
    }

    /// Whether a package may run scripts where nothing but this key is said.
    fn is_heeded(&self, key: &str, owner: ScriptOwner<'t>) -> bool {
        !self.meant(key, true, &[owner]).is_empty()
    }

    /// Those of which something is said by this entry.
    fn meant(&self, key: &str, is_allowed: bool, owners: &[ScriptOwner<'t>]) -> Vec<ScriptOwner<'t>> {
        let (policy, _) = ScriptPolicy::read(vec![(key.to_owned(), Some(is_allowed))]);
        if policy.is_empty() || owners.is_empty() {
            return Vec::new();
        }
        let scripts = Scripts::Allowed(policy.for_project(self.package_json));
        let unreviewed = self.unreviewed(owners, &scripts);
        owners.iter().filter(|owner| !unreviewed.contains(owner)).copied().collect()
    }

    fn judged(&self, paths: Vec<&str>, scripts: &Scripts) -> ScriptedTree {
        ScriptedTree::of_paths(self.lock, paths, scripts, self.workspaces)
    }
}

/// The repository that a lock says a package is from.
fn repository(resolved: &str) -> Option<GitSpec> {
    match Spec::parse("", resolved).ok().filter(|_| is_git(resolved))?.kind {
        SpecKind::Git(git) => Some(git),
        _ => None,
    }
}

/// The key of a repository without the commit that `exact` names, and with the folder if there is one.
fn every_commit(git: &GitSpec, exact: &str) -> String {
    let base = exact.split_once('#').map_or(exact, |(base, _)| base);
    git.path.as_ref().map_or_else(|| base.to_owned(), |path| format!("{base}#path:{path}"))
}

/// Whether a key can mean something at all: what a package is known to be is asked only where that is so, as it costs a look at
/// the whole lock.
fn may_mean(name: &str, kind: &SpecKind, owner: &ScriptOwner<'_>) -> bool {
    let resolved = owner.entry.resolved.as_deref();
    match kind {
        SpecKind::Git(_) => resolved.is_some_and(is_git),
        SpecKind::Remote { url: place } | SpecKind::File { path: place } | SpecKind::Directory { path: place } => {
            resolved.is_some_and(|resolved| resolved.strip_prefix("file:").unwrap_or(resolved) == place)
        }
        _ => owner.folder_name() == name || owner.entry.package_name() == name,
    }
}

#[cfg(test)]
mod tests;
