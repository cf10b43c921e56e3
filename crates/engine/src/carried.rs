//! What packages carry in their own tarballs, below a `node_modules` of theirs.

use crate::host::{Host, PackageStore, ProjectTree};
use crate::in_place::InPlace;
use crate::request::{Extent, InstallRequest};
use crate::{EngineError, Fault};
use gantry_layout::{installed, wanted};
use gantry_manifest::{LockEntry, Lockfile, Manifest};
use gantry_resolver::{BundleContents, Project, carried_entries};
use gantry_store::{FileRecord, PackageKey};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

const SHRINKWRAP: &str = "npm-shrinkwrap.json";

/// The manifests of all packages below a stored package's own `node_modules`, and its shrinkwrap.
pub(crate) async fn contents_of<H: Host>(host: &H, key: &PackageKey) -> Result<BundleContents, Fault> {
    contents_where(host, key, |_| true).await
}

/// The same of folders (`node_modules/a/node_modules/b`) that `is_wanted` says; others are not read.
async fn contents_where<H: Host>(
    host: &H,
    key: &PackageKey,
    is_wanted: impl Fn(&str) -> bool,
) -> Result<BundleContents, Fault> {
    let Some(index) = host.store().index(key) else { return Ok(BundleContents::default()) };
    let mut shrinkwrap = match host.store().read_file(key, SHRINKWRAP).await? {
        // One that cannot be read is none, as for npm.
        Some(bytes) => Lockfile::parse(&bytes, SHRINKWRAP).ok(),
        None => None,
    };
    if let Some(lock) = &mut shrinkwrap {
        lock.packages.retain(|entry| !entry.path.is_empty() && is_wanted(&entry.path));
    }
    Ok(BundleContents { packages: manifests(host, key, &index.files, is_wanted).await?, shrinkwrap })
}

/// Entries for the packages that tarballs carry or list, and that a lock does not. A resolution that starts from a lock takes what
/// nothing needs out of it; and of a package that an install left out nobody knows what it brings along. npm finds them when it
/// makes the tree (`loadBundlesAndUpdateTrees` and `loadShrinkwrapsAndUpdateTrees` in its arborist's `reify.js`), and does not
/// where it makes none. All packages must be in the store; where only a part of the tree is made, `touched` is what of it.
pub(crate) async fn unlisted<H: Host>(
    host: &H,
    request: &InstallRequest,
    project: &Project,
    (lock, touched): (&Lockfile, Option<&BTreeSet<String>>),
    (inert, in_place): (&BTreeSet<String>, &InPlace),
) -> Result<Vec<LockEntry>, EngineError> {
    let is_unpacked = |path: &String| !inert.contains(path) && touched.is_none_or(|touched| touched.contains(path));
    let opened: FxHashSet<&str> = lock
        .packages
        .iter()
        .filter(|entry| is_opened(entry) && is_unpacked(&entry.path))
        .map(|entry| entry.path.as_str())
        .collect();
    if request.extent == Extent::LockOnly || opened.is_empty() {
        return Ok(Vec::new());
    }
    let listed: FxHashSet<&str> = lock.packages.iter().map(|entry| entry.path.as_str()).collect();
    let mut found = FxHashMap::default();
    for package in wanted(lock, inert, &request.omit, host.project().keys())? {
        if !opened.contains(package.path.as_str()) || in_place.has(&package.path) {
            continue;
        }
        let is_unlisted = |path: &str| !listed.contains(format!("{}/{path}", package.path).as_str());
        let contents = contents_where(host, &package.key, is_unlisted).await?;
        if !contents.packages.is_empty() || contents.shrinkwrap.as_ref().is_some_and(|lock| !lock.packages.is_empty()) {
            found.insert(package.path, contents);
        }
    }
    if found.is_empty() { Ok(Vec::new()) } else { Ok(carried_entries(project, lock, &request.resolve, found)?) }
}

/// An entry that a resolution found by looking into another package, and that package's path.
pub(crate) struct FoundInside {
    path: String,
    opened: String,
}

/// What the lock of a resolution has that is listed in or carried by another of its packages, and that the lock which was
/// started from lacks.
pub(crate) fn found_anew(lock: &Lockfile, start: Option<&Lockfile>) -> Vec<FoundInside> {
    let opened: FxHashMap<&str, &LockEntry> =
        lock.packages.iter().filter(|entry| is_opened(entry)).map(|entry| (entry.path.as_str(), entry)).collect();
    if opened.is_empty() {
        return Vec::new();
    }
    let known: FxHashSet<&str> = start.iter().flat_map(|start| &start.packages).map(|entry| &*entry.path).collect();
    let found = lock.packages.iter().filter(|entry| !known.contains(entry.path.as_str())).filter_map(|entry| {
        let above = entry.path.rmatch_indices("/node_modules/").map(|(end, _)| &entry.path[..end]);
        let folder = above.into_iter().find(|folder| opened.contains_key(folder))?;
        let is_of_it = entry.in_bundle || opened[folder].manifest.has_shrinkwrap;
        is_of_it.then(|| FoundInside { path: entry.path.clone(), opened: folder.to_owned() })
    });
    found.collect()
}

/// Takes out of a lock what was found in packages that this install does not unpack: npm looks into packages where it unpacks
/// them, and into none where it makes a lock alone for which it built no complete tree.
pub(crate) fn take_back(lock: &mut Lockfile, found: &[FoundInside], is_unpacked: impl Fn(&str) -> bool) {
    let gone: FxHashSet<&str> =
        found.iter().filter(|found| !is_unpacked(&found.opened)).map(|found| found.path.as_str()).collect();
    if !gone.is_empty() {
        lock.packages.retain(|entry| !gone.contains(entry.path.as_str()));
    }
}

/// Takes out of a lock what packages that are unpacked bring along and what has an integrity all the same: the registry's, which it
/// gets where a lock of version 1 is brought up to date. [`unlisted`] puts what the tarballs have in its place, as npm does.
pub(crate) fn give_up_carried(
    request: &InstallRequest,
    lock: &mut Lockfile,
    inert: &BTreeSet<String>,
) -> Result<(), EngineError> {
    let comes_alone = |entry: &LockEntry| entry.in_bundle && entry.integrity.is_some();
    if request.extent == Extent::LockOnly || !lock.packages.iter().any(comes_alone) {
        return Ok(());
    }
    let mut bundlers = installed(lock, inert, &request.omit)?;
    for entry in lock.packages.iter().filter(|entry| !is_opened(entry) || entry.manifest.bundle_dependencies.is_empty())
    {
        bundlers.remove(&entry.path);
    }
    let is_carried = |entry: &LockEntry| {
        let mut above = entry.path.rmatch_indices("/node_modules/").map(|(end, _)| &entry.path[..end]);
        comes_alone(entry) && above.any(|folder| bundlers.contains(folder))
    };
    lock.packages.retain(|entry| !is_carried(entry));
    Ok(())
}

/// Whether a package other than the project says that it brings others along, or lists them.
fn is_opened(entry: &LockEntry) -> bool {
    let says_so = !entry.manifest.bundle_dependencies.is_empty() || entry.manifest.has_shrinkwrap;
    !entry.path.is_empty() && !entry.link && says_so
}

/// The manifests of packages among the files of a stored one. npm too passes over those that it cannot read.
async fn manifests<H: Host>(
    host: &H,
    key: &PackageKey,
    files: &[FileRecord],
    is_wanted: impl Fn(&str) -> bool,
) -> Result<Vec<(String, Manifest)>, Fault> {
    let mut found = Vec::new();
    let folders = files.iter().filter_map(|file| carried_folder(&file.path));
    for folder in folders.filter(|folder| is_wanted(folder)) {
        let path = format!("{folder}/package.json");
        let bytes = host.store().read_file(key, &path).await?.unwrap_or_default();
        if let Ok(mut manifest) = Manifest::parse_package_json(&bytes, &path) {
            manifest.read_commands(files.iter().filter_map(|file| file.path.strip_prefix(folder)?.strip_prefix('/')));
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
