//! The files of a commit, and the package that npm would make of them.

use crate::Fault;
use crate::pack::text_of;
use gantry_archive::Entry;
use gantry_manifest::Manifest;
use std::borrow::Cow;

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
