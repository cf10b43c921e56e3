//! What an install makes in the user's own folders: the `node_modules` of workspaces, and links to their commands.

use crate::NativeError;
use crate::moves::{Moves, PUBLISH, SET_ASIDE};
use crate::temporary::make_parent;
use crate::workspace::{MODULES, Workspace, carry_over, entries, is_directory, is_foreign};
use gantry_engine::InstallMode;
use gantry_layout::{LinkKind, Plan, PlannedLink};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path};

/// The user's folders that get a `node_modules` of their own.
pub(crate) fn folders_with_modules(plan: &Plan) -> BTreeSet<&str> {
    let packages = plan.packages.iter().map(|package| package.path.as_str());
    let paths = packages.chain(plan.links.iter().map(|link| link.path.as_str()));
    paths.filter_map(top_of).collect()
}

/// The user's folder whose `node_modules` leads to `path`; `None` if that is the project itself.
pub(crate) fn top_of(path: &str) -> Option<&str> {
    path.find("/node_modules/").map(|at| &path[..at]).filter(|top| is_outer(top))
}

/// Whether no component is `node_modules`: a folder of the user, not of a package.
fn is_outer(folder: &str) -> bool {
    !folder.is_empty() && folder.split('/').all(|part| part != MODULES)
}

/// Publishes what was built for the user's folders, and takes away what of the workspaces has nothing any more: for `ci` all of
/// it, else packages and their commands. The `node_modules` of other folders that are linked to is their own affair, as for npm
/// (`npm-ci:rm` in its `ci.js`).
pub(crate) fn replace_trees(
    project: &Path,
    plan: &Plan,
    mode: InstallMode,
    workspace: &Workspace,
    moves: &mut Moves,
) -> Result<(), NativeError> {
    let wanted = folders_with_modules(plan);
    for top in &wanted {
        let place = format!("{top}/{MODULES}");
        if workspace.has_to_stay(&place) {
            workspace.replace_entries(project, &place, mode, moves)?;
            continue;
        }
        let (built, modules) = (workspace.new_tree().join(&place), project.join(&place));
        if mode == InstallMode::Install && is_directory(&modules) {
            carry_over(&modules, &built, moves)?;
        }
        let is_there = fs::symlink_metadata(&modules).is_ok();
        if is_there && moves.exchange(&built, &modules).is_ok() {
            continue;
        }
        set_aside(project, &place, workspace, moves)?;
        make_parent(&modules)?;
        moves.rename(PUBLISH, &built, &modules)?;
    }
    for top in plan.workspaces.iter().filter(|top| is_outer(top) && !wanted.contains(top.as_str())) {
        let place = format!("{top}/{MODULES}");
        if workspace.has_to_stay(&place) {
            workspace.replace_entries(project, &place, mode, moves)?;
        } else if mode == InstallMode::Ci {
            set_aside(project, &place, workspace, moves)?;
        } else if is_directory(&project.join(&place)) {
            for name in entries(&project.join(&place))?.iter().map(|name| name.to_string_lossy()) {
                if !is_foreign(&name) {
                    set_aside(project, &format!("{place}/{name}"), workspace, moves)?;
                }
            }
        }
    }
    Ok(())
}

fn set_aside(project: &Path, place: &str, workspace: &Workspace, moves: &mut Moves) -> Result<(), NativeError> {
    if fs::symlink_metadata(project.join(place)).is_err() {
        return Ok(());
    }
    let old = workspace.old().join(place);
    make_parent(&old)?;
    moves.rename(SET_ASIDE, &project.join(place), &old).map(drop)
}

/// Where a link leads, relative to the project; `None` if that is outside of it.
fn followed(path: &str, target: &str) -> Option<String> {
    if target.starts_with('/') {
        return None;
    }
    let mut parts: Vec<&str> = path.split('/').collect();
    parts.pop();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            _ => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// The plan without links to commands of the user's folders whose files are not there; those that are, are made executable,
/// as npm does both.
pub(crate) fn settle_commands<'p>(project: &Path, plan: &'p Plan) -> Cow<'p, Plan> {
    let is_local = |link: &PlannedLink| link.kind == LinkKind::LocalCommand;
    if !plan.links.iter().any(is_local) {
        return Cow::Borrowed(plan);
    }
    let folder_of = |path: &str| {
        let folder = plan.links.iter().find(|link| {
            link.kind == LinkKind::Folder && path.strip_prefix(&link.path).is_some_and(|rest| rest.starts_with('/'))
        })?;
        // By its text alone: the folder that the link is in may not be there yet.
        let mut target = project.join(&folder.path);
        target.pop();
        for part in Path::new(&folder.target).components() {
            match part {
                Component::ParentDir => {
                    target.pop();
                }
                part => target.push(part),
            }
        }
        Some(target.join(&path[folder.path.len() + 1..]))
    };
    let is_there = |link: &PlannedLink| {
        let file = followed(&link.path, &link.target).and_then(|path| folder_of(&path));
        let Some((file, metadata)) = file.and_then(|file| Some((file.clone(), fs::metadata(file).ok()?))) else {
            return false;
        };
        let mode = metadata.permissions().mode();
        if mode & 0o111 != 0o111 {
            // Not ours, perhaps; then whoever runs it will be told.
            let _ = fs::set_permissions(&file, fs::Permissions::from_mode(mode | 0o111));
        }
        true
    };
    let mut plan = plan.clone();
    plan.links.retain(|link| !is_local(link) || is_there(link));
    Cow::Owned(plan)
}

/// Makes the links to commands of the user's folders that are missing although their files are there: scripts of the folders
/// have made these since. What scripts have made anew is made executable again.
pub(crate) fn link_commands(project: &Path, plan: &Plan, moves: &mut Moves) -> Result<(), NativeError> {
    for link in settle_commands(project, plan).links.iter().filter(|link| link.kind == LinkKind::LocalCommand) {
        let path = project.join(&link.path);
        if fs::symlink_metadata(&path).is_err() {
            moves.link(&path, &link.target)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{followed, is_outer};

    #[test]
    fn links_are_followed_within_the_project() {
        assert_eq!(followed("node_modules/@s/a", "../../packages/a").as_deref(), Some("packages/a"));
        assert_eq!(followed("node_modules/a", "../../b"), None);
        assert_eq!(followed("node_modules/a", "/b"), None);
    }

    #[test]
    fn folders_of_packages_are_not_the_users() {
        assert!(is_outer("packages/a"));
        assert!(!is_outer("node_modules/a"));
        assert!(!is_outer(""));
    }
}
