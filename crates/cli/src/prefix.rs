//! Where a command's project is: as for npm the nearest folder, from here upwards, that has a `package.json` or a
//! `node_modules`. Where that is a workspace, the project is the one that it belongs to, and the command is for this workspace
//! unless others are named.

use gantry_engine::Fault;
use gantry_manifest::{Manifest, WorkspacePatterns};
use gantry_native::{GlobalFolder, machine_home};
use std::path::{Path, PathBuf};

/// Where a command is started.
const HERE: &str = ".";

/// Where a command works.
pub struct Place {
    /// The project's folder.
    pub project: PathBuf,
    /// The folder of the workspace that the command was started in; absolute.
    pub workspace: Option<PathBuf>,
    /// What the command is for where that is the whole machine; the project is the folder that this says.
    pub global: Option<GlobalFolder>,
}

/// Whether the folder of a workspace is taken for one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InWorkspace {
    /// It stands for its project.
    Belongs,
    /// It is a project of its own: `--no-workspaces`.
    Alone,
}

impl Place {
    /// The place that `named` means, which is `--prefix` and taken at its word.
    pub fn find(named: Option<&Path>, in_workspace: InWorkspace) -> Result<Self, Fault> {
        let alone = |project: &Path| Ok(Self { project: project.to_owned(), workspace: None, global: None });
        if let Some(named) = named {
            return alone(&below_home(named));
        }
        let named = Path::new(HERE);
        let Ok(here) = std::path::absolute(named) else { return alone(named) };
        let has = |folder: &Path, name: &str| std::fs::symlink_metadata(folder.join(name)).is_ok();
        let mut folders =
            here.ancestors().skip_while(|folder| !has(folder, "package.json") && !has(folder, "node_modules"));
        let Some(nearest) = folders.next() else { return alone(named) };
        if in_workspace == InWorkspace::Belongs && has(nearest, "package.json") {
            for above in folders {
                if has_workspace(above, nearest) {
                    let workspace = Some(nearest.to_owned());
                    return Ok(Self { project: above.to_owned(), workspace, global: None });
                }
            }
        }
        alone(if nearest == here { named } else { nearest })
    }

    /// What the user should know of it.
    pub fn warning(&self) -> Option<(&'static str, String)> {
        let file = self.workspace.as_ref()?.join(".npmrc");
        let is_there = std::fs::symlink_metadata(&file).is_ok();
        is_there.then(|| ("CONFIG_IGNORED", format!("settings of a workspace do not count: {}", file.display())))
    }
}

/// A path in the user's home, where it begins with `~/`: shells leave that in `--prefix=~/project`.
pub fn below_home(path: &Path) -> PathBuf {
    let inside = path.strip_prefix("~").ok().filter(|inside| !inside.as_os_str().is_empty());
    match (inside, machine_home()) {
        (Some(inside), Some(home)) => home.join(inside),
        _ => path.to_owned(),
    }
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
