//! What a killed install left in a project.
//!
//! A leftover is a [workspace](crate::workspace), a file that was to replace one of the user's, or the staging folder of the
//! WASI command. It is told from what only looks like one by its whole name and by what is in it, and anything else is left
//! where it is. It may still have come with a clone, so that no link in it or on the way to a place is followed: then all
//! that is moved or removed came with the clone too.

use crate::NativeError;
use crate::moves::Moves;
use crate::temporary::{remove_any, temporary_stem};
use crate::workspace::{MODULES, carry_over, entries, is_directory};
use std::fs;
use std::path::{Path, PathBuf};

/// The staging folder of the WASI command, which has the shape of a workspace.
const WASI_STAGING: &str = ".gantry-wasi";

/// Removes what a killed install left in a project. A tree that it had set aside and not replaced yet goes back to its
/// place, and so does what it had not carried over. To be called with the project's lock; what cannot be removed is tried
/// again the next time.
pub(crate) fn sweep(project: &Path) {
    // A tree that is a mount point has its workspace inside.
    for folder in [project, &project.join(MODULES)] {
        for leftover in leftovers(folder) {
            // Who has the lock next tries again what failed here.
            let _ = recover(project, &leftover).and_then(|()| remove_any(&leftover));
        }
    }
}

/// Removes what killed installs left in a `node_modules` of the user's folders that is on another mount. Nothing there has to go
/// back: such a tree is changed entry by entry, and finished from lock and registry.
pub(crate) fn sweep_inner(modules: &Path) {
    for leftover in leftovers(modules) {
        let _ = remove_any(&leftover);
    }
}

/// The leftovers in a folder; none where that is a link.
fn leftovers(folder: &Path) -> Vec<PathBuf> {
    let names = if is_directory(folder) { entries(folder).unwrap_or_default() } else { Vec::new() };
    names.into_iter().map(|name| folder.join(name)).filter(|path| is_leftover(path)).collect()
}

fn is_leftover(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let stem = temporary_stem(name);
    match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_file() => stem.is_some_and(|stem| !stem.is_empty()),
        Ok(metadata) if metadata.is_dir() => {
            let has_name = stem.is_some_and(str::is_empty) || name == WASI_STAGING;
            has_name && entries(path).is_ok_and(|names| names.iter().all(|name| is_part(&path.join(name))))
        }
        _ => false,
    }
}

/// Whether an install makes such a thing in its workspace.
fn is_part(path: &Path) -> bool {
    match path.file_name().and_then(|name| name.to_str()).unwrap_or_default() {
        "new" | "old" => is_directory(path),
        name => name == "hidden-lock" || name.starts_with("link-") || name.starts_with("probe-"),
    }
}

/// Puts back what `leftover` has of the project.
fn recover(project: &Path, leftover: &Path) -> Result<(), NativeError> {
    let modules = project.join(MODULES);
    let trees = ["old", "new"].map(|part| leftover.join(part).join(MODULES));
    let [old, _] = &trees;
    if is_directory(old) && fs::symlink_metadata(&modules).is_err() {
        fs::rename(old, &modules).map_err(NativeError::io("put back", &modules))?;
    }
    restore(project, &leftover.join("old"))?;
    if is_directory(&modules) {
        let mut moves = Moves::default();
        for tree in trees.iter().filter(|tree| is_directory(tree)) {
            carry_over(tree, &modules, &mut moves)?;
        }
        moves.keep();
    }
    Ok(())
}

/// Trees that were set aside in `old` and not replaced go back to their places in the user's folders.
fn restore(project: &Path, old: &Path) -> Result<(), NativeError> {
    let mut open = vec![String::new()];
    while let Some(folder) = open.pop() {
        for name in entries(&old.join(&folder))? {
            let name = name.to_string_lossy();
            let path = if folder.is_empty() { name.to_string() } else { format!("{folder}/{name}") };
            let (from, to) = (old.join(&path), project.join(&path));
            if !is_directory(&from) {
                continue;
            }
            if name != MODULES {
                if is_directory(&to) {
                    open.push(path);
                }
            } else if !folder.is_empty() && fs::symlink_metadata(&to).is_err() {
                fs::rename(&from, &to).map_err(NativeError::io("put back", &to))?;
            }
        }
    }
    Ok(())
}
