//! The package store: what is known of an unpacked package, and packs of packages in a few append-only files.
//!
//! [`prepare`] is the only way from an archive to a [`PackageIndex`], so that an index is the same on every platform.
//! [`PackStore`] keeps packages over a flat directory of random-access files, as browsers and WASI give it. [`mirror`] keeps
//! registries' documents over such a directory, on every platform.

#![deny(missing_docs)]

mod error;
mod frame;
mod header;
mod index;
mod key;
pub mod mirror;
mod pack;
mod prepare;
mod wire;

pub use error::{CODES, StoreError};
pub use index::{FileRecord, PackageFacts, PackageIndex};
pub use key::PackageKey;
pub use pack::{
    Catalog, CheckedSegment, Journal, JournalRecord, PackAssignment, PackEnds, PackStore, PackWriter, ProjectRecord,
    Pruned, Segment, SegmentCheck, SegmentPlace, StoredPackage, Usage, is_journal, pack_name,
};
pub use prepare::{Alteration, Incoming, IncomingError, Placement, PreparedPackage, Streamed, prepare};
