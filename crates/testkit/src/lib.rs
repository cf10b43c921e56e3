//! Test support: a replay registry with fault injection, small synthetic registries, and the recorder that fills
//! the replay registry from real projects.
//!
//! [`Server`] serves any mix of [`fixtures::Registry`] and a [`Recording`] on a loopback port and never talks to
//! another machine unless it was told to thaw. [`fixtures`] also gives documents and tarballs without any server.
//! Everything here runs natively only; it reads files, the clock and the environment of the machine.
#![deny(missing_docs)]
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a native tool of its own: it owns its files, sockets and threads and is never built for wasm"
)]

mod catalog;
mod encoded;
mod error;
pub mod faults;
pub mod fixtures;
mod names;
pub mod packument;
pub mod record;
mod recording;
mod server;
mod stats;
mod upstream;

pub use error::TestkitError;
pub use faults::{Fault, FaultRule};
pub use recording::{Recording, default_recording_folder};
pub use server::{ClientCertificates, ClientIdentity, Faults, Server, ServerOptions, Source};
pub use stats::{LogEntry, RequestKind, Stats};
