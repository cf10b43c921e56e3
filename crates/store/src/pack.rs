//! Packages as segments of a few append-only files, and the journal that says which of them exist.
//!
//! One small file costs a browser over a millisecond, so packages are not stored as files. A [`PackWriter`] appends whole
//! packages to a pack; a [`Journal`] records where they are; a [`Catalog`] is what the journal adds up to.
//!
//! What is reported as stored survives a crash at any moment, by this order:
//! 1. the package's bytes are appended to a pack, and settled in its file;
//! 2. the pack is flushed;
//! 3. a record of the package is appended to the journal;
//! 4. the journal is flushed.
//!
//! A package exists once its record is whole. Bytes without a record are cut off by the next writer of that pack.

mod catalog;
mod check;
mod damage;
mod format;
mod journal;
mod prune;
mod record;
mod rewrite;
mod segment;
mod store;
#[cfg(test)]
pub(crate) mod test_support;
mod writer;

pub use catalog::{Catalog, ProjectRecord, StoredPackage};
pub use check::{CheckedSegment, SegmentCheck};
pub use format::{is_journal, pack_name};
pub use journal::Journal;
pub use prune::Pruned;
pub use record::{JournalRecord, SegmentPlace};
pub use rewrite::PackEnds;
pub use segment::Segment;
pub use store::{PackAssignment, PackStore, Usage};
pub use writer::PackWriter;
