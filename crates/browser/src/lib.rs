//! Gantry in a browser, as one WebAssembly module with two faces.
//!
//! [`Coordinator`] runs the pipeline in one worker: it owns the store's journal, resolves, and answers questions about the
//! installed tree. [`Unpacker`] runs in each worker of the pool: it fetches a tarball, verifies and unpacks it and appends
//! it to a pack of its own. They talk through the pool that TypeScript implements; nothing here needs shared memory.

#![deny(missing_docs)]

mod clock;
#[cfg(feature = "conformance")]
mod conformance;
mod coordinator;
mod error;
mod fetch;
mod host;
mod javascript;
mod mirror;
mod opfs;
mod pool;
mod project;
mod shared_files;
mod store;
mod unpacker;

pub use coordinator::Coordinator;
pub use unpacker::Unpacker;
