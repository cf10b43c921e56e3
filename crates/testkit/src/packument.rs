//! Packuments as a registry gives them out: the abbreviated form, and where their tarballs are.
//!
//! Documents are kept with [`PLACEHOLDER`] as the address of the registry and get the address of the server when they
//! are served, by a plain replacement in the text: tarball addresses are the only place where it stands.
use serde_json::{Map, Value};

/// The address that stands for "this registry" in stored documents.
pub const PLACEHOLDER: &str = "http://recording.invalid/";

/// Media type of the abbreviated form.
pub const ABBREVIATED: &str = "application/vnd.npm.install-v1+json";

/// What a version keeps in the abbreviated form, besides `hasInstallScript`, which is computed where it is missing.
const KEPT: &[&str] = &[
    "name",
    "version",
    "deprecated",
    "dependencies",
    "optionalDependencies",
    "devDependencies",
    "bundleDependencies",
    "bundledDependencies",
    "peerDependencies",
    "peerDependenciesMeta",
    "bin",
    "directories",
    "dist",
    "engines",
    "os",
    "cpu",
    "libc",
    "_hasShrinkwrap",
    "hasInstallScript",
    "funding",
];

/// The abbreviated form of a full document, as the public registry computes it.
pub fn abbreviate(full: &Value) -> Value {
    let mut document = Map::new();
    for field in ["name", "dist-tags"] {
        if let Some(value) = full.get(field) {
            document.insert(field.into(), value.clone());
        }
    }
    let versions = full.get("versions").and_then(Value::as_object);
    let versions = versions.into_iter().flatten().map(|(version, manifest)| {
        let short = manifest.as_object().map_or_else(|| manifest.clone(), abbreviate_version);
        (version.clone(), short)
    });
    document.insert("versions".into(), Value::Object(versions.collect()));
    if let Some(modified) = full.pointer("/time/modified").or_else(|| full.get("modified")) {
        document.insert("modified".into(), modified.clone());
    }
    Value::Object(document)
}

fn abbreviate_version(manifest: &Map<String, Value>) -> Value {
    let mut short = Map::new();
    for (field, value) in manifest {
        if KEPT.contains(&field.as_str()) {
            short.insert(field.clone(), value.clone());
        }
    }
    let scripts = manifest.get("scripts").and_then(Value::as_object);
    let runs_at_install = scripts
        .is_some_and(|scripts| ["preinstall", "install", "postinstall"].iter().any(|name| scripts.contains_key(*name)));
    if runs_at_install && !short.contains_key("hasInstallScript") {
        short.insert("hasInstallScript".into(), Value::Bool(true));
    }
    Value::Object(short)
}

/// Puts the placeholder in every tarball address. Returns (file name, address before) of each.
pub(crate) fn anonymise(name: &str, full: &mut Value) -> Vec<(String, String)> {
    let mut tarballs = Vec::new();
    let Some(versions) = full.get_mut("versions").and_then(Value::as_object_mut) else { return tarballs };
    for manifest in versions.values_mut() {
        let Some(tarball) = manifest.pointer_mut("/dist/tarball") else { continue };
        let Some(address) = tarball.as_str().map(str::to_owned) else { continue };
        let path = address.split(['?', '#']).next().unwrap_or(&address);
        let Some(file) = path.rsplit('/').next().filter(|file| !file.is_empty()) else { continue };
        *tarball = Value::String(format!("{PLACEHOLDER}{}", crate::names::tarball_path(name, file)));
        tarballs.push((file.to_owned(), address));
    }
    tarballs
}

#[cfg(test)]
mod tests;
