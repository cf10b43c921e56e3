//! What an unpack worker does before its first package: all of it once, on a small one of our own.
//!
//! A browser compiles a function of a module when it is called for the first time, one after the other, and an install begins with
//! hundreds of them. While the coordinator goes through its own, reading lock or manifest, the workers have nothing to do yet;
//! so one of them calls what unpacking will need. All share what is compiled.

use crate::pool::{UnpackReport, UnpackResult};
use gantry_archive::{Extractor, Integrity, Limits};
use gantry_store::{SegmentPlace, prepare};
use wasm_bindgen::prelude::*;

/// Four small files, one of them a manifest, one an executable.
const TARBALL: &[u8] = include_bytes!("rehearsal.tgz");

/// Unpacks a small package and forgets it. What fails here fails again where somebody is told.
#[wasm_bindgen]
pub fn rehearse() {
    let _ = Integrity::sha512_of(TARBALL).verify("rehearsal", TARBALL);
    let mut extractor = Extractor::new(Limits::default());
    let Ok(entries) = extractor.extract("rehearsal", TARBALL) else { return };
    let index = prepare(entries).index.encode();
    let nowhere = SegmentPlace { pack: 0, offset: 0, length: 0, checksum: 0 };
    let result = UnpackResult::new(&nowhere, index, TARBALL.len() as u64, 1);
    let _ = UnpackReport::new(Ok(result), &[]).posted();
}
