//! Running the scripts of what is installed: npm's `rebuild`.

use crate::hidden_lock::touch_hidden_lock;
use crate::installed_tree::InstalledTree;
use crate::moves::Moves;
use crate::own_files::{InPlace, Watch, separate};
use crate::scripts::{Due, has_install_scripts, run_scripts, scripts_of_folder};
use crate::tops::link_commands;
use crate::workspace::is_directory;
use crate::{Interrupt, NativeError, ScriptSettings, StoreUpkeep};
use gantry_engine::{EngineError, Fault, unreviewed_scripts};
use gantry_layout::{PackageKeys, Plan, ScriptedTree, Scripts, linked_commands};
use gantry_manifest::{LockEntry, Manifest};
use gantry_spec::{Spec, SpecKind, Version};
use std::collections::BTreeSet;
use std::path::Path;

/// What came of it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Rebuilt {
    /// `name@version` of what had scripts that were run, sorted.
    pub run: Vec<String>,
    /// The same of packages that have some of which nothing is said: they did not run.
    pub unreviewed: Vec<String>,
    /// Folders of the user of which nothing is said, whether they have scripts or not.
    pub unreviewed_folders: Vec<String>,
    /// The same of packages that scripts have written into where other projects share their files: they are the project's own now.
    pub changed: Vec<String>,
    /// What is installed.
    pub tree: InstalledTree,
}

/// What is to be done.
#[derive(Debug)]
pub struct RebuildRequest<'r> {
    /// The project's own manifest.
    pub root: Manifest,
    /// Packages and folders, perhaps with a version or a range behind the name; where there are none, all and the project.
    pub names: &'r [String],
    /// Whether there are to be links to commands: npm's `bin-links`.
    pub links_commands: bool,
    /// Whether nothing is run where there are scripts of which nothing is said, of whatever is installed: npm's
    /// `strict-allow-scripts`.
    pub is_strict: bool,
    /// The store that the project's packages are from.
    pub store: &'r StoreUpkeep,
}

/// Runs scripts of what is installed in a project, as far as that is allowed. Optional packages are no exception here: the first
/// script that fails is the error. To be called with the project's lock.
pub fn rebuild(
    project: &Path,
    request: RebuildRequest<'_>,
    settings: &ScriptSettings,
    interrupt: &Interrupt,
) -> Result<Rebuilt, Fault> {
    let RebuildRequest { root, names, links_commands, is_strict, store } = request;
    let scripts = &settings.allowed;
    let tree = InstalledTree::read(project, root)?;
    let InstalledTree { lock, workspaces } = &tree;
    let wanted = names.iter().map(|name| Wanted::read(name)).collect::<Result<Vec<_>, _>>()?;
    for (wanted, name) in wanted.iter().zip(names) {
        if !lock.packages.iter().any(|entry| wanted.is_meant(entry)) {
            return Err(Fault::new("PACKAGE_UNKNOWN", format!("rebuild {name}: nothing of that name is installed"))
                .with_hint("Give a package's name, or name@range, as `gantry why` has it."));
        }
    }
    let is_chosen = |entry: &&LockEntry| {
        !entry.path.is_empty() && (wanted.is_empty() || wanted.iter().any(|wanted| wanted.is_meant(entry)))
    };
    let has_scripts = |entry: &&LockEntry| {
        let folder = project.join(&entry.path);
        entry.link || (!entry.is_top() && !entry.in_bundle && is_directory(&folder) && has_install_scripts(&folder))
    };
    let tree_of = |is_meant: &dyn Fn(&&LockEntry) -> bool| {
        let paths = lock.packages.iter().filter(is_meant).filter(has_scripts).map(|entry| entry.path.as_str());
        ScriptedTree::of_paths(lock, paths.collect(), scripts, workspaces)
    };
    if is_strict {
        refuse_unreviewed(project, tree_of(&|entry| !entry.path.is_empty()))?;
    }
    let ScriptedTree { mut allowed, unreviewed, unreviewed_folders } = tree_of(&is_chosen);
    // Here nothing can be left out.
    allowed.iter_mut().for_each(|scripted| scripted.optional = false);
    let mut is_separated = false;
    for package in allowed.iter().filter(|scripted| !scripted.is_link) {
        is_separated |= separate(project, &project.join(&package.path))?;
    }
    let links = if links_commands {
        linked_commands(lock).map_err(|error| EngineError::from(error).to_fault())?
    } else {
        Vec::new()
    };
    let plan = Plan { links, ..Plan::default() };
    let due = Due { scripted: allowed.iter().collect(), has_project: names.is_empty() && *scripts != Scripts::None };
    let mut moves = Moves::default();
    let owner = project.to_string_lossy();
    let packages = InPlace::of_lock(lock, PackageKeys::new(&owner, scripts).while_building(&settings.building));
    let watch = Watch::begin(store, &packages, is_separated);
    let result = run_scripts(project, due, settings, interrupt, &mut || link_commands(project, &plan, &mut moves));
    // What scripts have made stays, and is part of the tree.
    moves.keep();
    let changed = match &result {
        Ok(ran) if ran.run.is_empty() => {
            watch.call_off();
            Ok(Vec::new())
        }
        _ => watch.end(project, packages),
    };
    let touched = if lock.packages.len() > 1 { touch_hidden_lock(project) } else { Ok(()) };
    let run = result.map_err(fault_of)?.run;
    touched?;
    let changed = changed?;
    let unreviewed: BTreeSet<String> = unreviewed.into_iter().map(|scripted| scripted.label).collect();
    let folders: BTreeSet<String> = unreviewed_folders.into_iter().map(|scripted| scripted.folder).collect();
    let (unreviewed, unreviewed_folders) = (Vec::from_iter(unreviewed), Vec::from_iter(folders));
    Ok(Rebuilt { run, unreviewed, unreviewed_folders, changed, tree })
}

/// Fails where anything has scripts of which nothing is said.
fn refuse_unreviewed(project: &Path, tree: ScriptedTree) -> Result<(), Fault> {
    let folders = tree.unreviewed_folders.into_iter();
    let folders = folders.filter(|folder| !scripts_of_folder(&project.join(&folder.folder)).is_empty());
    let unreviewed: BTreeSet<String> =
        tree.unreviewed.into_iter().chain(folders).map(|scripted| scripted.label).collect();
    if unreviewed.is_empty() { Ok(()) } else { Err(unreviewed_scripts(&Vec::from_iter(unreviewed))) }
}

fn fault_of(error: NativeError) -> Fault {
    let is_script = matches!(error, NativeError::Script { .. }) && !error.lacks_node_gyp();
    let fault = Fault::from(error);
    if is_script {
        fault.with_hint("What scripts have made so far stays. --foreground-scripts shows all that they print.")
    } else {
        fault
    }
}

/// What is to be rebuilt.
struct Wanted {
    name: String,
    spec: Spec,
}

impl Wanted {
    fn read(argument: &str) -> Result<Self, Fault> {
        let wrong = |message: &dyn std::fmt::Display| {
            Fault::of_setting(format!("rebuild {argument}: {message}"))
                .with_hint("Give a package's name, or name@range.")
        };
        let (name, spec) = Spec::parse_argument(argument).map_err(|error| wrong(&error))?;
        match spec.kind {
            SpecKind::Version(_) | SpecKind::Range(_) if !name.is_empty() => Ok(Self { name, spec }),
            _ => Err(wrong(&"that is no name of a package")),
        }
    }

    fn is_meant(&self, entry: &LockEntry) -> bool {
        if entry.path.is_empty() || entry.folder_name() != self.name || (entry.is_top() && !entry.link) {
            return false;
        }
        let version = entry.manifest.version.as_deref().and_then(Version::parse);
        match (&self.spec.kind, version) {
            (SpecKind::Range(range), _) if range.is_any() => true,
            (SpecKind::Range(range), Some(version)) => range.satisfied_by(&version),
            (SpecKind::Version(wanted), Some(version)) => *wanted == version,
            _ => false,
        }
    }
}
