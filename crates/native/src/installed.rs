//! What an earlier install left in `node_modules`, and what a plan makes of it.
//!
//! The hidden lock tells what was installed. As for npm, it is trusted where it is the newest thing there: no folder of a
//! package and no folder of packages was changed after it. Where one was, another tool or a person was at work; then each
//! package is asked for its name and version, and what nobody planned goes. Costs two `lstat` a package, in the second case
//! a small file and a directory each.

use crate::actual;
use crate::footing::Footing;
use crate::hidden_lock::{self, HIDDEN_LOCK};
use crate::tops::{folders_with_modules, top_of};
use crate::workspace::{entries, is_directory};
use crate::{NativeError, PackageDirectories};
use gantry_engine::PackageStore;
use gantry_layout::{Plan, PlannedPackage, is_carried, is_folder, is_git};
use gantry_manifest::{LockEntry, Lockfile, Text};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// What the hidden lock says.
#[derive(Debug)]
pub(crate) struct Installed {
    /// Its text.
    pub hidden_lock: Vec<u8>,
    /// Path of each package, and what says [what is in it](content).
    packages: BTreeMap<String, Option<Text>>,
    /// Paths of links to folders of the user.
    links: BTreeSet<String>,
    /// Whether nothing was changed after it.
    pub is_newest: bool,
}

/// How a planned tree differs from the one that is there.
#[derive(Debug, Default)]
pub(crate) struct Difference<'p> {
    /// Packages that stay.
    pub kept: BTreeSet<&'p str>,
    /// Packages that stay although what they are nested in does not, parents first: they move into what takes its place. What
    /// is nested in them may be [kept](Self::kept).
    pub moved: Vec<&'p PlannedPackage>,
    /// Packages to put in place, parents first.
    pub new: Vec<&'p PlannedPackage>,
    /// Paths to remove, parents first.
    pub gone: Vec<String>,
    /// Links in whose places folders are to be. What is below them is not the project's, and stays.
    pub in_the_way: BTreeSet<String>,
}

impl Difference<'_> {
    /// Whether there is nothing to do.
    pub fn is_none(&self) -> bool {
        self.new.is_empty() && self.gone.is_empty() && self.in_the_way.is_empty()
    }

    /// Whether the way to `path` is through none of the links [in the way](Self::in_the_way).
    pub fn is_in_project(&self, path: &str) -> bool {
        let is_below = |link: &String| path.strip_prefix(link.as_str()).is_some_and(|rest| rest.starts_with('/'));
        !self.in_the_way.iter().any(is_below)
    }

    /// Whether a package stays what it is, if not where.
    pub fn stays(&self, path: &str) -> bool {
        self.kept.contains(path) || self.moved.iter().any(|moved| moved.path == path)
    }
}

impl Installed {
    /// What an install starts from. Where there is no hidden lock that is what may stay of the plan, if there is any such.
    pub fn of(project: &Path, plan: &Plan) -> Option<Self> {
        let may_stay = |package: &PlannedPackage| is_without_origin(package) && is_there(package, project);
        let unknown =
            || Self { hidden_lock: Vec::new(), packages: BTreeMap::new(), links: BTreeSet::new(), is_newest: false };
        let mut installed = Self::read(project).or_else(|| plan.packages.iter().any(may_stay).then(unknown))?;
        installed.is_newest &= plan.workspaces.iter().all(|workspace| {
            let modules = project.join(workspace).join("node_modules");
            changed(&modules).is_none_or(|time| changed(&project.join(HIDDEN_LOCK)).is_some_and(|lock| time <= lock))
        });
        Some(installed)
    }

    /// Whether a package that is made of a folder of the user stays as it is.
    pub fn has_copy(&self, project: &Path, package: &PlannedPackage) -> bool {
        let known = self.packages.get(&package.path).and_then(Option::as_ref);
        is_copy(package) && is_at_its_place(project, &package.path) && known == Some(&copied_content(package))
    }

    /// `None` where there is no tree that anything is known of.
    pub fn read(project: &Path) -> Option<Self> {
        if !is_directory(&project.join("node_modules")) {
            return None;
        }
        let (hidden_lock, lock) = hidden_lock::read(project)?;
        let links = lock.packages.iter().filter(|entry| entry.link).map(|entry| entry.path.clone()).collect();
        let entries = lock.packages.into_iter().filter(|entry| !entry.link && !is_carried(entry) && !entry.is_top());
        let of_entry = |entry: LockEntry| {
            let content = content(entry.integrity.as_ref(), entry.resolved.as_ref()).cloned();
            let version = entry.manifest.version.unwrap_or_default();
            let folder = entry.resolved.filter(|resolved| content.is_none() && is_folder(resolved));
            (entry.path, content.or_else(|| folder.map(|folder| made_of(&folder, &version))))
        };
        let packages: BTreeMap<_, _> = entries.map(of_entry).collect();
        let is_newest = is_newest(project, packages.keys().map(String::as_str));
        Some(Self { hidden_lock, packages, links, is_newest })
    }

    /// What is to be done for `plan`.
    pub fn difference<'p>(
        &self,
        plan: &'p Plan,
        project: &Path,
        store: &PackageDirectories,
    ) -> Result<Difference<'p>, NativeError> {
        let mut difference = Difference::default();
        let mut footing = Footing::new(project, plan);
        for package in &plan.packages {
            let link = footing.link_above(&package.path);
            difference.in_the_way.extend(link.map(str::to_owned));
            let known = self.packages.get(&package.path);
            let copied = is_copy(package).then(|| copied_content(package));
            let planned = copied.as_ref().or(content(package.integrity.as_ref(), package.resolved.as_ref()));
            let is_same =
                known.is_some_and(|known| known.is_some() && known.as_ref() == planned) || is_without_origin(package);
            // Packages come sorted by path, so a parent is decided before what is nested in it.
            let parent_stays = enclosing(&package.path).is_none_or(|parent| difference.stays(parent));
            let is_fine = is_same && link.is_none() && self.is_in_place(package, project, store);
            match (is_fine, parent_stays) {
                (true, true) => drop(difference.kept.insert(&package.path)),
                // No store has it.
                (true, false) if is_without_origin(package) || is_copy(package) => difference.moved.push(package),
                _ => difference.new.push(package),
            }
        }
        let planned: BTreeSet<&str> = plan.links.iter().map(|link| link.path.as_str()).collect();
        difference.in_the_way.extend(planned.iter().filter_map(|path| footing.link_above(path)).map(str::to_owned));
        let packages = self.packages.keys().filter(|path| !difference.stays(path));
        let links = self.links.iter().filter(|path| !planned.contains(path.as_str()));
        let mut gone: BTreeSet<String> =
            packages.chain(links).filter(|path| footing.link_above(path).is_none()).cloned().collect();
        if !self.is_newest {
            let staying =
                difference.kept.iter().copied().chain(difference.moved.iter().map(|moved| moved.path.as_str()));
            gone.extend(strays(plan, &staying.collect(), project, store)?);
        }
        difference.gone = gone.into_iter().collect();
        Ok(difference)
    }

    fn is_in_place(&self, package: &PlannedPackage, project: &Path, store: &PackageDirectories) -> bool {
        if is_without_origin(package) {
            return is_there(package, project);
        }
        if is_copy(package) {
            return is_at_its_place(project, &package.path);
        }
        let folder = project.join(&package.path);
        let manifest = folder.join("package.json");
        if self.is_newest {
            return fs::symlink_metadata(manifest).is_ok();
        }
        let Some(index) = store.index(&package.key).filter(|_| is_directory(&folder)) else { return false };
        let Ok(bytes) = fs::read(manifest) else { return false };
        let Ok(found) = serde_json::from_slice::<serde_json::Value>(&bytes) else { return false };
        let says = |member: &str, wanted: Option<&str>| found.get(member).and_then(|value| value.as_str()) == wanted;
        says("name", index.facts.name.as_deref()) && says("version", index.facts.version.as_deref())
    }
}

/// What says what is in a package: the commit that it is, else what its tarball hashes to.
fn content<'a>(integrity: Option<&'a Text>, resolved: Option<&'a Text>) -> Option<&'a Text> {
    resolved.filter(|resolved| is_git(resolved) && resolved.contains('#')).or(integrity)
}

/// Whether nothing tells where a package comes from: npm leaves one that is there as it is.
fn is_without_origin(package: &PlannedPackage) -> bool {
    package.resolved.is_none() && package.integrity.is_none()
}

/// Whether a package is made of a folder of the user: npm leaves one that is there as it is, too, where it is said to be of the
/// same folder and version.
fn is_copy(package: &PlannedPackage) -> bool {
    package.integrity.is_none() && package.resolved.as_deref().is_some_and(is_folder)
}

/// What is said of a package that is made of a folder.
fn made_of(folder: &str, version: &str) -> Text {
    format!("{folder} {version}").into()
}

fn copied_content(package: &PlannedPackage) -> Text {
    made_of(package.resolved.as_deref().unwrap_or_default(), &package.version)
}

/// Whether there is a package at `path`, and neither it nor a folder above it in a `node_modules` is a link.
fn is_at_its_place(project: &Path, path: &str) -> bool {
    actual::is_at_its_place(project, path) && fs::symlink_metadata(project.join(path).join("package.json")).is_ok()
}

fn is_there(package: &PlannedPackage, project: &Path) -> bool {
    actual::has_version(project, &package.path, &package.version)
}

/// Paths of what packages that stay brought along, though no store knows their files.
fn carried(plan: &Plan, kept: &BTreeSet<&str>) -> BTreeSet<String> {
    let is_unknown = |package: &PlannedPackage| is_without_origin(package) && kept.contains(package.path.as_str());
    if !plan.packages.iter().any(is_unknown) {
        return BTreeSet::new();
    }
    let lock = Lockfile::parse(&plan.hidden_lock, HIDDEN_LOCK).unwrap_or_default();
    lock.packages.into_iter().filter(|entry| entry.in_bundle).map(|entry| entry.path).collect()
}

/// Whether all of these packages' folders and the folders that they are in are there, no links, and older than the hidden lock.
fn is_newest<'a>(project: &Path, packages: impl Iterator<Item = &'a str>) -> bool {
    let Some(lock) = changed(&project.join(HIDDEN_LOCK)) else { return false };
    let mut folders = BTreeSet::from(["node_modules"]);
    for path in packages {
        folders.insert(path);
        folders.extend(path.rsplit_once('/').map(|(parent, _)| parent));
        if let Some((scope, _)) = path.rsplit_once('/').filter(|(parent, _)| !parent.ends_with("node_modules")) {
            folders.extend(scope.rsplit_once('/').map(|(parent, _)| parent));
        }
    }
    folders.into_iter().all(|folder| {
        fs::symlink_metadata(project.join(folder)).is_ok_and(|data| data.is_dir() && time_of(&data) <= lock)
    })
}

/// When something was changed, if it is there.
fn changed(path: &Path) -> Option<(i64, i64)> {
    fs::symlink_metadata(path).ok().as_ref().map(time_of)
}

fn time_of(metadata: &Metadata) -> (i64, i64) {
    (metadata.mtime(), metadata.mtime_nsec())
}

/// What lies among the packages and is none of the plan's: not planned, no link of it, and not what a package that stays
/// brought along. Names with a dot in front are nobody's business, as for npm.
fn strays(
    plan: &Plan,
    kept: &BTreeSet<&str>,
    project: &Path,
    store: &PackageDirectories,
) -> Result<Vec<String>, NativeError> {
    let links: BTreeSet<&str> = plan.links.iter().map(|link| link.path.as_str()).collect();
    let carried = carried(plan, kept);
    let mut strays = Vec::new();
    let mut look = |inside: Option<(&str, Option<&PlannedPackage>)>| -> Result<(), NativeError> {
        let prefix = inside.map_or(String::new(), |(folder, _)| format!("{folder}/"));
        // What a link leads to is not the project's.
        if !is_directory(&project.join(format!("{prefix}node_modules"))) {
            return Ok(());
        }
        let brought = inside.and_then(|(_, package)| store.index(&package?.key));
        let mut folders = vec!["node_modules".to_owned()];
        while let Some(folder) = folders.pop() {
            for name in entries(&project.join(format!("{prefix}{folder}")))? {
                let name = name.to_string_lossy();
                let inside = format!("{folder}/{name}");
                let path = format!("{prefix}{inside}");
                let stays = kept.contains(path.as_str()) || links.contains(path.as_str()) || carried.contains(&path);
                if name.starts_with('.') || stays {
                    continue;
                }
                if brought.as_ref().is_some_and(|index| index.file(&inside).is_some() || index.is_directory(&inside)) {
                    continue;
                }
                if name.starts_with('@') && folder == "node_modules" && is_directory(&project.join(&path)) {
                    folders.push(inside);
                } else {
                    strays.push(path);
                }
            }
        }
        Ok(())
    };
    look(None)?;
    let mut folders = folders_with_modules(plan);
    let own = plan.workspaces.iter().map(String::as_str);
    folders.extend(own);
    folders.into_iter().try_for_each(|folder| look(Some((folder, None))))?;
    plan.packages
        .iter()
        .filter(|package| kept.contains(package.path.as_str()))
        .try_for_each(|package| look(Some((&package.path, Some(package)))))?;
    Ok(strays)
}

/// The package that `path` is nested in: `node_modules/a` for `node_modules/a/node_modules/b`. What is in a folder of the user's
/// is in none: that stays.
fn enclosing(path: &str) -> Option<&str> {
    let parent = path.rfind("/node_modules/").map(|position| &path[..position])?;
    (top_of(path) != Some(parent)).then_some(parent)
}
