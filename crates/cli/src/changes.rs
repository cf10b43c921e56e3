//! What a command is to do to the project's own dependencies, and npm's settings of how that is saved.

use crate::global::updated;
use crate::options::SaveArguments;
use gantry_engine::{Changes, Fault, InstallMode, Update, changes_saved};
use gantry_manifest::{Config, NpmrcValue};
use gantry_native::GlobalFolder;
use gantry_resolver::{ResolveOptions, path_in_project};
use gantry_spec::{Spec, SpecKind};
use std::path::{Path, PathBuf};

/// A command that resolves.
pub enum Task<'a> {
    /// `install`, with packages to add or without.
    Add(&'a [String], &'a SaveArguments),
    /// `uninstall`
    Remove(&'a [String]),
    /// `update`; without names everything.
    Update(&'a [String]),
    /// `prune`
    Prune,
    /// `dedupe`
    Dedupe,
    /// `ci`
    Ci,
    /// Whatever only resolves.
    Resolve,
    /// `ls`
    List,
    /// `outdated`
    Outdated,
}

impl Task<'_> {
    /// Which of npm's two ways to install.
    pub fn mode(&self) -> InstallMode {
        if matches!(self, Self::Ci) { InstallMode::Ci } else { InstallMode::Install }
    }

    /// What npm calls it in the environment of scripts.
    pub fn npm_command(&self) -> &'static str {
        match self {
            Self::Add(..) | Self::Resolve => "install",
            Self::Remove(_) => "uninstall",
            Self::Update(_) => "update",
            Self::Prune => "prune",
            Self::Dedupe => "dedupe",
            Self::Ci => "ci",
            Self::List => "ls",
            Self::Outdated => "outdated",
        }
    }

    /// Whether npm runs the project's own scripts with this command.
    pub fn runs_scripts_of_project(&self) -> bool {
        matches!(self, Self::Add([], _) | Self::Ci)
    }

    /// Its own options, as settings.
    pub fn options_layer(&self) -> Vec<(String, NpmrcValue)> {
        let set = |key: &str, value: &str| (key.to_owned(), NpmrcValue::Text(value.to_owned()));
        let save = match self {
            Self::Add(_, save) => save,
            Self::Dedupe => return vec![set("prefer-dedupe", "true"), set("save", "false")],
            _ => return Vec::new(),
        };
        let kinds = [
            ("save-prod", save.save_prod),
            ("save-dev", save.save_dev),
            ("save-optional", save.save_optional),
            ("save-peer", save.save_peer),
        ];
        let mut layer = Vec::new();
        if kinds.iter().any(|(_, wanted)| *wanted) {
            // One excludes those that a file sets.
            layer.extend(kinds.iter().map(|(key, wanted)| set(key, &wanted.to_string())));
        }
        if save.save_bundle {
            layer.push(set("save-bundle", "true"));
        }
        if save.save_exact {
            layer.push(set("save-exact", "true"));
        }
        if let Some(prefix) = &save.save_prefix {
            layer.push(set("save-prefix", prefix));
        }
        layer
    }
}

/// What a command is to change.
pub fn changes(
    task: &Task<'_>,
    config: &Config,
    project: &Path,
    global: Option<&GlobalFolder>,
) -> Result<Changes, Fault> {
    let mut changes = changes_saved(config);
    // Nothing is written down of what is installed for the whole machine.
    changes.save &= global.is_none();
    match task {
        Task::Update(names) if let Some(folder) = global => changes.add = updated(folder, names)?,
        // npm's rule: this folder.
        Task::Add([], _) if global.is_some() => changes.add.extend(from_here(".", project)?),
        Task::Add(packages, _) => {
            for argument in *packages {
                changes.add.extend(from_here(argument, project)?);
            }
        }
        Task::Remove(names) => changes.remove = names.to_vec(),
        Task::Update(names) => {
            changes.save = config.get_bool("save") == Some(true);
            changes.update =
                if names.is_empty() { Update::All } else { Update::of_names(names.to_vec()).map_err(invalid)? };
        }
        Task::Prune => changes.prune = true,
        Task::Dedupe => changes.update = Update::Duplicates,
        Task::Ci | Task::Resolve | Task::List | Task::Outdated => {}
    }
    Ok(changes)
}

fn invalid(message: String) -> Fault {
    Fault::of_setting(message).with_hint("Name it without a version; what package.json allows decides.")
}

/// The folder that is meant by one that links lead to, as npm saves it; inside of the project by the project's own path.
fn without_links(folder: &Path, project: &Path) -> PathBuf {
    let (Ok(real), Ok(real_project)) = (folder.canonicalize(), project.canonicalize()) else {
        return folder.to_owned();
    };
    match real.strip_prefix(&real_project) {
        Ok(inside) => project.join(inside),
        Err(_) => real,
    }
}

/// An argument whose paths no longer depend on where the command runs; `None` of the project's own folder, which is no
/// dependency of itself.
fn from_here(argument: &str, project: &Path) -> Result<Option<String>, Fault> {
    // What it lacks is said where it is looked into.
    let Ok((name, spec)) = Spec::parse_argument(argument) else { return Ok(Some(argument.to_owned())) };
    let (SpecKind::Directory { path } | SpecKind::File { path }) = &spec.kind else {
        return Ok(Some(argument.to_owned()));
    };
    if path.starts_with("~/") {
        return Ok(Some(argument.to_owned()));
    }
    // An empty path is this folder.
    let path = if path.is_empty() { "." } else { path };
    let mut absolute = std::path::absolute(path)
        .map_err(|error| Fault::of_setting(format!("{argument}: the path cannot be followed: {error}")))?;
    if matches!(spec.kind, SpecKind::Directory { .. }) {
        absolute = without_links(&absolute, project);
    }
    let mut here = ResolveOptions::default();
    here.project_path = project.to_string_lossy().into_owned();
    if name.is_empty() && path_in_project(&here, &absolute.to_string_lossy()).is_empty() {
        return Ok(None);
    }
    let at = if name.is_empty() { String::new() } else { format!("{name}@") };
    Ok(Some(format!("{at}file:{}", absolute.display())))
}
