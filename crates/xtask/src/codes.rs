//! Generates web/src/codes.ts, the list of error codes for TypeScript, from the crates that define them. With `--check`
//! nothing is written and a difference is an error.
//!
//! Compiling those crates takes far longer than the rest of this program, and everybody who builds the module for the
//! browser needs the rest: so they come with a feature, and the command builds itself anew with it.

#[cfg(feature = "codes")]
#[path = "codes/here.rs"]
mod imp;
#[cfg(not(feature = "codes"))]
#[path = "codes/restart.rs"]
mod imp;

pub(crate) use imp::run;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Fail when the file is not what would be written.
    #[arg(long)]
    check: bool,
}
