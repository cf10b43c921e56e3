//! What the page is told of an installed project.

use crate::changes::Changes;
use crate::project::OpenProject;
use serde::Serialize;
use std::collections::BTreeMap;

/// What an install left behind.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct InstalledProject {
    pub name: String,
    /// Where it has changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub package_json: Option<String>,
    /// Of workspaces, where they have changed, by path.
    pub workspace_manifests: BTreeMap<String, String>,
    pub lockfile: String,
    pub packages: u32,
    pub files: u64,
    pub bytes: u64,
    pub reused: u32,
    pub requests: u32,
    pub elapsed: f64,
    /// Packages with install scripts, which cannot run in a page.
    pub scripts: Vec<String>,
    /// What is different from before the install.
    pub changes: Changes,
    /// Whether anything is: where no folder is, the lock may be another one.
    pub has_changed: bool,
}

impl InstalledProject {
    /// One that an earlier install left.
    pub fn recorded(name: &str, project: &OpenProject) -> Self {
        Self {
            name: name.to_owned(),
            package_json: None,
            workspace_manifests: BTreeMap::new(),
            lockfile: text_of(&project.lockfile),
            packages: project.packages,
            files: project.files,
            bytes: 0,
            reused: project.packages,
            requests: 0,
            elapsed: 0.0,
            scripts: Vec::new(),
            changes: Changes::default(),
            has_changed: false,
        }
    }
}

/// A file's text.
pub(crate) fn text_of(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
