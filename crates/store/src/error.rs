//! What can go wrong with a store, each with a stable code.

use gantry_platform::{FileError, FileErrorKind};

/// Why the store could not do what it was asked.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// A file is not of this store's format, or of a newer version of it.
    #[error("{file}: not a package store of this version: {problem}")]
    Format {
        /// Which file.
        file: String,
        /// What was found.
        problem: &'static str,
    },
    /// What is stored is damaged.
    #[error("{file}: the package store is damaged: {problem}")]
    Corrupt {
        /// Which file, or the key of the package.
        file: String,
        /// What is wrong.
        problem: &'static str,
    },
    /// A package that is not in the store was asked for.
    #[error("the package store has no {key}")]
    Missing {
        /// The key asked for.
        key: String,
    },
    /// More than fits into one batch of the journal: 4 GB.
    #[error("more is to be recorded at once than the package store can take")]
    TooLarge,
    /// Disk or quota is full.
    #[error("no space left for the package store: {source}")]
    Full {
        /// What the platform said.
        #[source]
        source: FileError,
    },
    /// Another tab or process has a file of the store open.
    #[error("the package store is in use: {source}")]
    Locked {
        /// What the platform said.
        #[source]
        source: FileError,
    },
    /// Any other failure of a file operation.
    #[error("the package store cannot be read or written: {source}")]
    Io {
        /// What the platform said.
        #[source]
        source: FileError,
    },
}

/// Every code that [`StoreError::code`] can give.
pub const CODES: &[&str] =
    &["STORE_FORMAT", "STORE_CORRUPT", "STORE_MISSING", "STORE_TOO_LARGE", "STORE_FULL", "STORE_LOCKED", "STORE_IO"];

impl StoreError {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Format { .. } => "STORE_FORMAT",
            Self::Corrupt { .. } => "STORE_CORRUPT",
            Self::Missing { .. } => "STORE_MISSING",
            Self::TooLarge => "STORE_TOO_LARGE",
            Self::Full { .. } => "STORE_FULL",
            Self::Locked { .. } => "STORE_LOCKED",
            Self::Io { .. } => "STORE_IO",
        }
    }

    /// What the user can do about it.
    pub fn hint(&self) -> Option<String> {
        Some(
            match self {
                Self::Format { .. } => {
                    "A newer version of Gantry, or something else, made it. Use that version, or remove the store (in a \
                     page with Gantry.remove); packages are then downloaded again."
                }
                Self::Corrupt { .. } => {
                    "Remove the store (in a page with Gantry.remove); packages are then downloaded again."
                }
                Self::Missing { .. } => "Install again.",
                Self::TooLarge => "Install fewer packages at once.",
                Self::Full { .. } => {
                    "Free some space, or remove from the store what no project needs (in a page with prune), then install again."
                }
                Self::Locked { .. } => "Close other tabs or processes that use the store, or wait until they are done.",
                Self::Io { .. } => "Check that the place of the store exists and may be written.",
            }
            .into(),
        )
    }
}

impl From<FileError> for StoreError {
    fn from(source: FileError) -> Self {
        match source.kind {
            FileErrorKind::NoSpace => Self::Full { source },
            FileErrorKind::Locked => Self::Locked { source },
            FileErrorKind::UnexpectedEnd => {
                Self::Corrupt { file: source.path, problem: "a file is shorter than what was recorded of it" }
            }
            _ => Self::Io { source },
        }
    }
}

#[cfg(test)]
mod tests;
