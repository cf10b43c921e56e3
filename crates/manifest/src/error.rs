//! What can be wrong with a document, each with a stable code.
//!
//! Messages name the file and, where there is one, the line; advice is in [`ManifestError::hint`]. No message carries a
//! value out of an `.npmrc`, so none can carry a credential.

#[cfg(test)]
mod tests;

/// Why a document was refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ManifestError {
    /// A `package.json` is not JSON.
    #[error("{file}:{line}:{column}: invalid JSON: {message}")]
    ManifestJson {
        /// Which file.
        file: String,
        /// Line, counted from one.
        line: usize,
        /// Column, counted from one.
        column: usize,
        /// What the parser expected.
        message: String,
    },
    /// A field of a `package.json` has a type that npm cannot work with.
    #[error("{file}: \"{field}\" must be {expected}")]
    ManifestField {
        /// Which file.
        file: String,
        /// Name of the field.
        field: String,
        /// What it must be.
        expected: &'static str,
    },
    /// A `package.json` is JSON but not an object.
    #[error("{file}: must hold a JSON object")]
    ManifestShape {
        /// Which file.
        file: String,
    },
    /// A packument's body is not JSON, for example an HTML page of a proxy.
    #[error("the registry's answer is not JSON (at byte {offset})")]
    PackumentJson {
        /// Offset of the first byte that cannot be JSON.
        offset: usize,
    },
    /// A packument's body is JSON without what makes a packument.
    #[error("the registry's answer is not a package document: {problem}")]
    PackumentShape {
        /// What is missing or of the wrong type.
        problem: &'static str,
    },
    /// A lock file is not JSON.
    #[error("{file}:{line}:{column}: invalid JSON: {message}")]
    LockJson {
        /// Which file.
        file: String,
        /// Line, counted from one.
        line: usize,
        /// Column, counted from one.
        column: usize,
        /// What the parser expected.
        message: String,
    },
    /// A lock file is JSON but not a lock file.
    #[error("{file}: {problem}")]
    LockShape {
        /// Which file.
        file: String,
        /// What is missing or of the wrong type.
        problem: String,
    },
    /// The project's `workspaces` cannot be understood.
    #[error("\"workspaces\" in package.json: {problem}")]
    Workspaces {
        /// What is wrong with it.
        problem: String,
    },
    /// A lock file holds the conflict markers of a merge, and not even npm could settle it: one of the sides, or what they
    /// share, is no JSON.
    #[error("{file}:{line}: merge conflict that cannot be settled")]
    LockConflict {
        /// Which file.
        file: String,
        /// Line of the first marker, counted from one.
        line: usize,
    },
    /// A lock file is so big that working on it would take practically for ever, or all memory. No real one comes near.
    #[error("{file}: {what}, and {limit} are the most that can be worked on")]
    LockTooLarge {
        /// Which file.
        file: String,
        /// What it has too much of, with the number.
        what: String,
        /// The most it may have.
        limit: usize,
    },
    /// A lock file is of a version whose meaning is not known here. npm 12 writes version 4 where it has changed packages by
    /// `patchedDependencies`, `packageExtensions` or `.npm-extension`, so that whoever does not do so reads no further.
    #[error("{file}: \"lockfileVersion\" is {version}, and 3 is the highest that is understood")]
    LockVersion {
        /// Which file.
        file: String,
        /// The version it has.
        version: u32,
    },
    /// A lock file names a folder outside of the project.
    #[error("{file}: unsafe path {path:?} in \"packages\"")]
    LockPath {
        /// Which file.
        file: String,
        /// The path as written.
        path: String,
    },
}

/// Every code that [`ManifestError::code`] can give.
pub const CODES: &[&str] = &[
    "MANIFEST_JSON",
    "MANIFEST_FIELD",
    "MANIFEST_SHAPE",
    "PACKUMENT_JSON",
    "PACKUMENT_SHAPE",
    "MANIFEST_WORKSPACES",
    "LOCK_JSON",
    "LOCK_SHAPE",
    "LOCK_CONFLICT",
    "LOCK_PATH",
    "LOCK_TOO_LARGE",
    "LOCK_VERSION",
];

impl ManifestError {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::ManifestJson { .. } => "MANIFEST_JSON",
            Self::ManifestField { .. } => "MANIFEST_FIELD",
            Self::ManifestShape { .. } => "MANIFEST_SHAPE",
            Self::PackumentJson { .. } => "PACKUMENT_JSON",
            Self::PackumentShape { .. } => "PACKUMENT_SHAPE",
            Self::Workspaces { .. } => "MANIFEST_WORKSPACES",
            Self::LockJson { .. } => "LOCK_JSON",
            Self::LockShape { .. } => "LOCK_SHAPE",
            Self::LockConflict { .. } => "LOCK_CONFLICT",
            Self::LockPath { .. } => "LOCK_PATH",
            Self::LockTooLarge { .. } => "LOCK_TOO_LARGE",
            Self::LockVersion { .. } => "LOCK_VERSION",
        }
    }

    /// What the user can do about it.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::ManifestJson { file, .. } => format!("Correct the JSON of {file} at the place named."),
            Self::ManifestField { file, field, expected } => format!("Make \"{field}\" in {file} {expected}."),
            Self::ManifestShape { file } => format!("Make {file} a JSON object, at least {{}}."),
            Self::PackumentJson { .. } | Self::PackumentShape { .. } => {
                "Check the `registry` setting: the address answered with something that is not a package document."
                    .into()
            }
            Self::Workspaces { .. } => "Make it a list of folders or of patterns such as \"packages/*\".".into(),
            Self::LockJson { file, .. }
            | Self::LockShape { file, .. }
            | Self::LockPath { file, .. }
            | Self::LockTooLarge { file, .. } => {
                format!("Restore {file} from version control, or delete it and install again.")
            }
            Self::LockVersion { .. } => {
                "Install with npm 12: what \"patchedDependencies\", \"packageExtensions\" and .npm-extension say of packages is \
                 not done here. To do without it, take it out of the project and have npm write the lock again."
                    .into()
            }
            Self::LockConflict { file, .. } => format!("Take {file} from one of the two sides, then install again."),
        })
    }
}

impl ManifestError {
    /// Why the `text` of a `package.json` is no JSON.
    pub(crate) fn of_json(file: &str, text: &str, error: &serde_json::Error) -> Self {
        let (line, column) = (error.line().max(1), error.column().max(1));
        let is_conflict = text.lines().nth(line - 1).is_some_and(|line| line.starts_with("<<<<<<<"));
        let message = match is_conflict {
            true => "a merge has left its conflict here".to_owned(),
            false => parser_message(error),
        };
        Self::ManifestJson { file: file.to_owned(), line, column, message }
    }
}

/// What a JSON parser expected, without the position, which errors carry on their own.
pub(crate) fn parser_message(error: &serde_json::Error) -> String {
    let message = error.to_string();
    match message.rfind(" at line ") {
        Some(end) => message[..end].to_owned(),
        None => message,
    }
}
