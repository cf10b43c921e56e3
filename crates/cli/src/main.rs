//! The `gantry` command: reads options and npm's settings, runs the engine on this machine, prints what happened.
//!
//! stdout carries data (`--json`: one event a line), stderr everything else. Exit status: 0 done; 1 the project, its lock
//! or the settings are at fault; 2 wrong usage; 3 the registry or the network; 4 the disk or the store; 5 a package is not
//! what it should be; 130, 143, 129 interrupted, told to end, left by its terminal.

#![expect(clippy::disallowed_methods, reason = "a command may read its environment")]

mod certificates;
mod changes;
mod commands;
mod dev_engines;
mod failure;
mod global;
mod looking;
mod loudness;
mod npm_options;
mod options;
mod output;
mod prefix;
mod report;
mod scripts;
mod session;
mod settings;
mod timing;
mod workspaces;

use changes::Task;
use clap::{CommandFactory, FromArgMatches};
use failure::end_by_usage;
use gantry_manifest::NpmrcValue;
use options::{Command, Options};
use std::process::ExitCode;

/// Tarballs and their contents come and go by the megabyte; the system's allocator gives each back to the kernel and
/// faults every page in again.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let variable = |name: &str| std::env::var(name).ok();
    // Made once: that takes a tenth of what a small project takes.
    let gantry = Options::command();
    let line =
        npm_options::take_apart(std::env::args_os(), &gantry, &variable).unwrap_or_else(|error| end_by_usage(&error));
    let matches = gantry.try_get_matches_from(line.words);
    let read = matches.and_then(|matches| Options::from_arg_matches(&matches));
    loudness::heed_line(&line.settings);
    let Options { mut command } = read.unwrap_or_else(|error| end_by_usage(&error));
    command.give(line.settings);
    let outcome = match command {
        Command::Install(arguments) => {
            commands::install::run(&arguments.install, &Task::Add(&arguments.packages, &arguments.save))
        }
        Command::Uninstall(arguments) => commands::install::run(&arguments.install, &Task::Remove(&arguments.packages)),
        Command::Update(arguments) => commands::install::run(&arguments.install, &Task::Update(&arguments.packages)),
        Command::Prune(arguments) => commands::install::run(&arguments, &Task::Prune),
        Command::Dedupe(arguments) => commands::install::run(&arguments, &Task::Dedupe),
        Command::FindDupes(mut arguments) => {
            arguments.resolve.settings.push(("dry-run".to_owned(), NpmrcValue::Text("true".to_owned())));
            commands::install::run(&arguments, &Task::Dedupe)
        }
        Command::Ci(arguments) => commands::install::run(&arguments, &Task::Ci),
        Command::Link(arguments) => commands::link::run(arguments),
        Command::Digest(arguments) => commands::digest::run(&arguments),
        Command::Rebuild(arguments) => commands::rebuild::run(&arguments),
        Command::ApproveScripts(arguments) => commands::review::run(&arguments.review, arguments.task()),
        Command::DenyScripts(arguments) => commands::review::run(&arguments.review, arguments.task()),
        Command::InstallScripts(arguments) => {
            let task = arguments.task().unwrap_or_else(|error| end_by_usage(&error));
            commands::review::run(&arguments.review, task)
        }
        Command::Ls(arguments) => commands::list::run(arguments),
        Command::Outdated(arguments) => commands::outdated::run(arguments),
        Command::Why(arguments) => commands::why::run(&arguments),
        Command::Store(arguments) => commands::store::run(&arguments),
        Command::Explain(arguments) => commands::explain::run(arguments),
    };
    // What was asked for did not get where it was to go.
    ExitCode::from(if outcome == 0 && output::has_lost_data() { 4 } else { outcome })
}
