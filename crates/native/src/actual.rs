//! What is really in `node_modules`, where no hidden lock tells: every folder there and below, with what its own
//! `package.json` says.
//!
//! npm's rule (`loadActual` of arborist): such packages may stay where they are as long as somebody asks for what they are,
//! and where they came from is not known. Links to folders of the user are followed, out of the project only to the folder
//! itself. A tree whose links lead to other packages, as some installers make them, is not understood: then there is
//! nothing to start from. Costs one listing and one small file a package.

use crate::NativeError;
use crate::hidden_lock::relative_to;
use crate::tops::top_of;
use crate::workspace::{entries, is_directory};
use gantry_manifest::{LockEntry, Lockfile, Manifest};
use gantry_store::{FileRecord, PackageFacts, PackageIndex};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

const MODULES: &str = "node_modules";
/// Folders nested deeper than this have no end.
const MOST_LEVELS: usize = 400;

/// The tree of a project, without its root; `None` if there is nothing, or nothing that is understood. `tops` are folders of
/// the user that belong to the project whether a link leads to them or not.
pub(crate) fn scanned(project: &Path, tops: &[String]) -> Option<Lockfile> {
    let project = fs::canonicalize(project).ok()?;
    let mut scan = Scan::of(&project, false);
    for top in tops {
        scan.add_top(top);
    }
    let packages = scan.run()?;
    packages.iter().any(|entry| !entry.is_top()).then(|| Lockfile { packages, ..Lockfile::default() })
}

/// What is installed for the whole machine, where links may lead anywhere.
pub(crate) fn scanned_globally(project: &Path) -> Lockfile {
    let packages = fs::canonicalize(project).ok().and_then(|project| Scan::of(&project, true).run());
    Lockfile { packages: packages.unwrap_or_default(), ..Lockfile::default() }
}

struct Scan<'a> {
    project: &'a Path,
    entries: BTreeMap<String, LockEntry>,
    /// Folders whose `node_modules` are still to be looked at, and how deep they are.
    open: Vec<(String, usize)>,
    /// Whether links may lead to where packages are.
    follows_all: bool,
}

impl<'a> Scan<'a> {
    fn of(project: &'a Path, follows_all: bool) -> Self {
        Self { project, entries: BTreeMap::new(), open: vec![(String::new(), 0)], follows_all }
    }

    /// Looks at everything; `None` if that is not understood.
    fn run(mut self) -> Option<Vec<LockEntry>> {
        while let Some((folder, level)) = self.open.pop() {
            self.visit(&folder, level)?;
        }
        Some(self.entries.into_values().collect())
    }

    /// Looks at what is in the `node_modules` of a folder; `None` if that is not understood.
    fn visit(&mut self, folder: &str, level: usize) -> Option<()> {
        let modules = if folder.is_empty() { MODULES.to_owned() } else { format!("{folder}/{MODULES}") };
        // npm puts a folder in the place of one that is a link.
        if !is_directory(&self.project.join(&modules)) {
            return Some(());
        }
        for path in self.packages_in(&modules) {
            let place = self.project.join(&path);
            let Ok(metadata) = fs::symlink_metadata(&place) else { continue };
            if metadata.is_symlink() {
                self.add_link(path, &place)?;
            } else if metadata.is_dir() && level < MOST_LEVELS {
                self.entries.insert(path.clone(), LockEntry { manifest: manifest_in(&place), ..entry(&path) });
                self.open.push((path, level + 1));
            }
        }
        Some(())
    }

    /// Paths of what lies in a `node_modules`.
    fn packages_in(&self, modules: &str) -> Vec<String> {
        let names = names_in(&self.project.join(modules)).unwrap_or_default().into_iter();
        names.map(|name| format!("{modules}/{name}")).collect()
    }

    fn add_link(&mut self, path: String, place: &Path) -> Option<()> {
        // One that leads nowhere is as good as absent.
        let Ok(target) = fs::canonicalize(place) else { return Some(()) };
        let target = relative_to(self.project, &target).filter(|_| is_directory(&target))?;
        if !self.follows_all && !target.starts_with("../") && target.split('/').any(|part| part == MODULES) {
            return None;
        }
        self.add_top(&target);
        self.entries.insert(path.clone(), LockEntry { link: true, resolved: Some(target.into()), ..entry(&path) });
        Some(())
    }

    fn add_top(&mut self, top: &str) {
        if top.is_empty() || self.entries.contains_key(top) {
            return;
        }
        let manifest = manifest_in(&self.project.join(top));
        self.entries.insert(top.to_owned(), LockEntry { manifest, ..entry(top) });
        if !top.starts_with("..") {
            self.open.push((top.to_owned(), 0));
        }
    }
}

/// Names of what lies in a `node_modules`, scopes entered. Those with a dot in front are nobody's business.
pub(crate) fn names_in(modules: &Path) -> Result<Vec<String>, NativeError> {
    let names = |folder: &Path| -> Result<Vec<String>, NativeError> {
        let names = entries(folder)?.into_iter().filter_map(|name| name.into_string().ok());
        Ok(names.filter(|name| !name.starts_with('.')).collect())
    };
    let mut found = Vec::new();
    for name in names(modules)? {
        if !name.starts_with('@') {
            found.push(name);
        } else if is_directory(&modules.join(&name)) {
            found.extend(
                names(&modules.join(&name)).unwrap_or_default().into_iter().map(|inner| format!("{name}/{inner}")),
            );
        }
    }
    Ok(found)
}

/// How many packages a folder is, with those nested in it. One that is linked to is one.
pub(crate) fn count_packages(folder: &Path) -> usize {
    let mut count = 0;
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        count += 1;
        let modules = folder.join(MODULES);
        if is_directory(&folder) && is_directory(&modules) {
            open.extend(names_in(&modules).unwrap_or_default().into_iter().map(|name| modules.join(name)));
        }
    }
    count
}

/// What it is there for nothing tells: it may be for anything.
fn entry(path: &str) -> LockEntry {
    let path = path.to_owned();
    LockEntry { path, extraneous: true, dev: true, optional: true, peer: true, ..LockEntry::default() }
}

/// What a package says of itself; nothing where it says nothing that can be read.
fn manifest_in(folder: &Path) -> Manifest {
    let text = fs::read(folder.join("package.json")).unwrap_or_default();
    let mut manifest = Manifest::parse_package_json(&text, "package.json").unwrap_or_default();
    if let Some(commands) = &manifest.command_folder {
        let prefix = if commands.is_empty() { String::new() } else { format!("{commands}/") };
        let files = files_in(folder.join(&*prefix), prefix);
        manifest.read_commands(files.iter().map(|file| file.path.as_str()));
    }
    // Members that begin with an underscore are what installers of old have noted, and do not count.
    Manifest { has_shrinkwrap: false, ..manifest }
}

/// The package of this version at `path` as the store would list it, if it is there.
pub(crate) fn package_in_place(project: &Path, path: &str, version: &str) -> Option<PackageIndex> {
    has_version(project, path, version).then(|| package_at(project, path, version))
}

/// The package at `path` as the store would list it, as one of this version.
pub(crate) fn package_at(project: &Path, path: &str, version: &str) -> PackageIndex {
    let folder = project.join(path);
    let manifest = manifest_in(&folder);
    let facts = PackageFacts {
        name: manifest.name.as_deref().map(str::to_owned),
        version: Some(version.to_owned()),
        has_install_script: manifest.has_install_script,
        ..PackageFacts::default()
    };
    let mut files = files_in(folder, String::new());
    files.sort_by(|left, right| left.path.cmp(&right.path));
    let mut index = PackageIndex { files, facts };
    index.put_in_order();
    index
}

/// All that is below a folder and no folder itself; paths begin with `prefix`.
fn files_in(folder: PathBuf, prefix: String) -> Vec<FileRecord> {
    let mut files = Vec::new();
    let mut open = vec![(folder, prefix)];
    while let Some((directory, prefix)) = open.pop() {
        for name in entries(&directory).unwrap_or_default() {
            let path: PathBuf = directory.join(&name);
            let inside = format!("{prefix}{}", name.to_string_lossy());
            match fs::symlink_metadata(&path) {
                Ok(metadata) if metadata.is_dir() => open.push((path, format!("{inside}/"))),
                // Nothing is to be done about modes of what stays.
                Ok(metadata) => {
                    files.push(FileRecord { path: inside, offset: 0, size: metadata.len(), executable: true });
                }
                Err(_) => {}
            }
        }
    }
    files
}

/// Whether there is a package of this version at `path`, and neither it nor a folder above it in a `node_modules` is a link.
pub(crate) fn has_version(project: &Path, path: &str, version: &str) -> bool {
    is_at_its_place(project, path)
        && !version.is_empty()
        && manifest_in(&project.join(path)).version.as_deref() == Some(version)
}

/// Whether there is a folder at `path`, and neither it nor a folder above it in a `node_modules` is a link.
pub(crate) fn is_at_its_place(project: &Path, path: &str) -> bool {
    let top = top_of(path).map_or(0, str::len);
    let mut above = path.match_indices('/').map(|(at, _)| &path[..at]).filter(|above| above.len() > top);
    is_directory(&project.join(path)) && above.all(|above| is_directory(&project.join(above)))
}

#[cfg(test)]
mod tests;
