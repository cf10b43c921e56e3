//! npm's settings of which workspaces a command is for.

use crate::options::WorkspaceArguments;
use crate::prefix::{InWorkspace, Place};
use gantry_engine::{Fault, WorkspaceChoice};
use gantry_manifest::{Config, NpmrcValue};
use std::path::Path;

impl WorkspaceArguments {
    /// The options as settings.
    pub fn layer(&self) -> Vec<(String, NpmrcValue)> {
        let mut layer = Vec::new();
        if !self.workspace.is_empty() {
            layer.push(("workspace".to_owned(), NpmrcValue::List(self.workspace.clone())));
        }
        let mut switch = |key: &str, value: bool| layer.push((key.to_owned(), NpmrcValue::Text(value.to_string())));
        if self.no_workspaces || self.workspaces {
            switch("workspaces", self.workspaces);
        }
        if self.include_workspace_root || self.no_include_workspace_root {
            switch("include-workspace-root", self.include_workspace_root);
        }
        layer
    }

    /// Whether the folder of a workspace stands for its project. Only the command line can say that it does not.
    pub fn in_workspace(&self) -> InWorkspace {
        if self.no_workspaces { InWorkspace::Alone } else { InWorkspace::Belongs }
    }
}

/// Which part of the project in `project` (absolute) a command is for that was started at `place`.
pub fn workspace_choice(config: &Config, place: &Place, project: &Path) -> Result<WorkspaceChoice, Fault> {
    let all = config.get("workspaces").filter(|text| *text != "null").and_then(|_| config.get_bool("workspaces"));
    let implied = place.workspace.iter().map(|folder| folder.to_string_lossy().into_owned());
    // Whatever is set takes the place of the folder that the command was started in.
    let named = if config.get("workspace").is_some() { config.get_list("workspace") } else { implied.collect() };
    match all {
        Some(false) if named.is_empty() => Ok(WorkspaceChoice::Project),
        Some(false) => {
            let message = format!("workspaces=false, and {} is chosen", named.join(", "));
            Err(Fault::new("CONFIG_INVALID", message)
                .with_hint("Choose no workspace, or leave out --no-workspaces or workspaces=false in .npmrc."))
        }
        None if named.is_empty() => Ok(WorkspaceChoice::Whole),
        Some(true) | None => {
            let with_project = config.get_bool("include-workspace-root") == Some(true);
            Ok(WorkspaceChoice::Workspaces { named, from: from_here(project), with_project })
        }
    }
}

/// The folder that paths start in, relative to the project: the current one, or the project's where that is elsewhere.
fn from_here(project: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    here.strip_prefix(project).map(|inside| inside.to_string_lossy().replace('\\', "/")).unwrap_or_default()
}
