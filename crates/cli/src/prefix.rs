//! Where a command's project is: as for npm the nearest folder, from here upwards, that has a `package.json` or a
//! `node_modules`.

use gantry_engine::Fault;
use gantry_manifest::{Manifest, WorkspacePatterns};
use std::path::{Path, PathBuf};

/// What `--prefix` is unless it is given.
pub const HERE: &str = ".";

/// The project's folder; `named` is `--prefix`, which is taken at its word.
///
/// In the folder of a workspace npm goes on for the project that it belongs to and for this workspace alone. That is not there
/// yet, and taking the folder for a project of its own would be something else: so it is an error.
pub fn project_folder(named: &Path) -> Result<PathBuf, Fault> {
    if named != Path::new(HERE) {
        return Ok(named.to_owned());
    }
    let Ok(here) = std::path::absolute(named) else { return Ok(named.to_owned()) };
    let has = |folder: &Path, name: &str| std::fs::symlink_metadata(folder.join(name)).is_ok();
    let mut folders =
        here.ancestors().skip_while(|folder| !has(folder, "package.json") && !has(folder, "node_modules"));
    let Some(nearest) = folders.next() else { return Ok(named.to_owned()) };
    for above in folders {
        if has_workspace(above, nearest) {
            let message = format!("{} is a workspace of {}", nearest.display(), above.display());
            return Err(Fault::new(
                "CONFIG_UNSUPPORTED",
                format!("{message}, and single workspaces cannot be chosen yet"),
            )
            .with_hint("Run the command in the project's own folder, or name one with --prefix."));
        }
    }
    Ok(if nearest == here { named.to_owned() } else { nearest.to_owned() })
}

/// Whether the project in `root`, if there is one, has a workspace in `folder`.
fn has_workspace(root: &Path, folder: &Path) -> bool {
    let Ok(text) = std::fs::read(root.join("package.json")) else { return false };
    let Ok(Manifest { workspaces: Some(value), .. }) = Manifest::parse_package_json(&text, "package.json") else {
        return false;
    };
    let Ok(patterns) = WorkspacePatterns::parse(&value) else { return false };
    let path = folder.strip_prefix(root).unwrap_or(folder).to_string_lossy().replace('\\', "/");
    patterns.select([path.as_str()]).contains(&path)
}
