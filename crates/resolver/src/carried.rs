//! Packages that tarballs carry and a lock does not list.

use crate::error::ResolveError;
use crate::ids::NodeId;
use crate::options::ResolveOptions;
use crate::project::Project;
use crate::start::builder;
use gantry_manifest::{LockEntry, Lockfile, Manifest};
use rustc_hash::{FxHashMap, FxHashSet};

/// The entries of packages that were found in the tarballs of others and that nothing in the lock needs.
///
/// `found` has, by the path of a package in the lock, what its tarball carries: each one's path within that package
/// (`node_modules/a/node_modules/b`) and its manifest. None of them is in the lock. What is found in no package of the lock is
/// passed over.
pub fn carried_entries(
    project: &Project,
    lock: &Lockfile,
    options: &ResolveOptions,
    mut found: FxHashMap<String, Vec<(String, Manifest)>>,
) -> Result<Vec<LockEntry>, ResolveError> {
    let mut builder = builder(project.clone(), Some(lock), options.clone())?;
    let known: FxHashSet<NodeId> = builder.forest.inventory().into_iter().collect();
    for &node in &known {
        let carried = found.remove(&builder.forest.location(node)).unwrap_or_default();
        builder.unpack(node, carried.iter().map(|(path, manifest)| (path.as_str(), manifest, (None, None))).collect());
    }
    let added = builder.forest.inventory().into_iter().filter(|node| !known.contains(node));
    Ok(added.map(|node| builder.entry(builder.forest.location(node), node)).collect())
}
