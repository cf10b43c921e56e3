//! What the pure crates cost: their own code, and what could stand in its place, over the same inputs.
//!
//! A [`Session`] holds inputs and [`Workload`]s and times them; the native program `gantry-micro` and the WebAssembly module
//! are the same session behind a pipe and behind an exported function, so that figures of both stand side by side. Inputs
//! are [`Bundle`]s: made by [`generate`], the same on every machine, or real documents and tarballs put together by whoever
//! has a recording. `cargo bench -p gantry-micro` runs the workloads under divan.

mod archive;
mod bundle;
pub mod generate;
pub mod memory;
mod packument;
mod page;
mod random;
mod resolver;
mod session;
mod workload;

pub use bundle::{Bundle, BundleError};
pub use resolver::needed_documents;
pub use session::Session;
pub use workload::{Workload, WorkloadError, workload};
