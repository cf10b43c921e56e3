//! Gantry in a browser, as one WebAssembly module with three faces.
//!
//! [`Coordinator`] runs the pipeline in one worker: it owns the store's journal, resolves, and answers questions about the
//! installed tree. [`Unpacker`] runs in each worker of the pool: it fetches a tarball, verifies and unpacks it and appends
//! it to a pack of its own. [`Reader`] reads an installed tree in any worker of the user's. Coordinator and unpackers talk through the pool that TypeScript implements; nothing here needs shared memory.

#![deny(missing_docs)]

mod answers;
mod archive_stream;
mod arriving;
mod catalog;
mod changes;
mod clock;
#[cfg(feature = "conformance")]
mod conformance;
mod coordinator;
mod error;
mod fetch;
mod garbage;
mod host;
mod installed;
mod javascript;
mod mirror;
mod open_packs;
mod opfs;
mod packing;
mod pool;
mod project;
mod reader;
mod recorded;
mod records;
mod rehearsal;
mod shared_files;
mod snapshot;
mod store;
mod unpacker;
mod unpacking;
mod why;

pub use archive_stream::ArchiveStream;
pub use coordinator::Coordinator;
pub use reader::Reader;
pub use unpacker::Unpacker;
