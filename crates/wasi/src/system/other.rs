//! Natively, where the crate's tests run.

use super::Meaning;
use std::io::{Error, ErrorKind};

/// What `error` means.
pub(crate) fn meaning(error: &Error) -> Meaning {
    match error.kind() {
        ErrorKind::NotFound => Meaning::NotFound,
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => Meaning::Full,
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => Meaning::Denied,
        ErrorKind::Unsupported => Meaning::Unsupported,
        _ => Meaning::Failed,
    }
}
