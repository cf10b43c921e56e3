//! What is done once before it is needed, on something small of our own.
//!
//! A browser compiles a function of a module when it is called for the first time, one after the other, and an install begins with
//! hundreds of them. While the coordinator goes through its own, reading lock or manifest, the unpack workers have nothing to do
//! yet; so they call what is going to be needed, one what unpacks, one what resolves. All share what is compiled.
//!
//! What fails here fails again where somebody is told.

use crate::pool::{UnpackReport, UnpackResult};
use bytes::Bytes;
use gantry_archive::{Extractor, Integrity, Limits};
use gantry_layout::{Omit, plan, wanted};
use gantry_manifest::{Lockfile, Manifest, Packument};
use gantry_resolver::{PackumentProblem, Project, ResolveOptions, Resolver, SettledLock, Step};
use gantry_store::{PackageIndex, SegmentPlace, prepare};
use std::collections::BTreeSet;
use std::sync::Arc;
use wasm_bindgen::prelude::*;

/// Four small files, one of them a manifest, one an executable.
const TARBALL: &[u8] = include_bytes!("rehearsal/package.tgz");
/// A project that depends on `a`, `b` and `c`.
const ROOT: &[u8] = include_bytes!("rehearsal/package.json");
/// What a registry would say of `NAME`: two versions that depend on the two others.
const PACKUMENT: &str = include_str!("rehearsal/packument.json");

/// Unpacks a small package and forgets it.
#[wasm_bindgen(js_name = rehearseUnpacking)]
pub fn rehearse_unpacking() {
    let mut extractor = Extractor::new(Limits::default());
    let Some(index) = unpacked(&mut extractor) else { return };
    let nowhere = SegmentPlace { pack: 0, offset: 0, length: 0, checksum: 0 };
    let result = UnpackResult::new(&nowhere, index.encode(), TARBALL.len() as u64, 1);
    let _ = UnpackReport::new(Ok(result), &[]).posted();
}

fn unpacked(extractor: &mut Extractor) -> Option<PackageIndex> {
    Integrity::sha512_of(TARBALL).verify("rehearsal", TARBALL).ok()?;
    Some(prepare(extractor.extract("rehearsal", TARBALL).ok()?).index)
}

/// Resolves a small project, and goes through its lock as an install does.
#[wasm_bindgen(js_name = rehearseResolving)]
pub fn rehearse_resolving() {
    let _ = resolved();
}

fn resolved() -> Option<()> {
    let root = Manifest::parse_package_json(ROOT, "package.json").ok()?;
    let options = ResolveOptions::default();
    let mut resolver = Resolver::new(root.clone(), None, options.clone()).ok()?;
    while let Step::Need(requests) = resolver.next().ok()? {
        for request in requests {
            resolver.answer(&request.name, packument(request.name.as_str()));
        }
    }
    let text = resolver.finish().ok()?.lockfile.to_bytes();
    let lock = Lockfile::parse(&text, "package-lock.json").ok()?;
    let inert = SettledLock::of(&Project::from(root), &lock, &options)?.check_machine().ok()?.inert;
    wanted(&lock, &inert, &Omit::default()).ok()?;
    let index = Arc::new(unpacked(&mut Extractor::new(Limits::default()))?);
    plan(&lock.to_text(), &BTreeSet::new(), &Omit::default(), &|_| Some(Arc::clone(&index))).ok()?;
    Some(())
}

fn packument(name: &str) -> Result<Arc<Packument>, PackumentProblem> {
    let body = Bytes::from(PACKUMENT.replace("NAME", name));
    let scanned = Packument::scan(body).map_err(|_| PackumentProblem::NotFound)?;
    Ok(Arc::new(scanned.into_outlined()))
}

#[cfg(test)]
mod tests;
