//! What is asked of a finished lock: does it fit a `package.json`, and what of it is to be installed on a machine?

#[cfg(test)]
mod tests;

use crate::build::Builder;
use crate::error::{ResolveError, ResolveWarning};
use crate::forest::Node;
use crate::options::{InstallStrategy, ResolveOptions};
use crate::package::Kind;
use crate::project::Project;
use crate::resolver::Resolution;
use crate::start::builder;
use gantry_manifest::{LockEntry, Lockfile, Manifest};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// npm ci's check: does the lock hold what the manifest asks for, all the way down?
///
/// No packument is needed. `Ok` is final: npm ci takes the lock as it is. The messages name a missing package with what was
/// asked for, since nobody knows yet what would be installed, and a wrong one that npm would look at again and then keep,
/// such as a peer whose conflict was accepted, is among them. For npm's own verdict and list, resolve with `save: false` and
/// see [`lock_mismatches`].
pub fn lock_satisfies(project: &Project, lock: &Lockfile, options: &ResolveOptions) -> Result<(), Vec<String>> {
    let options = ResolveOptions { save: false, ..options.clone() };
    let mut builder = builder(project.clone(), Some(lock), options).map_err(|error| vec![error.to_string()])?;
    builder.start().map_err(|error| vec![error.to_string()])?;
    let mut messages = Vec::new();
    for node in builder.forest.inventory() {
        // What is outside of the project is somebody else's affair.
        if builder.forest.node(node).flags.extraneous || !builder.forest.is_inside(node) {
            continue;
        }
        for id in builder.problem_edges(node) {
            let edge = builder.forest.edge(id);
            let name = builder.forest.names.text(edge.name);
            let spec = &builder.forest.specs.get(builder.forest.effective_spec(id)).text;
            debug_assert_ne!(edge.kind, Kind::PeerOptional, "optional peers are left alone when nothing is saved");
            messages.push(match edge.to {
                None => format!("Missing: {name}@{spec} from lock file"),
                Some(to) => {
                    let version = &builder.forest.package_of(to).version_text;
                    format!("Invalid: lock file's {name}@{version} does not satisfy {name}@{spec}")
                }
            });
        }
    }
    if messages.is_empty() { Ok(()) } else { Err(messages) }
}

/// A lock that a resolution would leave as it is, but for packages that nobody asks for.
#[derive(Debug)]
pub struct SettledLock {
    builder: Builder,
    extraneous: BTreeSet<String>,
}

impl SettledLock {
    /// Whether a resolution would only take out of the lock what nobody asks for: it holds what the manifest asks for, and says
    /// of each package for whom it is there. Where nothing is saved optional peers are left alone, as by a resolution.
    pub fn of(project: &Project, lock: &Lockfile, options: ResolveOptions) -> Option<Self> {
        // Whether what it names may be had is for a resolution to say, as it is whether trees of that kind can be made.
        if !options.allowed.is_everything() || options.strategy == InstallStrategy::Linked {
            return None;
        }
        // A `yarn.lock` may know what is missing.
        let is_incomplete = |entry: &LockEntry| {
            !entry.link && !entry.is_top() && (entry.resolved.is_none() || entry.integrity.is_none())
        };
        if options.yarn.is_some() && lock.packages.iter().any(is_incomplete) {
            return None;
        }
        let mut builder = builder(project.clone(), Some(lock), options).ok()?;
        if builder.start().is_err() || !builder.orphans.is_empty() {
            return None;
        }
        let entries: FxHashMap<&str, &LockEntry> =
            lock.packages.iter().map(|entry| (entry.path.as_str(), entry)).collect();
        // What the lock leaves out of what a package brings along is looked for in its tarball.
        if builder.troubled().into_iter().any(|node| builder.is_packed(node)) {
            return None;
        }
        let mut extraneous = BTreeSet::new();
        for id in builder.forest.inventory() {
            let Node { flags, link, parent, .. } = *builder.forest.node(id);
            let location = builder.forest.location(id);
            let says_so = |entry: &&LockEntry| {
                let dev_optional = flags.dev_optional && !flags.dev && !flags.optional;
                let recorded = entry.dev_optional && !entry.dev && !entry.optional;
                let said = (entry.dev, entry.optional, entry.peer, recorded, entry.extraneous);
                said == (flags.dev, flags.optional, flags.peer, dev_optional, flags.extraneous)
                    && entry.in_bundle == builder.forest.bundler(id).is_some()
            };
            let is_recorded =
                || link.is_some() || parent.is_none() || entries.get(location.as_str()).is_some_and(says_so);
            // What is outside of the project is somebody else's affair.
            let is_content = || !builder.forest.is_inside(id) || builder.problem_edges(id).is_empty();
            if flags.extraneous && parent.is_some() && link.is_none() && is_content() {
                extraneous.insert(location);
            } else if flags.extraneous || !is_recorded() || !is_content() {
                return None;
            }
        }
        Some(Self { builder, extraneous })
    }

    /// Paths of the packages that nobody asks for. None of them is to be installed.
    pub fn extraneous(&self) -> &BTreeSet<String> {
        &self.extraneous
    }

    /// [`check_machine`] for what is left without the extraneous packages.
    pub fn check_machine(mut self) -> Result<MachineCheck, ResolveError> {
        for node in self.builder.forest.inventory().into_iter().rev() {
            if self.extraneous.contains(&self.builder.forest.location(node)) {
                self.builder.forest.remove(node);
            }
        }
        self.builder.warnings.clear();
        machine_check(self.builder)
    }
}

/// npm ci's list of what differs between a lock and the tree that was resolved from it: empty where they agree.
pub fn lock_mismatches(lock: &Lockfile, resolution: &Resolution) -> Vec<String> {
    let version = |manifest: &Manifest| manifest.version.clone().unwrap_or_default();
    let locked: FxHashMap<&str, _> = lock.packages.iter().map(|entry| (entry.path.as_str(), entry)).collect();
    let mut messages = Vec::new();
    for entry in resolution.lockfile.packages.iter().filter(|entry| !entry.path.is_empty() && !entry.link) {
        let (name, wanted) = (entry.folder_name(), version(&entry.manifest));
        match locked.get(entry.path.as_str()) {
            None => messages.push(format!("Missing: {name}@{wanted} from lock file")),
            // What a folder says of itself is read anew, whether it is linked to or a package is made of it.
            Some(known) if version(&known.manifest) != wanted && !entry.is_top() && !known.link => {
                let found = version(&known.manifest);
                messages.push(format!("Invalid: lock file's {name}@{found} does not satisfy {name}@{wanted}"));
            }
            Some(_) => {}
        }
    }
    messages.extend(resolution.left_out.iter().map(|name| format!("Missing: {name}@ from lock file")));
    messages
}

/// What becomes of a lock on a machine.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MachineCheck {
    /// Paths of the packages that are in the lock but not to be installed: optional ones made for other machines, with
    /// everything only they need.
    pub inert: BTreeSet<String>,
    /// Required packages that ask for another version of Node or npm.
    pub warnings: Vec<ResolveWarning>,
}

/// Checks every package of a lock against the machine of `options`, under its `force`, `engine_strict` and `omit_*`. A
/// required package that is not made for the machine is an error, as it is in a resolution.
pub fn check_machine(lock: &Lockfile, options: &ResolveOptions) -> Result<MachineCheck, ResolveError> {
    machine_check(planted(lock, options)?)
}

fn machine_check(mut builder: Builder) -> Result<MachineCheck, ResolveError> {
    builder.check_machine()?;
    Ok(MachineCheck { inert: builder.inert(), warnings: builder.warnings })
}

/// Paths of what goes when the package at `failed` cannot be had and those in `inert` are gone already: its dependants up
/// to an optional dependency, and what only they need. `None` where it is required.
pub fn optional_set(
    lock: &Lockfile,
    options: &ResolveOptions,
    failed: &str,
    inert: &BTreeSet<String>,
) -> Result<Option<BTreeSet<String>>, ResolveError> {
    let mut builder = planted(lock, options)?;
    let mut found = None;
    for node in builder.forest.inventory() {
        let path = builder.forest.location(node);
        builder.forest.nodes[node.index()].inert = inert.contains(&path);
        if path == failed {
            found = Some(node);
        }
    }
    let Some(node) = found else { return Ok(None) };
    if !builder.forest.node(node).flags.optional {
        return Ok(None);
    }
    let set = builder.forest.optional_set(node).into_iter();
    Ok(Some(set.map(|node| builder.forest.location(node)).collect()))
}

/// The lock's tree, as the lock's own first entry asks for it.
fn planted(lock: &Lockfile, options: &ResolveOptions) -> Result<Builder, ResolveError> {
    builder(Project::of_lock(lock), Some(lock), ResolveOptions { save: false, ..options.clone() })
}
