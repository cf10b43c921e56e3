//! Builds, generated code and checks that cargo alone does not do: `cargo xtask <command>`.
//!
//! `wasm` binds a built module for the page and optimises it, `wasi` optimises the command for WASI hosts, `sizes` says
//! what a page downloads, `codes` generates the list of error codes for TypeScript, `checks` looks for what must not be in
//! the tree. Each command stops with exit status 1 and lines that say what is wrong; nothing is ever half-written that a
//! later run would take for whole.

#![expect(clippy::disallowed_methods, reason = "a build tool works on files and reads the environment")]

mod checks;
mod codes;
mod sizes;
mod tree;
mod wasi;
mod wasm;

use clap::{Parser, Subcommand};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// What a command fails with: lines for a person. A build tool has no callers that would tell errors apart.
type Failure = Box<dyn std::error::Error>;

#[derive(Parser)]
#[command(name = "xtask", about = "Builds, generated code and checks")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Bind a built module for the page and optimise it.
    Wasm(wasm::Arguments),
    /// Optimise a built command for WASI hosts.
    Wasi(wasi::Arguments),
    /// Print the sizes of files, raw and after gzip.
    Sizes(sizes::Arguments),
    /// Generate web/src/codes.ts from the error codes of the crates.
    Codes(codes::Arguments),
    /// Look for what must not be in the tree.
    Checks,
}

fn main() -> ExitCode {
    let result = match Arguments::parse().command {
        Command::Wasm(arguments) => wasm::run(&arguments),
        Command::Wasi(arguments) => wasi::run(&arguments),
        Command::Sizes(arguments) => sizes::run(&arguments),
        Command::Codes(arguments) => codes::run(&arguments),
        Command::Checks => checks::run(),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("xtask: {failure}");
            ExitCode::FAILURE
        }
    }
}

/// The root of the repository, wherever the command was started.
fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).expect("xtask lies two folders below the root").to_path_buf()
}
