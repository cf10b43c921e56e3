//! `link-shapes`: puts packages of known shapes in place, each method in turn, and says how long each took.
//!
//! One run is one round: every shape, method and way once, in this order or backwards. The packages come from the product's
//! own store in `--folder`, which the first run fills; trees go to new folders beside it and nothing is deleted, because
//! some file systems are slow at creating for a while after that. One line of JSON for each tree.
#![expect(
    clippy::disallowed_methods,
    reason = "a native program of its own: it owns its files and is never built for wasm"
)]

use std::fs;
use std::path::PathBuf;

use clap::Parser;
use gantry_bench_programs::links::{Failure, Placed, Stored, prepare};
use gantry_bench_programs::shapes::{SHAPES, Shape};
use gantry_native::LinkMethod;
use serde_json::json;
use tokio::runtime::Runtime;

#[derive(Debug, Parser)]
#[command(version, about = "Puts packages of known shapes in place by every method")]
struct Options {
    /// Folder on the file system to measure; holds the store and everything else of the runs before.
    #[arg(long, value_name = "DIR")]
    folder: PathBuf,
    /// Only these shapes.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    shapes: Vec<String>,
    /// Number of the round: names its folders, and odd ones go backwards.
    #[arg(long)]
    round: usize,
    /// Keep this process on one core, so that the product takes one thread.
    #[arg(long)]
    one_thread: bool,
    /// Fill the store and say what was put there, and no more.
    #[arg(long)]
    prepare: bool,
}

/// Who puts the files in place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// The product.
    Gantry,
    /// The plain loop.
    Loop,
}

impl Way {
    fn name(self) -> &'static str {
        match self {
            Self::Gantry => "gantry",
            Self::Loop => "loop",
        }
    }
}

fn main() -> Result<(), Failure> {
    let options = Options::parse();
    let shapes = chosen(&options.shapes)?;
    fs::create_dir_all(&options.folder)?;
    let runtime = Runtime::new()?;
    let stored: Vec<(&Shape, Stored)> = shapes
        .into_iter()
        .map(|shape| prepare(shape, &options.folder, &runtime).map(|stored| (shape, stored)))
        .collect::<Result<_, _>>()?;
    if options.prepare {
        for (Shape { name, what, packages, .. }, stored) in &stored {
            let Stored { files, bytes, .. } = stored;
            println!("{}", json!({"shape": name, "what": what, "packages": packages, "files": files, "bytes": bytes}));
        }
        return Ok(());
    }
    if options.one_thread {
        keep_on_one_core()?;
    }
    let mut trees: Vec<(usize, LinkMethod, Way)> = Vec::new();
    for shape in 0..stored.len() {
        for method in std::iter::successors(Some(LinkMethod::BEST), |method| method.next()) {
            trees.extend([Way::Gantry, Way::Loop].map(|way| (shape, method, way)));
        }
    }
    if options.round % 2 == 1 {
        trees.reverse();
    }
    for (number, (shape, method, way)) in trees.into_iter().enumerate() {
        let (shape, stored) = &stored[shape];
        // The loop has one thread anyway.
        if way == Way::Loop && options.one_thread {
            continue;
        }
        let threads = if options.one_thread { "one" } else { "all" };
        let tree = options.folder.join(format!("round-{}-{threads}-{number}", options.round));
        let placed = match way {
            Way::Gantry => stored.link(&tree, method, &runtime)?,
            Way::Loop => match stored.loop_over_files(&tree, method) {
                Ok(placed) => placed,
                // What cannot be done here, or what went wrong: the page shows the words.
                Err(error) => {
                    print(shape, method, way, options.one_thread, Err(error.to_string()));
                    continue;
                }
            },
        };
        let outcome = if placed.method == method.describe() {
            Ok(placed)
        } else {
            Err(placed.reason.unwrap_or_else(|| format!("came out as {}", placed.method)))
        };
        print(shape, method, way, options.one_thread, outcome);
    }
    runtime.shutdown_background();
    Ok(())
}

fn print(shape: &Shape, method: LinkMethod, way: Way, one_thread: bool, outcome: Result<Placed, String>) {
    let mut line = json!({
        "shape": shape.name,
        "method": method.describe(),
        "way": way.name(),
        "threads": if one_thread || way == Way::Loop { 1 } else { std::thread::available_parallelism().map_or(1, usize::from) },
    });
    match outcome {
        Ok(placed) => line["seconds"] = json!(placed.took.as_secs_f64()),
        Err(reason) => line["impossible"] = json!(reason),
    }
    println!("{line}");
}

fn chosen(names: &[String]) -> Result<Vec<&'static Shape>, Failure> {
    if names.is_empty() {
        return Ok(SHAPES.iter().collect());
    }
    let known = SHAPES.iter().map(|shape| shape.name).collect::<Vec<_>>().join(", ");
    names
        .iter()
        .map(|name| Shape::named(name).ok_or_else(|| format!("no shape is called {name}: there are {known}").into()))
        .collect()
}

/// What asks how many threads there may be is told one.
#[cfg(target_os = "linux")]
fn keep_on_one_core() -> Result<(), Failure> {
    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
    let allowed = sched_getaffinity(None)?;
    let first = (0..CpuSet::MAX_CPU).find(|&core| allowed.is_set(core)).ok_or("no core is allowed")?;
    let mut one = CpuSet::new();
    one.set(first);
    Ok(sched_setaffinity(None, &one)?)
}

#[cfg(not(target_os = "linux"))]
fn keep_on_one_core() -> Result<(), Failure> {
    Err("a process can be kept on one core on Linux only".into())
}
