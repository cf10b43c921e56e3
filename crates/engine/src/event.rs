//! What an install tells about itself while it runs.

use crate::timing::TimingReport;
use gantry_manifest::Text;
use serde::Serialize;

/// The stages of an install, in order; resolving and fetching overlap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// Working out the tree.
    Resolve,
    /// Bringing what the store lacks.
    Fetch,
    /// Making `node_modules`.
    Link,
    /// Writing the lock.
    Lock,
}

/// One event. Serialised with a `type` field; the command prints it as NDJSON, a worker posts it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
#[non_exhaustive]
pub enum Event {
    /// A stage began.
    Phase {
        /// Which.
        phase: Phase,
    },
    /// Counters; at most twenty a second.
    Progress {
        /// Packages whose version is picked.
        resolved: u32,
        /// Packages the store is asked for, as far as known.
        wanted: u32,
        /// Tarballs that arrived.
        downloaded: u32,
        /// Packages unpacked.
        unpacked: u32,
        /// Packages the store had already.
        reused: u32,
        /// Compressed bytes of tarballs received.
        bytes: u64,
        /// Requests made.
        requests: u32,
        /// Milliseconds since the install began.
        elapsed: f64,
    },
    /// A package is in the store.
    Package {
        /// Its name.
        name: Text,
        /// Its version.
        version: Text,
        /// Whether the store had it already.
        reused: bool,
    },
    /// Something that does not stop the install.
    Warning {
        /// A stable code.
        code: String,
        /// For people.
        message: String,
    },
    /// Where the time went; at the end of an install that was asked for it, also of one that failed.
    Timing(TimingReport),
    /// The install is complete.
    Done {
        /// Installed packages.
        packages: u32,
        /// Their files.
        files: u64,
        /// Requests made.
        requests: u32,
        /// Compressed bytes of tarballs received.
        bytes: u64,
        /// Milliseconds since the install began.
        elapsed: f64,
    },
}
