//! What is printed while an install runs, and at its end.

use crate::loudness::{Loudness, allows, allows_progress};
use crate::options::InstallArguments;
use crate::output::{note, print_line, print_text, say, warn};
use crate::timing::table;
use gantry_engine::{Event, Outcome, Phase, PlacedPackage, TimingReport, TreeChanges};
use gantry_native::ScriptBegan;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::path::PathBuf;

/// Prints events: a moving line on a terminal, nothing in a pipe, NDJSON with `--json`.
pub struct Reporter {
    json: bool,
    /// Whether to print where the time went.
    timing: bool,
    /// Where to write the trace.
    trace: Option<PathBuf>,
    /// The folder that packages get into, where no lock says so.
    place: Option<PathBuf>,
    bar: ProgressBar,
}

impl Reporter {
    /// As an install's options say.
    pub fn of(arguments: &InstallArguments) -> Self {
        let InstallArguments { resolve, timing, trace, .. } = arguments;
        Self { timing: *timing, trace: trace.clone(), ..Self::new(resolve.json) }
    }

    /// `json`: whether stdout is for data.
    pub fn new(json: bool) -> Self {
        let show = !json && allows_progress() && std::io::stderr().is_terminal();
        let target = if show { ProgressDrawTarget::stderr_with_hz(12) } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(None, target);
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}") {
            bar.set_style(style);
        }
        Self { json, timing: false, trace: None, place: None, bar }
    }

    /// As it is told of an install that writes no lock, but puts packages into `place`.
    pub fn placing(self, place: Option<PathBuf>) -> Self {
        Self { place, ..self }
    }

    /// Takes one event.
    pub fn event(&self, event: &Event) {
        if let Event::Timing(report) = event {
            self.timing(report);
        }
        if self.json {
            if let Ok(line) = serde_json::to_string(event) {
                print_line(&line);
            }
            return;
        }
        match event {
            Event::Phase { phase } => self.bar.set_message(describe(*phase)),
            Event::Progress { resolved, wanted, unpacked, reused, bytes, .. } => {
                self.bar.set_message(format!(
                    "{resolved} resolved, {} of {wanted} packages in the store, {}",
                    unpacked + reused,
                    megabytes(*bytes)
                ));
                self.bar.tick();
            }
            Event::Warning { code, message } => self.bar.suspend(|| warn(code, message)),
            _ => {}
        }
    }

    fn timing(&self, report: &TimingReport) {
        if self.timing && !self.json {
            self.bar.suspend(|| note(&table(report)));
        }
        let Some(path) = &self.trace else { return };
        if let Err(error) = std::fs::write(path, report.trace.to_string()) {
            let message = format!("{} cannot be written: {error}", path.display());
            self.event(&Event::Warning { code: "TRACE_NOT_WRITTEN".to_owned(), message });
        }
    }

    /// Prints what an install would change, which is what was asked for: npm's lines, sorted by path.
    pub fn finish_dry_run(&self, outcome: &Outcome, changes: &TreeChanges) {
        self.bar.finish_and_clear();
        let TreeChanges { added, removed, changed } = changes;
        if self.json {
            let object = |package: &PlacedPackage| serde_json::json!({ "path": package.path, "name": package.name, "version": package.version });
            let list = |packages: &[PlacedPackage]| packages.iter().map(object).collect::<Vec<_>>();
            let pair = |(from, to): &(PlacedPackage, PlacedPackage)| serde_json::json!({ "from": object(from), "to": object(to) });
            let object = serde_json::json!({
                "type": "result",
                "dryRun": true,
                "add": list(added),
                "change": changed.iter().map(pair).collect::<Vec<_>>(),
                "remove": list(removed),
                "lockChanged": outcome.lock_changed,
                "manifestChanged": outcome.package_json.is_some(),
            });
            print_line(&object.to_string());
            return;
        }
        let mut lines: Vec<(&str, String)> = Vec::new();
        lines.extend(added.iter().map(|package| (&*package.path, format!("add {} {}", package.name, package.version))));
        lines.extend(
            removed.iter().map(|package| (&*package.path, format!("remove {} {}", package.name, package.version))),
        );
        lines.extend(
            changed
                .iter()
                .map(|(from, to)| (&*from.path, format!("change {} {} => {}", from.name, from.version, to.version))),
        );
        lines.sort();
        for (_, line) in &lines {
            print_text(line);
        }
        let told = format!(
            "nothing was changed; this was a dry run of adding {}, changing {} and removing {}",
            counted(added.len() as u64, "package"),
            changed.len(),
            removed.len()
        );
        say(Loudness::Errors, &told);
    }

    /// Tells of a script that begins: as npm does where what it prints will be seen, else on the moving line.
    pub fn script(&self, began: &ScriptBegan<'_>) {
        let ScriptBegan { label, event, command, is_seen } = began;
        if !is_seen {
            self.bar.set_message(format!("running {event} of {label}"));
            self.bar.tick();
            return;
        }
        self.bar.set_message(String::new());
        let whose = if label.is_empty() { String::new() } else { format!("{label} ") };
        let banner = format!("\n> {whose}{event}\n> {}\n", command.trim().replace('\n', "\n> "));
        self.bar.suspend(|| {
            if self.json {
                say(Loudness::Errors, &banner)
            } else if allows(Loudness::Errors) {
                print_text(&banner)
            }
        });
    }

    /// Ends the moving line: what follows is to be seen.
    pub fn clear(&self) {
        self.bar.finish_and_clear();
    }

    /// Prints how many packages were removed of what is installed for the whole machine.
    pub fn finish_removal(&self, removed: usize) {
        if self.json {
            print_line(&serde_json::json!({ "type": "result", "removed": removed }).to_string());
        } else {
            say(Loudness::Errors, &format!("{} removed", counted(removed as u64, "package")));
        }
    }

    /// Prints the result. `folders`: how many links the tree has to folders of the user.
    pub fn finish(&self, outcome: &Outcome, folders: u64) {
        self.bar.finish_and_clear();
        let Outcome { lock_changed, package_json, packages, reused, requests, bytes, elapsed, link, scripts, .. } =
            outcome;
        if self.json {
            let object = serde_json::json!({
                "type": "result",
                "packages": packages,
                "reused": reused,
                "requests": requests,
                "bytes": bytes,
                "elapsed": elapsed,
                "lockChanged": lock_changed,
                "manifestChanged": package_json.is_some(),
                "linked": link.linked,
                "kept": link.kept,
                "folders": folders,
                "files": link.files,
                "method": link.method,
                "reason": link.reason,
                "scripts": scripts,
                "scriptsRun": link.scripts_run,
            });
            print_line(&object.to_string());
            return;
        }
        let lock = match (package_json, lock_changed) {
            _ if let Some(place) = &self.place => format!("in {}", place.display()),
            (Some(_), true) => "package.json and lock written".to_owned(),
            (Some(_), false) => "package.json written, lock unchanged".to_owned(),
            (None, true) => "lock written".to_owned(),
            (None, false) => "lock unchanged".to_owned(),
        };
        if link.method.is_empty() {
            say(Loudness::Errors, &format!("{lock}, {}, {}", counted(*requests, "request"), seconds(*elapsed)));
            return;
        }
        let why = link.reason.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default();
        let linked = match link.linked {
            0 => "none linked".to_owned(),
            count => format!("{count} linked by {}{why}", link.method),
        };
        let folders = match folders {
            0 => String::new(),
            count => format!(", {}", counted(count, "linked folder")),
        };
        let scripts = match link.scripts_run.len() as u64 {
            0 => String::new(),
            count => format!(" scripts of {} run;", counted(count, "package")),
        };
        let line = format!(
            "{}, {}{folders}: {linked}, {} in place;{scripts} {reused} from the store, {}, {}; {lock}, {}",
            counted(*packages, "package"),
            counted(link.files, "file"),
            link.kept,
            counted(*requests, "request"),
            megabytes(*bytes),
            seconds(*elapsed)
        );
        say(Loudness::Errors, &line);
    }
}

/// A number of things, by the word for one.
pub fn counted(count: impl Into<u64>, one: &str) -> String {
    let count = count.into();
    if count == 1 { format!("1 {one}") } else { format!("{count} {one}s") }
}

fn describe(phase: Phase) -> &'static str {
    match phase {
        Phase::Resolve => "resolving",
        Phase::Fetch => "fetching",
        Phase::Link => "making node_modules",
        Phase::Lock => "writing the lock",
    }
}

/// Bytes, for people.
pub fn megabytes(bytes: u64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "shown with one decimal")]
    let value = bytes as f64 / 1e6;
    format!("{value:.1} MB")
}

fn seconds(milliseconds: f64) -> String {
    format!("{:.2} s", milliseconds / 1000.0)
}
