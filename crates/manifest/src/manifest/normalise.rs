//! From the members of a document to a [`Manifest`], by npm's rules.
//!
//! The steps and their order are those that npm runs on every manifest it installs from (`normalizeSteps` of
//! `@npmcli/package-json`). npm's *publishing* steps, such as reading dependencies out of a list or a string, are not among
//! them: there npm's install fails, and so does this.

use rustc_hash::FxHashSet;
use serde_json::Value;

use super::fields::Fields;
use super::value::{Object, strings_of, truthy, worth_keeping};
use super::{DependencyMap, Dist, Manifest, Text, bin};

/// A member of a type that npm cannot work with.
#[derive(Debug)]
pub(crate) struct FieldProblem {
    pub(crate) field: String,
    pub(crate) expected: &'static str,
}

/// Builds a manifest out of a document's members. `folder` names a package whose document does not.
pub(crate) fn manifest_of(mut members: Fields, folder: Option<&str>) -> Result<Manifest, FieldProblem> {
    let mut manifest = Manifest {
        name: text(&mut members, "name")?,
        version: text(&mut members, "version")?,
        dependencies: dependencies(&mut members, "dependencies")?,
        declares_dev_dependencies: members.is_object("devDependencies"),
        dev_dependencies: dependencies(&mut members, "devDependencies")?,
        optional_dependencies: dependencies(&mut members, "optionalDependencies")?,
        accept_dependencies: text_pairs(members.take("acceptDependencies").as_ref()),
        has_install_script: has_install_script(&members),
        has_shrinkwrap: ["hasShrinkwrap", "_hasShrinkwrap"].iter().any(|key| members.get(key).is_some_and(truthy)),
        peer_dependencies_meta: keep(&mut members, "peerDependenciesMeta"),
        workspaces: keep(&mut members, "workspaces"),
        overrides: keep(&mut members, "overrides"),
        dist: members.take_fields("dist").and_then(dist_of),
        ..Manifest::default()
    };
    read_peers(&mut members, &mut manifest)?;
    read_bundled(&mut members, &mut manifest);
    // Registries list optional dependencies among the ordinary ones too; they are optional.
    if !manifest.optional_dependencies.is_empty() {
        let optional: FxHashSet<&str> = manifest.optional_dependencies.iter().map(|(name, _)| name.as_str()).collect();
        manifest.dependencies.retain(|(name, _)| !optional.contains(name.as_str()));
    }
    match members.take("bin").filter(truthy) {
        Some(bin) => manifest.bin = bin::normalise(bin, manifest.name.as_deref().or(folder)),
        None => manifest.command_folder = command_folder(&mut members),
    }
    manifest.funding = match keep(&mut members, "funding") {
        Some(Value::String(url)) => Some(Value::Object(Object::from_iter([("url".to_owned(), Value::String(url))]))),
        other => other,
    };
    read_engines(&mut members, &mut manifest);
    manifest.os = platform_list(&mut members, "os", &mut manifest.verbatim);
    manifest.cpu = platform_list(&mut members, "cpu", &mut manifest.verbatim);
    manifest.libc = platform_list(&mut members, "libc", &mut manifest.verbatim);
    read_license(&mut members, &mut manifest);
    manifest.deprecated = members.take_text("deprecated");
    match members.take("deprecated") {
        Some(other) if truthy(&other) => {
            manifest.deprecated = Some(other.to_string().into());
            manifest.verbatim.push(("deprecated".to_owned(), other));
        }
        _ => {}
    }
    Ok(manifest)
}

fn keep(members: &mut Fields, field: &str) -> Option<Value> {
    members.take(field).filter(worth_keeping)
}

fn text(members: &mut Fields, field: &str) -> Result<Option<Text>, FieldProblem> {
    if let Some(text) = members.take_text(field) {
        return Ok(Some(text));
    }
    match members.take(field) {
        Some(other) if truthy(&other) => Err(FieldProblem { field: field.to_owned(), expected: "a string" }),
        _ => Ok(None),
    }
}

fn dependencies(members: &mut Fields, field: &str) -> Result<DependencyMap, FieldProblem> {
    let problem = |field: String, expected| Err(FieldProblem { field, expected });
    if let Some(dependencies) = members.take_texts(field) {
        return Ok(dependencies);
    }
    match members.take(field) {
        Some(Value::Object(entries)) => {
            let mut dependencies = DependencyMap::with_capacity(entries.len());
            for (name, specifier) in entries {
                match specifier {
                    Value::String(specifier) => dependencies.push((name.into(), specifier.into())),
                    _ => return problem(format!("{field}.{name}"), "a string"),
                }
            }
            Ok(dependencies)
        }
        Some(other @ (Value::Array(_) | Value::String(_))) if worth_keeping(&other) => {
            problem(field.to_owned(), "an object of names and version ranges")
        }
        _ => Ok(DependencyMap::new()),
    }
}

/// The members whose value is a string.
fn text_pairs(value: Option<&Value>) -> DependencyMap {
    let Some(Value::Object(members)) = value else { return Vec::new() };
    members.iter().filter_map(|(key, value)| Some((key.into(), value.as_str()?.into()))).collect()
}

fn read_peers(members: &mut Fields, manifest: &mut Manifest) -> Result<(), FieldProblem> {
    // Unlike the other maps npm ignores this one where it is a string.
    if members.is_text("peerDependencies") {
        return Ok(());
    }
    manifest.peer_dependencies = dependencies(members, "peerDependencies")?;
    if let Some(Value::Object(meta)) = &manifest.peer_dependencies_meta {
        let is_optional = |name: &str| meta.get(name).and_then(|meta| meta.get("optional")).is_some_and(truthy);
        manifest.peer_optional =
            manifest.peer_dependencies.iter().map(|(name, _)| name).filter(|name| is_optional(name)).cloned().collect();
    }
    Ok(())
}

fn read_bundled(members: &mut Fields, manifest: &mut Manifest) {
    let misspelt = members.take("bundledDependencies");
    let bundled = members.take("bundleDependencies").or(misspelt);
    manifest.bundle_dependencies = match bundled {
        Some(Value::Bool(true)) => manifest.dependencies.iter().map(|(name, _)| name.clone()).collect(),
        Some(Value::Array(names)) => strings_of(&names),
        Some(Value::Object(names)) => names.into_iter().map(|(name, _)| name.into()).collect(),
        _ => Vec::new(),
    };
}

/// The folder that `directories.bin` names, as a path below the package; empty for the package itself.
fn command_folder(members: &mut Fields) -> Option<Text> {
    let directories = members.take("directories")?;
    let folder = directories.get("bin")?.as_str().filter(|folder| !folder.is_empty())?;
    Some(bin::confine(folder).trim_end_matches('/').into())
}

fn read_engines(members: &mut Fields, manifest: &mut Manifest) {
    if let Some(engines) = members.take_texts("engines") {
        manifest.engines = engines;
        return;
    }
    let Some(engines) = keep(members, "engines") else { return };
    manifest.engines = text_pairs(Some(&engines));
    // Old packages have a list or a text here. It is no condition to npm, but the lock repeats it.
    let regular = engines.as_object().is_some_and(|engines| engines.len() == manifest.engines.len());
    if !regular {
        manifest.verbatim.push(("engines".to_owned(), engines));
    }
}

fn platform_list(members: &mut Fields, field: &str, verbatim: &mut Vec<(String, Value)>) -> Vec<Text> {
    let Some(value) = keep(members, field) else { return Vec::new() };
    let list = match &value {
        Value::String(one) => vec![one.into()],
        Value::Array(items) => strings_of(items),
        _ => Vec::new(),
    };
    let regular = value.as_array().is_some_and(|items| items.len() == list.len());
    if !regular {
        verbatim.push((field.to_owned(), value));
    }
    list
}

fn read_license(members: &mut Fields, manifest: &mut Manifest) {
    manifest.license = members.take_text("license");
    let license = match keep(members, "license") {
        Some(Value::Object(mut license)) if license.get("type").is_some_and(truthy) => license.swap_remove("type"),
        other => other,
    };
    match license {
        Some(Value::String(text)) => manifest.license = Some(text.into()),
        Some(other) => manifest.verbatim.push(("license".to_owned(), other)),
        None => {}
    }
}

fn has_install_script(members: &Fields) -> bool {
    let scripts = members.get("scripts");
    let has = |name: &str| scripts.and_then(|scripts| scripts.get(name)?.as_str()).is_some_and(|text| !text.is_empty());
    members.get("hasInstallScript").is_some_and(truthy) || has("preinstall") || has("install") || has("postinstall")
}

fn dist_of(mut dist: Fields) -> Option<Dist> {
    let tarball = dist.take_text("tarball")?;
    let (integrity, shasum) = (dist.take_text("integrity"), dist.take_text("shasum"));
    let number = |field: &str| dist.get(field).and_then(Value::as_u64);
    Some(Dist { tarball, integrity, shasum, unpacked_size: number("unpackedSize"), file_count: number("fileCount") })
}
