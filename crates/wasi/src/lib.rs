//! Gantry under WASI (preview 1): the same pipeline over the folders that a host opens to the command.
//!
//! There is no network: tarballs come out of a folder that the host fills, and what is missing is told as a list that a host
//! in any language can fetch ([`commands::ci`]). Packages are kept in packs, as in a browser; `node_modules` is written as
//! real files beside the project and put in its place by renames, so that nothing half-made is ever visible.
//!
//! Everything happens on one thread and at once: reading and writing files is all that there is to wait for. WASI has no
//! locks between processes: that nobody else installs into the same project or store meanwhile is the host's affair. It has
//! no modes either: which files are meant to be executable is in the result, for a host that can make them so.

#![deny(missing_docs)]
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "this crate is where files, time and the environment come from under WASI"
)]

mod clock;
pub mod commands;
mod directory;
mod error;
mod executor;
mod host;
mod http;
mod links;
mod options;
mod output;
mod project;
mod settings;
mod staging;
mod store;
mod system;
mod tarballs;
mod tree;

pub use directory::{FolderDirectory, FolderFile};
pub use error::{CODES, WasiError};
pub use links::LinkMaker;
pub use options::{Command, Options};
pub use project::WasiProject;
pub use store::WasiStore;
pub use tarballs::Tarballs;

use std::ffi::OsString;

/// Runs the command with `words`, the first of which is its own name; gives the exit status: 0 done; 1 the project, its lock
/// or the installed tree is at fault; 2 wrong usage; 3 tarballs are missing; 4 the folders or the store; 5 a package is not
/// what it should be.
pub fn run(words: impl IntoIterator<Item = OsString>) -> u8 {
    match Options::parse(words) {
        Ok(options) => commands::run(&options),
        Err(problem) => {
            output::note(&format!("{problem}\n\n{}", options::USAGE));
            2
        }
    }
}
