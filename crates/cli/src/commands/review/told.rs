//! What is printed of a review, in npm's lines; with `--json` one object that has what npm's has, and more.

use super::{Due, Verb};
use crate::loudness::Loudness;
use crate::output::{print_line, print_text, say};
use crate::scripts::MOST_NAMED;
use gantry_layout::{Approval, Unused};
use gantry_spec::without_secrets;
use serde_json::{Map, Value, json};

/// A package of which nothing is said.
pub struct Pending<'t> {
    pub name: &'t str,
    pub version: Option<&'t str>,
    /// What is run of it, and what the shell is told then.
    pub scripts: Vec<(&'static str, String)>,
}

impl Pending<'_> {
    fn label(&self) -> String {
        self.version.map_or_else(|| self.name.to_owned(), |version| format!("{}@{version}", self.name))
    }
}

/// That nothing is left to be said.
pub fn none(json: bool) {
    if json {
        return print_result(json!([]), json!({}));
    }
    print_text("No packages with unreviewed install scripts.");
}

/// What nothing is said of, which is something.
pub fn pending(json: bool, packages: &[Pending<'_>]) {
    if json {
        let mut groups: Vec<(&str, Vec<Value>)> = Vec::new();
        for package in packages {
            let scripts = package.scripts.iter().map(|(event, command)| ((*event).to_owned(), command.as_str().into()));
            let scripts: Map<String, Value> = scripts.collect();
            let change = json!({ "key": package.label(), "change": "pending", "scripts": scripts });
            match groups.iter_mut().find(|(name, _)| *name == package.name) {
                Some((_, changes)) => changes.push(change),
                None => groups.push((package.name, vec![change])),
            }
        }
        let list = groups.into_iter().map(|(name, changes)| json!({ "name": name, "changes": changes }));
        return print_result(list.collect(), json!({}));
    }
    let have = if packages.len() == 1 { "package has" } else { "packages have" };
    print_text(&format!(
        "{} {have} install scripts blocked because they are not covered by allowScripts:",
        packages.len()
    ));
    for package in packages {
        let events: Vec<String> =
            package.scripts.iter().map(|(event, command)| format!("{event}: {command}")).collect();
        print_text(&as_it_reads(&format!("  {} ({})", package.label(), events.join("; "))));
    }
    let name = if let [only] = packages { only.name } else { "NAME" };
    let message =
        format!("`gantry approve-scripts {name}` lets a package run them, `gantry deny-scripts {name}` refuses that");
    say(Loudness::Errors, &message);
}

/// What was written, and what is to be done now.
pub fn written(json: bool, verb: Verb, dry_run: bool, approvals: &[Approval], Due { rebuild, build }: &Due<'_>) {
    if json {
        let list = approvals.iter().map(|approval| {
            let changes = approval.changes.iter();
            let changes: Value = changes
                .map(|(key, change)| json!({ "key": without_secrets(key), "change": change.as_str() }))
                .collect();
            json!({ "name": without_secrets(&approval.name), "changes": changes })
        });
        return print_result(list.collect(), json!({ "dryRun": dry_run, "rebuild": rebuild, "build": build }));
    }
    let (done, infinitive) = match (verb.is_deny(), dry_run) {
        (false, false) => ("Approved", "approve"),
        (false, true) => ("Would approve", "approve"),
        (true, false) => ("Denied", "deny"),
        (true, true) => ("Would deny", "deny"),
    };
    let changed: Vec<&Approval> = approvals.iter().filter(|approval| !approval.changes.is_empty()).collect();
    if changed.is_empty() {
        print_text(&format!("Nothing to {infinitive}; allowScripts unchanged."));
    }
    for Approval { name, changes, .. } in changed {
        print_text(&format!("{done} {}:", without_secrets(name)));
        for (key, change) in changes {
            print_text(&format!("  {} {}", change.as_str(), without_secrets(key)));
        }
    }
    if !rebuild.is_empty() {
        let names: Vec<&str> = rebuild.iter().copied().collect();
        let words = if names.len() > MOST_NAMED { String::new() } else { format!(" {}", names.join(" ")) };
        let whose = if names.len() == 1 { "its" } else { "their" };
        say(Loudness::Errors, &format!("`gantry rebuild{words}` runs {whose} scripts"));
    }
    if !build.is_empty() {
        let names: Vec<&str> = build.iter().copied().collect();
        let whose = if names.len() == 1 { "its repository" } else { "their repositories" };
        say(Loudness::Errors, &format!("`gantry ci` builds {} in {whose}", names.join(", ")));
    }
}

/// Which entries were taken out.
pub fn pruned(json: bool, dry_run: bool, removed: &[(String, Value, Unused)]) {
    if json {
        let list = removed.iter().map(|(key, value, why)| {
            let reason = match why {
                Unused::NotInstalled => "not-installed",
                Unused::NoScripts => "no-scripts",
            };
            json!({ "key": without_secrets(key), "value": value, "reason": reason })
        });
        return print_result(json!({ "removed": list.collect::<Value>(), "dryRun": dry_run }), json!({}));
    }
    if removed.is_empty() {
        return print_text("No unused allowScripts entries.");
    }
    let done = if dry_run { "Would remove" } else { "Removed" };
    let entries = if removed.len() == 1 { "entry" } else { "entries" };
    print_text(&format!("{done} {} unused allowScripts {entries}:", removed.len()));
    for (key, _, why) in removed {
        let reason = match why {
            Unused::NotInstalled => "package not installed",
            Unused::NoScripts => "no install scripts",
        };
        print_text(&format!("  {} ({reason})", without_secrets(key)));
    }
}

/// A line that shows all that is in it: what is to be judged must not hide parts of itself, by colours or by the direction of
/// writing, or pass for several lines.
fn as_it_reads(line: &str) -> String {
    let is_hiding = |character: char| {
        character.is_control()
            || matches!(character, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    let mut shown = String::with_capacity(line.len());
    for character in line.chars() {
        if is_hiding(character) {
            shown.extend(character.escape_default());
        } else {
            shown.push(character);
        }
    }
    shown
}

/// Prints what npm calls `allowScripts`, with what else there is to say.
fn print_result(allow_scripts: Value, more: Value) {
    let mut result = json!({ "type": "result", "allowScripts": allow_scripts });
    if let (Some(result), Value::Object(more)) = (result.as_object_mut(), more) {
        result.extend(more);
    }
    print_line(&result.to_string());
}
