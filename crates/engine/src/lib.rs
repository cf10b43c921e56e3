//! The install pipeline, the same on every platform: lock or resolution → plan → fetch → verify → unpack → store → link →
//! lock, written last.
//!
//! [`install`] is one future that owns everything under way: packuments and tarballs fly side by side in two lanes whose
//! slots bound sockets, and dropping the future cancels them all. What a platform must bring is in [`Host`]; nothing here
//! knows which one it runs on. Running again after any failure finishes the rest and repeats nothing.

#![deny(missing_docs)]

mod ahead;
mod bring;
mod carried;
mod changes;
mod choice;
mod complete;
mod dry_run;
mod duplicates;
mod error;
mod event;
mod fetch;
mod found;
mod git;
mod host;
mod in_place;
mod install;
mod jobs;
mod known_lock;
mod list;
mod outdated;
mod pack;
mod part;
mod progress;
mod project;
mod repairs;
mod request;
mod resolve;
mod saved;
mod settings;
mod sources;
mod terminal;
mod timing;
mod traffic;
mod tree;
mod unprepared;
mod yarn;

pub use choice::{WorkspaceChoice, WorkspaceSettings, paths_of_choice};
pub use dry_run::{PlacedPackage, TreeChanges, dry_removal, dry_run};
pub use error::{CODES, EngineError, Fault, refusal};
pub use event::{Event, Phase};
pub use host::{
    Builder, Checkout, Git, Host, IngestJob, IngestReport, JobSource, LinkReport, PackageStore, ProjectTree, Slots,
    UsersFiles,
};
pub use install::{conflicts, install, packages_of_ci};
pub use list::{ListQuery, list};
pub use outdated::{OutdatedDependency, OutdatedQuery, outdated};
pub use pack::{PACKING_RULES, packed_files};
pub use request::{
    Changes, Conflicts, Deprecated, Extent, InstallMode, InstallRequest, LockFields, LockUse, Outcome, Update,
};
pub use settings::{
    changes_saved, configured_node_version, configured_omit, cutoff, dry_run_of, lock_use, lockfile_version, omitted,
    refuse_credentials_without_address, refuse_unsupported, resolve_settings,
};
pub use terminal::{for_terminal, warning_line};
pub use timing::{Overlap, PhaseSummary, TimingReport, WorkSummary};
pub use tree::{changed_for_others, left_changed_for_others, unreviewed_scripts};

/// Every error code that can reach a user, of this crate and of those below it, sorted.
pub fn all_codes() -> Vec<&'static str> {
    let mut codes: Vec<&'static str> = [
        CODES,
        gantry_archive::CODES,
        gantry_layout::CODES,
        gantry_manifest::CODES,
        gantry_registry::CODES,
        gantry_resolver::CODES,
        gantry_spec::CODES,
        gantry_store::CODES,
    ]
    .concat();
    codes.sort_unstable();
    codes.dedup();
    codes
}
