//! `gantry.wasm ci`: what the lock says, from tarballs that the host has provided.
//!
//! A host that has a network asks for what is [missing](print_missing), fetches it, puts it into the folder of tarballs under
//! the name that is given, and installs:
//!
//! ```text
//! gantry.wasm ci --print-missing
//! [{"name":"a","version":"1.0.0","url":"https://…/a-1.0.0.tgz","integrity":"sha512-…","file":"sha512-….tgz"}]
//! ```

use super::{failed, open_store, print_result};
use crate::executor::block_on;
use crate::host::WasiHost;
use crate::options::Options;
use crate::output::{note, print_line};
use crate::project::{ForHost, WasiProject};
use crate::settings::{load, parse_lock};
use crate::store::WasiStore;
use crate::tarballs::file_name;
use gantry_archive::Integrity;
use gantry_engine::{
    EngineError, Event, Fault, Host, InstallRequest, Outcome, PackageStore, install, packages_of_ci, warning_line,
};
use gantry_layout::is_git;
use gantry_manifest::{Manifest, Text};
use gantry_resolver::{Project, lock_satisfies};
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::rc::Rc;

/// A tarball that an install would need.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Missing {
    /// Name of the package.
    pub name: Text,
    /// Its version.
    pub version: Text,
    /// Where the tarball is, without credentials.
    pub url: String,
    /// What it must hash to, if the lock says.
    pub integrity: Option<Text>,
    /// What to call it in the folder of tarballs.
    pub file: String,
}

/// Installs; gives the exit status. What is missing is told with the failure.
pub(super) fn run(options: &Options) -> u8 {
    let prepared = prepare(options).and_then(|(host, request)| {
        host.project().recover()?;
        Ok((host, request))
    });
    let (host, request) = match prepared {
        Ok(prepared) => prepared,
        Err(fault) => return failed(&fault, Value::Null, options.json),
    };
    let attempt = || {
        let mut listener = |event: Event| report(&event, options.json);
        let outcome = block_on(install(&host, &request, &mut listener)).ok_or_else(stalled)?;
        outcome.map_err(|error| error.to_fault())
    };
    let mut outcome = attempt();
    // One that is damaged has left the store: each round finds another at least.
    while let Err(fault) = &outcome
        && fault.code == "STORE_CORRUPT"
        && host.store().take_removed()
    {
        let message = format!("{}; it is taken from its tarball", fault.message);
        report(&Event::Warning { code: fault.code.to_string(), message }, options.json);
        outcome = attempt();
    }
    match outcome {
        Ok(outcome) => {
            finish(options, &host, &outcome);
            0
        }
        Err(fault) if fault.code == "REGISTRY_NOT_CACHED" => {
            let missing = missing(&host, &request).unwrap_or_default();
            let fault = unsettled(&request).unwrap_or_else(|| explained(fault, &missing));
            failed(&fault, json!({ "missing": missing }), options.json)
        }
        Err(fault) => failed(&fault, Value::Null, options.json),
    }
}

fn stalled() -> Fault {
    Fault::new("INTERNAL", "the install waits for something that cannot happen")
}

/// Prints what is missing, as one JSON list.
pub(super) fn print_missing(options: &Options) -> Result<(), Fault> {
    let (host, request) = prepare(options)?;
    let list = serde_json::to_string(&missing(&host, &request)?).expect("strings are always JSON");
    print_line(&list);
    Ok(())
}

fn prepare(options: &Options) -> Result<(WasiHost, InstallRequest), Fault> {
    let (request, registry) = load(options)?;
    let store = Rc::new(open_store(options)?);
    let project = WasiProject::new(options.prefix.clone(), Rc::clone(&store), options.link_maker);
    Ok((WasiHost::new(project, store, registry), request))
}

/// What the install needs and neither the store nor the folder of tarballs has, each once, sorted by name and version.
fn missing(host: &WasiHost, request: &InstallRequest) -> Result<Vec<Missing>, Fault> {
    let fault = |error: EngineError| error.to_fault();
    let mut seen = BTreeSet::new();
    let mut list = Vec::new();
    let wanted = block_on(packages_of_ci(host, request)).ok_or_else(stalled)?;
    for package in wanted.map_err(fault)? {
        let store: &WasiStore = host.store();
        let is_file = package.resolved.as_deref().is_some_and(|resolved| resolved.starts_with("file:"));
        let is_there = || {
            let found = store.tarballs().find(&package.key, &package.name, &package.version);
            store.index(&package.key).is_some() || found.is_some()
        };
        if is_file || !seen.insert(package.key.clone()) || is_there() {
            continue;
        }
        if package.resolved.as_deref().is_some_and(is_git) {
            note(&format!(
                "{} comes from a git repository: only a store that has it already can give it",
                package.name
            ));
            continue;
        }
        let integrity = package.integrity.as_deref().and_then(|text| Integrity::parse(text).ok());
        let (name, version, resolved) = (&package.name, &package.version, package.resolved.as_deref());
        let tarball = host.registry().tarball_request(name, version, resolved, integrity);
        list.push(Missing {
            url: tarball.map_err(|error| fault(error.into()))?.url,
            file: file_name(&package.key),
            integrity: package.integrity,
            name: package.name,
            version: package.version,
        });
    }
    list.sort_by(|one, other| (&one.name, &one.version).cmp(&(&other.name, &other.version)));
    Ok(list)
}

/// Why the engine wanted to ask the registry for more than tarballs, if it did: the lock alone does not settle the tree.
fn unsettled(request: &InstallRequest) -> Option<Fault> {
    let lock = parse_lock(request).ok()?;
    let root = Manifest::parse_package_json(&request.package_json, &request.package_json_path).ok()?;
    let project = Project { root, ..Project::of_lock(&lock) };
    let problems = lock_satisfies(&project, &lock, &request.resolve).err()?;
    if problems.iter().any(|problem| problem.starts_with("Missing:")) {
        let path = request.lockfile_path.clone();
        return Some(EngineError::LockOutOfSync { path, problems, left_out: Vec::new() }.to_fault());
    }
    let message = format!("{} does not settle the tree by itself:\n{}", request.lockfile_path, problems.join("\n"));
    let hint =
        "Make the lock where there is a network, or accept its peer conflicts with --legacy-peer-deps or --force.";
    Some(Fault::new("REGISTRY_NOT_CACHED", message).with_hint(hint))
}

/// The failure with all that is missing instead of the first.
fn explained(fault: Fault, missing: &[Missing]) -> Fault {
    const SHOWN: usize = 10;
    if missing.is_empty() {
        return fault.with_hint("Bring the lock up to date where there is a network; WASI installs from a lock only.");
    }
    let names: Vec<String> = missing.iter().map(|one| format!("{}@{}", one.name, one.version)).collect();
    let more = if names.len() > SHOWN { format!(" and {} more", names.len() - SHOWN) } else { String::new() };
    let shown = names[..names.len().min(SHOWN)].join(", ");
    let message = format!("{} tarballs are neither in the store nor in their folder: {shown}{more}", names.len());
    Fault { message, package: None, ..fault }
        .with_hint("Fetch what ci --print-missing lists into the folder of tarballs, then run again.")
}

fn report(event: &Event, json: bool) {
    if json {
        if let Ok(line) = serde_json::to_string(event) {
            print_line(&line);
        }
    } else if let Event::Warning { code, message } = event {
        note(&warning_line(code, message));
    }
}

fn finish(options: &Options, host: &WasiHost, outcome: &Outcome) {
    let Outcome { packages, reused, bytes, elapsed, link, left_out, scripts, .. } = outcome;
    let ForHost { executables, links } = host.project().for_host();
    let links: Vec<Value> = links.iter().map(|(path, target)| json!({ "path": path, "target": target })).collect();
    let object = json!({
        "packages": packages,
        "reused": reused,
        "bytes": bytes,
        "elapsed": elapsed,
        "lockChanged": false,
        "linked": link.linked,
        "files": link.files,
        "method": link.method,
        "reason": link.reason,
        "leftOut": left_out,
        "scripts": scripts,
        "executables": executables,
        "links": links,
    });
    let why = link.reason.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default();
    let text = format!(
        "{packages} packages, {} files {}{why}; {reused} from the store; {} files are meant to be executable; lock unchanged, {:.2} s",
        link.files,
        link.method,
        executables.len(),
        elapsed / 1000.0
    );
    print_result(options, object, &text);
}
