//! Scripts of the user's own that npm would run. None is ever run; they are named.

use gantry_engine::Outcome;
use gantry_manifest::Lockfile;
use std::path::Path;

/// What npm runs of a project when that is installed (`install.js`, `ci.js`), in its order.
const OF_PROJECT: [&str; 7] =
    ["preinstall", "install", "postinstall", "prepublish", "preprepare", "prepare", "postprepare"];

/// What it runs of folders that links lead to, workspaces among them, with every change of a tree (arborist's `rebuild.js`).
const OF_FOLDERS: [&str; 4] = ["preinstall", "install", "postinstall", "prepare"];

/// What is to be said: of the scripts of the project whose `package.json` is given, if npm would run these, and of the folders
/// that the installed tree of `project` has links to.
pub fn not_run(project: &Path, package_json: Option<&[u8]>, outcome: &Outcome) -> Vec<String> {
    let own = package_json.map(|package_json| present(&OF_PROJECT, package_json).join(", "));
    let folders = of_folders(project, outcome).join(", ");
    let whose = [("the project itself", own.unwrap_or_default()), ("folders that are linked to", folders)];
    let named = whose.into_iter().filter(|(_, scripts)| !scripts.is_empty());
    named.map(|(whose, scripts)| format!("scripts are never run, nor those of {whose}: {scripts}")).collect()
}

/// Those that have scripts, each with these: `packages/a (prepare)`.
fn of_folders(project: &Path, outcome: &Outcome) -> Vec<String> {
    // Hardly any tree has links, and reading a large lock takes milliseconds.
    if !str::from_utf8(&outcome.tree_lockfile).is_ok_and(|text| text.contains("\"link\":")) {
        return Vec::new();
    }
    let Ok(lockfile) = Lockfile::parse(&outcome.tree_lockfile, "package-lock.json") else { return Vec::new() };
    let links = lockfile.packages.iter().filter(|entry| entry.link && project.join(&entry.path).is_symlink());
    let mut folders: Vec<String> = links.filter_map(|entry| entry.resolved.as_deref().map(str::to_owned)).collect();
    folders.sort();
    folders.dedup();
    let named = folders.into_iter().filter_map(|folder| {
        let package_json = std::fs::read(project.join(&folder).join("package.json")).ok()?;
        let scripts = present(&OF_FOLDERS, &package_json);
        (!scripts.is_empty()).then(|| format!("{folder} ({})", scripts.join(", ")))
    });
    named.collect()
}

fn present(names: &[&'static str], package_json: &[u8]) -> Vec<&'static str> {
    let text = package_json.strip_prefix(b"\xef\xbb\xbf").unwrap_or(package_json);
    let manifest: serde_json::Value = serde_json::from_slice(text).unwrap_or_default();
    let is_there = |name: &&&str| manifest["scripts"][**name].as_str().is_some_and(|script| !script.is_empty());
    names.iter().filter(is_there).copied().collect()
}
