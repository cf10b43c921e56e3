//! What `node_modules` must look like, from a lock file and the indexes of stored packages.
//!
//! [`wanted`] says which packages an install needs, [`plan`] what goes where, [`VirtualTree`] answers file-system questions
//! about a planned tree without making it, and [`TreeDigest`] condenses a tree, real or virtual, into one number.
//! All of it is pure: the same lock and indexes give the same answers everywhere.

#![deny(missing_docs)]

mod approvals;
mod bins;
mod contents;
mod digest;
mod error;
mod keys;
mod paths;
mod plan;
mod planned;
mod scripts;
mod select;
mod tree;

pub use approvals::{Approval, ApprovalChange, ApprovalProblem, ScriptOwner, ScriptReview, ScriptSubject, Unused};
pub use digest::TreeDigest;
pub use error::{CODES, LayoutError};
pub use keys::{PackageKeys, is_folder, is_git};
pub use paths::is_package_path;
pub use plan::{installed, linked_commands, linked_folders, plan, wanted};
pub use planned::{LinkKind, Plan, PlannedLink, PlannedPackage};
pub use scripts::{ScriptPolicy, ScriptVerdict, Scripted, ScriptedTree, Scripts};
pub use select::{Omit, is_carried};
pub use tree::{FileKind, FileLocation, FileSource, FileStatus, TreeEntry, TreeError, TreeErrorKind, VirtualTree};
