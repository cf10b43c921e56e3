//! Packages that are made of folders and repositories, as npm packs them (`npm-packlist`).

use crate::Fault;
use gantry_archive::{ArchiveError, Entry, PackageFiles, packlist, write_archive};
use gantry_manifest::{Manifest, Text};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::BTreeSet;

/// Names of the files whose contents decide what is packed.
pub const PACKING_RULES: [&str; 3] = ["package.json", ".npmignore", ".gitignore"];

/// Of the files of a folder, sorted by path, those that npm would pack, without scripts being run: its own and those of the packages
/// that it brings along. Only of [some](PACKING_RULES) the contents count.
pub fn packed_files(name: &str, files: Vec<Entry<'static>>) -> Result<Vec<Entry<'static>>, Fault> {
    let failed = |error: ArchiveError| Fault::from(&error);
    let paths = |packed: Vec<Entry<'_>>| packed.into_iter().map(|entry| entry.path).collect::<BTreeSet<String>>();
    let mut packed = paths(packlist(name, inside(&files, ""), &package_files(&files, false)).map_err(failed)?);
    for folder in carried(&files) {
        let files = inside(&files, &format!("{folder}/"));
        let of_it = packlist(name, files.clone(), &package_files(&files, true)).map_err(failed)?;
        packed.extend(of_it.into_iter().map(|entry| format!("{folder}/{}", entry.path)));
    }
    Ok(files.into_iter().filter(|entry| packed.contains(&entry.path)).collect())
}

/// What is below a folder, by the paths that it has there.
fn inside<'e>(files: &'e [Entry<'_>], prefix: &str) -> Vec<Entry<'e>> {
    let inside = files.iter().filter_map(|entry| {
        let path = entry.path.strip_prefix(prefix)?.to_owned();
        Some(Entry { path, data: Cow::Borrowed(&*entry.data), executable: entry.executable })
    });
    inside.collect()
}

/// The folders of the packages that a package brings along: those that it says it does, and what these need, as far as it is in its
/// `node_modules`.
fn carried(files: &[Entry<'_>]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let root = manifest_in(files, "");
    let bundled = root.bundle_dependencies.iter().filter(|name| needs(&root).any(|other| other == *name));
    let mut open: Vec<(String, Text)> = bundled.map(|name| (String::new(), name.clone())).collect();
    while let Some((from, name)) = open.pop() {
        let Some(folder) = found_from(files, &from, &name) else { continue };
        if found.insert(folder.clone()) {
            open.extend(needs(&manifest_in(files, &folder)).map(|name| (folder.clone(), name.clone())));
        }
    }
    found
}

/// Names of what a package needs wherever it is.
fn needs(manifest: &Manifest) -> impl Iterator<Item = &Text> {
    manifest.dependencies.iter().chain(&manifest.optional_dependencies).map(|(name, _)| name)
}

/// Where Node finds a package from a folder.
fn found_from(files: &[Entry<'_>], from: &str, name: &str) -> Option<String> {
    let mut above = Some(from);
    while let Some(folder) = above {
        let path =
            if folder.is_empty() { format!("node_modules/{name}") } else { format!("{folder}/node_modules/{name}") };
        if text_of(files, &format!("{path}/package.json")).is_some() {
            return Some(path);
        }
        above = match folder.rsplit_once("/node_modules/") {
            Some((above, _)) => Some(above),
            None => Some("").filter(|_| !folder.is_empty()),
        };
    }
    None
}

/// What the manifest in a folder says; nothing where it cannot be read.
fn manifest_in(files: &[Entry<'_>], folder: &str) -> Manifest {
    let path = if folder.is_empty() { "package.json".to_owned() } else { format!("{folder}/package.json") };
    text_of(files, &path).and_then(|text| Manifest::parse_package_json(text, &path).ok()).unwrap_or_default()
}

/// An archive of the files of a package.
pub(crate) fn archive(name: &str, files: &[Entry<'_>], code: &'static str) -> Result<Vec<u8>, Fault> {
    write_archive(files)
        .map_err(|error| Fault::new(code, format!("{name}: it cannot be packed: {error}")).with_package(name))
}

/// What is in one of these files, which are sorted by path.
pub(crate) fn text_of<'e>(files: &'e [Entry<'_>], path: &str) -> Option<&'e [u8]> {
    let position = files.binary_search_by(|entry| entry.path.as_str().cmp(path)).ok()?;
    Some(&files[position].data)
}

/// A manifest as it stands, which may begin with a byte order mark, as for npm.
pub(crate) fn value_of(package_json: &[u8]) -> Option<Value> {
    serde_json::from_slice(package_json.strip_prefix(b"\xef\xbb\xbf").unwrap_or(package_json)).ok()
}

/// What a package says of its files. Of one without a manifest that can be read nothing is known.
fn package_files(files: &[Entry<'_>], is_carried: bool) -> PackageFiles {
    let Some(own) = text_of(files, "package.json").and_then(value_of) else {
        return PackageFiles { is_carried, ..PackageFiles::default() };
    };
    let text = |member: &str| own.get(member).and_then(Value::as_str).map(str::to_owned);
    let list = own.get("files").and_then(Value::as_array);
    let mut manifest = manifest_in(files, "");
    manifest.read_commands(files.iter().map(|entry| entry.path.as_str()));
    PackageFiles {
        files: list.map(|list| list.iter().filter_map(Value::as_str).map(str::to_owned).collect()),
        main: text("main"),
        browser: text("browser"),
        bin: manifest.bin.into_iter().map(|(_, file)| file.into()).collect(),
        is_carried,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_bundled_comes_along_with_what_that_needs() {
        let entry = |(path, text): (&str, &str)| Entry {
            path: path.to_owned(),
            data: Cow::Owned(text.as_bytes().to_owned()),
            executable: false,
        };
        let files = [
            ("a.js", ""),
            ("node_modules/beside/b.js", ""),
            ("node_modules/beside/package.json", "{}"),
            ("node_modules/in-not/b.js", ""),
            ("node_modules/in-not/package.json", "{}"),
            ("node_modules/in/.npmignore", "b.js"),
            ("node_modules/in/b.js", ""),
            ("node_modules/in/node_modules/below/package.json", "{}"),
            ("node_modules/in/node_modules/out/package.json", "{}"),
            ("node_modules/in/package.json", r#"{"dependencies":{"beside":"1","below":"1","gone":"1"}}"#),
            ("node_modules/out/c.js", ""),
            ("node_modules/out/package.json", "{}"),
            ("package.json", r#"{"dependencies":{"in":"1"},"bundleDependencies":["in","out"]}"#),
        ];
        let packed = packed_files("x", files.map(entry).to_vec()).unwrap();
        let packed: Vec<&str> = packed.iter().map(|entry| entry.path.as_str()).collect();
        let expected = [
            "a.js",
            "node_modules/beside/b.js",
            "node_modules/beside/package.json",
            "node_modules/in/.npmignore",
            "node_modules/in/b.js",
            "node_modules/in/node_modules/below/package.json",
            "node_modules/in/package.json",
            "package.json",
        ];
        assert_eq!(packed, expected);
    }
}
