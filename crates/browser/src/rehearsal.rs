//! What an install is going to need, done once before it is needed, on something small of our own.
//!
//! A browser compiles a function of a module when it is called for the first time, one after the other, and an install begins with
//! hundreds of them. While the page gets ready to ask for one the unpack workers have nothing to do yet; so one of them unpacks
//! something, and another installs a project, from a registry that is nowhere into a store that is nowhere
//! (`worker/rehearsal.ts`). All share what is compiled.
//!
//! What fails here fails again where somebody is told.

use crate::fetch::answer_with;
use crate::pool::{UnpackReport, UnpackResult};
use gantry_archive::{Extractor, Integrity, Limits};
use gantry_store::{PackageIndex, SegmentPlace, prepare};
use wasm_bindgen::prelude::*;

/// Four small files, one of them a manifest, one an executable.
const TARBALL: &[u8] = include_bytes!("rehearsal/package.tgz");
/// What a registry would say of `NAME`: two versions that depend on `a` and `b`. Their tarballs are below `REGISTRY`.
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

/// From now on this worker answers by itself what it asks of the registry at `registry` (which ends with a slash): the documents
/// and tarballs of the packages `a`, `b` and `c`.
#[wasm_bindgen(js_name = rehearseRegistry)]
pub fn rehearse_registry(registry: &str) {
    for name in ["a", "b", "c"] {
        answer_with(&format!("{registry}{name}"), packument(name, registry).as_bytes());
        for version in ["1.0.0", "1.1.0"] {
            answer_with(&format!("{registry}{name}/-/{name}-{version}.tgz"), TARBALL);
        }
    }
}

fn packument(name: &str, registry: &str) -> String {
    let integrity = Integrity::sha512_of(TARBALL).to_string();
    PACKUMENT.replace("NAME", name).replace("REGISTRY", registry).replace("INTEGRITY", &integrity)
}

#[cfg(test)]
mod tests;
