//! `gantry.wasm verify` and `gantry.wasm digest`: the tree that is there.

use super::{open_store, print_result};
use crate::WasiError;
use crate::options::Options;
use crate::output::{note, print_line};
use crate::settings::require_folder;
use crate::tree::{Differences, InstalledTree};
use gantry_engine::Fault;
use serde_json::json;

/// Compares every file with what was installed; prints what differs.
pub(super) fn verify(options: &Options) -> Result<(), Fault> {
    require_folder(&options.prefix, "--prefix")?;
    let store = open_store(options)?;
    let tree = InstalledTree::open(&options.prefix, &store)?;
    let differences = tree.differences()?;
    let Differences { missing, changed, unknown } = &differences;
    for (what, paths) in [("missing", missing), ("changed", changed), ("unknown", unknown)] {
        for path in paths {
            if options.json {
                print_line(&json!({ "type": what, "path": path }).to_string());
            } else {
                note(&format!("{what} {path}"));
            }
        }
    }
    if differences != Differences::default() {
        let (missing, changed, unknown) = (missing.len(), changed.len(), unknown.len());
        return Err(WasiError::TreeDiffers { missing, changed, unknown }.into());
    }
    print_result(options, json!({ "packages": tree.lock.packages.len() }), "node_modules is what was installed");
    Ok(())
}

/// Prints the digest of `node_modules`.
pub(super) fn digest(options: &Options) -> Result<(), Fault> {
    require_folder(&options.prefix, "--prefix")?;
    let store = open_store(options)?;
    print_line(&InstalledTree::open(&options.prefix, &store)?.digest()?);
    Ok(())
}
