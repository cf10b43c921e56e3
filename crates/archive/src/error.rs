//! What can be wrong with a tarball, each with a stable code.

use crate::LimitKind;

/// Why a tarball was refused. Nothing of a refused tarball may be stored.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ArchiveError {
    /// The bytes do not hash to what was promised.
    #[error("{package}: integrity check failed: expected {expected}, found {found}")]
    Integrity {
        /// The package.
        package: String,
        /// Hashes of which one had to match.
        expected: String,
        /// Hash of the bytes, by the same algorithm.
        found: String,
    },
    /// An integrity string without any hash that can be checked.
    #[error("{text:?} is not an integrity string")]
    IntegritySyntax {
        /// The string.
        text: String,
    },
    /// The compressed stream is damaged.
    #[error("{package}: damaged gzip data: {reason}")]
    Gzip {
        /// The package.
        package: String,
        /// What is wrong.
        reason: &'static str,
    },
    /// The stream or the archive in it ends too early.
    #[error("{package}: the archive is cut short")]
    Truncated {
        /// The package.
        package: String,
    },
    /// There is nothing.
    #[error("{package}: the archive is empty")]
    Empty {
        /// The package.
        package: String,
    },
    /// The bytes are no archive.
    #[error("{package}: not a tar archive")]
    Format {
        /// The package.
        package: String,
    },
    /// A path that no file may have.
    #[error("{package}: entry {entry:?} has an unsafe path")]
    Path {
        /// The package.
        package: String,
        /// The path as the archive has it.
        entry: String,
    },
    /// More than the limits allow.
    #[error("{package}: the archive has more than {maximum} {limit}")]
    Limit {
        /// The package.
        package: String,
        /// Which limit.
        limit: LimitKind,
        /// What is allowed.
        maximum: u64,
    },
    /// A rule of an ignore file, or an entry of `files`, that cannot be followed.
    #[error("{package}: the pattern {pattern:?} cannot be read")]
    Pattern {
        /// The package.
        package: String,
        /// The pattern.
        pattern: String,
    },
}

/// Every code that [`ArchiveError::code`] can give.
pub const CODES: &[&str] = &[
    "ARCHIVE_INTEGRITY",
    "ARCHIVE_INTEGRITY_SYNTAX",
    "ARCHIVE_GZIP",
    "ARCHIVE_TRUNCATED",
    "ARCHIVE_EMPTY",
    "ARCHIVE_FORMAT",
    "ARCHIVE_PATH",
    "ARCHIVE_LIMIT",
    "ARCHIVE_PATTERN",
];

impl ArchiveError {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Integrity { .. } => "ARCHIVE_INTEGRITY",
            Self::IntegritySyntax { .. } => "ARCHIVE_INTEGRITY_SYNTAX",
            Self::Gzip { .. } => "ARCHIVE_GZIP",
            Self::Truncated { .. } => "ARCHIVE_TRUNCATED",
            Self::Empty { .. } => "ARCHIVE_EMPTY",
            Self::Format { .. } => "ARCHIVE_FORMAT",
            Self::Path { .. } => "ARCHIVE_PATH",
            Self::Limit { .. } => "ARCHIVE_LIMIT",
            Self::Pattern { .. } => "ARCHIVE_PATTERN",
        }
    }

    /// The package concerned.
    pub fn package(&self) -> Option<&str> {
        match self {
            Self::Integrity { package, .. }
            | Self::Gzip { package, .. }
            | Self::Truncated { package }
            | Self::Empty { package }
            | Self::Format { package }
            | Self::Path { package, .. }
            | Self::Limit { package, .. }
            | Self::Pattern { package, .. } => Some(package),
            Self::IntegritySyntax { .. } => None,
        }
    }

    /// What the user can do about it.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Integrity { package, .. } => format!(
                "The registry serves other bytes for {package} than the lock file or the registry's own metadata \
                 promise, or something else answers for it (a login page, a proxy). If the package was republished on \
                 purpose, remove its entry from the lock file."
            ),
            Self::IntegritySyntax { .. } => {
                "Use sha1, sha256, sha384 or sha512, as in \"sha512-\" followed by the base64 of the digest.".into()
            }
            Self::Gzip { package, .. } | Self::Truncated { package } | Self::Empty { package } => {
                format!("The tarball of {package} is damaged where it is served from. Try again, or ask that registry.")
            }
            Self::Format { package } => format!(
                "The address of {package}'s tarball answered with something else, such as a page of a proxy. Check \
                 the `registry` setting."
            ),
            Self::Path { package, .. } => {
                format!("No correct tool makes such an archive; do not trust {package} before it is explained.")
            }
            Self::Limit { package, .. } => {
                format!("{package} unpacks to more than Gantry accepts from one package; it may be made to do harm.")
            }
            Self::Pattern { package, .. } => format!(
                "Extended globs of shells and ranges in braces are not supported in the `files` and ignore files of a \
                 repository: use a version of {package} from a registry, or the address of a tarball."
            ),
        })
    }
}
