//! `gantry explain`

use super::why;
use crate::changes::Task;
use crate::failure::{exit_status, print_failure};
use crate::options::{ExplainArguments, InstallArguments, WhyArguments, WorkspaceArguments};
use crate::output::{print_line, print_text, warn};
use crate::prefix::{InWorkspace, Place};
use crate::session::{Session, Traffic, twice_if_corrupt};
use crate::settings::{Settings, load};
use gantry_engine::{Conflicts, Event, Fault, conflicts, left_changed_for_others};
use gantry_native::NativeHost;

/// Tells what conflicts, or why packages are in the tree; returns the exit status.
pub fn run(arguments: ExplainArguments) -> u8 {
    let ExplainArguments { packages, workspaces, resolve } = arguments;
    let json = resolve.json;
    if !packages.is_empty() {
        return why::run(&WhyArguments {
            packages,
            workspaces,
            prefix: resolve.prefix,
            json,
            settings: resolve.settings,
        });
    }
    if workspaces != WorkspaceArguments::default() {
        let fault = Fault::of_setting("workspaces are chosen, and conflicts are always those of the whole project")
            .with_hint("Name packages to be told why these are there, or choose no workspace.");
        print_failure(&fault, json);
        return exit_status(&fault);
    }
    let arguments = InstallArguments::plain(resolve);
    let settings = Place::find(arguments.resolve.prefix.as_deref(), InWorkspace::Belongs)
        .and_then(|place| load(&arguments, &place, &Task::Resolve));
    match settings.and_then(|settings| find(settings, json)) {
        Ok(found) if json => {
            print_line(&found.to_json().to_string());
            0
        }
        Ok(found) => {
            print_text(&told(&found));
            0
        }
        Err(fault) => {
            print_failure(&fault, json);
            exit_status(&fault)
        }
    }
}

fn find(settings: Settings, json: bool) -> Result<Conflicts, Fault> {
    let session = Session::start(Traffic::Documents, json)?;
    let tell = |code: &str, message: &str| {
        // The conflicts that are accepted are the answer.
        if code != "ERESOLVE" && !json {
            warn(code, message);
        }
    };
    for (code, message) in &settings.warnings {
        tell(code, message);
    }
    let mut listener = |event: Event| {
        if let Event::Warning { code, message } = event {
            tell(&code, &message);
        }
    };
    let host = NativeHost::new(session.handle(), settings.host).with_interrupt(session.interrupt().clone());
    if let Some((code, message)) = left_changed_for_others(host.left_changed()) {
        tell(code, &message);
    }
    let attempt = || session.run(conflicts(&host, &settings.request, &mut listener));
    let found = twice_if_corrupt(attempt, |message| tell("STORE_CORRUPT", &message));
    session.end(found.is_ok());
    found
}

fn told(found: &Conflicts) -> String {
    let Conflicts { accepted, stopping } = found;
    let mut parts: Vec<String> = accepted.iter().map(|conflict| format!("accepted: {conflict}")).collect();
    if let Some(conflict) = stopping {
        let mut part = format!("stops an install: {conflict}");
        for remedy in &conflict.remedies {
            part.push_str(&format!("\nwould end it: {remedy}"));
        }
        parts.push(part);
    }
    if parts.is_empty() { "no peer dependencies contradict each other".to_owned() } else { parts.join("\n\n") }
}
