//! The files of a commit, and the package that npm would make of them.

use crate::Fault;
use gantry_archive::{Entry, PackageFiles, packlist, write_archive};
use gantry_manifest::Manifest;
use serde_json::Value;
use std::borrow::Cow;

/// Scripts that are run in a repository alone, before a package is made of it.
const PREPARING: [&str; 4] = ["prepare", "prepublish", "preprepare", "postprepare"];

/// A commit's files, sorted by path.
pub(super) struct Contents {
    /// The commit, where what brought the files says so.
    pub commit: Option<String>,
    pub files: Vec<Entry<'static>>,
}

/// The same entry with bytes of its own.
pub(super) fn owned(entry: Entry<'_>) -> Entry<'static> {
    Entry { path: entry.path, data: Cow::Owned(entry.data.into_owned()), executable: entry.executable }
}

/// The manifest at the root, or in the folder that is asked for.
pub(super) fn manifest(name: &str, files: &[Entry<'_>], folder: Option<&str>) -> Result<Manifest, Fault> {
    let inside = folder.unwrap_or_default().trim_matches('/');
    let path = if inside.is_empty() { "package.json".to_owned() } else { format!("{inside}/package.json") };
    let Some(text) = text_of(files, &path) else {
        return Err(Fault::new("GIT_FAILED", format!("{name}: the repository has no {path}"))
            .with_package(name)
            .with_hint("Only a repository with a package.json can be a dependency."));
    };
    let mut manifest = Manifest::parse_package_json(text, &format!("{path} of {name}"))
        .map_err(|error| crate::EngineError::from(error).to_fault().with_package(name))?;
    let below = path.trim_end_matches("package.json");
    manifest.read_commands(files.iter().filter_map(|entry| entry.path.strip_prefix(below)));
    Ok(manifest)
}

fn text_of<'e>(files: &'e [Entry<'_>], path: &str) -> Option<&'e [u8]> {
    let position = files.binary_search_by(|entry| entry.path.as_str().cmp(path)).ok()?;
    Some(&files[position].data)
}

/// A manifest as it stands, which may begin with a byte order mark, as for npm.
fn value_of(package_json: &[u8]) -> Option<Value> {
    serde_json::from_slice(package_json.strip_prefix(b"\xef\xbb\xbf").unwrap_or(package_json)).ok()
}

/// The script of a manifest that would have made the package ready, where it has one.
pub(super) fn preparing_script(package_json: &[u8]) -> Option<&'static str> {
    let manifest = value_of(package_json)?;
    let scripts = manifest.get("scripts")?;
    PREPARING.into_iter().find(|script| scripts.get(script).is_some_and(Value::is_string))
}

/// An archive of what npm would pack, without scripts being run.
pub(super) fn pack(name: &str, files: Vec<Entry<'static>>) -> Result<Vec<u8>, Fault> {
    let manifest = text_of(&files, "package.json").and_then(value_of);
    let facts = manifest.map_or_else(PackageFiles::default, |manifest| package_files(&manifest, &files));
    let packed = packlist(name, files, &facts).map_err(|error| Fault::from(&error))?;
    write_archive(&packed)
        .map_err(|error| Fault::new("GIT_FAILED", format!("{name}: it cannot be packed: {error}")).with_package(name))
}

fn package_files(manifest: &Value, files: &[Entry<'_>]) -> PackageFiles {
    let text = |member: &str| manifest.get(member).and_then(Value::as_str).map(str::to_owned);
    let list = manifest.get("files").and_then(Value::as_array);
    let parsed = text_of(files, "package.json").and_then(|text| Manifest::parse_package_json(text, "").ok());
    let mut manifest = parsed.unwrap_or_default();
    manifest.read_commands(files.iter().map(|entry| entry.path.as_str()));
    let Manifest { bin, bundle_dependencies, .. } = manifest;
    PackageFiles {
        files: list.map(|list| list.iter().filter_map(Value::as_str).map(str::to_owned).collect()),
        main: text("main"),
        browser: text("browser"),
        bin: bin.into_iter().map(|(_, file)| file.into()).collect(),
        bundled: bundle_dependencies.into_iter().map(Into::into).collect(),
    }
}
