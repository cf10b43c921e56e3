//! Which part of a project an install is about: all of it, the project alone, or some of its workspaces.
//!
//! The rules are npm's (`get-workspaces.js`, and `setWorkspaces` of its commands): a workspace is named by its name, by its
//! folder, or by a folder that it is in.

use crate::EngineError;
use crate::error::Fault;
use gantry_manifest::{Config, Lockfile, WorkspacePatterns};
use gantry_resolver::{
    Project, ResolveOptions, Scope, Workspace, path_between, path_from, paths_of_workspaces, paths_without_workspaces,
};
use serde_json::json;
use std::collections::BTreeSet;

/// Which part of a project an install is about.
///
/// The whole project is resolved all the same, and the lock is that of the whole project. What is asked for by name
/// ([`Changes`](crate::Changes)) goes into the manifests of the part; of `node_modules` only what the part needs is brought
/// up to date, and everything else stays as it is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum WorkspaceChoice {
    /// The project with its workspaces.
    #[default]
    Whole,
    /// The project without what only its workspaces need: npm's `workspaces=false`.
    Project,
    /// Workspaces.
    Workspaces {
        /// Names of workspaces, their folders, or folders that they are in; empty for all workspaces. A folder is absolute or
        /// relative to [`from`](Self::Workspaces::from). Each must not name one, but one of them must.
        named: Vec<String>,
        /// The folder that paths start in, relative to the project, with `/`; empty for the project's own.
        from: String,
        /// Whether the project itself belongs to it, without its other workspaces: npm's `include-workspace-root`.
        with_project: bool,
    },
}

/// npm's settings that choose, as files, the environment, a command line or the options of a page give them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WorkspaceSettings {
    /// `workspace`: as [`WorkspaceChoice::Workspaces`] names them; none where nothing is set.
    pub workspace: Vec<String>,
    /// `workspaces`: all of them, or none. Where nothing is set it depends on the others.
    pub workspaces: Option<bool>,
    /// `include-workspace-root`: whether the project itself belongs to the workspaces that are chosen.
    pub include_workspace_root: bool,
}

impl WorkspaceSettings {
    /// What is set; `implied` is the workspace that stands for itself unless one is named.
    pub fn of_config(config: &Config, implied: Option<String>) -> Self {
        let is_set = config.get("workspace").is_some();
        Self {
            workspace: if is_set { config.get_list("workspace") } else { implied.into_iter().collect() },
            workspaces: config.get("workspaces").filter(|text| *text != "null").and(config.get_bool("workspaces")),
            include_workspace_root: config.get_bool("include-workspace-root") == Some(true),
        }
    }

    /// What they come to where paths start in the folder `from`; refuses what contradicts itself.
    pub fn choice(self, from: String) -> Result<WorkspaceChoice, Fault> {
        let Self { workspace: named, workspaces, include_workspace_root: with_project } = self;
        match workspaces {
            Some(false) if named.is_empty() => Ok(WorkspaceChoice::Project),
            Some(false) => {
                let message = format!("workspaces=false, and {} is chosen", named.join(", "));
                Err(Fault::of_setting(message)
                    .with_hint("Choose no workspace, or do not turn workspaces off, with an option or in .npmrc."))
            }
            None if named.is_empty() => Ok(WorkspaceChoice::Whole),
            Some(true) | None => Ok(WorkspaceChoice::Workspaces { named, from, with_project }),
        }
    }
}

/// The part of a project that was chosen.
#[derive(Debug, Clone, Default)]
pub(crate) struct Chosen {
    /// Names and folders of workspaces.
    pub workspaces: Vec<(String, String)>,
    /// Whether the project itself belongs to it.
    pub with_project: bool,
}

impl Chosen {
    /// The same for the resolver.
    pub fn scope(&self) -> Scope {
        let workspaces = self.workspaces.iter().map(|(name, _)| name.clone()).collect();
        Scope { workspaces, with_project: self.with_project }
    }
}

/// The folders of the workspaces that are chosen of those of the project in `project_path` (absolute, or empty); none for the
/// project alone, and all of them for the whole. `warn` gets code and text of a warning.
pub(crate) fn chosen_workspaces(
    choice: &WorkspaceChoice,
    workspaces: &[Workspace],
    project_path: &str,
    warn: &dyn Fn(&'static str, String),
) -> Result<Vec<String>, Fault> {
    Ok(match choose(choice, workspaces, project_path, warn)? {
        Some(chosen) => chosen.workspaces.into_iter().map(|(_, folder)| folder).collect(),
        None => workspaces.iter().map(|workspace| workspace.path.clone()).collect(),
    })
}

/// The paths of what belongs to the part of a project that is chosen, for commands that look at a tree; `None` for the whole.
/// `warn` gets code and text of a warning.
pub fn paths_of_choice(
    choice: &WorkspaceChoice,
    project: &Project,
    lock: &Lockfile,
    options: &ResolveOptions,
    warn: &dyn Fn(&'static str, String),
) -> Result<Option<BTreeSet<String>>, EngineError> {
    Ok(match choice {
        WorkspaceChoice::Whole => None,
        WorkspaceChoice::Project => Some(paths_without_workspaces(project, lock, options)?),
        WorkspaceChoice::Workspaces { .. } => {
            let folders = chosen_workspaces(choice, &project.workspaces, &options.project_path, warn)?;
            Some(paths_of_workspaces(project, lock, &folders, options)?)
        }
    })
}

/// The part of the project in `project_path` (absolute, or empty) that is chosen; `None` for the whole.
pub(crate) fn choose(
    choice: &WorkspaceChoice,
    workspaces: &[Workspace],
    project_path: &str,
    warn: &dyn Fn(&'static str, String),
) -> Result<Option<Chosen>, Fault> {
    let (named, from, with_project) = match choice {
        WorkspaceChoice::Whole => return Ok(None),
        WorkspaceChoice::Project => return Ok(Some(Chosen { with_project: true, ..Chosen::default() })),
        WorkspaceChoice::Workspaces { named, from, with_project } => (named, from, *with_project),
    };
    let is_meant = |name: &str, workspace: &Workspace| is_meant(name, workspace, from, project_path);
    let unknown: Vec<&str> = named
        .iter()
        .map(String::as_str)
        .filter(|name| !workspaces.iter().any(|workspace| is_meant(name, workspace)))
        .collect();
    if workspaces.is_empty() || !unknown.is_empty() && unknown.len() == named.len() {
        return Err(none_found(&unknown, workspaces));
    }
    for name in unknown {
        warn("WORKSPACE_UNKNOWN", format!("no workspace is called {name}, and none is in a folder of that name"));
    }
    let is_chosen = |workspace: &&Workspace| named.is_empty() || named.iter().any(|name| is_meant(name, workspace));
    let chosen = workspaces.iter().filter(is_chosen);
    let workspaces = chosen.map(|workspace| (workspace.name.clone(), workspace.path.clone())).collect();
    Ok(Some(Chosen { workspaces, with_project }))
}

fn none_found(unknown: &[&str], workspaces: &[Workspace]) -> Fault {
    if workspaces.is_empty() {
        let message = "workspaces are chosen, and the project has none";
        return Fault::new("WORKSPACE_UNKNOWN", message)
            .with_hint("Name their folders under \"workspaces\" in the project's package.json, or choose none.");
    }
    let names: Vec<&str> = workspaces.iter().map(|workspace| workspace.name.as_str()).collect();
    let message = format!("no workspace is called {}, and none is in a folder of that name", unknown.join(", "));
    Fault::new("WORKSPACE_UNKNOWN", message).with_hint(format!("The project's workspaces are {}.", names.join(", ")))
}

/// Whether a user who is in the folder `from` means this workspace by `name`.
fn is_meant(name: &str, workspace: &Workspace, from: &str, project_path: &str) -> bool {
    if name == workspace.name {
        return true;
    }
    let place = match name.starts_with('/') {
        true => path_between(project_path, name),
        false => path_from(from, name),
    };
    if place == workspace.path {
        return true;
    }
    let seen_from_here = path_between(from, &workspace.path);
    let bare = name.trim_end_matches('/');
    let bare = bare.strip_prefix("./").unwrap_or(bare);
    is_in(&place, &seen_from_here) || bare != "." && is_in(bare, &seen_from_here)
}

/// Whether `path` is directly in a folder that `pattern` fits.
fn is_in(pattern: &str, path: &str) -> bool {
    // A pattern that is none names nothing.
    let patterns = WorkspacePatterns::parse(&json!([format!("{pattern}/*")])).unwrap_or_default();
    !pattern.is_empty() && !patterns.select([path]).is_empty()
}

#[cfg(test)]
mod tests {
    use super::{WorkspaceChoice, WorkspaceSettings, is_meant};
    use gantry_manifest::{Config, Manifest, parse_npmrc};
    use gantry_resolver::Workspace;

    fn named(from: &str, name: &str) -> Vec<&'static str> {
        let all = [("@team/kit", "libs/kit"), ("web", "apps/web"), ("inner", "apps/web/inner")];
        let is_named = |(own, path): &(&str, &str)| {
            let workspace =
                Workspace { name: (*own).to_owned(), path: (*path).to_owned(), manifest: Manifest::default() };
            is_meant(name, &workspace, from, "/home/me/project")
        };
        all.into_iter().filter(is_named).map(|(own, _)| own).collect()
    }

    /// What the lines of a file of settings come to for a user who is in the folder `inside`.
    fn chosen(lines: &str, inside: Option<&str>) -> Result<WorkspaceChoice, String> {
        let mut config = Config::new();
        config.push_layer(parse_npmrc(lines, &|_| None));
        let settings = WorkspaceSettings::of_config(&config, inside.map(str::to_owned));
        settings.choice("from".to_owned()).map_err(|fault| fault.code.to_string())
    }

    #[test]
    fn settings_choose_as_npm_has_it() {
        let workspaces = |named: &[&str], with_project| {
            let named = named.iter().map(|name| (*name).to_owned()).collect();
            Ok(WorkspaceChoice::Workspaces { named, from: "from".to_owned(), with_project })
        };
        let (whole, project) = (|| Ok(WorkspaceChoice::Whole), || Ok(WorkspaceChoice::Project));
        assert_eq!(chosen("", None), whole());
        assert_eq!(chosen("workspaces=null", None), whole());
        assert_eq!(chosen("include-workspace-root=true", None), whole());
        assert_eq!(chosen("workspaces=false", None), project());
        assert_eq!(chosen("workspaces=true", None), workspaces(&[], false));
        assert_eq!(chosen("", Some("here")), workspaces(&["here"], false));
        assert_eq!(chosen("workspace=a\ninclude-workspace-root=true", Some("here")), workspaces(&["a"], true));
        assert_eq!(chosen("workspace[]=a\nworkspace[]=b\nworkspaces=true", None), workspaces(&["a", "b"], false));
        assert_eq!(chosen("workspace=a\nworkspaces=false", None), Err("CONFIG_INVALID".to_owned()));
        assert_eq!(chosen("workspaces=false", Some("here")), Err("CONFIG_INVALID".to_owned()));
    }

    #[test]
    fn a_workspace_is_named_by_name_folder_or_the_folder_it_is_in() {
        assert_eq!(named("", "@team/kit"), ["@team/kit"]);
        for folder in ["libs/kit", "./libs/kit/", "/home/me/project/libs/kit", "libs", "./libs", "libs/", "l*"] {
            assert_eq!(named("", folder), ["@team/kit"], "{folder}");
        }
        assert_eq!(named("", "apps/web"), ["web", "inner"]);
        assert_eq!(named("", "kit"), [""; 0]);
        assert_eq!(named("", ""), [""; 0]);
    }

    #[test]
    fn paths_start_where_the_user_is() {
        assert_eq!(named("apps", "web"), ["web", "inner"]);
        assert_eq!(named("apps", "."), [""; 0]);
        assert_eq!(named("libs", "../apps"), ["web"]);
        assert_eq!(named("apps/web", ".."), [""; 0]);
        assert_eq!(named("apps/web", "."), ["web"]);
        assert_eq!(named("apps/web", "../../libs/kit"), ["@team/kit"]);
        assert_eq!(named("apps/web", "../../libs"), ["@team/kit"]);
        assert_eq!(named("apps/web", "/home/me/project/apps/web"), ["web"]);
    }
}
