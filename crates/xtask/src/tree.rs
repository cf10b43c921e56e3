//! The files that belong to the project: what git tracks or would track. Without git (an unpacked archive), what lies
//! in the folder except the usual build products.

use crate::{Failure, root};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Folders that hold build products or other people's files, for trees without git.
const PRODUCTS: &[&str] = &[".git", ".cache", "node_modules", "target", "dist", "wasm", "test-results"];

/// Paths relative to the root, '/' separated, sorted; only regular files that exist.
pub(crate) fn files() -> Result<Vec<String>, Failure> {
    let root = root();
    let listed = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(&root)
        .output();
    let mut paths: Vec<String> = match listed {
        Ok(output) if output.status.success() => {
            let text = String::from_utf8(output.stdout)?;
            text.split_terminator('\0').map(str::to_owned).collect()
        }
        _ => {
            let mut found = Vec::new();
            walk(&root, &root, &mut found)?;
            found
        }
    };
    paths.retain(|path| fs::symlink_metadata(root.join(path)).is_ok_and(|metadata| metadata.is_file()));
    paths.sort();
    paths.dedup();
    Ok(paths)
}

fn walk(root: &Path, folder: &Path, found: &mut Vec<String>) -> Result<(), Failure> {
    for entry in fs::read_dir(folder)? {
        let path: PathBuf = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.is_dir() {
            if !PRODUCTS.contains(&&*name) {
                walk(root, &path, found)?;
            }
        } else if let Ok(relative) = path.strip_prefix(root) {
            found.push(relative.to_string_lossy().into_owned());
        }
    }
    Ok(())
}
