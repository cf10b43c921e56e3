//! One file per command.

pub mod ci;
mod list;
mod store;
mod tree;
mod unpack;

use crate::Tarballs;
use crate::options::{Command, Options, USAGE};
use crate::output::{exit_status, note, print_failure, print_line};
use crate::settings::{provide_store, require_folder};
use crate::store::WasiStore;
use gantry_engine::Fault;
use serde_json::{Value, json};

/// Runs a command; gives the exit status.
pub fn run(options: &Options) -> u8 {
    let outcome = match &options.command {
        Command::Help => {
            print_line(USAGE);
            Ok(())
        }
        Command::Version => {
            print_line(concat!("gantry ", env!("CARGO_PKG_VERSION")));
            Ok(())
        }
        Command::Ci => return ci::run(options),
        Command::PrintMissing => ci::print_missing(options),
        Command::Unpack { tarball, folder, integrity } => unpack::run(options, tarball, folder, integrity.as_deref()),
        Command::Verify => tree::verify(options),
        Command::Digest => tree::digest(options),
        Command::Ls => list::run(options),
        Command::Store(action) => store::run(options, *action),
    };
    match outcome {
        Ok(()) => 0,
        Err(fault) => failed(&fault, Value::Null, options.json),
    }
}

fn failed(fault: &Fault, extra: Value, json: bool) -> u8 {
    print_failure(fault, extra, json);
    exit_status(fault)
}

/// The store that the options name, with its tarballs.
fn open_store(options: &Options) -> Result<WasiStore, Fault> {
    provide_store(&options.store)?;
    let folder = match require_folder(&options.tarballs, "--tarballs") {
        Ok(()) => Some(options.tarballs.clone()),
        Err(error) if options.tarballs_named => return Err(error.into()),
        Err(_) => None,
    };
    WasiStore::open(&options.store, Tarballs::new(folder))
}

/// Prints a result: `object` as a line of JSON, else `text` for people.
fn print_result(options: &Options, object: Value, text: &str) {
    if options.json {
        let mut line = json!({ "type": "result" });
        if let (Value::Object(line), Value::Object(object)) = (&mut line, object) {
            line.extend(object);
        }
        print_line(&line.to_string());
    } else {
        note(text);
    }
}
