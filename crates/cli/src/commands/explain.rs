//! `gantry explain`

use super::why;
use crate::changes::Task;
use crate::failure::{exit_status, print_failure};
use crate::looking::look;
use crate::options::{ExplainArguments, InstallArguments, WhyArguments, WorkspaceArguments};
use crate::output::{print_line, print_text};
use crate::prefix::{InWorkspace, Place};
use crate::session::Traffic;
use crate::settings::{Settings, load};
use gantry_engine::{Conflicts, Event, Fault, conflicts};

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
    look(settings, Traffic::Documents, json, async |host, request, listener| {
        // The conflicts that are accepted are the answer.
        let mut others = |event: Event| {
            if !matches!(&event, Event::Warning { code, .. } if code == "ERESOLVE") {
                listener(event);
            }
        };
        conflicts(host, request, &mut others).await
    })
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
