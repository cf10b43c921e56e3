//! What a resolver asks of its caller, and what it may be told.

use gantry_manifest::{Manifest, Text};
use gantry_spec::PackageName;
use std::sync::Arc;

#[cfg(doc)]
use crate::Resolver;

/// How soon a packument is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Priority {
    /// Placement waits for it.
    Demand,
    /// It will most likely be needed.
    Prefetch,
}

/// A packument to fetch, or one version of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackumentRequest {
    /// Of this package.
    pub name: PackageName,
    /// If this version alone will do: [`Resolver::answer_version`] is then as good as [`Resolver::answer`].
    pub version: Option<String>,
    /// What the first who needs it asks of it: a version, a range or a tag. Others may ask for something else.
    pub range: String,
    /// Whether it is only looked at, with its peers, as of now: nobody needs what it depends on.
    pub for_peers: bool,
    /// How soon.
    pub priority: Priority,
}

/// A package whose own files must be looked at, since it brings its dependencies along (`bundleDependencies`) or lists them
/// (`npm-shrinkwrap.json`).
#[derive(Debug, Clone)]
pub struct BundleRequest {
    /// Identifies the request in [`Resolver::answer_bundle`].
    pub id: u32,
    /// The package's name in the registry.
    pub name: Text,
    /// The version picked.
    pub version: Text,
    /// Its manifest, with `dist` if a registry has it.
    pub manifest: Arc<Manifest>,
    /// Where it comes from, as the lock will have it.
    pub resolved: Option<Text>,
    /// What it hashes to, likewise.
    pub integrity: Option<Text>,
}

/// What to do next.
#[derive(Debug, Clone)]
pub enum Step {
    /// Fetch these; each name, and each version of it, is asked for once. Empty: wait for answers under way.
    Need(Vec<PackumentRequest>),
    /// The tree stands: call [`Resolver::finish`].
    Done,
}

/// Why there is no packument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PackumentProblem {
    /// The registry knows no such package.
    NotFound,
    /// Anything else.
    Failed {
        /// Stable code of the failure.
        code: &'static str,
        /// What happened.
        message: String,
    },
}

/// A package that will most likely be installed: a hint to fetch its tarball early.
#[derive(Debug, Clone)]
pub struct Pick {
    /// Name in the registry.
    pub name: Text,
    /// Version.
    pub version: Text,
    /// Its manifest, with `dist`.
    pub manifest: Arc<Manifest>,
    /// As the lock will have it.
    pub integrity: Option<Text>,
}
