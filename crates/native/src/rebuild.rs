//! Running the scripts of what is installed: npm's `rebuild`.

use crate::hidden_lock::{self, HIDDEN_LOCK};
use crate::own_files::separate;
use crate::scripts::{has_install_scripts, run_scripts};
use crate::workspace::is_directory;
use crate::{Interrupt, ScriptSettings};
use gantry_engine::Fault;
use gantry_layout::{ScriptedTree, Scripts};
use gantry_manifest::{LockEntry, Manifest, WorkspacePatterns};
use gantry_spec::{Spec, SpecKind, Version};
use std::collections::BTreeSet;
use std::path::Path;

/// What came of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rebuilt {
    /// `name@version` of what had scripts that were run, sorted.
    pub run: Vec<String>,
    /// The same of packages that have some of which nothing is said: they did not run.
    pub unreviewed: Vec<String>,
}

/// Runs scripts of what is installed in a project, as far as `scripts` allows: of packages and folders with these names, else of
/// all. A name may have a version or a range behind it. `root` is the project's own manifest. Optional packages are no exception
/// here: the first script that fails is the error. To be called with the project's lock.
pub fn rebuild(
    project: &Path,
    root: Manifest,
    names: &[String],
    scripts: &Scripts,
    settings: &ScriptSettings,
    interrupt: &Interrupt,
) -> Result<Rebuilt, Fault> {
    let (_, mut lock) = hidden_lock::read(project).ok_or_else(|| {
        let message = format!("nothing tells what is installed in {}: {HIDDEN_LOCK} is missing", project.display());
        Fault::new("TREE_UNKNOWN", message).with_hint("Run `gantry install` first.")
    })?;
    let patterns = root.workspaces.as_ref().and_then(|value| WorkspacePatterns::parse(value).ok()).unwrap_or_default();
    // Who asks for what is there tells what it is; of the project the lock in the tree does not say so.
    lock.packages.push(LockEntry { manifest: root, ..LockEntry::default() });
    let folders = lock.packages.iter().filter(|entry| entry.is_top()).map(|entry| entry.path.as_str());
    let workspaces: BTreeSet<String> = patterns.select(folders).into_iter().collect();
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
    let paths = lock.packages.iter().filter(is_chosen).filter(has_scripts).map(|entry| entry.path.as_str()).collect();
    let ScriptedTree { mut allowed, unreviewed, .. } = ScriptedTree::of_paths(&lock, paths, scripts, &workspaces);
    // Here nothing can be left out.
    allowed.iter_mut().for_each(|scripted| scripted.optional = false);
    for package in allowed.iter().filter(|scripted| !scripted.is_link) {
        separate(&project.join(&package.path))?;
    }
    let result = run_scripts(project, &allowed.iter().collect::<Vec<_>>(), settings, interrupt);
    // What scripts have made is part of the tree.
    let touched = crate::project::touch_hidden_lock(project);
    let run = result?.run;
    touched?;
    let unreviewed: BTreeSet<String> = unreviewed.into_iter().map(|scripted| scripted.label).collect();
    Ok(Rebuilt { run, unreviewed: unreviewed.into_iter().collect() })
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
