//! Gantry on Linux and macOS: real files, threads, sockets and a clock.
//!
//! Packages are kept as directories, one for each integrity, each built under a temporary name with its final modes and
//! published by one rename. `node_modules` is made from them by reflink (clone), hard link or copy, whichever the two file
//! systems allow best; which one it was is reported. Network and unpacking run on a thread pool, the pipeline itself on
//! the calling thread.

#![deny(missing_docs)]
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "this crate is where files, threads, sockets and time come from"
)]

mod actual;
mod clock;
mod descriptor;
mod directory;
mod error;
mod folder;
mod footing;
mod git;
mod global;
mod hidden_lock;
mod host;
mod http;
mod installed;
mod installed_tree;
mod interrupt;
mod leftovers;
mod link;
mod lock;
mod mirror;
mod mounts;
mod moves;
mod own_files;
mod patched;
mod place;
mod programs;
mod project;
mod rebuild;
mod scripts;
mod settings;
mod store;
mod temporary;
mod threads;
mod tops;
mod tree;
mod workspace;

pub use clock::NativeClock;
pub use directory::{NativeDirectory, NativeFile};
pub use error::NativeError;
pub use global::{GlobalFolder, GlobalPackage};
pub use host::{NativeHost, NativeHostSettings};
pub use http::{ClientCertificate, HttpSettings, NativeHttp, ProxySettings, check_certificates};
pub use installed_tree::InstalledTree;
pub use interrupt::Interrupt;
pub use link::LinkMethod;
pub use lock::ProjectLock;
pub use mirror::NativeMirror;
pub use programs::kill_programs;
pub use project::{ProjectDirectory, ProjectFiles};
pub use rebuild::{RebuildRequest, Rebuilt, rebuild};
pub use scripts::{
    ScriptBegan, ScriptEnvironment, ScriptSettings, has_install_scripts, scripts_of_folder, scripts_of_package,
    scripts_of_repository,
};
pub use settings::{ConfigSources, LoadedConfig, machine_home, machine_release, machine_target, store_home};
pub use store::{
    DamagedPackage, PackageDirectories, StorePruned, StoreUpkeep, StoreUsage, StoreVerified, StoredPackage,
};
pub use threads::{allows_threads, settle_threads};
pub use tree::tree_digest;

/// Every code this crate's errors have.
pub const CODES: &[&str] = error::CODES;
