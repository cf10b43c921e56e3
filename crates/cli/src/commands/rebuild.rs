//! `gantry rebuild`

use crate::failure::{exit_status, print_failure};
use crate::loudness::Loudness;
use crate::options::RebuildArguments;
use crate::output::{print_line, say};
use crate::prefix::{InWorkspace, Place};
use crate::report::{Reporter, counted};
use crate::scripts::NotRun;
use crate::session::heed_signals;
use crate::settings::{LoadedScripts, load_scripts};
use gantry_engine::{Event, Fault, changed_for_others};
use gantry_layout::Scripts;
use gantry_native::{Interrupt, ProjectLock, RebuildRequest, Rebuilt, ScriptBegan, StoreUpkeep, rebuild};
use std::sync::Arc;

/// Runs the scripts of what is installed; returns the exit status.
pub fn run(arguments: &RebuildArguments) -> u8 {
    match perform(arguments) {
        Ok(()) => 0,
        Err(fault) => {
            print_failure(&fault, arguments.json);
            exit_status(&fault)
        }
    }
}

fn perform(arguments: &RebuildArguments) -> Result<(), Fault> {
    let place = Place::find(arguments.prefix.as_deref(), InWorkspace::Belongs)?;
    let _lock = ProjectLock::take(&place.project)?;
    let LoadedScripts { project, root, links_commands, is_strict, pins, store, mut settings, warnings } =
        load_scripts(&place, arguments)?;
    let interrupt = Interrupt::default();
    heed_signals(&interrupt)?;
    let reporter = Arc::new(Reporter::new(arguments.json));
    let told = |code: &str, message: String| reporter.event(&Event::Warning { code: code.to_owned(), message });
    for (code, message) in warnings.into_iter().chain(place.warning()) {
        told(code, message);
    }
    let printer = Arc::clone(&reporter);
    settings.began = Arc::new(move |began: &ScriptBegan<'_>| printer.script(began));
    let store = StoreUpkeep::new(&store);
    let request = RebuildRequest { root, names: &arguments.packages, links_commands, is_strict, store: &store };
    let rebuilt = rebuild(&project, request, &settings, &interrupt);
    reporter.clear();
    let Rebuilt { run, unreviewed: others, unreviewed_folders: folders, changed, tree } = rebuilt?;
    if let Some((code, message)) = changed_for_others(&changed) {
        told(code, message);
    }
    if settings.allowed != Scripts::None {
        let not_run = NotRun { project: &project, packages: &others, folders: &folders, tree: &tree, pins };
        not_run.said().into_iter().for_each(|message| told("SCRIPTS_NOT_RUN", message));
    }
    if arguments.json {
        print_line(&serde_json::json!({ "type": "result", "scripts": others, "scriptsRun": run }).to_string());
        return Ok(());
    }
    let names = if run.is_empty() { String::new() } else { format!(": {}", run.join(", ")) };
    say(Loudness::Errors, &format!("scripts of {} run{names}", counted(run.len() as u64, "package")));
    Ok(())
}
