//! From the files of an archive to what the store keeps.

mod incoming;
mod streamed;

pub use incoming::{Incoming, IncomingError};
pub use streamed::{Alteration, Placement, Streamed};

use crate::{FileRecord, PackageFacts, PackageIndex};
use gantry_archive::Entry;
use gantry_manifest::Manifest;
use serde_json::Value;
use std::borrow::Cow;

/// How much of a file is looked at for the end of its first line; as much as npm looks at.
const FIRST_LINE: usize = 2048;

/// A package ready to be stored.
#[derive(Debug, Clone, PartialEq)]
pub struct PreparedPackage<'a> {
    /// Its files and facts.
    pub index: PackageIndex,
    /// Contents, parallel to `index.files`.
    pub contents: Vec<Cow<'a, [u8]>>,
}

/// Reads the package's own `package.json`, makes the files its `bin` names executable and gives them Unix line endings in
/// the first line, and lays the files out one after the other in the order of their paths.
///
/// A `package.json` that is missing or damaged is no error: npm installs such packages too.
pub fn prepare(mut entries: Vec<Entry<'_>>) -> PreparedPackage<'_> {
    entries.sort_by(|left, right| left.path.cmp(&right.path));
    entries.dedup_by(|later, earlier| later.path == earlier.path);
    let package_json = at(&entries, "package.json").map(|entry| &*entry.data);
    let facts = facts_of(package_json, at(&entries, "binding.gyp").is_some());
    for (_, target) in &facts.bin {
        if let Some(entry) = at_mut(&mut entries, target) {
            entry.executable = true;
            if let Some(end) = windows_line_end(&entry.data) {
                entry.data.to_mut().remove(end);
            }
        }
    }
    let mut index = PackageIndex { files: Vec::with_capacity(entries.len()), facts };
    let mut contents = Vec::with_capacity(entries.len());
    let mut offset = 0;
    for Entry { path, data, executable } in entries {
        let size = data.len() as u64;
        index.files.push(FileRecord { path, offset, size, executable });
        contents.push(data);
        offset += size;
    }
    PreparedPackage { index, contents }
}

fn at<'e, 'a>(entries: &'e [Entry<'a>], path: &str) -> Option<&'e Entry<'a>> {
    entries.binary_search_by(|entry| entry.path.as_str().cmp(path)).ok().map(|position| &entries[position])
}

fn at_mut<'e, 'a>(entries: &'e mut [Entry<'a>], path: &str) -> Option<&'e mut Entry<'a>> {
    let path = as_stored(path);
    entries.binary_search_by(|entry| entry.path.as_str().cmp(path)).ok().map(|position| &mut entries[position])
}

/// The path of a file that `bin` names.
fn as_stored(path: &str) -> &str {
    path.strip_prefix("./").unwrap_or(path)
}

/// Position of the carriage return that ends a `#!` line.
fn windows_line_end(data: &[u8]) -> Option<usize> {
    let line = data.get(..FIRST_LINE.min(data.len()))?;
    let newline = line.iter().position(|&byte| byte == b'\n')?;
    let ends_as_on_windows = line.starts_with(b"#!") && newline > 3 && line[newline - 1] == b'\r';
    ends_as_on_windows.then(|| newline - 1)
}

/// What `package.json` says; `has_gyp` if there is a `binding.gyp`.
fn facts_of(package_json: Option<&[u8]>, has_gyp: bool) -> PackageFacts {
    let Some(package_json) = package_json else { return PackageFacts::default() };
    let manifest = Manifest::parse_package_json(package_json, "package.json")
        .or_else(|_| Manifest::parse_package_json(&only_facts(package_json), "package.json"));
    let Ok(manifest) = manifest else { return PackageFacts::default() };
    // npm builds a package that has a `binding.gyp` and no script of its own to do so, unless it objects.
    let builds = !manifest.has_install_script && has_gyp && !objects_to_gyp(package_json);
    PackageFacts {
        lock_members: manifest.members_of_full_documents(),
        name: manifest.name.map(Into::into),
        version: manifest.version.map(Into::into),
        bin: manifest.bin.into_iter().map(|(name, file)| (name.into(), file.into())).collect(),
        has_install_script: manifest.has_install_script || builds,
    }
}

fn json(bytes: &[u8]) -> Option<Value> {
    serde_json::from_slice(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)).ok()
}

/// The document without the members in which a mistake does not matter here, such as dependencies.
fn only_facts(package_json: &[u8]) -> Vec<u8> {
    let Some(Value::Object(mut members)) = json(package_json) else { return Vec::new() };
    members.retain(|key, value| match key.as_str() {
        "name" | "version" => value.is_string(),
        "license" | "workspaces" | "bin" | "scripts" => true,
        _ => false,
    });
    Value::Object(members).to_string().into_bytes()
}

fn objects_to_gyp(package_json: &[u8]) -> bool {
    json(package_json).is_some_and(|document| document.get("gypfile") == Some(&Value::Bool(false)))
}

#[cfg(test)]
mod tests;
