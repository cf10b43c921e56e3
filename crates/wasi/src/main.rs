//! `gantry.wasm`: see the crate's documentation, and the README's "Under WASI".

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(gantry_wasi::run(std::env::args_os()))
}
