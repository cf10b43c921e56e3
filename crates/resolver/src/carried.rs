//! Packages that tarballs carry and a lock does not list.

use crate::BundleContents;
use crate::error::ResolveError;
use crate::ids::NodeId;
use crate::options::ResolveOptions;
use crate::project::Project;
use crate::start::builder;
use gantry_manifest::{LockEntry, Lockfile};
use rustc_hash::{FxHashMap, FxHashSet};

/// The entries of packages that were found in the tarballs of others, or listed there, and that are not in the lock.
///
/// `found` has, by the path of a package in the lock, what its tarball carries and lists, without what is in the lock. What is
/// found in no package of the lock is passed over.
pub fn carried_entries(
    project: &Project,
    lock: &Lockfile,
    options: &ResolveOptions,
    mut found: FxHashMap<String, BundleContents>,
) -> Result<Vec<LockEntry>, ResolveError> {
    let mut builder = builder(project.clone(), Some(lock), options.clone())?;
    let known: FxHashSet<NodeId> = builder.forest.inventory().into_iter().collect();
    for &node in &known {
        if let Some(contents) = found.remove(&builder.forest.location(node)) {
            builder.unpack_bundle(node, &contents.with_identity());
        }
    }
    let added = builder.forest.inventory().into_iter().filter(|node| !known.contains(node));
    Ok(added.map(|node| builder.entry(builder.forest.location(node), node)).collect())
}
