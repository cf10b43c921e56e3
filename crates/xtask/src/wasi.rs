//! Makes of cargo's `gantry-wasi.wasm` the command that WASI hosts run: smaller, and whole at its place by a rename.

use crate::{Failure, root, wasm::optimise};
use std::fs;
use std::path::PathBuf;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The module cargo built.
    #[arg(long)]
    module: PathBuf,
    /// The file to make.
    #[arg(long, default_value = "web/wasi/gantry.wasm")]
    out: PathBuf,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let out = root().join(&arguments.out);
    fs::create_dir_all(out.parent().ok_or("--out needs a parent folder")?)?;
    let fresh = out.with_extension("new");
    fs::copy(&arguments.module, &fresh).map_err(|error| format!("{}: {error}", arguments.module.display()))?;
    optimise(&fresh)?;
    fs::rename(&fresh, &out)?;
    Ok(())
}
