//! One file per command.

pub mod digest;
pub mod install;
pub mod why;
