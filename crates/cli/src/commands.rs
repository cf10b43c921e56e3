//! One file per command.

pub mod digest;
pub mod explain;
pub mod install;
pub mod link;
pub mod list;
pub mod outdated;
pub mod rebuild;
pub mod review;
pub mod store;
pub mod why;
