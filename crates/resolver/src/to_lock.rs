//! The finished tree as a lock file.

use crate::build::Builder;
use crate::forest::Node;
use crate::from_lock::Orphan;
use crate::ids::NodeId;
use gantry_manifest::{LockEntry, Lockfile, Manifest, Text};
use gantry_spec::compare_locale;
use rustc_hash::FxHashSet;
use std::collections::BTreeSet;

/// What an entry is made of.
enum Source<'a> {
    Node(NodeId),
    Orphan(&'a LockEntry),
}

impl Builder {
    /// The lock of the tree as it stands.
    pub(crate) fn to_lock(&self) -> Lockfile {
        let root = self.forest.package_of(self.forest.root);
        let nodes = self.forest.inventory().into_iter().skip(1);
        let nodes = nodes.filter(|&id| !self.is_left_out(id) && !self.is_stale(id));
        let mut places: Vec<(String, Source<'_>)> =
            nodes.map(|id| (self.forest.location(id), Source::Node(id))).collect();
        if !self.orphans.is_empty() {
            let mut listed: FxHashSet<String> = places.iter().map(|(path, _)| path.clone()).collect();
            for Orphan { entry, below } in &self.orphans {
                let below = below.as_deref().unwrap_or_default();
                let has_gone = !below.is_empty() && !listed.contains(below);
                let folders = entry.path.match_indices("/node_modules/").map(|(end, _)| &entry.path[..end]);
                let taken = folders.filter(|folder| folder.len() > below.len()).any(|folder| listed.contains(folder));
                if !taken && !has_gone {
                    listed.insert(entry.path.clone());
                    places.push((entry.path.clone(), Source::Orphan(entry)));
                }
            }
        }
        // Entries are large: they are made where they belong.
        places.sort_by(|(left, _), (right, _)| compare_locale(left, right));
        let mut packages: Vec<LockEntry> = Vec::with_capacity(places.len() + 1);
        let project = self.root_entry(&root.manifest);
        if project.manifest != Manifest::default() {
            packages.push(project);
        }
        packages.extend(places.into_iter().map(|(path, source)| match source {
            Source::Node(id) => self.entry(path, id),
            Source::Orphan(orphan) => LockEntry {
                extraneous: true,
                peer: false,
                dev: false,
                optional: false,
                dev_optional: false,
                ..orphan.clone()
            },
        }));
        let folder = Some(self.options.folder_name.as_str()).filter(|name| !name.is_empty());
        Lockfile {
            name: root.manifest.name.clone().filter(|name| !name.is_empty()).or(folder.map(Text::from)),
            version: root.manifest.version.clone().filter(|version| !version.is_empty()),
            packages,
            style: self.options.style.clone().unwrap_or_default(),
            ..Lockfile::default()
        }
    }

    /// Optional packages that could not be loaded: there is nothing that could be written.
    fn is_left_out(&self, id: NodeId) -> bool {
        self.forest.node(id).inert && self.forest.package_of(id).version_text.is_empty()
    }

    /// Whether it is a folder of the user that nobody asks for any more. One inside of another package's folder stays.
    fn is_stale(&self, id: NodeId) -> bool {
        let Node { flags, parent, fs_parent, link, .. } = *self.forest.node(id);
        let is_top = parent.is_none() && link.is_none();
        is_top && flags.extraneous && fs_parent.is_none_or(|above| above == self.forest.root)
    }

    /// The names of what is left out.
    pub(crate) fn left_out(&self) -> Vec<String> {
        let nodes = self.forest.inventory().into_iter().filter(|&id| self.is_left_out(id));
        nodes.map(|id| self.forest.names.text(self.forest.node(id).name).to_string()).collect()
    }

    /// Paths of what is in the lock but not to be installed. Folders of the user are where they are, as with npm.
    pub(crate) fn inert(&self) -> BTreeSet<String> {
        let is_inert = |id| self.forest.node(id).inert && self.forest.node(id).parent.is_some();
        let nodes = self.forest.inventory().into_iter();
        let nodes = nodes.filter(|&id| is_inert(id) && !self.is_left_out(id));
        nodes.map(|id| self.forest.location(id)).collect()
    }

    fn root_entry(&self, manifest: &Manifest) -> LockEntry {
        let manifest = Manifest { overrides: None, dist: None, ..manifest.clone() };
        LockEntry { manifest, ..LockEntry::default() }
    }

    /// The entry of one node, which is to be at `path`.
    pub(crate) fn entry(&self, path: String, id: NodeId) -> LockEntry {
        let node = self.forest.node(id);
        if let Some(target) = node.link {
            return LockEntry {
                path,
                link: true,
                resolved: Some(self.forest.location(target).into()),
                ..LockEntry::default()
            };
        }
        let package = self.forest.package_of(id);
        let name =
            package.name.filter(|&name| name != node.name).map(|name| Text::from(self.forest.names.text(name).clone()));
        let mut manifest = package.manifest.without_top();
        manifest.name = name;
        if node.parent.is_none() {
            manifest.dev_dependencies.clone_from(&package.manifest.dev_dependencies);
        }
        let flags = node.flags;
        let hidden = self.options.omit_resolved && self.is_from_registry(node);
        LockEntry {
            path,
            manifest,
            resolved: package.resolved.clone().filter(|_| !hidden),
            integrity: package.integrity.clone(),
            link: false,
            in_bundle: self.forest.bundler(id).is_some(),
            extraneous: flags.extraneous,
            peer: flags.peer && !flags.extraneous,
            dev: flags.dev && !flags.extraneous,
            optional: flags.optional && !flags.extraneous,
            dev_optional: flags.dev_optional && !flags.dev && !flags.optional && !flags.extraneous,
        }
    }

    /// Whether everybody who wants it wants it from a registry.
    fn is_from_registry(&self, node: &Node) -> bool {
        let is_registry = |spec| self.forest.specs.get(spec).parsed.as_ref().is_ok_and(|spec| spec.is_registry());
        !node.edges_in.is_empty() && node.edges_in.iter().all(|&edge| is_registry(self.forest.effective_spec(edge)))
    }
}
