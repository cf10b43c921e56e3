//! `gantry digest`

use crate::failure::{exit_status, print_failure};
use crate::options::DigestArguments;
use crate::output::print_line;
use gantry_engine::Fault;

/// Prints the digest of `node_modules`; returns the exit status.
pub fn run(arguments: &DigestArguments) -> u8 {
    match gantry_native::tree_digest(&arguments.prefix) {
        Ok(digest) => {
            print_line(&digest);
            0
        }
        Err(error) => {
            let fault = Fault::from(error);
            print_failure(&fault, false);
            exit_status(&fault)
        }
    }
}
