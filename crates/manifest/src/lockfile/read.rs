//! From the text of a lock file to a [`Lockfile`].

use std::collections::BTreeSet;

use serde_json::Value;

use super::{LockEntry, Lockfile, paths};
use crate::error::parser_message;
use crate::manifest::document::{text_of, without_lone_surrogates};
use crate::manifest::normalise::manifest_of;
use crate::manifest::value::{Object, truthy};
use crate::{ManifestError, TextStyle};

impl Lockfile {
    /// Reads a lock file of version 2 or 3. `file` is what errors call it.
    ///
    /// Of version 2 only `packages` is read. Every path is checked: no entry can name a folder outside of the project,
    /// except that the target of a link may lie there, as it does for `file:../other`; nothing is installed into such.
    pub fn parse(bytes: &[u8], file: &str) -> Result<Lockfile, ManifestError> {
        let text = text_of(bytes);
        let parsed = serde_json::from_str(&text).or_else(|error| match without_lone_surrogates(&text) {
            Some(text) => serde_json::from_str(&text),
            None => Err(error),
        });
        let document: Value = parsed.map_err(|error| match conflict_line(&text) {
            Some(line) => ManifestError::LockConflict { file: file.to_owned(), line },
            None => ManifestError::LockJson {
                file: file.to_owned(),
                line: error.line().max(1),
                column: error.column().max(1),
                message: parser_message(&error),
            },
        })?;
        let shape = |problem: &str| ManifestError::LockShape { file: file.to_owned(), problem: problem.to_owned() };
        let Value::Object(mut document) = document else { return Err(shape("must hold a JSON object")) };
        let lockfile_version = match document.get("lockfileVersion") {
            Some(Value::Number(number)) => number.as_u64().and_then(|number| u32::try_from(number).ok()),
            Some(value) if truthy(value) => None,
            _ => Some(if document.contains_key("dependencies") { 1 } else { 3 }),
        };
        let lockfile_version = lockfile_version.ok_or_else(|| shape("\"lockfileVersion\" must be a number"))?;
        let packages = match document.swap_remove("packages") {
            Some(Value::Object(packages)) => packages,
            Some(value) if truthy(&value) => return Err(shape("\"packages\" must be an object")),
            _ if lockfile_version < 2 || document.get("dependencies").is_some_and(truthy) => {
                return Err(ManifestError::LockVersion1 { file: file.to_owned() });
            }
            _ => Object::new(),
        };
        let packages = packages.into_iter().map(|(path, entry)| read_entry(path, entry, file));
        let packages = packages.collect::<Result<Vec<_>, _>>()?;
        check_paths(&packages, file)?;
        let mut text_member = |member: &str| document.swap_remove(member).and_then(into_text);
        Ok(Lockfile {
            name: text_member("name"),
            version: text_member("version"),
            lockfile_version,
            packages,
            style: TextStyle::detect(&text),
        })
    }
}

fn read_entry(path: String, entry: Value, file: &str) -> Result<LockEntry, ManifestError> {
    let shape = |problem: String| ManifestError::LockShape { file: file.to_owned(), problem };
    let Value::Object(mut members) = entry else {
        return Err(shape(format!("entry {path:?} of \"packages\" must be an object")));
    };
    let mut flag = |member: &str| members.swap_remove(member).as_ref().is_some_and(truthy);
    let mut entry = LockEntry {
        link: flag("link"),
        in_bundle: flag("inBundle"),
        extraneous: flag("extraneous"),
        peer: flag("peer"),
        dev: flag("dev"),
        optional: flag("optional"),
        dev_optional: flag("devOptional"),
        integrity: members.swap_remove("integrity").and_then(into_text),
        path,
        ..LockEntry::default()
    };
    entry.resolved = match members.swap_remove("resolved") {
        // A link to the project itself has an empty target.
        Some(Value::String(target)) if entry.link || !target.is_empty() => Some(target),
        _ => None,
    };
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

fn check_paths(entries: &[LockEntry], file: &str) -> Result<(), ManifestError> {
    let refuse = |path: &str| Err(ManifestError::LockPath { file: file.to_owned(), path: path.to_owned() });
    let links = entries.iter().filter(|entry| entry.link);
    let targets: BTreeSet<&str> = links.clone().filter_map(|entry| entry.resolved.as_deref()).collect();
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

fn into_text(value: Value) -> Option<String> {
    match value {
        Value::String(text) if !text.is_empty() => Some(text),
        _ => None,
    }
}

/// The line of the first conflict marker of a merge, if the text has all three.
fn conflict_line(text: &str) -> Option<usize> {
    let first_line_with = |marker: &str| text.lines().position(|line| line.starts_with(marker));
    let line = first_line_with("<<<<<<<")?;
    first_line_with("=======").and(first_line_with(">>>>>>>")).map(|_| line + 1)
}
