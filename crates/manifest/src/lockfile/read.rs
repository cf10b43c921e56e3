//! From the text of a lock file to a [`Lockfile`].

use std::collections::BTreeSet;

use serde_json::Value;

use super::document::Document;
use super::{LockEntry, Lockfile, paths};
use crate::manifest::document::text_of;
use crate::manifest::fields::Fields;
use crate::manifest::normalise::manifest_of;
use crate::manifest::value::truthy;
use crate::{ManifestError, Text, TextStyle};

/// The highest version whose meaning is known.
const HIGHEST_VERSION: u32 = 3;
/// Bytes of a lock. As a tree of JSON values it takes some twenty times as much memory at worst.
const MOST_BYTES: usize = 100 << 20;
/// Packages. The largest projects known have a tenth of that.
const MOST_PACKAGES: usize = 250_000;
/// Dependencies of one package.
const MOST_DEPENDENCIES: usize = 20_000;
/// Folders called `node_modules` in one path: what a path of 4,096 bytes, the longest of Linux, has room for, and more.
const MOST_LEVELS: usize = 400;

impl Lockfile {
    /// Reads a lock file of any version. `file` is what errors call it.
    ///
    /// Of version 2 only `packages` is read; version 1 is converted, see [`is_old`](Lockfile::is_old); one above 3 is refused, as
    /// what it says beyond that would be lost. Conflict markers of a
    /// merge are settled as npm settles them. Every path is checked: no entry can name a folder outside of the project,
    /// except that the target of a link may lie there, as it does for `file:../other`; nothing is installed into such.
    pub fn parse(bytes: &[u8], file: &str) -> Result<Lockfile, ManifestError> {
        let within = |what: &str, number: usize, limit: usize| match number > limit {
            false => Ok(()),
            true => Err(ManifestError::LockTooLarge { file: file.to_owned(), what: format!("{number} {what}"), limit }),
        };
        within("bytes", bytes.len(), MOST_BYTES)?;
        let text = text_of(bytes);
        let Document { mut head, entries } = Document::read(&text, file)?;
        let lockfile_version = match head.get("lockfileVersion") {
            Some(Value::Number(number)) => number.as_u64().and_then(|number| u32::try_from(number).ok()),
            Some(value) if truthy(value) => None,
            _ => Some(1),
        };
        let no_number = || ManifestError::LockShape {
            file: file.to_owned(),
            problem: "\"lockfileVersion\" must be a number".to_owned(),
        };
        let lockfile_version = lockfile_version.ok_or_else(no_number)?;
        if lockfile_version > HIGHEST_VERSION {
            return Err(ManifestError::LockVersion { file: file.to_owned(), version: lockfile_version });
        }
        within("packages", entries.len(), MOST_PACKAGES)?;
        for (path, members) in &entries {
            if path.len() > MOST_LEVELS * "node_modules".len() {
                within("levels of node_modules in one path", path.matches("node_modules").count(), MOST_LEVELS)?;
            }
            let dependencies = members.as_ref().map_or(0, Fields::members_of_objects);
            within("dependencies of one package", dependencies, MOST_DEPENDENCIES)?;
        }
        let packages = entries.into_iter().map(|(path, entry)| read_entry(path, entry, file));
        let mut packages = packages.collect::<Result<Vec<_>, _>>()?;
        let targets = targets_of_links(&packages);
        let outside = packages.extract_if(.., |entry| is_outside(entry, &targets)).collect();
        packages.retain(|entry| !is_former_target(entry, &targets));
        check_paths(&packages, &targets, file)?;
        let has_requires = head.get("requires").is_some_and(truthy);
        let mut text_member = |member: &str| head.swap_remove(member).and_then(into_text);
        Ok(Lockfile {
            name: text_member("name"),
            version: text_member("version"),
            lockfile_version,
            has_requires,
            packages,
            outside,
            dependencies: None,
            style: TextStyle::detect(&text),
        })
    }
}

fn read_entry(path: String, members: Option<Fields>, file: &str) -> Result<LockEntry, ManifestError> {
    let shape = |problem: String| ManifestError::LockShape { file: file.to_owned(), problem };
    let Some(mut members) = members else {
        return Err(shape(format!("entry {path:?} of \"packages\" must be an object")));
    };
    let mut flag = |member: &str| members.take(member).as_ref().is_some_and(truthy);
    let mut entry = LockEntry {
        link: flag("link"),
        in_bundle: flag("inBundle"),
        extraneous: flag("extraneous"),
        peer: flag("peer"),
        dev: flag("dev"),
        optional: flag("optional"),
        dev_optional: flag("devOptional"),
        integrity: members.take_text("integrity"),
        resolved: members.take_text("resolved"),
        path,
        ..LockEntry::default()
    };
    if entry.link && entry.resolved.is_none() {
        // A link to the project itself has an empty target.
        entry.resolved = members.is_text("resolved").then(Text::default);
    }
    if entry.link && entry.resolved.is_none() {
        return Err(shape(format!("link {:?} of \"packages\" has no \"resolved\"", entry.path)));
    }
    if !entry.link {
        let manifest = manifest_of(members, Some(entry.folder_name()));
        entry.manifest = manifest.map_err(|problem| {
            shape(format!("\"{}\" of {:?} in \"packages\" must be {}", problem.field, entry.path, problem.expected))
        })?;
    }
    Ok(entry)
}

/// What the links of a lock lead to.
pub(super) fn targets_of_links(entries: &[LockEntry]) -> BTreeSet<Text> {
    entries.iter().filter(|entry| entry.link).filter_map(|entry| entry.resolved.clone()).collect()
}

/// Whether an entry is of what is installed in a folder outside of the project that a link leads to.
pub(super) fn is_outside(entry: &LockEntry, targets: &BTreeSet<Text>) -> bool {
    let path = entry.path.as_str();
    !targets.contains(path) && paths::outer_folders(path).any(|folder| targets.contains(folder))
}

/// Whether an entry is what npm keeps of a folder outside of the project until the next install, once no link leads there any more.
fn is_former_target(entry: &LockEntry, targets: &BTreeSet<Text>) -> bool {
    let is_outer = !entry.link && entry.extraneous && paths::is_outer_target(&entry.path);
    is_outer && !targets.contains(entry.path.as_str())
}

fn check_paths(entries: &[LockEntry], targets: &BTreeSet<Text>, file: &str) -> Result<(), ManifestError> {
    let refuse = |path: &str| Err(ManifestError::LockPath { file: file.to_owned(), path: path.to_owned() });
    let links = entries.iter().filter(|entry| entry.link);
    let links: BTreeSet<&str> = links.map(|entry| entry.path.as_str()).collect();
    for entry in entries {
        let path = entry.path.as_str();
        let inside = path.is_empty() || paths::is_inside(path);
        if !(inside || targets.contains(path) && paths::is_outer_target(path)) {
            return refuse(path);
        }
        // Below a link a folder would be made wherever the link points to.
        if !links.is_empty() && paths::ancestors(path).any(|ancestor| links.contains(ancestor)) {
            return refuse(path);
        }
        let target = entry.resolved.as_deref().filter(|target| entry.link && !target.is_empty());
        if let Some(target) = target.filter(|target| !paths::is_inside(target) && !paths::is_outer_target(target)) {
            return refuse(target);
        }
    }
    Ok(())
}

fn into_text(value: Value) -> Option<Text> {
    match value {
        Value::String(text) if !text.is_empty() => Some(text.into()),
        _ => None,
    }
}
