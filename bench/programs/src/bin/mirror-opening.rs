//! `mirror-opening`: what a warm metadata mirror costs to open, and its documents to look up.
//!
//! The first thing it does is to keep so many generated documents in a mirror of the product's own. Each round then is what
//! a command does that finds everything kept: the mirror is opened, which is one look for a document, and every document is
//! looked up and one of its versions decoded. The files are in the page cache, as after an install a moment ago. Prints one
//! line of JSON: milliseconds of each round, and how large the files are.
#![expect(
    clippy::disallowed_methods,
    reason = "a native program of its own: it reads the clock and is never built for wasm"
)]

use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use clap::Parser;
use gantry_manifest::Packument;
use gantry_native::{NativeClock, NativeMirror};
use gantry_registry::MetadataMirror;
use gantry_store::mirror::{DocumentForm, Freshness, MirrorKey, MirrorWrite, Validators};
use serde_json::{Map, Value, json};

type Failure = Box<dyn Error + Send + Sync>;

#[derive(Debug, Parser)]
#[command(version, about = "Opens a warm metadata mirror")]
struct Options {
    /// A new folder for it.
    #[arg(long, value_name = "DIR")]
    folder: PathBuf,
    /// Documents in it.
    #[arg(long, default_value_t = 1_500)]
    documents: usize,
    /// Versions in each document.
    #[arg(long, default_value_t = 60)]
    versions: usize,
    /// How often it is opened.
    #[arg(long, default_value_t = 20)]
    rounds: usize,
}

fn main() -> Result<(), Failure> {
    let options = Options::parse();
    let keys: Vec<MirrorKey> = (0..options.documents).map(key).collect();
    let mirror = NativeMirror::new(&options.folder, NativeClock::default());
    for (number, key) in keys.iter().enumerate() {
        let packument = Arc::new(Packument::scan(document(number, options.versions).to_string().into_bytes().into())?);
        let freshness = Freshness { answered: 1, lifetime: 300_000, must_revalidate: false };
        let validators = Validators { etag: Some(format!("\"{number:032x}\"")), last_modified: None };
        mirror.write(MirrorWrite::Document { key: key.clone(), packument, freshness, validators });
    }
    // Dropped, it has written everything.
    drop(mirror);

    let mut opened = Vec::new();
    let mut looked_up = Vec::new();
    for _ in 0..options.rounds {
        let begun = Instant::now();
        let mirror = NativeMirror::new(&options.folder, NativeClock::default());
        if !keys.last().is_none_or(|key| mirror.has(key)) {
            return Err("the mirror has lost a document".into());
        }
        opened.push(begun.elapsed().as_secs_f64() * 1e3);
        for key in &keys {
            let kept = mirror.find(key).ok_or("the mirror has lost a document")?;
            kept.packument.manifest("1.0.0").ok_or("a document has lost a version")?;
        }
        looked_up.push(begun.elapsed().as_secs_f64() * 1e3);
    }
    let mut bytes = Map::new();
    for entry in std::fs::read_dir(options.folder.join("v1/metadata"))? {
        let entry = entry?;
        bytes.insert(entry.file_name().to_string_lossy().into_owned(), entry.metadata()?.len().into());
    }
    println!("{}", json!({ "opened": opened, "lookedUp": looked_up, "bytes": bytes }));
    Ok(())
}

fn key(number: usize) -> MirrorKey {
    MirrorKey::packument("https://registry.test/", DocumentForm::Abbreviated, &name(number))
}

fn name(number: usize) -> String {
    format!("@kept/document-{number}")
}

/// A document as registries abbreviate them.
fn document(number: usize, versions: usize) -> Value {
    let name = name(number);
    let version = |minor: usize| {
        let version = format!("1.{minor}.0");
        let dist = json!({
            "integrity": format!("sha512-{number:043}{minor:043}=="),
            "shasum": format!("{number:020}{minor:020}"),
            "tarball": format!("https://registry.test/{name}/-/document-{number}-{version}.tgz"),
            "fileCount": 12,
            "unpackedSize": 34_567,
        });
        let dependencies = json!({ "@kept/document-0": "^1.0.0", "@kept/document-1": "~1.2.0" });
        let manifest = json!({ "name": &name, "version": &version, "dependencies": dependencies, "dist": dist });
        (version, manifest)
    };
    let versions: Map<String, Value> = (0..versions.max(1)).map(version).collect();
    json!({ "name": &name, "modified": "2024-01-01T00:00:00.000Z", "dist-tags": { "latest": "1.0.0" }, "versions": versions })
}
