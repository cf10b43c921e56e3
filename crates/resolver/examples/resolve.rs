//! Resolves a project from a folder of packuments: `resolve <packuments> <package.json> [package-lock.json]`.
//!
//! A packument is a file `name.json`, a `/` in the name written `%2f`. The lock is printed, timings go to standard error.
#![expect(clippy::disallowed_methods, reason = "a command for developers, not part of the crate")]

use bytes::Bytes;
use gantry_manifest::{Lockfile, Manifest, Packument, TextStyle};
use gantry_resolver::{
    BundleContents, BundleRequest, PackumentProblem, ResolveOptions, Resolver, Step, lock_satisfies,
};
use std::{collections::HashMap, error::Error, io::Write, path::Path, sync::Arc, time::Instant};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, manifest, lock @ ..] = arguments.as_slice() else {
        return Err("packuments package.json [lock]".into());
    };
    let repeat: usize = std::env::var("REPEAT").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    let mut packuments: HashMap<String, Result<Arc<Packument>, PackumentProblem>> = HashMap::new();
    let text = std::fs::read(manifest)?;
    let lock = lock.first().map(std::fs::read).transpose()?;
    let lock = lock.map(|bytes| Lockfile::parse(&bytes, "package-lock.json")).transpose()?;
    let mut output = Vec::new();
    for _ in 0..repeat {
        let root = Manifest::parse_package_json(&text, "package.json")?;
        let style = Some(TextStyle::detect(std::str::from_utf8(&text)?));
        let mut options = ResolveOptions::default();
        options.style = style;
        options.legacy_peer_deps = std::env::var("LEGACY_PEER_DEPS").is_ok();
        options.force = std::env::var("FORCE").is_ok();
        let start = Instant::now();
        let mut reading = std::time::Duration::ZERO;
        let mut resolver = Resolver::new(root, lock.as_ref(), options)?;
        loop {
            let requests = match resolver.next()? {
                Step::Done => break,
                Step::Need(requests) => requests,
            };
            for request in resolver.take_bundle_requests() {
                resolver.answer_bundle(request.id, read_bundle(folder, &request));
            }
            for request in requests {
                let began = Instant::now();
                let name = request.name.as_str().to_owned();
                let packument = packuments.entry(name.clone()).or_insert_with(|| read(folder, &name)).clone();
                reading += began.elapsed();
                resolver.answer(&request.name, packument);
            }
        }
        let resolution = resolver.finish()?;
        let took = start.elapsed();
        eprintln!(
            "{} entries, resolved in {:?}, reading {reading:?}",
            resolution.lockfile.packages.len(),
            took - reading
        );
        if repeat == 1 {
            for warning in &resolution.warnings {
                eprintln!("{}: {}", warning.code, warning.message);
            }
        }
        output = resolution.lockfile.to_bytes();
        let root = Manifest::parse_package_json(&text, "package.json")?;
        if let Err(messages) =
            lock_satisfies(&root.into(), &Lockfile::parse(&output, "package-lock.json")?, &ResolveOptions::default())
        {
            eprintln!("npm ci would look again at: {messages:?}");
        }
    }
    std::io::stdout().write_all(&output)?;
    Ok(())
}

/// What a tarball brings along: a file `name@version.json` in the folder `bundles` beside the packuments, a list of pairs
/// of path and text of the package.json.
fn read_bundle(folder: &str, request: &BundleRequest) -> Result<BundleContents, PackumentProblem> {
    let file = format!("../bundles/{}@{}.json", request.name.replace('/', "%2f"), request.version);
    let bytes = std::fs::read(Path::new(folder).join(file)).map_err(|_| PackumentProblem::NotFound)?;
    let list: Vec<(String, String)> = serde_json::from_slice(&bytes).map_err(|_| PackumentProblem::NotFound)?;
    let parse = |(path, text): (String, String)| {
        Some((path, Manifest::parse_package_json(text.as_bytes(), "package.json").ok()?))
    };
    Ok(BundleContents { packages: list.into_iter().filter_map(parse).collect(), shrinkwrap: None })
}

fn read(folder: &str, name: &str) -> Result<Arc<Packument>, PackumentProblem> {
    let path = Path::new(folder).join(format!("{}.json", name.replace('/', "%2f")));
    let bytes = std::fs::read(path).map_err(|_| PackumentProblem::NotFound)?;
    let packument = Packument::scan(Bytes::from(bytes));
    let problem = |error: gantry_manifest::ManifestError| PackumentProblem::Failed {
        code: error.code(),
        message: error.to_string(),
    };
    packument.map(Arc::new).map_err(problem)
}
