//! `gantry.wasm ls`: what is installed, and where.

use crate::options::Options;
use crate::output::{print_line, print_text};
use crate::settings::require_folder;
use crate::tree::hidden_lock;
use gantry_engine::Fault;
use serde_json::json;

/// Prints a line for each package and link of the tree, in the order of their paths.
pub(super) fn run(options: &Options) -> Result<(), Fault> {
    require_folder(&options.prefix, "--prefix")?;
    let lock = hidden_lock(&options.prefix)?;
    for entry in lock.packages.iter().filter(|entry| !entry.is_top() || entry.link) {
        let version = entry.manifest.version.as_deref();
        if options.json {
            let target = entry.resolved.as_deref().filter(|_| entry.link);
            let line = json!({ "path": entry.path, "name": entry.package_name(), "version": version, "link": target });
            print_line(&line.to_string());
        } else if entry.link {
            print_text(&format!("{} -> {}", entry.path, entry.resolved.as_deref().unwrap_or_default()));
        } else {
            print_text(&format!("{} {}@{}", entry.path, entry.package_name(), version.unwrap_or_default()));
        }
    }
    Ok(())
}
