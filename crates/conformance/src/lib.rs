//! What every implementation of a platform trait must do, as suites that run anywhere.
//!
//! A suite takes an implementation and reports each property by name. It runs natively under `cargo test` on the in-memory
//! and native implementations, and in real browsers on OPFS and `fetch`, from the same code. It is linked into tests only.

#![deny(missing_docs)]

mod clock;
mod files;
mod http;
mod mirror;
mod packs;
mod report;

pub use clock::clock_suite;
pub use files::{Exclusive, directory_suite};
pub use http::http_suite;
pub use mirror::{MirrorDirectory, mirror_suite};
pub use packs::pack_store_suite;
pub use report::{Finding, Report};
