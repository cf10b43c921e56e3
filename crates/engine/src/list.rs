//! What is in a project's tree, and what is wrong there: npm's `ls`.

use crate::choice::{WorkspaceChoice, chosen_workspaces};
use crate::host::Host;
use crate::progress::Progress;
use crate::project::{read_installed, read_manifests, read_project};
use crate::request::{Extent, InstallRequest};
use crate::{EngineError, Event, Fault};
use gantry_manifest::{LockEntry, Lockfile};
use gantry_resolver::{Listed, ListingQuery, Project, listing};
use gantry_spec::Spec;
use std::collections::{BTreeMap, BTreeSet};

/// What is listed.
#[derive(Debug, Clone, Copy, Default)]
pub struct ListQuery<'q> {
    /// Packages, each a name or `name@range`; only these and what leads to them are listed. Empty: everything.
    pub packages: &'q [String],
    /// How many levels below the project or a workspace are listed, the first being 0; `None` for all.
    pub depth: Option<usize>,
    /// Of what the project and its workspaces ask for only links.
    pub links: bool,
}

/// Lists what is installed in a project, or, for [`Extent::LockOnly`], what its lock says. The project comes first, and each line
/// after the one that it is below. Asks no registry.
pub async fn list<H: Host>(
    host: &H,
    request: &InstallRequest,
    query: ListQuery<'_>,
    listener: &mut dyn FnMut(Event),
) -> Result<Vec<Listed>, EngineError> {
    let progress = Progress::new(host.registry().clock(), listener, false);
    let packages = query.packages.iter().map(|package| meant(package)).collect::<Result<Vec<_>, _>>()?;
    let (project, tree) = match request.extent {
        Extent::LockOnly => read_locked(host, request, &progress).await?,
        Extent::Tree => {
            let (project, mut tree) = read_installed(host, request, &progress).await?;
            if let Some(Ok(lock)) =
                request.lockfile.as_ref().map(|bytes| Lockfile::parse(bytes, &request.lockfile_path))
            {
                complete(&mut tree, lock);
            }
            (project, tree)
        }
    };
    let options = &request.resolve;
    let warn = |code: &'static str, message: String| progress.warn(code, message);
    let folders = match &request.workspaces {
        WorkspaceChoice::Workspaces { .. } => {
            Some(chosen_workspaces(&request.workspaces, &project.workspaces, &options.project_path, &warn)?)
        }
        WorkspaceChoice::Whole | WorkspaceChoice::Project => None,
    };
    let workspaces: Option<BTreeSet<String>> = folders.map(|folders| folders.into_iter().collect());
    let omit = &request.omit;
    let query = ListingQuery {
        packages: &packages,
        depth: query.depth,
        without_dev: omit.dev,
        without_optional: omit.optional,
        without_peers: omit.peer,
        links: query.links,
        workspaces: workspaces.as_ref(),
        with_project: matches!(request.workspaces, WorkspaceChoice::Workspaces { with_project: true, .. }),
        without_workspaces: request.workspaces == WorkspaceChoice::Project,
    };
    Ok(listing(project, &tree, options, query)?)
}

/// The project as it is on the disk, and its lock.
async fn read_locked<H: Host>(
    host: &H,
    request: &InstallRequest,
    progress: &Progress<'_, H::Clock>,
) -> Result<(Project, Lockfile), EngineError> {
    let path = &request.lockfile_path;
    let bytes = request.lockfile.as_ref().ok_or_else(|| EngineError::LockMissing { path: path.clone() })?;
    let lock = Lockfile::parse(bytes, path)?;
    let manifests = read_manifests(host, request, progress).await?;
    Ok((read_project(host, manifests, Some(&lock)).await?, lock))
}

/// Says of packages of a tree where they came from, where only the lock does: npm's rule (`add` of its shrinkwrap.js).
fn complete(tree: &mut Lockfile, lock: Lockfile) {
    let known = lock.packages.into_iter().filter(|entry| !entry.link).map(|entry| (entry.path.clone(), entry));
    let mut known: BTreeMap<String, LockEntry> = known.collect();
    for entry in tree.packages.iter_mut().filter(|entry| !entry.link && entry.resolved.is_none()) {
        if let Some(known) = known.remove(&entry.path).filter(|known| known.manifest.version == entry.manifest.version)
        {
            entry.resolved = known.resolved;
        }
    }
}

/// A name and what is asked of it.
fn meant(package: &str) -> Result<(String, Spec), Fault> {
    let hint = "Give a package's name, or name@range.";
    let (name, spec) =
        Spec::parse_argument(package).map_err(|error| Fault::of_setting(error.to_string()).with_hint(hint))?;
    match name.is_empty() {
        true => Err(Fault::of_setting(format!("{package} is no name of a package")).with_hint(hint)),
        false => Ok((name, spec)),
    }
}
