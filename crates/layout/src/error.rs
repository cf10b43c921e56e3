//! What keeps a tree from being planned, each with a stable code.

/// Why no plan could be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LayoutError {
    /// The lock names a folder or a command outside of where such things may be.
    #[error("the lock file has an unsafe path: {path:?}")]
    Path {
        /// The path as the lock has it.
        path: String,
    },
    /// The lock has an integrity that means nothing.
    #[error("the lock file's integrity for {path} cannot be read: {integrity}")]
    Integrity {
        /// Folder of the package.
        path: String,
        /// The integrity as the lock has it.
        integrity: String,
    },
    /// A package that the plan needs is not in the store.
    #[error("{package} for {path} is not in the store")]
    Missing {
        /// Name and version.
        package: String,
        /// Folder of the package.
        path: String,
    },
}

/// Every code that [`LayoutError::code`] can give.
pub const CODES: &[&str] = &["LAYOUT_PATH", "LAYOUT_INTEGRITY", "LAYOUT_MISSING"];

impl LayoutError {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Path { .. } => "LAYOUT_PATH",
            Self::Integrity { .. } => "LAYOUT_INTEGRITY",
            Self::Missing { .. } => "LAYOUT_MISSING",
        }
    }

    /// The package concerned.
    pub fn package(&self) -> Option<&str> {
        match self {
            Self::Path { path } | Self::Integrity { path, .. } => Some(path),
            Self::Missing { package, .. } => Some(package),
        }
    }

    /// What the user can do about it.
    pub fn hint(&self) -> Option<String> {
        Some(
            match self {
                Self::Path { .. } | Self::Integrity { .. } => {
                    "Restore the lock file from version control, or delete it and install again."
                }
                Self::Missing { .. } => "Install the project again, which fetches the package anew.",
            }
            .into(),
        )
    }
}

#[cfg(test)]
mod tests;
