//! npm's settings of which workspaces a command is for.

use crate::options::WorkspaceArguments;
use crate::prefix::{InWorkspace, Place};
use gantry_engine::{Fault, WorkspaceChoice, WorkspaceSettings};
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
    let implied = place.workspace.as_ref().map(|folder| folder.to_string_lossy().into_owned());
    WorkspaceSettings::of_config(config, implied).choice(from_here(project))
}

/// The folder that paths start in, relative to the project: the current one, or the project's where that is elsewhere.
fn from_here(project: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    here.strip_prefix(project).map(|inside| inside.to_string_lossy().replace('\\', "/")).unwrap_or_default()
}
