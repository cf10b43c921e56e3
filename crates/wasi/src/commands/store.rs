//! `gantry.wasm store`: what is kept.

use super::{open_store, print_result};
use crate::options::{Options, StoreAction};
use crate::output::print_line;
use crate::settings::require_folder;
use crate::store::{Listed, Verified, WasiStore};
use gantry_engine::Fault;
use gantry_store::Usage;
use serde_json::json;

/// Runs one of the store's commands. None but `clear` needs what is there to be readable.
pub(super) fn run(options: &Options, action: StoreAction) -> Result<(), Fault> {
    require_folder(&options.store, "--store-dir")?;
    match action {
        StoreAction::Status => status(options, &open_store(options)?),
        StoreAction::Ls => list(options, &open_store(options)?),
        StoreAction::Verify => verify(options, &open_store(options)?)?,
        StoreAction::Clear => {
            WasiStore::destroy(&options.store)?;
            print_result(options, json!({}), "the store is empty");
        }
    }
    Ok(())
}

fn status(options: &Options, store: &WasiStore) {
    let Usage { packages, package_bytes, unused_bytes, journal_bytes, .. } = store.usage();
    let object = json!({
        "packages": packages,
        "packageBytes": package_bytes,
        "unusedBytes": unused_bytes,
        "journalBytes": journal_bytes,
    });
    let text = format!(
        "{packages} packages, {package_bytes} bytes; {unused_bytes} bytes unused, {journal_bytes} in the journal"
    );
    print_result(options, object, &text);
}

fn list(options: &Options, store: &WasiStore) {
    for Listed { name, version, key, bytes } in store.list() {
        if options.json {
            print_line(&json!({ "name": name, "version": version, "key": key, "bytes": bytes }).to_string());
        } else {
            print_line(&format!("{name}@{version} {bytes} {key}"));
        }
    }
}

fn verify(options: &Options, store: &WasiStore) -> Result<(), Fault> {
    let Verified { packages, damaged } = store.verify()?;
    if damaged.is_empty() {
        print_result(options, json!({ "packages": packages }), &format!("{packages} packages are whole"));
        return Ok(());
    }
    let message =
        format!("{} of {packages} packages were damaged and are removed: {}", damaged.len(), damaged.join(", "));
    Err(Fault::new("STORE_CORRUPT", message).with_hint("Install again with ci: they are taken from their tarballs."))
}
