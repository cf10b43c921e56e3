//! npm's ideal tree, without input or output.
//!
//! [`Resolver`] is asked what it needs ([`Resolver::next`]), is given packuments in any order ([`Resolver::answer`]) and
//! ends with a lock file ([`Resolver::finish`]) that holds the same packages, at the same places, with the same
//! flags as npm 11 would write. It never touches network, disk or clock, and the order of answers never changes the result.
//!
//! Beside it stand the questions asked of a finished lock: does it satisfy a `package.json` ([`lock_satisfies`]), which of
//! its packages are not to be installed on a given machine ([`check_machine`]), what goes with an optional package that
//! cannot be had ([`optional_set`]), what of it is made where only some workspaces are installed ([`part_to_install`]), why
//! is a package there ([`explain`]), what is in the tree at all ([`listing`]), and what do packages ask registries for
//! ([`asked_dependencies`])?

#![deny(missing_docs)]

mod asked;
mod build;
mod carried;
mod cause;
mod check_lock;
mod error;
mod explain;
mod flags;
mod forest;
mod from_lock;
mod ids;
mod legacy_tree;
mod listing;
mod names;
mod options;
mod overrides;
mod package;
mod package_id;
mod pick;
mod platform;
mod preload;
mod project;
mod questions;
mod resolver;
mod scope;
mod shelf;
mod start;
mod to_lock;
mod to_yarn_lock;
mod unpacked;
mod why;
mod yarn;

pub use asked::{AskedDependency, Asking, asked_dependencies};
pub use carried::carried_entries;
pub use check_lock::{MachineCheck, SettledLock, check_machine, lock_mismatches, lock_satisfies, optional_set};
pub use error::{CODES, Requirement, ResolveError, ResolveWarning};
pub use explain::{EdgeExplanation, NodeExplanation, PeerConflict};
pub use forest::{path_between, path_from, path_in_project};
pub use legacy_tree::legacy_dependencies;
pub use listing::{Listed, ListingQuery, listing};
pub use options::{Allowance, Allowances, InstallStrategy, Opening, ResolveOptions, Target, YarnHints};
pub use pick::pick_version;
pub use platform::installs_on;
pub use project::{Folder, Project, Workspace};
pub use questions::{BundleRequest, PackumentProblem, PackumentRequest, Pick, Priority, Step};
pub use resolver::bundles::BundleContents;
pub use resolver::sources::{Source, SourceAnswer, SourceRequest};
pub use resolver::{Resolution, Resolver, check_overrides};
pub use scope::{PartTree, Scope, part_to_install, paths_of_workspaces, paths_without_workspaces};
pub use to_yarn_lock::yarn_text;
pub use why::{Explanation, explain};
