//! What comes of looking into a package that no registry has.

use crate::host::IngestJob;
use gantry_resolver::SourceAnswer;

/// What a source came to: for the resolver, and for the store if it was a tarball.
pub(crate) struct Found {
    pub answer: SourceAnswer,
    pub job: Option<IngestJob>,
    /// Warnings, with their codes.
    pub notes: Vec<(&'static str, String)>,
}
