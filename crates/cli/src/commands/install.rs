//! `gantry install`, `uninstall`, `update`, `prune`, `dedupe` and `ci`

use crate::changes::Task;
use crate::failure::{exit_status, print_failure};
use crate::global::place;
use crate::options::InstallArguments;
use crate::prefix::Place;
use crate::report::Reporter;
use crate::scripts::NotRun;
use crate::session::{Session, Traffic, twice_if_corrupt};
use crate::settings::{Settings, load};
use gantry_engine::{
    Event, Extent, Fault, Outcome, changed_for_others, dry_removal, dry_run, install, left_changed_for_others,
};
use gantry_layout::Scripts;
use gantry_native::{GlobalFolder, InstalledTree, NativeHost, ProjectLock, ScriptBegan};
use std::path::Path;
use std::sync::{Arc, Mutex};

/// Runs an install; returns the exit status.
pub fn run(arguments: &InstallArguments, task: &Task<'_>) -> u8 {
    // Before the project is read: else another install could change it in between.
    let outcome = place_of(arguments, task).and_then(|place| {
        let mut lock = ProjectLock::take(&place.project)?;
        let settings = load(arguments, &place, task)?;
        if let (None, Some(folder), false) = (&lock, &place.global, settings.dry_run) {
            lock = folder.create()?;
        }
        match (task, &place.global) {
            (Task::Remove(names), Some(folder)) => remove(arguments, &settings, lock, folder, names),
            _ => perform(arguments, settings, lock, &place.project, task),
        }
    });
    match outcome {
        Ok(()) => 0,
        Err(fault) => {
            print_failure(&fault, arguments.resolve.json);
            exit_status(&fault)
        }
    }
}

/// What the command is for. npm's `ci`, `dedupe` and the like are for projects alone.
fn place_of(arguments: &InstallArguments, task: &Task<'_>) -> Result<Place, Fault> {
    match task {
        Task::Add(..) | Task::Remove(_) | Task::Update(_) => place(arguments),
        _ => Place::find(arguments.resolve.prefix.as_deref(), arguments.workspaces.in_workspace()),
    }
}

/// Removes what is installed for the whole machine; no registry is asked.
fn remove(
    arguments: &InstallArguments,
    settings: &Settings,
    lock: Option<ProjectLock>,
    folder: &GlobalFolder,
    names: &[String],
) -> Result<(), Fault> {
    let reporter = Reporter::of(arguments);
    if settings.dry_run {
        reporter.finish_dry_run(&Outcome::default(), &dry_removal(&folder.tree(), names));
        return Ok(());
    }
    let removed = match lock {
        Some(lock) => folder.remove(names, &lock)?,
        None => 0,
    };
    reporter.finish_removal(removed);
    Ok(())
}

fn perform(
    arguments: &InstallArguments,
    mut settings: Settings,
    lock: Option<ProjectLock>,
    project: &Path,
    task: &Task<'_>,
) -> Result<(), Fault> {
    let traffic = if settings.request.has_lock() { Traffic::Tarballs } else { Traffic::Documents };
    let session = Session::start(traffic, arguments.resolve.json)?;
    let is_global = settings.request.resolve.global;
    let reporter = Reporter::of(arguments).placing(is_global.then(|| project.join("node_modules")));
    let reporter = Arc::new(Mutex::new(reporter));
    for warning in &settings.warnings {
        locked(&reporter).event(&Event::Warning { code: warning.0.to_owned(), message: warning.1.clone() });
    }
    let interrupt = session.interrupt().clone();
    let printer = Arc::clone(&reporter);
    let runs_scripts = settings.host.scripts.allowed != Scripts::None && settings.request.extent == Extent::Tree;
    settings.host.scripts.began = Arc::new(move |began: &ScriptBegan<'_>| locked(&printer).script(began));
    let mut host = NativeHost::new(session.handle(), settings.host).with_interrupt(interrupt.clone());
    if let Some(lock) = lock {
        host = host.with_lock(lock);
    }
    if let Some((code, message)) = left_changed_for_others(host.left_changed()) {
        locked(&reporter).event(&Event::Warning { code: code.to_owned(), message });
    }
    let mut listener = |event: Event| locked(&reporter).event(&event);
    let again = |message: String| {
        locked(&reporter).event(&Event::Warning { code: "STORE_CORRUPT".to_owned(), message });
    };
    if settings.dry_run {
        let host = host.leaving_project_alone();
        let found = twice_if_corrupt(|| session.run(dry_run(&host, &settings.request, &mut listener)), again);
        session.end(found.is_ok());
        let (outcome, changes) = found?;
        locked(&reporter).finish_dry_run(&outcome, &changes);
        return Ok(());
    }
    let outcome = twice_if_corrupt(|| session.run(install(&host, &settings.request, &mut listener)), again);
    session.end(outcome.is_ok());
    let mut outcome = outcome?;
    let links = outcome.tree.packages.iter().filter(|entry| entry.link).count() as u64;
    if runs_scripts {
        let tree = InstalledTree::of(std::mem::take(&mut outcome.tree));
        let Outcome { scripts: packages, unreviewed_folders: folders, .. } = &outcome;
        let not_run = NotRun { project, packages, folders, tree: &tree, pins: settings.pins };
        for message in if is_global { not_run.said_globally() } else { not_run.said() } {
            locked(&reporter).event(&Event::Warning { code: "SCRIPTS_NOT_RUN".to_owned(), message });
        }
    }
    if runs_scripts && !is_global && task.runs_scripts_of_project() && !interrupt.is_raised() {
        locked(&reporter).clear();
        let changed = host.run_project_scripts(outcome.link.linked > 0)?;
        if let Some((code, message)) = changed_for_others(&changed) {
            locked(&reporter).event(&Event::Warning { code: code.to_owned(), message });
        }
    }
    locked(&reporter).finish(&outcome, links);
    if interrupt.is_raised() {
        return Err(Fault::new("CANCELLED", "interrupted when everything was in place already")
            .with_hint("Nothing is left to do: the tree and the lock are what was asked for."));
    }
    Ok(())
}

fn locked(reporter: &Mutex<Reporter>) -> std::sync::MutexGuard<'_, Reporter> {
    reporter.lock().expect("printing does not panic")
}
