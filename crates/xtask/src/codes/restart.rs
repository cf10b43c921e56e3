//! Without the crates at hand: starts the same command again, built with them.

use super::Arguments;
use crate::{Failure, root};
use std::process::Command;

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .args(["run", "--quiet", "--package", "xtask", "--features", "codes", "--", "codes"])
        .args(arguments.check.then_some("--check"))
        .current_dir(root())
        .status()?;
    if status.success() { Ok(()) } else { Err(format!("codes: {status}").into()) }
}
