//! What the user's own files say: the workspaces that the project names, and the folders that its lock links to.

use crate::host::{Host, ProjectTree};
use crate::progress::Progress;
use crate::request::InstallRequest;
use crate::{EngineError, Fault};
use gantry_manifest::{LockEntry, Lockfile, Manifest, SearchArea, WorkspacePatterns};
use gantry_resolver::{Folder, Project, Workspace};
use std::collections::BTreeMap;

/// Deeper than this no workspace is looked for: links between folders may lead in a circle.
const DEEPEST: usize = 24;

/// The project of a root and its workspaces, with the manifests of what `lock` links to.
pub(crate) async fn read_project<H: Host>(
    host: &H,
    (root, workspaces): (Manifest, Vec<Workspace>),
    lock: Option<&Lockfile>,
) -> Result<Project, EngineError> {
    let mut folders = Vec::new();
    for path in lock.into_iter().flat_map(linked_folders) {
        if workspaces.iter().any(|workspace| workspace.path == path) || is_installed(path) {
            continue;
        }
        // One that cannot be read, or is no JSON, is what the lock says of it, as for npm.
        if let Some(manifest) = read_folder(host, path).await? {
            folders.push(Folder { path: path.to_owned(), manifest });
        }
    }
    Ok(Project { root, workspaces, folders })
}

/// The manifest of a request's project, and its workspaces.
pub(crate) async fn read_manifests<H: Host>(
    host: &H,
    request: &InstallRequest,
    progress: &Progress<'_, H::Clock>,
) -> Result<(Manifest, Vec<Workspace>), EngineError> {
    let root = Manifest::parse_package_json(&request.package_json, &request.package_json_path)?;
    let workspaces = read_workspaces(host, &root, progress).await?;
    Ok((root, workspaces))
}

/// The project of a request as it is on the disk, and what is installed there.
pub(crate) async fn read_installed<H: Host>(
    host: &H,
    request: &InstallRequest,
    progress: &Progress<'_, H::Clock>,
) -> Result<(Project, Lockfile), EngineError> {
    let (root, workspaces) = read_manifests(host, request, progress).await?;
    let folders: Vec<String> = workspaces.iter().map(|workspace| workspace.path.clone()).collect();
    let tree = host.project().installed(&folders).await?.unwrap_or_default();
    Ok((read_project(host, (root, workspaces), Some(&tree)).await?, tree))
}

/// The folders of the user that a lock links to.
fn linked_folders(lock: &Lockfile) -> impl Iterator<Item = &str> {
    let links = lock.packages.iter().filter(|entry| entry.link);
    let targets = links.filter_map(|entry: &LockEntry| entry.resolved.as_deref());
    let mut targets: Vec<&str> = targets.filter(|target| !target.is_empty()).collect();
    targets.sort_unstable();
    targets.dedup();
    targets.into_iter()
}

/// Whether a path is of what an install makes here; what is installed elsewhere is as good as any other folder.
pub(crate) fn is_installed(path: &str) -> bool {
    !path.starts_with("../") && path.split('/').any(|part| part == "node_modules")
}

/// The manifest in a folder of the user; `None` where there is none that can be read.
pub(crate) async fn read_folder<H: Host>(host: &H, path: &str) -> Result<Option<Manifest>, Fault> {
    let file = file_in(path);
    let Some(bytes) = host.project().read(&file).await? else { return Ok(None) };
    let Ok(mut manifest) = Manifest::parse_package_json(&bytes, &file) else { return Ok(None) };
    read_commands(host, path, &mut manifest).await?;
    Ok(Some(manifest))
}

/// Looks which commands the user's package at `path` (empty for the project) has, where its manifest names only a folder of them.
pub(crate) async fn read_commands<H: Host>(host: &H, path: &str, manifest: &mut Manifest) -> Result<(), Fault> {
    let Some(inside) = &manifest.command_folder else { return Ok(()) };
    let in_package = |path: &str| if path.is_empty() { String::new() } else { format!("{path}/") };
    let start = in_package(path);
    let mut found = Vec::new();
    let mut open = vec![(format!("{start}{inside}").trim_end_matches('/').to_owned(), 0)];
    while let Some((folder, depth)) = open.pop() {
        let files = host.project().files(&folder).await?;
        if depth < DEEPEST {
            let folders = host.project().folders(&folder).await?.into_iter();
            let real = folders.filter(|name| !files.contains(name) && !name.starts_with('.'));
            open.extend(real.map(|name| (format!("{}{name}", in_package(&folder)), depth + 1)));
        }
        found.extend(files.into_iter().map(|name| format!("{}{name}", in_package(&folder))));
    }
    manifest.read_commands(found.iter().filter_map(|file| file.strip_prefix(&start)));
    Ok(())
}

/// Where the manifest in a folder is.
pub(crate) fn file_in(folder: &str) -> String {
    if folder.is_empty() { "package.json".to_owned() } else { format!("{folder}/package.json") }
}

/// The workspaces that the project names, with their manifests.
pub(crate) async fn read_workspaces<H: Host>(
    host: &H,
    root: &Manifest,
    progress: &Progress<'_, H::Clock>,
) -> Result<Vec<Workspace>, EngineError> {
    let Some(value) = &root.workspaces else { return Ok(Vec::new()) };
    let patterns = WorkspacePatterns::parse(value)?;
    let mut candidates = Vec::new();
    for area in patterns.areas() {
        search(host, &area, &mut candidates).await?;
    }
    let mut workspaces: Vec<Workspace> = Vec::new();
    for path in patterns.select(candidates.iter().map(String::as_str)) {
        let file = file_in(&path);
        let Some(bytes) = host.project().read(&file).await? else { continue };
        let mut manifest = Manifest::parse_package_json(&bytes, &file)?;
        read_commands(host, &path, &mut manifest).await?;
        let named = manifest.name.clone().filter(|name| !name.is_empty());
        let name =
            named.unwrap_or_else(|| LockEntry { path: path.clone(), ..LockEntry::default() }.folder_name().into());
        workspaces.push(Workspace { name: name.into(), path, manifest });
    }
    refuse_duplicates(&workspaces)?;
    if workspaces.is_empty() && !patterns.is_empty() {
        // npm says nothing; in a page it may be that nobody has handed the files over.
        let message = "\"workspaces\" names folders, and none with a package.json is there".to_owned();
        progress.warn("WORKSPACES_MISSING", message);
    }
    Ok(workspaces)
}

/// Adds the folders of an area to `found`, those of packages that are installed left out.
async fn search<H: Host>(host: &H, area: &SearchArea, found: &mut Vec<String>) -> Result<(), Fault> {
    let mut open = vec![(area.folder.clone(), 0)];
    while let Some((folder, depth)) = open.pop() {
        if depth < area.depth.unwrap_or(DEEPEST).min(DEEPEST) {
            for name in host.project().folders(&folder).await? {
                if name != "node_modules" && (area.hidden || !name.starts_with('.')) {
                    let path = if folder.is_empty() { name } else { format!("{folder}/{name}") };
                    open.push((path, depth + 1));
                }
            }
        }
        if !folder.is_empty() {
            found.push(folder);
        }
    }
    Ok(())
}

fn refuse_duplicates(workspaces: &[Workspace]) -> Result<(), Fault> {
    let mut places: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for workspace in workspaces {
        places.entry(&workspace.name).or_default().push(&workspace.path);
    }
    let Some((name, places)) = places.into_iter().find(|(_, places)| places.len() > 1) else { return Ok(()) };
    let message = format!("more than one workspace is called {name}: {}", places.join(", "));
    Err(Fault::new("WORKSPACE_DUPLICATE", message)
        .with_package(name)
        .with_hint("Give each workspace a name of its own in its package.json."))
}
