//! What an installation starts from as a tree: the project, its workspaces, and what a lock file lists.

use crate::error::ResolveError;
use crate::forest::{Anchors, Flags, Forest, Seed};
use crate::ids::{NodeId, PackageId};
use crate::names::{Names, Specs};
use crate::options::ResolveOptions;
use crate::overrides::Rules;
use crate::package::{Kind, Package, Peers, Top};
use crate::project::{Folder, Project};
use crate::resolver::sources::{SourceAnswer, package_of};
use crate::yarn;
use gantry_manifest::{LockEntry, Lockfile, Manifest, Text};
use gantry_spec::{GitSpec, Spec, SpecKind};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// What a lock says beside the tree.
#[derive(Debug, Default)]
pub(crate) struct Loaded {
    pub(crate) orphans: Vec<Orphan>,
    /// Packages of the folders whose manifests are known.
    pub(crate) folders: Vec<(String, PackageId)>,
}

/// An entry below a package that is not listed: nothing can find it there, but npm keeps it, marked as extraneous.
#[derive(Debug)]
pub(crate) struct Orphan {
    pub(crate) entry: LockEntry,
    /// The path of what is listed and nearest above it; it goes with that.
    pub(crate) below: Option<String>,
}

/// The project with what is known of the folders around it.
pub(crate) fn plant(
    project: Project,
    lock: Option<&Lockfile>,
    options: &ResolveOptions,
) -> Result<(Forest, Loaded), ResolveError> {
    let Project { root, workspaces, folders } = project;
    let (mut names, mut specs) = (Names::default(), Specs::default());
    let rules = Rules::parse(root.overrides.as_ref(), (&mut names, &mut specs))?;
    let package = Package::new(Arc::new(root), (None, None), (peers(options), Top::Yes), (&mut names, &mut specs));
    let mut forest = Forest::new(names, specs, rules, package);
    forest.anchors = Anchors { project: options.project_path.clone(), home: options.home_path.clone() };
    forest.is_from_nothing = lock.is_none() && !options.update_all;
    forest.installs_links = options.install_links;
    forest.is_global = options.global;
    let mut loaded = Loaded::default();
    for workspace in workspaces {
        let name = forest.names.intern(&workspace.name);
        forest.workspaces.push((name, workspace.path.as_str().into()));
        let (place, package) = known(&mut forest, workspace.into_folder(), options);
        forest.workspace_packages.insert(name, package);
        loaded.folders.push((place, package));
    }
    for folder in folders {
        loaded.folders.push(known(&mut forest, folder, options));
    }
    forest.load_root();
    if forest.is_from_nothing {
        // npm looks for a tree on disk, and finds the workspaces' folders: they are there before any link leads to them.
        for (_, place) in forest.workspaces.clone() {
            let known = loaded.folders.iter().find(|(folder, _)| **folder == *place);
            if let Some(&(_, package)) = known {
                forest.top_at(forest.root, &place, package);
            }
        }
    }
    if let Some(lock) = lock {
        load(&mut forest, &mut loaded, lock, options)?;
        if let Some(hints) = &options.yarn {
            yarn::complete(&mut forest, hints);
        }
        if !options.from_tree || is_doubtful(&forest, lock) {
            forest.reset_flags();
        }
        forest.calculate_flags();
    }
    Ok((forest, loaded))
}

/// Whether what a tree says its packages are there for is not believed: where it has workspaces, and where the project asks for
/// something in two ways, or by an override in another. npm means to see by that whether a `package.json` was edited, but compares
/// it with itself (`checkRootEdges` in its arborist's `load-virtual.js`).
fn is_doubtful(forest: &Forest, tree: &Lockfile) -> bool {
    let has_workspaces = forest.workspaces.iter().any(|(_, place)| tree.entry(place).is_some());
    let Manifest { dependencies, dev_dependencies, optional_dependencies, peer_dependencies, .. } =
        &*forest.package_of(forest.root).manifest;
    let is_optional = |name: &Text| optional_dependencies.iter().any(|(optional, _)| optional == name);
    let ordinary = dependencies.iter().filter(|(name, _)| !is_optional(name)).count();
    let listed = ordinary + dev_dependencies.len() + optional_dependencies.len() + peer_dependencies.len();
    let edges = || forest.node(forest.root).edges_out.iter().map(|&(_, edge)| edge);
    let own = edges().filter(|&edge| forest.edge(edge).kind != Kind::Workspace).count();
    has_workspaces || listed != own || edges().any(|edge| forest.effective_spec(edge) != forest.edge(edge).spec)
}

fn known(forest: &mut Forest, folder: Folder, options: &ResolveOptions) -> (String, PackageId) {
    let answer = SourceAnswer { manifest: folder.manifest, ..SourceAnswer::default() };
    (folder.path, package_of(forest, peers(options), answer))
}

/// Whether peer dependencies count under these options.
pub(crate) fn peers(options: &ResolveOptions) -> Peers {
    if options.legacy_peer_deps { Peers::Ignore } else { Peers::Load }
}

/// Puts everything the lock lists below the project.
fn load(
    forest: &mut Forest,
    loaded: &mut Loaded,
    lock: &Lockfile,
    options: &ResolveOptions,
) -> Result<(), ResolveError> {
    let root = forest.root;
    forest.locked_git = lock.packages.iter().flat_map(git_dependencies).collect();
    let entries = || lock.packages.iter().filter(|entry| !entry.path.is_empty());
    // Of a folder of the user, what its own package.json says now counts, where somebody has read it.
    let known: FxHashMap<String, PackageId> = loaded.folders.iter().cloned().collect();
    for entry in entries().filter(|entry| entry.is_top() && !entry.link) {
        let package = match known.get(&entry.path) {
            Some(&package) => package,
            None => folder_of_entry(forest, entry, options),
        };
        let top = forest.top_at(root, &entry.path, package);
        forest.nodes[top.index()].flags = flags_of(entry);
    }
    for entry in entries().filter(|entry| !entry.is_top() && !entry.link) {
        match find_parent(forest, &entry.path)? {
            Some((parent, folder)) => load_package(forest, entry, (parent, folder), options),
            None => {
                let above = entry.path.rmatch_indices("/node_modules/").map(|(end, _)| &entry.path[..end]);
                let below = above.into_iter().find(|folder| forest.at(root, folder).is_some()).map(str::to_owned);
                loaded.orphans.push(Orphan { entry: entry.clone(), below });
            }
        }
    }
    // A link can only be made once its target is there.
    for entry in entries().filter(|entry| entry.link) {
        let target = entry.resolved.as_deref().unwrap_or_default();
        let Some(target) = forest.at(root, target) else {
            let message = format!("refers to {target:?}, which does not exist");
            return Err(ResolveError::Lock { path: entry.path.clone(), message });
        };
        if let Some((parent, folder)) = find_parent(forest, &entry.path)? {
            let name = forest.names.intern(folder);
            let flags = forest.node(target).flags;
            let link = forest.new_link(name, target);
            forest.attach(link, parent);
            forest.nodes[link.index()].flags = flags;
        }
    }
    Ok(())
}

/// What an entry asks for that is a repository.
fn git_dependencies(entry: &LockEntry) -> impl Iterator<Item = ((String, String), GitSpec)> {
    let LockEntry { path, manifest, .. } = entry;
    // The last of the same name counts: npm looks into them the other way round, and takes the first.
    let maps = [
        &manifest.peer_dependencies,
        &manifest.dev_dependencies,
        &manifest.optional_dependencies,
        &manifest.dependencies,
    ];
    let all = maps.into_iter().flat_map(|map| map.iter()).filter(|(_, text)| text.contains(['/', ':']));
    all.filter_map(|(name, text)| match Spec::parse(name, text).ok()?.kind {
        SpecKind::Git(git) => Some(((path.clone(), name.to_string()), git)),
        _ => None,
    })
}

/// The node that the entry at `path` goes below, and the name of its folder. `None` below something that is not in the
/// lock.
fn find_parent<'a>(forest: &Forest, path: &'a str) -> Result<Option<(NodeId, &'a str)>, ResolveError> {
    let (above, folder) = match path.rsplit_once("/node_modules/") {
        Some((above, folder)) => (above, folder),
        None => ("", path.strip_prefix("node_modules/").unwrap_or_default()),
    };
    if folder.split('/').any(|part| matches!(part, "" | "." | ".." | "node_modules")) {
        let message = "is not the path of a package".to_owned();
        return Err(ResolveError::Lock { path: path.to_owned(), message });
    }
    Ok(forest.at(forest.root, above).map(|parent| (parent, folder)))
}

fn load_package(forest: &mut Forest, entry: &LockEntry, (parent, folder): (NodeId, &str), options: &ResolveOptions) {
    let mut manifest = entry.manifest.clone();
    manifest.name.get_or_insert_with(|| folder.into());
    let source = (entry.resolved.clone(), entry.integrity.clone());
    let tables = (&mut forest.names, &mut forest.specs);
    let package = Package::new(Arc::new(manifest), source, (peers(options), Top::No), tables);
    let package = forest.add_package(package);
    let name = forest.names.intern(folder);
    let seed = Seed { name, package, overrides: None, failure: None, from_lock: true };
    let node = forest.new_node(seed, Some(parent));
    forest.nodes[node.index()].flags = flags_of(entry);
}

fn folder_of_entry(forest: &mut Forest, entry: &LockEntry, options: &ResolveOptions) -> PackageId {
    let mut manifest = entry.manifest.clone();
    manifest.name.get_or_insert_with(|| entry.folder_name().into());
    package_of(forest, peers(options), SourceAnswer { manifest, ..SourceAnswer::default() })
}

/// Notes of packages what their entries say that they are there for, whatever follows from the tree.
pub(crate) fn take_flags(forest: &mut Forest, lock: &Lockfile) {
    let places: FxHashMap<String, NodeId> =
        forest.inventory().into_iter().map(|node| (forest.location(node), node)).collect();
    for entry in lock.packages.iter().filter(|entry| !entry.path.is_empty() && !entry.link) {
        if let Some(node) = places.get(&entry.path) {
            forest.nodes[node.index()].flags = flags_of(entry);
        }
    }
}

fn flags_of(entry: &LockEntry) -> Flags {
    Flags {
        extraneous: entry.extraneous,
        dev: entry.dev,
        optional: entry.optional,
        dev_optional: entry.dev_optional || entry.dev || entry.optional,
        peer: entry.peer,
    }
}
