//! The digest of a real `node_modules`, comparable with a virtual one's.

use crate::NativeError;
use crate::hidden_lock::HIDDEN_LOCK;
use gantry_layout::TreeDigest;
use gantry_manifest::Lockfile;
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Digest (hexadecimal SHA-256) of everything below `project/node_modules` and below the `node_modules` of the folders that
/// the hidden lock says were given one: paths, executable bits, contents and link targets.
pub fn tree_digest(project: &Path) -> Result<String, NativeError> {
    let mut paths = Vec::new();
    collect(project, "node_modules", &mut paths)?;
    for folder in other_folders(project) {
        collect(project, &format!("{folder}/node_modules"), &mut paths)?;
    }
    paths.sort_unstable();
    let mut digest = TreeDigest::new();
    for relative in &paths {
        let path = project.join(relative);
        let metadata = fs::symlink_metadata(&path).map_err(NativeError::io("read", &path))?;
        if metadata.is_symlink() {
            let target = fs::read_link(&path).map_err(NativeError::io("read", &path))?;
            digest.symlink(relative, &target.to_string_lossy());
        } else {
            let contents = fs::read(&path).map_err(NativeError::io("read", &path))?;
            digest.file(relative, metadata.permissions().mode() & 0o100 != 0, &contents);
        }
    }
    Ok(digest.finish())
}

/// The user's folders in which packages were installed.
fn other_folders(project: &Path) -> BTreeSet<String> {
    let hidden = fs::read(project.join(HIDDEN_LOCK)).unwrap_or_default();
    let lock = Lockfile::parse(&hidden, HIDDEN_LOCK).unwrap_or_default();
    let above = |path: &str| path.find("/node_modules/").map(|at| path[..at].to_owned());
    let folders = lock.packages.iter().filter_map(|entry| above(&entry.path));
    folders.filter(|folder| folder.split('/').all(|part| part != "node_modules")).collect()
}

fn collect(project: &Path, relative: &str, paths: &mut Vec<String>) -> Result<(), NativeError> {
    let directory = project.join(relative);
    for entry in fs::read_dir(&directory).map_err(NativeError::io("read", &directory))? {
        let entry = entry.map_err(NativeError::io("read", &directory))?;
        let path = format!("{relative}/{}", entry.file_name().to_string_lossy());
        if entry.file_type().map_err(NativeError::io("read", &directory))?.is_dir() {
            collect(project, &path, paths)?;
        } else {
            paths.push(path);
        }
    }
    Ok(())
}
