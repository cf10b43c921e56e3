//! `gantry store`

use crate::failure::{exit_status, print_failure};
use crate::loudness::Loudness;
use crate::options::{StoreAction, StoreArguments};
use crate::output::{print_line, print_text, say, warn};
use crate::report::{counted, megabytes};
use crate::settings::store_place;
use gantry_engine::Fault;
use gantry_native::{StorePruned, StoreUpkeep, StoreUsage, StoreVerified, StoredPackage};
use serde_json::{Value, json};

/// What a line of JSON is that ends a command.
const RESULT: &str = "result";

/// Looks after the store; returns the exit status.
pub fn run(arguments: &StoreArguments) -> u8 {
    match act(arguments) {
        Ok(()) => 0,
        Err(fault) => {
            print_failure(&fault, arguments.json);
            exit_status(&fault)
        }
    }
}

fn act(arguments: &StoreArguments) -> Result<(), Fault> {
    let place = store_place(arguments.store_dir.as_deref())?;
    let store = StoreUpkeep::new(&place);
    let print = |object: Value, text: &str| print_result(arguments.json, &object, text);
    let waiting = || {
        if !arguments.json {
            say(Loudness::All, "waiting for installs that use the store");
        }
    };
    match arguments.action {
        StoreAction::Path => {
            let place = place.display().to_string();
            print(json!({ "type": RESULT, "path": place }), &place);
        }
        StoreAction::Status => {
            let usage = store.usage()?;
            print(usage_object(&usage), &usage_text(&usage));
        }
        StoreAction::Ls => {
            for package in store.list()? {
                print_package(arguments.json, &package);
            }
        }
        StoreAction::Verify => {
            let verified = store.verify()?;
            if !verified.damaged.is_empty() {
                return Err(damage(&verified));
            }
            let StoreVerified { packages, without_sums, .. } = verified;
            if without_sums > 0 && !arguments.json {
                let packages = counted(without_sums, "package");
                warn(
                    "STORE_WITHOUT_SUMS",
                    &format!("{packages} of an older store: only the sizes of files were compared"),
                );
            }
            let text = match packages {
                1 => "1 package is whole".to_owned(),
                packages => format!("{packages} packages are whole"),
            };
            print(json!({ "type": RESULT, "packages": packages, "withoutSums": without_sums }), &text);
        }
        StoreAction::Prune => {
            let StorePruned { packages, bytes, kept, forgotten } = store.prune(waiting)?;
            let object = json!({
                "type": RESULT,
                "packages": packages,
                "bytes": bytes,
                "kept": kept,
                "forgottenProjects": forgotten,
            });
            print(object, &format!("{} removed, {}; {kept} kept", counted(packages, "package"), megabytes(bytes)));
        }
        StoreAction::Clear => {
            store.clear(waiting)?;
            print(json!({ "type": RESULT }), "the store is empty");
        }
    }
    Ok(())
}

/// The result is what was asked for, so it is data in both forms.
fn print_result(as_json: bool, object: &Value, text: &str) {
    if as_json { print_line(&object.to_string()) } else { print_text(text) }
}

fn usage_object(usage: &StoreUsage) -> Value {
    let StoreUsage { packages, files, bytes, unused_packages, unused_bytes, projects, metadata_bytes } = usage;
    json!({
        "type": RESULT,
        "packages": packages,
        "files": files,
        "bytes": bytes,
        "unusedPackages": unused_packages,
        "unusedBytes": unused_bytes,
        "projects": projects,
        "metadataBytes": metadata_bytes,
    })
}

fn usage_text(usage: &StoreUsage) -> String {
    let StoreUsage { packages, files, bytes, unused_packages, unused_bytes, projects, metadata_bytes } = *usage;
    format!(
        "{}, {}, {}, of {}; of them {}, {}, that no project has; {} of metadata",
        counted(packages, "package"),
        counted(files, "file"),
        megabytes(bytes),
        counted(projects, "project"),
        counted(unused_packages, "package"),
        megabytes(unused_bytes),
        megabytes(metadata_bytes),
    )
}

fn print_package(as_json: bool, package: &StoredPackage) {
    let StoredPackage { key, label, files, bytes, is_used } = package;
    if as_json {
        let object = json!({ "package": label, "key": key.as_str(), "files": files, "bytes": bytes, "used": is_used });
        print_line(&object.to_string());
    } else {
        let unused = if *is_used { "" } else { " unused" };
        print_text(&format!("{label} {bytes} {key}{unused}"));
    }
}

fn damage(verified: &StoreVerified) -> Fault {
    let StoreVerified { packages, damaged, projects, .. } = verified;
    let list: Vec<String> = damaged.iter().map(|one| format!("{} ({})", one.label, one.problem)).collect();
    let message = format!("{} of {packages} packages were damaged and are removed: {}", damaged.len(), list.join(", "));
    let hint = if projects.is_empty() {
        "They are fetched anew when they are next wanted.".to_owned()
    } else {
        let folders: Vec<String> = projects.iter().map(|path| path.display().to_string()).collect();
        format!("Run `gantry ci` in the projects that have one of them: {}.", folders.join(", "))
    };
    Fault::new("STORE_CORRUPT", message).with_hint(hint)
}
