//! What packages carry in their own tarballs, below a `node_modules` of theirs.

use crate::host::{Host, PackageStore, ProjectTree};
use crate::in_place::InPlace;
use crate::request::{Extent, InstallRequest};
use crate::{EngineError, Fault};
use gantry_layout::wanted;
use gantry_manifest::{LockEntry, Lockfile, Manifest};
use gantry_resolver::{BundleContents, Project, carried_entries};
use gantry_store::PackageKey;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

const SHRINKWRAP: &str = "npm-shrinkwrap.json";

/// The manifests of all packages below a stored package's own `node_modules`, and its shrinkwrap.
pub(crate) async fn contents_of<H: Host>(host: &H, key: &PackageKey) -> Result<BundleContents, Fault> {
    let Some(index) = host.store().index(key) else { return Ok(BundleContents::default()) };
    let shrinkwrap = match host.store().read_file(key, SHRINKWRAP).await? {
        // One that cannot be read is none, as for npm.
        Some(bytes) => Lockfile::parse(&bytes, SHRINKWRAP).ok(),
        None => None,
    };
    let folders = index.files.iter().filter_map(|file| carried_folder(&file.path));
    Ok(BundleContents { packages: manifests(host, key, folders).await?, shrinkwrap })
}

/// Entries for the packages that tarballs carry although nothing needs them, and that a lock does not list. A resolution that
/// starts from a lock takes them out of it with everything else that nobody asks for; npm finds them again when it makes the
/// tree (`loadBundlesAndUpdateTrees` in its arborist's `reify.js`), and does not where it makes none. All packages must be in
/// the store.
pub(crate) async fn unneeded<H: Host>(
    host: &H,
    request: &InstallRequest,
    project: &Project,
    lock: &Lockfile,
    (inert, in_place): (&BTreeSet<String>, &InPlace),
) -> Result<Vec<LockEntry>, EngineError> {
    let is_installed = |entry: &&LockEntry| is_bundler(entry) && !inert.contains(&entry.path);
    let bundlers: FxHashSet<&str> =
        lock.packages.iter().filter(is_installed).map(|entry| entry.path.as_str()).collect();
    if request.extent == Extent::LockOnly || bundlers.is_empty() {
        return Ok(Vec::new());
    }
    let listed: FxHashSet<&str> = lock.packages.iter().map(|entry| entry.path.as_str()).collect();
    let mut found = FxHashMap::default();
    for package in wanted(lock, inert, &request.omit, host.project().owner())? {
        let index = host.store().index(&package.key).filter(|_| bundlers.contains(package.path.as_str()));
        let Some(index) = index.filter(|_| !in_place.has(&package.path)) else { continue };
        let folders = index.files.iter().filter_map(|file| carried_folder(&file.path));
        let unlisted = folders.filter(|folder| !listed.contains(format!("{}/{folder}", package.path).as_str()));
        let packages = manifests(host, &package.key, unlisted).await?;
        if !packages.is_empty() {
            found.insert(package.path, packages);
        }
    }
    if found.is_empty() { Ok(Vec::new()) } else { Ok(carried_entries(project, lock, &request.resolve, found)?) }
}

/// Whether a package other than the project says that it brings others along.
fn is_bundler(entry: &LockEntry) -> bool {
    !entry.path.is_empty() && !entry.link && !entry.manifest.bundle_dependencies.is_empty()
}

/// The manifests of folders of a stored package. npm too passes over those that it cannot read.
async fn manifests<H: Host>(
    host: &H,
    key: &PackageKey,
    folders: impl Iterator<Item = &str>,
) -> Result<Vec<(String, Manifest)>, Fault> {
    let mut found = Vec::new();
    for folder in folders {
        let path = format!("{folder}/package.json");
        let bytes = host.store().read_file(key, &path).await?.unwrap_or_default();
        if let Ok(manifest) = Manifest::parse_package_json(&bytes, &path) {
            found.push((folder.to_owned(), manifest));
        }
    }
    Ok(found)
}

/// The folder whose manifest `path` is, if that is a package directly in some `node_modules` of the tarball.
fn carried_folder(path: &str) -> Option<&str> {
    let folder = path.strip_suffix("/package.json")?;
    let mut rest = folder;
    loop {
        let inside = rest.strip_prefix("node_modules/")?;
        let names = if inside.starts_with('@') { 2 } else { 1 };
        let length = inside.split('/').take(names).map(|part| part.len() + 1).sum::<usize>() - 1;
        match inside.get(length..)? {
            "" => return (inside.split('/').count() == names).then_some(folder),
            more => rest = more.trim_start_matches('/'),
        }
    }
}
