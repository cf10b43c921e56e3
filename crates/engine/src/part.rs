//! An install of a part of a project: what the tree is in the end, where only what some workspaces need is brought up to date.

use crate::EngineError;
use crate::choice::Chosen;
use crate::error::Fault;
use crate::host::{Host, ProjectTree};
use crate::progress::Progress;
use crate::request::{Extent, InstallMode, InstallRequest, Update};
use gantry_layout::{Omit, installed};
use gantry_manifest::{LockEntry, Lockfile};
use gantry_resolver::{PartTree, Project, Workspace, part_to_install};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// A project, the same before anything is saved, and what of it was chosen.
pub(crate) type Whole<'p> = (&'p Project, &'p Project, Option<&'p Chosen>);

/// What is made instead of the tree of the whole lock.
pub(crate) struct Part {
    /// All that is there in the end: nothing of it is left out any more.
    pub lockfile: Lockfile,
    /// Paths of what of it stays as it was.
    untouched: BTreeSet<String>,
    /// Paths of what of the lock was known not to be installed.
    inert: BTreeSet<String>,
    /// The request to make it by.
    pub request: InstallRequest,
}

impl Part {
    /// What an install of the `chosen` part comes to, whose whole lock is `lockfile`; `None` if that is the whole tree.
    pub async fn of<H: Host>(
        host: &H,
        request: &InstallRequest,
        (project, before, chosen): Whole<'_>,
        lockfile: &Lockfile,
        inert: &BTreeSet<String>,
    ) -> Result<Option<Self>, EngineError> {
        let Some(chosen) = chosen.filter(|_| request.extent == Extent::Tree) else { return Ok(None) };
        let present = present(host, request, project).await?;
        let wanted = installed(lockfile, inert, &request.omit)?;
        let scope = chosen.scope();
        let part = part_to_install(project, (lockfile, &wanted), (before, present.as_ref()), &scope, &request.resolve)?;
        let made = |PartTree { lockfile: part, untouched }: PartTree| {
            let Lockfile { name, version, style, .. } = lockfile.clone();
            let lockfile = Lockfile { name, version, style, ..part };
            Self {
                lockfile,
                untouched,
                inert: inert.clone(),
                request: InstallRequest { omit: Omit::default(), ..request.clone() },
            }
        };
        Ok(part.map(made))
    }

    /// The same where the lock of the whole project has got more entries.
    pub async fn renewed<H: Host>(
        self,
        host: &H,
        request: &InstallRequest,
        whole: Whole<'_>,
        lockfile: &Lockfile,
    ) -> Result<Option<Self>, EngineError> {
        Self::of(host, request, whole, lockfile, &self.inert).await
    }

    /// Paths of what is brought up to date.
    pub fn touched(&self) -> BTreeSet<String> {
        let paths = self.lockfile.packages.iter().map(|entry| &entry.path);
        paths.filter(|path| !self.untouched.contains(*path)).cloned().collect()
    }

    /// With what the lock of the whole project has got since: its header, and what only documents and manifests said of the
    /// packages that are in both.
    pub fn completed(mut self, lockfile: &Lockfile) -> Self {
        let Lockfile { name, version, style, .. } = lockfile.clone();
        self.lockfile = Lockfile { name, version, style, ..self.lockfile };
        let known: FxHashMap<&str, &LockEntry> =
            lockfile.packages.iter().map(|entry| (entry.path.as_str(), entry)).collect();
        for entry in self.lockfile.packages.iter_mut().filter(|entry| !self.untouched.contains(&entry.path)) {
            let complete = known.get(entry.path.as_str()).filter(|complete| {
                complete.manifest.version == entry.manifest.version
                    && (&complete.integrity, &complete.resolved) == (&entry.integrity, &entry.resolved)
            });
            if let Some(complete) = complete {
                entry.manifest.clone_from(&complete.manifest);
            }
        }
        self
    }
}

/// What is there before the install; `ci` takes everything away first.
async fn present<H: Host>(
    host: &H,
    request: &InstallRequest,
    project: &Project,
) -> Result<Option<Lockfile>, EngineError> {
    if request.mode == InstallMode::Ci {
        return Ok(None);
    }
    let folders: Vec<String> = project.workspaces.iter().map(|workspace| workspace.path.clone()).collect();
    let present = host.project().installed(&folders).await?;
    let is_package = |name: &String| !name.starts_with('.');
    if present.is_none() && host.project().folders("node_modules").await?.iter().any(is_package) {
        let message = "node_modules was made by another tool, and what of it is to stay cannot be told";
        let hint = "Remove node_modules, or install the project with all its workspaces.";
        return Err(Fault::new("INVALID_OPTION", message).with_hint(hint).into());
    }
    Ok(present.map(|present| with_origins(request, present)))
}

/// With the addresses and integrities that the project's lock has for what is in the same place in the same version, whether or
/// not the lock is kept to: npm reads it where it has to look at the packages themselves.
fn with_origins(request: &InstallRequest, mut present: Lockfile) -> Lockfile {
    let lacks =
        |entry: &LockEntry| !entry.link && !entry.is_top() && entry.resolved.is_none() && entry.integrity.is_none();
    let text = request.lockfile.as_deref().filter(|_| present.packages.iter().any(lacks));
    let Some(Ok(lock)) = text.map(|text| Lockfile::parse(text, &request.lockfile_path)) else { return present };
    let known: FxHashMap<&str, &LockEntry> = lock.packages.iter().map(|entry| (entry.path.as_str(), entry)).collect();
    for entry in present.packages.iter_mut().filter(|entry| lacks(entry)) {
        // A folder in the place of a link is nothing that the lock knows.
        let same = known
            .get(entry.path.as_str())
            .filter(|known| !known.link && known.manifest.version == entry.manifest.version);
        if let Some(same) = same {
            (entry.resolved, entry.integrity) = (same.resolved.clone(), same.integrity.clone());
        }
    }
    present
}

/// The folders whose manifests an install may change, and that are looked at first; empty for the project's own. A workspace that
/// the tree does not know yet only becomes known, as with npm.
pub(crate) fn chosen_folders<C: gantry_platform::Clock>(
    request: &InstallRequest,
    chosen: Option<&Chosen>,
    start: Option<&Lockfile>,
    progress: &Progress<'_, C>,
) -> Vec<String> {
    let Some(chosen) = chosen.filter(|chosen| !chosen.workspaces.is_empty()) else { return vec![String::new()] };
    let is_known = |folder: &str| match start {
        Some(start) => start.entry(folder).is_some(),
        None => request.changes.update != Update::All,
    };
    let mut folders = Vec::new();
    for (name, folder) in &chosen.workspaces {
        if is_known(folder) {
            folders.push(folder.clone());
        } else if !request.changes.is_empty() && request.changes.update == Update::Nothing {
            let message =
                format!("{name} is not in the lock yet: it joins it now, and its package.json stays as it is");
            progress.warn("WORKSPACE_NEW", format!("{message}. Run the command again to change it"));
        }
    }
    if chosen.with_project {
        folders.push(String::new());
    }
    folders
}

/// Whether the tree has a link to this workspace.
pub(crate) fn is_in_part(part: Option<&Part>, workspace: &Workspace) -> bool {
    part.is_none_or(|part| part.lockfile.entry(&workspace.path).is_some())
}
