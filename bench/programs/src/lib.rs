//! What the programs of the benchmarks share: packages of known shapes, threads.
//!
//! Each program does one thing once, through the product's own crates, and prints JSON on stdout. Rounds, their order,
//! medians and pages are the business of the JavaScript beside it.
#![deny(missing_docs)]
#![expect(
    clippy::disallowed_methods,
    reason = "native programs of their own: they own their files and the clock and are never built for wasm"
)]

pub mod links;
pub mod shapes;
