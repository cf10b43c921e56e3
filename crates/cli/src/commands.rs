//! One file per command.

pub mod digest;
pub mod explain;
pub mod install;
pub mod why;
