//! `shape-registry`: a registry of as many small packages as are asked for, on loopback until standard input ends.
//!
//! Prints one line of JSON when it is ready: its address as `url`, and `manifest`, a `package.json` that asks for all of
//! its packages. Asking for fewer of them makes a smaller project of the same kind.
use std::io::Read as _;

use clap::Parser;
use gantry_bench_programs::links::Failure;
use gantry_bench_programs::shapes::{Shape, Sizes};
use gantry_testkit::ServerOptions;
use serde_json::json;

#[derive(Debug, Parser)]
#[command(version, about = "Serves many small packages")]
struct Options {
    /// Packages.
    #[arg(long)]
    packages: usize,
    /// Files in each, `package.json` included.
    #[arg(long, default_value_t = 20)]
    files: usize,
}

fn main() -> Result<(), Failure> {
    let Options { packages, files } = Options::parse();
    let shape = Shape { name: "stored", what: "packages to store", packages, files, sizes: Sizes::Source };
    let server = ServerOptions::new(shape.registry()).start()?;
    println!("{}", json!({ "url": server.url(), "manifest": shape.manifest() }));
    let mut ignored = [0; 1024];
    while matches!(std::io::stdin().read(&mut ignored), Ok(1..)) {}
    Ok(())
}
