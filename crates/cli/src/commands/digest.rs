//! `gantry digest`

use crate::failure::{exit_status, print_failure};
use crate::options::DigestArguments;
use crate::output::print_line;
use crate::prefix::{InWorkspace, Place};
use gantry_engine::Fault;

/// Prints the digest of `node_modules`; returns the exit status.
pub fn run(arguments: &DigestArguments) -> u8 {
    let digest = Place::find(arguments.prefix.as_deref(), InWorkspace::Belongs)
        .and_then(|place| gantry_native::tree_digest(&place.project).map_err(Fault::from));
    match digest {
        Ok(digest) => {
            print_line(&digest);
            0
        }
        Err(fault) => {
            print_failure(&fault, false);
            exit_status(&fault)
        }
    }
}
