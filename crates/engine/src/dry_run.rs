//! What an install would change, found out without changing anything: npm's `dry-run`.

use crate::host::{Host, ProjectTree};
use crate::install::install;
use crate::request::{Extent, InstallRequest, LockFields, Outcome};
use crate::{EngineError, Event};
use gantry_layout::installed;
use gantry_manifest::{LockEntry, Lockfile};
use gantry_resolver::check_machine;
use std::collections::{BTreeMap, BTreeSet};

/// A package at its place in a tree.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct PlacedPackage {
    /// Its folder, relative to the project.
    pub path: String,
    /// Its name.
    pub name: String,
    /// Its version; empty if it has none.
    pub version: String,
}

/// How the tree after an install differs from the one before it. Each list is sorted by path.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TreeChanges {
    /// What would be put in place.
    pub added: Vec<PlacedPackage>,
    /// What would go.
    pub removed: Vec<PlacedPackage>,
    /// What would be replaced, and by what.
    pub changed: Vec<(PlacedPackage, PlacedPackage)>,
}

/// Does as [`install`] would without making a tree, and compares what it would make with what is there. The host's project must
/// be one that leaves everything as it is.
pub async fn dry_run<H: Host>(
    host: &H,
    request: &InstallRequest,
    listener: &mut dyn FnMut(Event),
) -> Result<(Outcome, TreeChanges), EngineError> {
    let shortened = InstallRequest { extent: Extent::LockOnly, lock_fields: LockFields::Fast, ..request.clone() };
    let outcome = install(host, &shortened, listener).await?;
    let lock = Lockfile::parse(&outcome.tree_lockfile, &request.lockfile_path)?;
    let folders: Vec<String> = lock.packages.iter().filter_map(link_target).map(str::to_owned).collect();
    let mut before = host.project().installed(&folders).await?.unwrap_or_default();
    if request.resolve.global {
        // The rest is not this install's affair.
        let names: BTreeSet<&str> = lock.packages.iter().filter_map(|entry| installed_name(&entry.path)).collect();
        before.packages.retain(|entry| installed_name(&entry.path).is_none_or(|name| names.contains(name)));
    }
    let mut inert = check_machine(&lock, &request.resolve)?.inert;
    inert.extend(outcome.left_out.iter().cloned());
    let paths = installed(&lock, &inert, &request.omit)?;
    let before = Placed::of(&before, |_| true);
    let after = Placed::of(&lock, |entry| paths.contains(&entry.path));
    Ok((outcome, before.changes(&after)))
}

/// What would go of a tree with packages of these names, which nobody else is asked about.
pub fn dry_removal(tree: &Lockfile, names: &[String]) -> TreeChanges {
    let is_named = |entry: &LockEntry| {
        installed_name(&entry.path).is_some_and(|installed| names.iter().any(|name| name == installed))
    };
    Placed::of(tree, is_named).changes(&Placed::default())
}

/// The name of what was installed at a path, or has what is there in it; `None` of a folder of the user.
fn installed_name(path: &str) -> Option<&str> {
    let inside = path.strip_prefix("node_modules/")?;
    Some(inside.split_once("/node_modules/").map_or(inside, |(name, _)| name))
}

/// Where a link leads.
fn link_target(entry: &LockEntry) -> Option<&str> {
    entry.resolved.as_deref().filter(|_| entry.link)
}

/// A package, and what tells it from another one of the same version.
type Told<'l> = (PlacedPackage, [Option<&'l str>; 2]);

/// What is at which path in `node_modules`.
#[derive(Default)]
struct Placed<'l>(BTreeMap<&'l str, Told<'l>>);

impl<'l> Placed<'l> {
    fn of(lock: &'l Lockfile, is_there: impl Fn(&LockEntry) -> bool) -> Self {
        let by_path: BTreeMap<&str, &LockEntry> =
            lock.packages.iter().map(|entry| (entry.path.as_str(), entry)).collect();
        let in_modules = |entry: &&LockEntry| entry.link || !entry.is_top();
        let told = |entry: &'l LockEntry| {
            // Of a folder that is linked to, its own manifest says what it is.
            let target = link_target(entry).and_then(|target| by_path.get(target).copied());
            let version = target.unwrap_or(entry).manifest.version.as_deref().unwrap_or_default().to_owned();
            let package = PlacedPackage { path: entry.path.clone(), name: entry.package_name().to_owned(), version };
            (entry.path.as_str(), (package, [entry.integrity.as_deref(), entry.resolved.as_deref()]))
        };
        Self(lock.packages.iter().filter(in_modules).filter(|entry| is_there(entry)).map(told).collect())
    }

    fn changes(&self, after: &Self) -> TreeChanges {
        let mut changes = TreeChanges::default();
        for (path, (package, origin)) in &self.0 {
            match after.0.get(path) {
                None => changes.removed.push(package.clone()),
                Some((next, next_origin)) if package != next || differ(origin, next_origin) => {
                    changes.changed.push((package.clone(), next.clone()));
                }
                Some(_) => {}
            }
        }
        let is_new = |path: &&str| !self.0.contains_key(*path);
        changes.added =
            after.0.iter().filter(|(path, _)| is_new(path)).map(|(_, (package, _))| package.clone()).collect();
        changes
    }
}

/// Whether two packages come from different places, as far as is known: what they hash to counts before where they are had.
fn differ(one: &[Option<&str>; 2], other: &[Option<&str>; 2]) -> bool {
    let known = one.iter().zip(other).find_map(|(one, other)| Some((one.as_ref()?, other.as_ref()?)));
    known.is_some_and(|(one, other)| one != other)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lock(packages: &str) -> Lockfile {
        Lockfile::parse(format!(r#"{{"lockfileVersion":3,"packages":{{{packages}}}}}"#).as_bytes(), "lock").unwrap()
    }

    fn at(path: &str, name: &str, version: &str) -> PlacedPackage {
        PlacedPackage { path: path.to_owned(), name: name.to_owned(), version: version.to_owned() }
    }

    #[test]
    fn packages_are_told_apart_by_path_version_and_origin() {
        let before = lock(
            r#""":{},"node_modules/gone":{"version":"1.0.0"},
            "node_modules/same":{"version":"1.0.0","integrity":"sha512-YQ==","resolved":"https://one.example/same.tgz"},
            "node_modules/raised":{"version":"1.0.0"},
            "node_modules/other":{"version":"1.0.0","integrity":"sha512-YQ=="}"#,
        );
        let after = lock(
            r#""":{},"node_modules/same":{"version":"1.0.0","integrity":"sha512-YQ==","resolved":"https://two.example/same.tgz"},
            "node_modules/raised":{"version":"1.1.0"},
            "node_modules/other":{"version":"1.0.0","integrity":"sha512-Yg=="},
            "node_modules/left-out":{"version":"1.0.0"},
            "node_modules/folder":{"link":true,"resolved":"folder"},
            "folder":{"name":"folder","version":"3.0.0"},
            "folder/node_modules/same":{"version":"2.0.0"}"#,
        );
        let changes =
            Placed::of(&before, |_| true).changes(&Placed::of(&after, |entry| !entry.path.ends_with("left-out")));
        let other = at("node_modules/other", "other", "1.0.0");
        let raised = |version| at("node_modules/raised", "raised", version);
        assert_eq!(
            changes,
            TreeChanges {
                added: vec![
                    at("folder/node_modules/same", "same", "2.0.0"),
                    at("node_modules/folder", "folder", "3.0.0")
                ],
                removed: vec![at("node_modules/gone", "gone", "1.0.0")],
                changed: vec![(other.clone(), other), (raised("1.0.0"), raised("1.1.0"))],
            }
        );
    }
}
