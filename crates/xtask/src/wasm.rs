//! Makes of cargo's `gantry_browser.wasm` what a page loads: `gantry.js`, `gantry.d.ts` and `gantry_bg.wasm`.
//!
//! The binding generator is the library of the same version as the `wasm-bindgen` that the module was compiled with (one
//! version in Cargo.toml), so there is no separate command to install and to keep in step. Then `wasm-opt` of the npm package
//! `binaryen` shrinks the module by about a seventh; `--dev` leaves that out. The files appear together at the end, by renames.

use crate::{Failure, root};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use wasm_bindgen_cli_support::Bindgen;

mod scripts;

/// What the module may use. Browsers have had all of it since 2023; the optimiser refuses what is not named here.
const FEATURES: &[&str] = &[
    "simd",
    "bulk-memory",
    "bulk-memory-opt",
    "sign-ext",
    "mutable-globals",
    "nontrapping-float-to-int",
    "reference-types",
    "multivalue",
];

/// Bytes of code up to which a function with one caller is put into it. Without a limit the outermost functions hold whole
/// subsystems, and a browser compiles what runs often once more, function by function: in a first install that was 220 KB of
/// code for what 90 KB do, a tenth of all processor time.
const INLINED_INTO_ONE_CALLER: u32 = 120;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The module cargo built.
    #[arg(long)]
    module: PathBuf,
    /// Where the result goes.
    #[arg(long, default_value = "web/wasm")]
    out: PathBuf,
    /// Leave out the optimiser.
    #[arg(long)]
    dev: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let out = root().join(&arguments.out);
    let parent = out.parent().ok_or("--out needs a parent folder")?;
    fs::create_dir_all(parent)?;
    let fresh = out.with_extension("new");
    if fresh.is_dir() {
        fs::remove_dir_all(&fresh)?;
    }
    Bindgen::new()
        .input_path(&arguments.module)
        .web(true)?
        .out_name("gantry")
        .typescript(true)
        .omit_default_module_path(true)
        .generate(&fresh)
        .map_err(|error| format!("wasm-bindgen on {}: {error:#}", arguments.module.display()))?;
    scripts::put_in(&fresh)?;
    if !arguments.dev {
        optimise(&fresh.join("gantry_bg.wasm"))?;
    }
    // The folder stays (a development server watches it); each file is replaced whole, the module first.
    fs::create_dir_all(&out)?;
    let mut names: Vec<_> =
        fs::read_dir(&fresh)?.map(|entry| entry.map(|entry| entry.file_name())).collect::<Result<_, _>>()?;
    names.sort_by_key(|name| Path::new(name).extension().is_none_or(|extension| extension != "wasm"));
    for name in names {
        let target = out.join(&name);
        if target.is_dir() {
            fs::remove_dir_all(&target)?;
        }
        fs::rename(fresh.join(&name), target)?;
    }
    fs::remove_dir_all(&fresh)?;
    Ok(())
}

/// Has `wasm-opt` of the npm package `binaryen` make a module smaller, in place.
pub(crate) fn optimise(module: &Path) -> Result<(), Failure> {
    let tool = root().join("node_modules/.bin/wasm-opt");
    let optimised = module.with_extension("optimised");
    let status = Command::new(&tool)
        .arg("-Os")
        .arg(format!("--one-caller-inline-max-function-size={INLINED_INTO_ONE_CALLER}"))
        .args(FEATURES.iter().map(|feature| format!("--enable-{feature}")))
        .arg(module)
        .arg("-o")
        .arg(&optimised)
        .status()
        .map_err(|error| format!("{}: {error} (run npm ci first, or pass --dev)", tool.display()))?;
    if !status.success() {
        return Err(format!("wasm-opt on {}: {status}", module.display()).into());
    }
    fs::rename(optimised, module)?;
    Ok(())
}
