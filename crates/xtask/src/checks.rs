//! Looks for what must not be in the tree. All findings are printed, one per line, `path:line: what`.
//!
//! - No file spells the host of a package registry: whatever npm is configured with is what gets used. The hosts to look
//!   for come from npm itself at run time, so that this file does not spell them either.
//! - No absolute path of somebody's machine.
//! - No source file over 600 lines: such a file is two ideas.
//! - The crates without effects deny missing documentation.
//! - No unfinished function, and no test that is switched off.

mod hosts;
mod lines;
#[cfg(test)]
mod tests;

use crate::{Failure, root, tree};
use lines::Finding;
use std::fs;

/// Lines a source file may have.
const LONGEST: usize = 600;

/// Crates whose public items must all be documented.
const DOCUMENTED: &[&str] =
    &["spec", "manifest", "archive", "store", "layout", "resolver", "registry", "engine", "platform"];

pub(crate) fn run() -> Result<(), Failure> {
    let hosts = hosts::registry_hosts()?;
    let folders = lines::machine_folders();
    let mut findings = Vec::new();
    let files = tree::files()?;
    for path in &files {
        let Ok(text) = String::from_utf8(fs::read(root().join(path))?) else { continue };
        findings.extend(lines::spelled_hosts(path, &text, &hosts));
        findings.extend(lines::spelled_folders(path, &text, &folders));
        if !lines::is_source(path) {
            continue;
        }
        findings.extend(lines::unfinished(path, &text));
        let length = text.lines().count();
        if length > LONGEST {
            findings.push(Finding::new(path, LONGEST + 1, format!("{length} lines, {LONGEST} are allowed")));
        }
    }
    for name in DOCUMENTED {
        let path = format!("crates/{name}/src/lib.rs");
        let text = fs::read_to_string(root().join(&path)).map_err(|error| format!("{path}: {error}"))?;
        if !text.contains("#![deny(missing_docs)]") {
            findings.push(Finding::new(&path, 1, "lacks #![deny(missing_docs)]".to_owned()));
        }
    }
    for finding in &findings {
        eprintln!("{finding}");
    }
    if findings.is_empty() {
        println!("checks: {} files, {} registry hosts looked for, nothing found", files.len(), hosts.len());
        return Ok(());
    }
    Err(format!("checks: {} findings", findings.len()).into())
}
