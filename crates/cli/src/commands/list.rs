//! `gantry ls`

use crate::changes::Task;
use crate::failure::{exit_status, print_failure};
use crate::global::place;
use crate::looking::{absolute, look};
use crate::options::{InstallArguments, ListArguments};
use crate::output::{print_line, print_text};
use crate::session::Traffic;
use crate::settings::{Settings, load};
use gantry_engine::{Fault, ListQuery, list};
use gantry_resolver::Listed;
use gantry_spec::{Spec, SpecKind};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// How a list is printed.
#[derive(Debug, Clone, Copy)]
enum Form {
    Tree,
    Json,
    Paths { with_labels: bool },
}

/// Tells what is in the tree; returns the exit status: as npm's 1 where something is wrong there, or nothing is what was asked for.
pub fn run(arguments: ListArguments) -> u8 {
    let ListArguments { packages, all, depth, link, parseable, long, package_lock_only, workspaces, resolve } =
        arguments;
    let form = match (resolve.json, parseable) {
        (true, _) => Form::Json,
        (_, true) => Form::Paths { with_labels: long },
        _ => Form::Tree,
    };
    let arguments =
        InstallArguments { workspaces, lockfile_only: package_lock_only, ..InstallArguments::plain(resolve) };
    let settings = place(&arguments).and_then(|place| load(&arguments, &place, &Task::List));
    let is_deep = all || !packages.is_empty();
    let depth = if is_deep { depth } else { Some(depth.unwrap_or(0)) };
    let query = ListQuery { packages: &packages, depth, links: link };
    match settings.and_then(|settings| find(settings, query, form)) {
        Ok(found) => conclude(&found, form, !packages.is_empty()),
        Err(fault) => {
            print_failure(&fault, matches!(form, Form::Json));
            exit_status(&fault)
        }
    }
}

/// What is printed.
struct Found {
    /// The project's folder.
    project: PathBuf,
    /// What its tree has; the project first.
    lines: Vec<Listed>,
    /// Whether its manifest says anything.
    has_manifest: bool,
    /// Whether the project is what is installed for the whole machine.
    is_global: bool,
    /// Whether a tree is drawn with what ASCII lacks.
    is_unicode: bool,
}

fn find(settings: Settings, query: ListQuery<'_>, form: Form) -> Result<Found, Fault> {
    let project = settings.host.project.clone();
    let manifest = serde_json::from_slice::<Map<String, Value>>(&settings.request.package_json);
    let has_manifest = !manifest.is_ok_and(|manifest| manifest.is_empty());
    let is_global = settings.request.resolve.global;
    let is_unicode = settings.unicode.unwrap_or_else(reads_unicode);
    let lines = look(settings, Traffic::Tarballs, matches!(form, Form::Json), async |host, request, listener| {
        list(host, request, query, listener).await
    })?;
    Ok(Found { project, lines, has_manifest, is_global, is_unicode })
}

/// Prints a list, and what is wrong in it.
fn conclude(found: &Found, form: Form, is_filtered: bool) -> u8 {
    let Found { project, lines, .. } = found;
    let chosen = lines.iter().filter(|line| line.is_chosen);
    let mut seen = BTreeSet::new();
    let problems: Vec<String> = chosen
        .flat_map(|line| line.problems(|location| absolute(project, location)))
        .filter(|problem| seen.insert(problem.clone()))
        .collect();
    match form {
        Form::Json => print_line(&format!("{:#}", to_json(found, &problems))),
        Form::Paths { with_labels } => print_text(&paths(project, lines, with_labels)),
        Form::Tree => print_text(&tree(found)),
    }
    let grave: Vec<&str> =
        problems.iter().map(String::as_str).filter(|problem| !problem.starts_with("extraneous:")).collect();
    if !grave.is_empty() {
        let fault = Fault::new("TREE_INVALID", grave.join("\n")).with_hint(
            "Run `gantry install` to mend it, or `gantry explain` where peer dependencies contradict each other.",
        );
        if !matches!(form, Form::Json) {
            print_failure(&fault, false);
        }
        return exit_status(&fault);
    }
    // Who wants paths has npm say by having none.
    let tells = is_filtered && !matches!(form, Form::Paths { .. });
    let finds_nothing = tells && lines.first().is_some_and(|root| !root.is_listed);
    u8::from(finds_nothing)
}

/// Lines below each line that are listed, by index.
fn children(lines: &[Listed]) -> Vec<Vec<usize>> {
    let mut children = vec![Vec::new(); lines.len()];
    for (index, line) in lines.iter().enumerate().filter(|(_, line)| line.is_listed) {
        if let Some(parent) = line.parent {
            children[parent].push(index);
        }
    }
    children
}

/// Whether terminals of this locale show what ASCII lacks: npm's rule.
fn reads_unicode() -> bool {
    let variables = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter();
    let locale = variables.filter_map(|name| std::env::var(name).ok()).find(|value| !value.is_empty());
    let locale = locale.unwrap_or_default().to_ascii_lowercase();
    locale.ends_with("utf-8") || locale.ends_with("utf8")
}

/// npm's text, without colours.
fn tree(found: &Found) -> String {
    let Found { project, lines, has_manifest, is_global, is_unicode } = found;
    let children = children(lines);
    let folder = project.display();
    let has_name = *has_manifest && !is_global;
    let mut text = if has_name { format!("{} {folder}\n", lines[0].label) } else { format!("{folder}\n") };
    let shapes = if *is_unicode { ["├", "└", "─", "┬", "│"] } else { ["+", "`", "-", "-", "|"] };
    if children[0].is_empty() {
        text.push_str(&format!("{}{}{} (empty)\n", shapes[1], shapes[2], shapes[2]));
    }
    let mut open: Vec<(usize, String, bool)> = Vec::new();
    let push = |open: &mut Vec<(usize, String, bool)>, parent: usize, prefix: &str| {
        let below = children[parent].iter().enumerate().rev();
        open.extend(below.map(|(at, &child)| (child, prefix.to_owned(), at + 1 == children[parent].len())));
    };
    push(&mut open, 0, "");
    while let Some((index, prefix, is_last)) = open.pop() {
        let corner = if is_last { shapes[1] } else { shapes[0] };
        let below = if children[index].is_empty() { shapes[2] } else { shapes[3] };
        text.push_str(&format!("{prefix}{corner}{}{below} {}\n", shapes[2], told(&lines[index])));
        let prefix = format!("{prefix}{} ", if is_last { " " } else { shapes[4] });
        push(&mut open, index, &prefix);
    }
    text
}

/// A line of the text.
fn told(line: &Listed) -> String {
    let mut text = String::new();
    if line.missing_for.is_some() {
        text.push_str(if line.required.1 { "UNMET OPTIONAL DEPENDENCY " } else { "UNMET DEPENDENCY " });
    }
    text.push_str(&line.label);
    if line.is_repeated && line.missing_for.is_none() {
        text.push_str(" deduped");
    }
    if !line.invalid.is_empty() {
        text.push_str(&format!(" invalid: {}", line.invalid));
    }
    for (word, on) in [(" extraneous", line.is_extraneous), (" overridden", line.is_overridden == Some(true))] {
        text.push_str(if on { word } else { "" });
    }
    if let Some(resolved) = line.resolved.as_ref().filter(|resolved| is_repository(resolved)) {
        text.push_str(&format!(" ({resolved})"));
    }
    if let Some(target) = &line.target {
        text.push_str(&format!(" -> ./{target}"));
    }
    text
}

fn is_repository(resolved: &str) -> bool {
    Spec::parse("", resolved).is_ok_and(|spec| matches!(spec.kind, SpecKind::Git(_)))
}

/// npm's paths, one a line, each once.
fn paths(project: &Path, lines: &[Listed], with_labels: bool) -> String {
    let told = lines.iter().filter(|line| line.is_chosen && !line.is_repeated).filter_map(|line| {
        let mut text = absolute(project, line.location.as_ref()?);
        if with_labels {
            text.push_str(&format!(":{}", line.label));
            if let Some(target) = &line.target {
                text.push_str(&format!(":{}", absolute(project, target)));
            }
            let words = [
                (":EXTRANEOUS", line.is_extraneous),
                (":INVALID", !line.invalid.is_empty()),
                (":OVERRIDDEN", line.is_overridden == Some(true)),
            ];
            text.extend(words.into_iter().filter_map(|(word, on)| on.then_some(word)));
        }
        Some(text)
    });
    told.collect::<Vec<_>>().join("\n")
}

/// npm's JSON: what is below a package is an object by name in `dependencies`.
fn to_json(found: &Found, problems: &[String]) -> Value {
    let Found { project, lines, has_manifest, .. } = found;
    let children = children(lines);
    let mut values: Vec<Map<String, Value>> = lines.iter().map(|line| entry(project, line)).collect();
    if *has_manifest {
        values[0].insert("name".to_owned(), json!(lines[0].name));
    }
    if !problems.is_empty() {
        values[0].insert("problems".to_owned(), json!(problems));
    }
    // From the last: whatever is below a line comes after it.
    for index in (0..lines.len()).rev() {
        let below: Map<String, Value> = children[index]
            .iter()
            .map(|&child| (lines[child].name.clone(), Value::Object(std::mem::take(&mut values[child]))))
            .collect();
        if !below.is_empty() {
            values[index].insert("dependencies".to_owned(), Value::Object(below));
        }
    }
    Value::Object(values.swap_remove(0))
}

/// What the JSON says of one line.
fn entry(project: &Path, line: &Listed) -> Map<String, Value> {
    let mut entry = Map::new();
    let mut say = |key: &str, value: Value| entry.insert(key.to_owned(), value);
    let is_root = line.parent.is_none();
    if !line.version.is_empty() {
        say("version", json!(line.version));
    }
    if let Some(resolved) = &line.resolved {
        say("resolved", json!(resolved));
    }
    if let Some(is_overridden) = line.is_overridden.filter(|_| !is_root) {
        say("overridden", json!(is_overridden));
    }
    if line.is_extraneous {
        say("extraneous", json!(true));
    }
    if !line.invalid.is_empty() {
        say("invalid", json!(line.invalid));
    }
    if line.missing_for.is_some() && !line.required.1 {
        // As npm: with the first that is missing.
        if !line.is_repeated {
            let required = if line.required.0.is_empty() { "*" } else { &line.required.0 };
            say("required", json!(required));
        }
        say("missing", json!(true));
    }
    let problems = line.problems(|location| absolute(project, location));
    if line.is_chosen && !problems.is_empty() {
        say("problems", json!(problems));
    }
    entry
}
