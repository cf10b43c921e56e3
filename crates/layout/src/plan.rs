//! What goes where.

use crate::{
    LayoutError, Omit,
    bins::{Commands, commands},
    paths,
    select::Selection,
};
use gantry_archive::Integrity;
use gantry_manifest::{LockEntry, LockText, Lockfile, Text};
use gantry_store::{PackageIndex, PackageKey};
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::{collections::BTreeSet, sync::Arc};

/// What `node_modules` consists of. All paths are relative to the project, with `/`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Plan {
    /// Packages, sorted by path (byte order): a package comes before those nested in it.
    pub packages: Vec<PlannedPackage>,
    /// Symbolic links, sorted by path (byte order).
    pub links: Vec<PlannedLink>,
    /// Files that a command names and that the store does not keep executable; sorted.
    pub executables: Vec<String>,
    /// Contents of `node_modules/.package-lock.json`.
    pub hidden_lock: Vec<u8>,
    /// Folders of the project's workspaces, whose `node_modules` an install may clear: those of other folders of the user's
    /// that the tree links to are their own. For whoever knows the project to fill in.
    pub workspaces: BTreeSet<String>,
}

impl Plan {
    /// What of a package's own files gives way to other parts of the plan: paths in the package, each a file or a folder
    /// with all that is in it. That is a package or link planned where the package's tarball has something too, in a
    /// `node_modules` that it carries. Who makes the tree leaves these out, whatever the order of making; for all but a few
    /// packages there are none.
    pub fn replaced_in(&self, package: &PlannedPackage, index: &PackageIndex) -> Vec<String> {
        let inside = |path: &str| path.strip_prefix(&package.path).is_some_and(|rest| rest.starts_with('/'));
        // Sorted, all inside follow each other, though not directly on the package itself ("a", "a-b", "a/c").
        let start = |path: &str| path.bytes().lt(package.path.bytes().chain(*b"/"));
        let packages = &self.packages[self.packages.partition_point(|other| start(&other.path))..];
        let links = &self.links[self.links.partition_point(|link| start(&link.path))..];
        let packages = packages.iter().map(|other| other.path.as_str()).take_while(|path| inside(path));
        let links = links.iter().map(|link| link.path.as_str()).take_while(|path| inside(path));
        let has = |path: &&str| index.file(path).is_some() || index.is_directory(path);
        let mut replaced: Vec<String> =
            packages.chain(links).map(|path| &path[package.path.len() + 1..]).filter(has).map(str::to_owned).collect();
        replaced.sort();
        replaced
    }
}

/// One package of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedPackage {
    /// Its folder: `node_modules/a`.
    pub path: String,
    /// Its content.
    pub key: PackageKey,
    /// Its name, which is not the folder's for an alias.
    pub name: Text,
    /// Its version.
    pub version: Text,
    /// Where it comes from.
    pub resolved: Option<Text>,
    /// What its tarball hashes to.
    pub integrity: Option<Text>,
}

/// One symbolic link of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedLink {
    /// Where it is.
    pub path: String,
    /// Where it leads, relative to the folder it is in.
    pub target: String,
    /// What it is for.
    pub kind: LinkKind,
}

/// What a link is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkKind {
    /// A package that is a folder of the user: a workspace or a `file:` dependency.
    Folder,
    /// A command of an installed package; its file is there.
    Command,
    /// A command of a package that is a folder of the user. npm makes no link if the file is missing, and makes the
    /// file executable.
    LocalCommand,
}

/// The packages that must be in the store for an install, sorted by path; a package that is at several paths comes once
/// for each. `owner` is the project, as [`package_key`] takes it.
pub fn wanted(
    lock: &Lockfile,
    inert: &BTreeSet<String>,
    omit: &Omit,
    owner: &str,
) -> Result<Vec<PlannedPackage>, LayoutError> {
    Selection::new(lock, inert, omit)?.packages().map(|entry| planned_package(entry, owner)).collect()
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

/// What goes where, by the text of a lock. `inert` are the paths of entries that do not fit the target, `index` gives the index
/// of a stored package; all that [`wanted`] names for this `owner` must be there.
pub fn plan(
    text: &LockText<'_>,
    inert: &BTreeSet<String>,
    omit: &Omit,
    owner: &str,
    index: &dyn Fn(&PackageKey) -> Option<Arc<PackageIndex>>,
) -> Result<Plan, LayoutError> {
    let selection = Selection::new(text.lock(), inert, omit)?;
    let packages = selection.packages().map(|entry| planned_package(entry, owner)).collect::<Result<Vec<_>, _>>()?;
    let contents = Contents::new(&packages, index)?;
    let Commands { links: commands, executables } = commands(&selection, &contents)?;
    let mut links = planned_links(&selection);
    links.extend(commands);
    links.sort_by(|left, right| left.path.cmp(&right.path));
    let hidden_lock = text.to_hidden_bytes(&|entry| selection.leaves_out(entry));
    Ok(Plan { packages, links, executables, hidden_lock, workspaces: BTreeSet::new() })
}

/// The indexes of all packages of a plan, by path.
pub(crate) struct Contents<'a>(FxHashMap<&'a str, Arc<PackageIndex>>);

impl<'a> Contents<'a> {
    /// Looks every package up; one that is not there is an error.
    pub fn new(
        packages: &'a [PlannedPackage],
        index: &dyn Fn(&PackageKey) -> Option<Arc<PackageIndex>>,
    ) -> Result<Self, LayoutError> {
        let mut indexes = FxHashMap::with_capacity_and_hasher(packages.len(), FxBuildHasher);
        for package in packages {
            let index = index(&package.key).ok_or_else(|| LayoutError::Missing {
                package: format!("{}@{}", package.name, package.version),
                path: package.path.clone(),
            })?;
            indexes.insert(package.path.as_str(), index);
        }
        Ok(Self(indexes))
    }

    /// The innermost package that `path` is in, and the rest of the path.
    pub fn package_of<'p>(&self, path: &'p str) -> Option<(&Arc<PackageIndex>, &'p str)> {
        path.rmatch_indices('/').find_map(|(end, _)| Some((self.0.get(&path[..end])?, &path[end + 1..])))
    }
}

/// The store's name for the package of a lock entry that has a tarball of its own: by what it hashes to, else by where it
/// comes from, else by what it is. What neither a hash nor a commit vouches for is stored for its `owner` alone, which is what
/// tells a project from the others that share the store: where it comes from depends on the project's settings and folder.
pub fn package_key(entry: &LockEntry, owner: &str) -> Result<PackageKey, LayoutError> {
    let resolved = entry.resolved.as_deref();
    Ok(match (&entry.integrity, resolved) {
        // A commit says more than what one compressor made of it.
        (_, Some(resolved)) if is_git(resolved) => PackageKey::from_address(resolved),
        (Some(integrity), _) => {
            let problem = || LayoutError::Integrity { path: entry.path.clone(), integrity: integrity.to_string() };
            PackageKey::from_integrity(&Integrity::parse(integrity).map_err(|_| problem())?)
        }
        (None, Some(address)) => PackageKey::of_owner(address, owner),
        (None, None) => PackageKey::of_owner(&entry.label(), owner),
    })
}

/// Whether the `resolved` of a lock is a commit of a git repository.
pub fn is_git(resolved: &str) -> bool {
    resolved.starts_with("git+") || resolved.starts_with("git:")
}

fn planned_package(entry: &LockEntry, owner: &str) -> Result<PlannedPackage, LayoutError> {
    Ok(PlannedPackage {
        path: entry.path.clone(),
        key: package_key(entry, owner)?,
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
