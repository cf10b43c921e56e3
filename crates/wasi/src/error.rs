//! What can go wrong with folders and files, each with a stable code.

use crate::system::{Meaning, meaning};
use gantry_engine::Fault;
use std::io;
use std::path::{Path, PathBuf};

/// Every code of this crate's own errors, sorted. Those of files are the native command's.
pub const CODES: &[&str] = &[
    "DISK_DENIED",
    "DISK_FULL",
    "DISK_IO",
    "FOLDER_EXISTS",
    "LINK_REFUSED",
    "PREOPEN_MISSING",
    "STAGING_TAKEN",
    "TREE_DIFFERS",
    "TREE_MISSING",
];

/// Why a command could not do what it was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WasiError {
    /// A file operation failed.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was attempted, as a verb.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// A folder that the command was told to work in is not there for it.
    #[error("{} is not there: no folder that the host has opened leads to it", path.display())]
    NotOpened {
        /// The folder.
        path: PathBuf,
        /// The option that names it.
        option: &'static str,
    },
    /// Something is where a new folder was to be.
    #[error("{} is there already", path.display())]
    Exists {
        /// The place.
        path: PathBuf,
    },
    /// A link to a folder of the user, where the host refuses links.
    #[error("{} cannot be made a link to {target}: the host refuses symbolic links", path.display())]
    LinkRefused {
        /// Where the link was to be.
        path: PathBuf,
        /// Where it was to lead.
        target: String,
    },
    /// What is where a tree is to be built was not left there by this command.
    #[error("{} is in the way: this command builds the tree there, and did not make what is there", path.display())]
    NotStaging {
        /// The place.
        path: PathBuf,
    },
    /// Nothing is installed.
    #[error("{} is missing: nothing is installed there", path.display())]
    TreeMissing {
        /// The hidden lock.
        path: PathBuf,
    },
    /// The tree is not what was installed.
    #[error("node_modules is not what was installed: {} missing, {} changed, {} unknown", missing, changed, unknown)]
    TreeDiffers {
        /// Files and links that are not there.
        missing: usize,
        /// Those that are not what they were.
        changed: usize,
        /// What is there besides.
        unknown: usize,
    },
}

impl WasiError {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Io { source, .. } => match meaning(source) {
                Meaning::Full => "DISK_FULL",
                Meaning::Denied => "DISK_DENIED",
                Meaning::NotOpened => "PREOPEN_MISSING",
                _ => "DISK_IO",
            },
            Self::NotOpened { .. } => "PREOPEN_MISSING",
            Self::Exists { .. } => "FOLDER_EXISTS",
            Self::LinkRefused { .. } => "LINK_REFUSED",
            Self::NotStaging { .. } => "STAGING_TAKEN",
            Self::TreeMissing { .. } => "TREE_MISSING",
            Self::TreeDiffers { .. } => "TREE_DIFFERS",
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        if let Self::NotOpened { option, .. } = self {
            return Some(format!("Have the host open this folder to the command, or name another with {option}."));
        }
        let text = match self.code() {
            "DISK_FULL" => "Free some space, and run again: what is in the store is kept.",
            "DISK_DENIED" => "Have the host open this folder for writing, or name another.",
            "PREOPEN_MISSING" => "Have the host open a folder that leads there to the command.",
            "FOLDER_EXISTS" => "Name a folder that is not there yet.",
            "LINK_REFUSED" => "Use a host that makes symbolic links, or one that makes them itself (--host-links).",
            "STAGING_TAKEN" => "Look what it is, move or remove it, and run again.",
            "TREE_MISSING" | "TREE_DIFFERS" => "Install again with ci.",
            _ => return None,
        };
        Some(text.to_owned())
    }

    /// Wraps the system's answer.
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { action, path, source }
    }
}

impl From<WasiError> for Fault {
    fn from(error: WasiError) -> Self {
        Self { hint: error.hint(), ..Self::new(error.code(), error.to_string()) }
    }
}

#[cfg(test)]
mod tests {
    use super::{CODES, WasiError};
    use std::io::{Error, ErrorKind};

    #[test]
    fn every_error_has_a_listed_code_and_the_list_is_sorted() {
        let io = |kind: ErrorKind| WasiError::Io { action: "write", path: "a".into(), source: Error::from(kind) };
        let errors = [
            io(ErrorKind::StorageFull),
            io(ErrorKind::ReadOnlyFilesystem),
            io(ErrorKind::Other),
            WasiError::NotOpened { path: "a".into(), option: "--prefix" },
            WasiError::Exists { path: "a".into() },
            WasiError::LinkRefused { path: "a".into(), target: "b".into() },
            WasiError::NotStaging { path: "a".into() },
            WasiError::TreeMissing { path: "a".into() },
            WasiError::TreeDiffers { missing: 1, changed: 0, unknown: 0 },
        ];
        let mut codes: Vec<&str> = errors.iter().map(WasiError::code).collect();
        codes.sort_unstable();
        codes.dedup();
        assert_eq!(codes, CODES);
    }
}
