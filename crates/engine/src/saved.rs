//! Which ranges go into `package.json` for what was installed, as npm's `reify.js` computes them.

use crate::request::{InstallRequest, Update};
use gantry_manifest::{DependencyKind, LockEntry, Lockfile, Manifest};
use gantry_resolver::{path_between, path_from, path_in_project};
use gantry_spec::{Range, Spec, SpecKind};

/// One manifest whose ranges are written.
pub(crate) struct Saving<'a> {
    request: &'a InstallRequest,
    lock: &'a Lockfile,
    /// Names of the project's workspaces.
    workspaces: &'a [String],
    /// The manifest's folder, relative to the project; empty for the project itself.
    folder: &'a str,
}

impl<'a> Saving<'a> {
    /// Of the manifest in `folder` of a project with these workspaces, by the lock of what is in the tree.
    pub fn new(request: &'a InstallRequest, lock: &'a Lockfile, (workspaces, folder): (&'a [String], &'a str)) -> Self {
        Self { request, lock, workspaces, folder }
    }

    /// The direct dependencies whose ranges `npm update --save` writes anew: those that were named, or all, if they are in the
    /// project's own `node_modules`, but for those of which anybody asks for exactly one version.
    pub fn updated(&self, update: &Update, manifest: &Manifest) -> Vec<String> {
        let own = [&manifest.dependencies, &manifest.dev_dependencies, &manifest.optional_dependencies];
        // Peers that are ignored lead to nothing.
        let peers = (!self.request.resolve.legacy_peer_deps).then_some(&manifest.peer_dependencies);
        let lists = own.into_iter().chain(peers);
        let listed = lists.flatten().map(|(name, _)| name.to_string());
        let mut names: Vec<String> = match update {
            Update::Nothing | Update::Duplicates => return Vec::new(),
            Update::All => listed.collect(),
            Update::Names(names) => listed.filter(|name| names.contains(name)).collect(),
        };
        names.sort_unstable();
        names.dedup();
        names.retain(|name| {
            let Some(installed) = installed_in(self.lock, self.folder, name) else { return true };
            installed.path == format!("node_modules/{name}") && !self.is_pinned(installed, name)
        });
        names
    }

    /// Writes the range of a dependency that is in the tree.
    pub fn save(&self, manifest: &mut Manifest, name: &str, kind: Option<DependencyKind>) {
        let Some(asked) = manifest.dependency(name).cloned() else { return };
        // An optional one that could not be had is not in the tree, and stays as it was asked for.
        let Some(installed) = installed_in(self.lock, self.folder, name) else { return };
        let Ok(spec) = Spec::parse(name, &asked) else { return };
        // The project saves a workspace by its version, whatever it was asked for by.
        let is_workspace =
            self.folder.is_empty() && installed.link && self.workspaces.iter().any(|workspace| workspace == name);
        let range = match is_workspace {
            true => Some(self.prefixed(installed)),
            false => self.range_of(name, &spec, installed),
        };
        let Some(range) = range else { return };
        let is_local = is_workspace || matches!(spec.kind, SpecKind::Directory { .. } | SpecKind::File { .. });
        let saved = Range::parse(&range);
        let fits = |known: &str| {
            let known = Range::parse(known);
            !is_local && matches!((&saved, &known), (Some(saved), Some(known)) if saved.intersects(known))
        };
        manifest.save_dependency(name, &range, kind, &fits);
    }

    /// The version of what is installed, or of what a link leads to, behind the prefix of saved ranges; `*` without a version.
    fn prefixed(&self, installed: &LockEntry) -> String {
        let version = found_at(self.lock, installed).and_then(|entry| entry.manifest.version.as_deref());
        version.map_or_else(|| "*".to_owned(), |version| format!("{}{version}", self.request.changes.prefix))
    }

    /// What goes into `package.json` for a dependency that is installed; `None` where it stays as it was asked for.
    fn range_of(&self, name: &str, spec: &Spec, installed: &LockEntry) -> Option<String> {
        match &spec.kind {
            SpecKind::Git(git) => Some(git.saved_by_install()),
            SpecKind::Remote { .. } => None,
            SpecKind::File { path } | SpecKind::Directory { path } => {
                let is_relative = !path.starts_with(['/', '~']);
                let path = if is_relative {
                    path_from(self.folder, path)
                } else {
                    path_in_project(&self.request.resolve, path)
                };
                Some(format!("file:{}", path_between(self.folder, &path)))
            }
            SpecKind::Version(_) | SpecKind::Range(_) | SpecKind::Tag(_) | SpecKind::Alias { .. } => {
                let with_prefix = self.prefixed(installed);
                let asked = spec.registry_target();
                let range = match &asked.kind {
                    // A range that allows less than the prefix would is kept; so is an empty one that a prerelease is not in.
                    SpecKind::Range(range) if asked.raw != "*" => {
                        let is_within = Range::parse(&with_prefix).is_some_and(|saved| saved.is_subset_of(range));
                        if is_within { with_prefix } else { asked.raw.clone() }
                    }
                    _ => with_prefix,
                };
                // What is there counts, and not what it was asked for by: the project's own alias, say, for what a workspace adds.
                let found = found_at(self.lock, installed).map_or(name, LockEntry::package_name);
                Some(if found == name { range } else { format!("npm:{found}@{range}") })
            }
        }
    }

    /// Whether somebody who finds `installed` asks for a range that no other version is in. What the project asks for under the name
    /// of a workspace does not count.
    fn is_pinned(&self, installed: &LockEntry, name: &str) -> bool {
        let lock = self.lock;
        let version = found_at(lock, installed).and_then(|entry| entry.manifest.version.as_deref());
        let Some(version) = version.and_then(Range::parse) else { return false };
        let is_workspace = self.workspaces.iter().any(|workspace| workspace == name);
        let is_exact = |entry: &&LockEntry| {
            let counts = !(is_workspace && entry.path.is_empty());
            let spec = entry.manifest.dependency(name).filter(|_| counts).and_then(|spec| Range::parse(spec));
            spec.is_some_and(|spec| spec.is_subset_of(&version))
        };
        let finds_it =
            |entry: &LockEntry| installed_in(lock, &entry.path, name).is_some_and(|found| found.path == installed.path);
        lock.packages.iter().filter(|entry| !entry.link).filter(is_exact).any(finds_it)
    }
}

/// What a folder finds under a name, as Node looks for it.
fn installed_in<'l>(lock: &'l Lockfile, folder: &str, name: &str) -> Option<&'l LockEntry> {
    let mut folder = folder;
    loop {
        let path = match folder {
            "" => format!("node_modules/{name}"),
            folder => format!("{folder}/node_modules/{name}"),
        };
        if let Some(entry) = lock.entry(&path) {
            return Some(entry);
        }
        if folder.is_empty() {
            return None;
        }
        folder = folder.rsplit_once('/').map_or("", |(above, _)| above);
    }
}

/// What is installed, or what a link leads to.
fn found_at<'l>(lock: &'l Lockfile, installed: &'l LockEntry) -> Option<&'l LockEntry> {
    match installed.link {
        true => lock.entry(installed.resolved.as_deref().unwrap_or_default()),
        false => Some(installed),
    }
}
