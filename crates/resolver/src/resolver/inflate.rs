//! Bringing a lock of version 1 up to date.
//!
//! Such a lock says which version of what is in which folder, and which package needs which others: no peers, no commands,
//! no platforms, and of optional dependencies only a guess. As npm does (`#inflateAncientLockfile`), the manifest of every
//! package is looked up in the registry once, by the version in the lock; what cannot be had stays as the lock has it,
//! with a warning. Two things follow npm to the letter because locks would differ otherwise: the lookup is by the folder's
//! name, so that an alias finds nothing or a stranger whose contents do not match, and only packages whose requirements the
//! lock itself did not meet are looked at again, and those that need what `update` names, so that peers nobody asked for
//! before stay away.

use crate::ids::NameId;
use crate::project::Project;
use crate::questions::PackumentProblem;
use crate::shelf::Lookup;
use crate::{ResolveError, ResolveOptions, ResolveWarning};
use gantry_manifest::{LockEntry, Lockfile, Manifest, Packument, Text};
use gantry_spec::PackageName;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

use crate::build::Builder;
use crate::start::builder;

/// The code of the warnings.
const OLD_LOCK: &str = "LOCK_OLD";

/// What is known while manifests are being fetched.
#[derive(Debug)]
pub(super) struct Inflation {
    project: Project,
    lock: Lockfile,
    options: ResolveOptions,
    /// Not asked for yet.
    wanted: Vec<NameId>,
    /// Asked for and not answered.
    pending: FxHashSet<PackageName>,
    /// To be handed on to the tree that is made of the new lock.
    answers: Vec<(PackageName, Result<Arc<Packument>, PackumentProblem>)>,
}

impl Inflation {
    /// Begins with the tree as the lock has it.
    pub(super) fn new(project: Project, lock: Lockfile, options: ResolveOptions, tree: &mut Builder) -> Self {
        let mut wanted = Vec::new();
        let mut seen = FxHashSet::default();
        for entry in lock.packages.iter().filter(|entry| is_inflated(entry)) {
            let Some(version) = entry.manifest.version.as_deref() else { continue };
            let (name, spec) = (tree.forest.names.intern(entry.folder_name()), tree.forest.specs.intern(version));
            if let Some(name) = tree.shelf.fetch_name(&mut tree.forest, name, spec)
                && seen.insert(name)
            {
                wanted.push(name);
            }
        }
        Self { project, lock, options, wanted, pending: FxHashSet::default(), answers: Vec::new() }
    }

    /// Packuments to ask for now; each is given out once.
    pub(super) fn take_wanted(&mut self, tree: &Builder) -> Vec<PackageName> {
        let names = std::mem::take(&mut self.wanted);
        let names: Vec<_> = names.into_iter().filter_map(|id| tree.forest.names.package_name(id).cloned()).collect();
        self.pending.extend(names.iter().cloned());
        names
    }

    /// Takes the answer to one of them.
    pub(super) fn answer(&mut self, name: &PackageName, result: Result<Arc<Packument>, PackumentProblem>) {
        if self.pending.remove(name) {
            self.answers.push((name.clone(), result));
        }
    }

    /// Whether everything that was asked for is here.
    pub(super) fn is_ready(&self) -> bool {
        self.wanted.is_empty() && self.pending.is_empty()
    }

    /// The tree with the manifests in it, ready to go on from. `old` is the tree as the lock had it.
    pub(super) fn finish(self, mut old: Builder) -> Result<Builder, ResolveError> {
        let Self { project, mut lock, options, answers, .. } = self;
        let troubled: FxHashSet<String> = old.troubled().into_iter().map(|node| old.forest.location(node)).collect();
        for (name, answer) in &answers {
            let id = old.forest.names.intern(name.as_str());
            old.shelf.put(id, name.as_str(), answer.clone());
        }
        let mut warnings = old.warnings.clone();
        warnings.push(ResolveWarning { code: OLD_LOCK, message: old_lock_message(&lock), conflict: None });
        let mut found: FxHashMap<(String, Text), Result<Arc<Manifest>, String>> = FxHashMap::default();
        for entry in lock.packages.iter_mut().filter(|entry| is_inflated(entry)) {
            let version = entry.manifest.version.clone().unwrap_or_default();
            let key = (entry.folder_name().to_owned(), version);
            let looked_up = found.entry(key).or_insert_with_key(|(name, version)| look_up(&mut old, name, version));
            if let Err(problem) = looked_up.clone().and_then(|manifest| fill_in(entry, &manifest)) {
                let id = entry.manifest.version.as_deref().or(entry.resolved.as_deref()).unwrap_or_default();
                let message = format!("could not fetch metadata for {}@{id}: {problem}", entry.folder_name());
                warnings.push(ResolveWarning { code: OLD_LOCK, message, conflict: None });
            }
        }
        let mut tree = builder(project, Some(&lock), options)?;
        for (name, answer) in answers {
            let id = tree.forest.names.intern(name.as_str());
            tree.shelf.put(id, name.as_str(), answer);
        }
        tree.warnings = warnings;
        let nodes = tree.forest.inventory().into_iter();
        let mut nodes: Vec<_> = nodes.filter(|&node| troubled.contains(&tree.forest.location(node))).collect();
        nodes.extend(tree.dependants_of_updated());
        tree.start_at(nodes)?;
        Ok(tree)
    }
}

/// Whether npm looks for the manifest of an entry: of all that is in `node_modules`, except links.
fn is_inflated(entry: &LockEntry) -> bool {
    !entry.link && entry.path.starts_with("node_modules")
}

fn old_lock_message(lock: &Lockfile) -> String {
    let age = if lock.has_requires { "an old version of npm" } else { "a very old version of npm" };
    format!("the lock file was made by {age}: what it lacks is fetched from the registry, once")
}

/// The registry's manifest of what the lock calls `name@version`.
fn look_up(tree: &mut Builder, name: &str, version: &str) -> Result<Arc<Manifest>, String> {
    if version.is_empty() {
        return Err("it does not come from a registry".to_owned());
    }
    let (name, spec) = (tree.forest.names.intern(name), tree.forest.specs.intern(version));
    match tree.shelf.look_up(&mut tree.forest, name, spec) {
        Lookup::Found(package) => Ok(tree.forest.packages[package.index()].manifest.clone()),
        Lookup::Failed(failure) => Err(tree.shelf.failure(failure).cause.to_string()),
        Lookup::Missing(_) | Lookup::NotRegistry => Err("it does not come from a registry".to_owned()),
        Lookup::Invalid => Err("it has no valid name or version".to_owned()),
    }
}

/// Puts the registry's manifest into an entry, which keeps what the lock says of the tarball.
fn fill_in(entry: &mut LockEntry, manifest: &Manifest) -> Result<(), String> {
    let published = manifest.dist.as_ref().and_then(crate::shelf::integrity);
    if let (Some(locked), Some(published)) = (&entry.integrity, &published)
        && contradict(locked, published)
    {
        return Err(format!("the registry has other contents, {published} instead of {locked}"));
    }
    entry.integrity = entry.integrity.take().or(published);
    let folder = entry.folder_name();
    let name = manifest.name.clone().filter(|name| name != folder);
    entry.manifest = Manifest { name, dist: None, dev_dependencies: Vec::new(), ..manifest.clone() };
    Ok(())
}

/// Whether two integrity texts cannot be of the same bytes: they share an algorithm and no hash.
fn contradict(one: &str, other: &str) -> bool {
    let hashes = |text: &str| {
        text.split_whitespace().map(|hash| hash.split('?').next().unwrap_or(hash).to_owned()).collect::<FxHashSet<_>>()
    };
    let (one, other) = (hashes(one), hashes(other));
    let algorithm = |hash: &String| hash.split('-').next().unwrap_or_default().to_owned();
    one.is_disjoint(&other) && one.iter().any(|hash| other.iter().any(|known| algorithm(hash) == algorithm(known)))
}
