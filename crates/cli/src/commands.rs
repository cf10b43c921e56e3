//! One file per command.

pub mod digest;
pub mod install;
