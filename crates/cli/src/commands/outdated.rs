//! `gantry outdated`

use crate::changes::Task;
use crate::failure::{exit_status, print_failure};
use crate::global::{GLOBAL, place};
use crate::looking::{absolute, look};
use crate::options::{InstallArguments, OutdatedArguments};
use crate::output::{print_line, print_text};
use crate::session::Traffic;
use crate::settings::{Settings, load};
use gantry_engine::{Fault, OutdatedDependency, OutdatedQuery, outdated};
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};

/// Tells which packages are older than what the registry has; returns the exit status: as npm's 1 where there are any.
pub fn run(arguments: OutdatedArguments) -> u8 {
    let OutdatedArguments { packages, all, long, parseable, workspaces, resolve } = arguments;
    let json = resolve.json;
    let arguments = InstallArguments { workspaces, ..InstallArguments::plain(resolve) };
    let settings = place(&arguments).and_then(|place| load(&arguments, &place, &Task::Outdated));
    let query = OutdatedQuery { packages: &packages, all, with_homepage: long };
    match settings.and_then(|settings| find(settings, query, json)) {
        Ok((project, found)) => {
            if json {
                print_line(&format!("{:#}", to_json(&project, &found, long)));
            } else if parseable && !found.is_empty() {
                print_text(&found.iter().map(|one| parseable_line(&project, one, long)).collect::<Vec<_>>().join("\n"));
            } else if !found.is_empty() {
                print_text(&table(&found, long));
            }
            u8::from(!found.is_empty())
        }
        Err(fault) => {
            print_failure(&fault, json);
            exit_status(&fault)
        }
    }
}

/// The project's folder and what there is to tell.
fn find(settings: Settings, query: OutdatedQuery<'_>, json: bool) -> Result<(PathBuf, Vec<OutdatedDependency>), Fault> {
    let project = settings.host.project.clone();
    // So npm calls who asks for what is installed for the whole machine, unless it is asked about single packages.
    let asks_for_all = settings.request.resolve.global && query.packages.is_empty();
    let mut found = look(settings, Traffic::Documents, json, async |host, request, listener| {
        outdated(host, request, query, listener).await
    })?;
    for one in found.iter_mut().filter(|one| asks_for_all && one.dependent_location.is_empty()) {
        GLOBAL.clone_into(&mut one.dependent);
    }
    Ok((project, found))
}

/// npm's JSON: an object by name; a name that several ask for has a list.
fn to_json(project: &Path, found: &[OutdatedDependency], long: bool) -> Value {
    let mut named = Map::new();
    for one in found {
        let mut told = Map::new();
        let mut say = |key: &str, value: Option<&str>| {
            if let Some(value) = value {
                told.insert(key.to_owned(), json!(value));
            }
        };
        let location = one.location.as_ref().map(|location| absolute(project, location));
        say("current", one.current.as_deref());
        say("wanted", Some(&one.wanted));
        say("latest", Some(&one.latest));
        say("dependent", Some(&one.dependent));
        say("location", location.as_deref());
        if long {
            say("type", Some(one.field));
            say("homepage", one.homepage.as_deref());
            say("dependedByLocation", Some(&one.dependent_location));
        }
        let told = Value::Object(told);
        match named.get_mut(&one.name) {
            None => {
                named.insert(one.name.clone(), told);
            }
            Some(Value::Array(others)) => others.push(told),
            Some(other) => *other = Value::Array(vec![other.take(), told]),
        }
    }
    Value::Object(named)
}

/// npm's line for programs: path, wanted, current, latest, who asks.
fn parseable_line(project: &Path, one: &OutdatedDependency, long: bool) -> String {
    let OutdatedDependency { name, current, wanted, latest, location, dependent, .. } = one;
    let path = location.as_ref().map(|location| absolute(project, location)).unwrap_or_default();
    let current = current.as_ref().map_or("MISSING".to_owned(), |current| format!("{name}@{current}"));
    let mut line = format!("{path}:{name}@{wanted}:{current}:{name}@{latest}:{dependent}");
    if long {
        let homepage = one.homepage.as_deref().unwrap_or_default();
        line.push_str(&format!(":{}:{homepage}:{}", one.field, one.dependent_location));
    }
    line
}

/// Columns whose contents end together.
const VERSION_COLUMNS: std::ops::RangeInclusive<usize> = 1..=3;

/// npm's table, without colours.
fn table(found: &[OutdatedDependency], long: bool) -> String {
    let mut rows = vec![vec!["Package", "Current", "Wanted", "Latest", "Location", "Depended by"]];
    if long {
        rows[0].extend(["Package Type", "Homepage", "Depended By Location"]);
    }
    for one in found {
        let mut row = vec![
            one.name.as_str(),
            one.current.as_deref().unwrap_or("MISSING"),
            &one.wanted,
            &one.latest,
            one.location.as_deref().unwrap_or("-"),
            one.workspace.as_deref().unwrap_or(&one.dependent),
        ];
        if long {
            row.extend([one.field, one.homepage.as_deref().unwrap_or_default(), &one.dependent_location]);
        }
        rows.push(row);
    }
    let length = |text: &str| text.encode_utf16().count();
    let width = |column: usize| rows.iter().map(|row| length(row[column])).max().unwrap_or_default();
    let widths: Vec<usize> = (0..rows[0].len()).map(width).collect();
    let line = |row: &Vec<&str>| {
        let cells = row.iter().zip(&widths).enumerate().map(|(column, (text, width))| {
            let space = " ".repeat(width - length(text));
            if VERSION_COLUMNS.contains(&column) { format!("{space}{text}") } else { format!("{text}{space}") }
        });
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect::<Vec<_>>().join("\n")
}
