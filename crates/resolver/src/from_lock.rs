//! A lock file as the tree to start from.

use crate::error::ResolveError;
use crate::forest::{Flags, Forest, Seed};
use crate::ids::NodeId;
use crate::names::{Names, Specs};
use crate::options::ResolveOptions;
use crate::overrides::Rules;
use crate::package::{Package, Peers, Top};
use gantry_manifest::{LockEntry, Lockfile, Manifest};
use std::sync::Arc;

/// The project alone.
pub(crate) fn plant(root: Manifest, options: &ResolveOptions) -> Result<Forest, ResolveError> {
    let (mut names, mut specs) = (Names::default(), Specs::default());
    let rules = Rules::parse(root.overrides.as_ref(), (&mut names, &mut specs))?;
    let package = Package::new(Arc::new(root), (None, None), (peers(options), Top::Yes), (&mut names, &mut specs));
    Ok(Forest::new(names, specs, rules, package))
}

/// Whether peer dependencies count under these options.
pub(crate) fn peers(options: &ResolveOptions) -> Peers {
    if options.legacy_peer_deps { Peers::Ignore } else { Peers::Load }
}

/// Puts everything the lock lists below the project. What comes back are entries below packages that are not listed:
/// nothing can find them there, but npm keeps them, marked as extraneous.
pub(crate) fn load(
    forest: &mut Forest,
    lock: &Lockfile,
    options: &ResolveOptions,
) -> Result<Vec<LockEntry>, ResolveError> {
    let mut orphans = Vec::new();
    let entries = || lock.packages.iter().filter(|entry| !entry.path.is_empty());
    for entry in entries() {
        let unsupported = |missing: &str| {
            let (dependency, missing) = (entry.path.clone(), missing.to_owned());
            Err(ResolveError::Unsupported { dependency, missing, wanted_by: Vec::new() })
        };
        let is_inside = |path: &str| path.starts_with("node_modules/");
        if !is_inside(&entry.path) {
            return unsupported("packages outside node_modules (workspaces, folders) are");
        }
        if !entry.link {
            match find_parent(forest, &entry.path)? {
                Some((parent, folder)) => load_package(forest, entry, (parent, folder), options),
                None => orphans.push(entry.clone()),
            }
        } else if !entry.resolved.as_deref().is_some_and(is_inside) {
            return unsupported("links to folders (workspaces) are");
        }
    }
    // A link can only be made once its target is there.
    for entry in entries().filter(|entry| entry.link) {
        let target = entry.resolved.as_deref().unwrap_or_default();
        let Some(target) = find(forest, target) else {
            let message = format!("refers to {target:?}, which does not exist");
            return Err(ResolveError::Lock { path: entry.path.clone(), message });
        };
        if let Some((parent, folder)) = find_parent(forest, &entry.path)? {
            let name = forest.names.intern(folder);
            let flags = forest.node(target).flags;
            let link = forest.new_link(name, parent, target);
            forest.nodes[link.index()].flags = flags;
        }
    }
    Ok(orphans)
}

/// The node at a path.
fn find(forest: &Forest, path: &str) -> Option<NodeId> {
    let mut node = forest.root;
    for segment in path.strip_prefix("node_modules/")?.split("/node_modules/") {
        let name = forest.names.folded(forest.names.find(segment)?);
        node = forest.node(node).children.get(name)?;
    }
    Some(node)
}

/// The node that the entry at `path` goes below, and the name of its folder. `None` below something that is not in the
/// lock.
fn find_parent<'a>(forest: &Forest, path: &'a str) -> Result<Option<(NodeId, &'a str)>, ResolveError> {
    let (above, folder) = match path.rsplit_once("/node_modules/") {
        Some((above, folder)) => (Some(above), folder),
        None => (None, &path["node_modules/".len()..]),
    };
    if folder.split('/').any(|part| matches!(part, "" | "." | ".." | "node_modules")) {
        let message = "is not the path of a package".to_owned();
        return Err(ResolveError::Lock { path: path.to_owned(), message });
    }
    let parent = above.map_or(Some(forest.root), |above| find(forest, above));
    Ok(parent.map(|parent| (parent, folder)))
}

fn load_package(forest: &mut Forest, entry: &LockEntry, (parent, folder): (NodeId, &str), options: &ResolveOptions) {
    let mut manifest = entry.manifest.clone();
    manifest.name.get_or_insert_with(|| folder.to_owned());
    let share = |text: &Option<String>| text.as_deref().map(Arc::from);
    let source = (share(&entry.resolved), share(&entry.integrity));
    let tables = (&mut forest.names, &mut forest.specs);
    let package = Package::new(Arc::new(manifest), source, (peers(options), Top::No), tables);
    let package = forest.add_package(package);
    let name = forest.names.intern(folder);
    let seed = Seed { name, package, overrides: None, failure: None, from_lock: true };
    let node = forest.new_node(seed, Some(parent));
    forest.nodes[node.index()].flags = Flags {
        extraneous: entry.extraneous,
        dev: entry.dev,
        optional: entry.optional,
        dev_optional: entry.dev_optional || entry.dev || entry.optional,
        peer: entry.peer,
    };
}
