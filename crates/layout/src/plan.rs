//! Making a plan from a lock.

use crate::{
    LayoutError, LinkKind, Omit, PackageKeys, Plan, PlannedLink, PlannedPackage,
    bins::{Commands, commands},
    contents::Contents,
    paths,
    select::Selection,
};
use gantry_manifest::{LockEntry, LockText, Lockfile};
use gantry_store::{PackageIndex, PackageKey};
use std::{collections::BTreeSet, sync::Arc};

/// The packages that must be in the store for an install, sorted by path; a package that is at several paths comes once
/// for each.
pub fn wanted(
    lock: &Lockfile,
    inert: &BTreeSet<String>,
    omit: &Omit,
    keys: PackageKeys<'_>,
) -> Result<Vec<PlannedPackage>, LayoutError> {
    Selection::new(lock, inert, omit)?.packages().map(|entry| planned_package(entry, keys)).collect()
}

/// Paths of all entries that are not left out, the root and the folders of the user among them.
pub fn installed(lock: &Lockfile, inert: &BTreeSet<String>, omit: &Omit) -> Result<BTreeSet<String>, LayoutError> {
    let selection = Selection::new(lock, inert, omit)?;
    let entries = lock.packages.iter().filter(|entry| !selection.leaves_out(entry));
    Ok(entries.map(|entry| entry.path.clone()).collect())
}

/// The links to folders of the user that an install makes, sorted by path. As [`wanted`], this needs no package.
pub fn linked_folders(lock: &Lockfile, inert: &BTreeSet<String>, omit: &Omit) -> Result<Vec<PlannedLink>, LayoutError> {
    Ok(planned_links(&Selection::new(lock, inert, omit)?))
}

/// The links to folders of the user that are in the tree of a lock, and those to their commands, whether the files of these are
/// there or not. As [`wanted`], this needs no package.
pub fn linked_commands(lock: &Lockfile) -> Result<Vec<PlannedLink>, LayoutError> {
    let selection = Selection::new(lock, &BTreeSet::new(), &Omit::default())?;
    let mut links = planned_links(&selection);
    links.extend(commands(&selection, &Contents::default())?.links);
    Ok(links)
}

/// What goes where, by the text of a lock. `inert` are the paths of entries that do not fit the target, `index` gives the index
/// of a stored package; all that [`wanted`] names must be there.
pub fn plan(
    text: &LockText<'_>,
    inert: &BTreeSet<String>,
    omit: &Omit,
    keys: PackageKeys<'_>,
    index: &dyn Fn(&PackageKey) -> Option<Arc<PackageIndex>>,
) -> Result<Plan, LayoutError> {
    let selection = Selection::new(text.lock(), inert, omit)?;
    let packages = selection.packages().map(|entry| planned_package(entry, keys)).collect::<Result<Vec<_>, _>>()?;
    let contents = Contents::new(&packages, index)?;
    let Commands { links: commands, executables } = commands(&selection, &contents)?;
    let mut links = planned_links(&selection);
    links.extend(commands);
    links.sort_by(|left, right| left.path.cmp(&right.path));
    let hidden_lock = text.to_hidden_bytes(&|entry| selection.leaves_out(entry));
    Ok(Plan { packages, links, executables, hidden_lock, ..Plan::default() })
}

fn planned_package(entry: &LockEntry, keys: PackageKeys<'_>) -> Result<PlannedPackage, LayoutError> {
    Ok(PlannedPackage {
        path: entry.path.clone(),
        key: keys.of(entry)?,
        name: entry.package_name().into(),
        version: entry.manifest.version.clone().unwrap_or_default(),
        resolved: entry.resolved.clone(),
        integrity: entry.integrity.clone(),
    })
}

fn planned_links(selection: &Selection<'_>) -> Vec<PlannedLink> {
    selection.placed().iter().filter(|entry| entry.link).map(|entry| planned_link(entry)).collect()
}

fn planned_link(entry: &LockEntry) -> PlannedLink {
    let folder = entry.resolved.as_deref().unwrap_or_default();
    let folder = folder.strip_prefix("file:").unwrap_or(folder);
    let is_absolute = folder.starts_with('/');
    let target = if is_absolute { folder.to_owned() } else { paths::relative(paths::parent(&entry.path), folder) };
    PlannedLink { path: entry.path.clone(), target, kind: LinkKind::Folder }
}

#[cfg(test)]
mod tests;
