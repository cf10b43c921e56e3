//! What stops an install.

use gantry_archive::ArchiveError;
use gantry_layout::LayoutError;
use gantry_manifest::ManifestError;
use gantry_registry::{Refusal, RegistryError};
use gantry_resolver::ResolveError;
use gantry_spec::without_secrets;
use gantry_store::{IncomingError, StoreError};
use std::borrow::Cow;

/// Every code of this crate's own errors, and those of the browser platform, which TypeScript sees.
pub const CODES: &[&str] = &[
    "BROWSER_FAILED",
    "CANCELLED",
    "CONFIG_INVALID",
    "CONFIG_UNSUPPORTED",
    "DEPENDENCY_NAMELESS",
    "FOLDER_MISSING",
    "FOLDER_UNPACKED",
    "GIT_BUILD_FAILED",
    "GIT_FAILED",
    "GIT_MISSING",
    "GIT_REVISION",
    "INTERNAL",
    "INVALID_OPTION",
    "LOCK_MISSING",
    "LOCK_OUT_OF_SYNC",
    "PROJECT_UNKNOWN",
    "SCRIPTS_UNREVIEWED",
    "SOURCE_FAILED",
    "STORE_LOST",
    "TARBALL_MISSING",
    "WORKER_LOST",
    "WORKSPACE_DUPLICATE",
    "WORKSPACE_UNKNOWN",
];

/// The code of a tarball that is not what was promised. Unlike other failures it is never passed over, optional or not.
pub(crate) const TAMPERED: &str = "ARCHIVE_INTEGRITY";

/// An error as data: how errors come out of a platform, cross a worker boundary, and are printed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Fault {
    /// The stable code.
    pub code: Cow<'static, str>,
    /// What happened, naming the package or file.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
    /// The package concerned.
    pub package: Option<String>,
}

impl Fault {
    /// A fault with a code and a message.
    pub fn new(code: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self { code: code.into(), message: message.into(), hint: None, package: None }
    }

    /// What is wrong with a setting, or with what a command was told.
    pub fn of_setting(message: impl Into<String>) -> Self {
        Self::new("CONFIG_INVALID", message)
    }

    /// Whether the package or its registry is to blame, rather than this machine: storage, threads and the page's own
    /// failures would meet the next package as well.
    pub fn is_of_a_package(&self) -> bool {
        ["REGISTRY_", "ARCHIVE_", "FOLDER_", "GIT_"].iter().any(|start| self.code.starts_with(start))
    }

    /// Whether this machine is to blame: its storage, or that it allows no more threads or processes. That is so for a package
    /// that could be done without, too, and would be as well with the next one.
    pub fn is_of_this_machine(&self) -> bool {
        ["DISK_", "STORE_", "TASK_"].iter().any(|start| self.code.starts_with(start))
    }

    /// With advice.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Without the passwords of addresses, such as those that manifests name dependencies by.
    #[must_use]
    fn without_secrets(mut self) -> Self {
        for text in [Some(&mut self.message), self.hint.as_mut(), self.package.as_mut()].into_iter().flatten() {
            if let Cow::Owned(told) = without_secrets(text) {
                *text = told;
            }
        }
        self
    }

    /// With the package concerned.
    #[must_use]
    pub fn with_package(mut self, package: impl Into<String>) -> Self {
        self.package = Some(package.into());
        self
    }
}

impl From<RegistryError> for Fault {
    fn from(error: RegistryError) -> Self {
        EngineError::from(error).to_fault()
    }
}

impl From<&ArchiveError> for Fault {
    fn from(error: &ArchiveError) -> Self {
        let package = error.package().map(str::to_owned);
        Self { code: error.code().into(), message: error.to_string(), hint: error.hint(), package }
    }
}

impl From<&StoreError> for Fault {
    fn from(error: &StoreError) -> Self {
        Self { hint: error.hint(), ..Self::new(error.code(), error.to_string()) }
    }
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        Self::from(&error)
    }
}

/// What became of a tarball of `package` (`name@version`) that a store did not take.
pub fn refusal<E: Into<Fault>>(error: IncomingError<E>, package: &str) -> Refusal<Fault> {
    match error {
        IncomingError::Mismatch(error) => Refusal::Mismatch(error),
        IncomingError::Archive(error) => Refusal::Other(Fault::from(&error)),
        IncomingError::Store(error) => Refusal::Other(error.into().with_package(package)),
    }
}

/// Why an install did not complete.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// A `package.json` or lock that cannot be read.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// No tree.
    #[error(transparent)]
    Resolve(#[from] ResolveError),
    /// A lock whose tree cannot be laid out.
    #[error(transparent)]
    Layout(#[from] LayoutError),
    /// The registry.
    #[error(transparent)]
    Registry(#[from] RegistryError),
    /// The platform.
    #[error(transparent)]
    Host(#[from] Fault),
    /// `ci` without a lock.
    #[error("{path} is missing: an install from a lock needs one")]
    LockMissing {
        /// The lock file's name.
        path: String,
    },
    /// `ci` with a lock that does not fit.
    #[error("{path} and package.json are not in step:\n{}", problems.join("\n"))]
    LockOutOfSync {
        /// The lock file's name.
        path: String,
        /// One line each, in npm's words.
        problems: Vec<String>,
        /// Names of the optional packages among what is missing that could not be had: no lock has these.
        left_out: Vec<String>,
    },
}

impl EngineError {
    /// The same as data.
    pub fn to_fault(&self) -> Fault {
        let message = self.to_string();
        let (code, hint, package): (&'static str, Option<String>, Option<String>) = match self {
            Self::Host(fault) => return fault.clone().without_secrets(),
            Self::Manifest(error) => (error.code(), error.hint(), None),
            Self::Resolve(error) => (error.code(), error.hint(), error.package().map(str::to_owned)),
            Self::Layout(error) => (error.code(), error.hint(), error.package().map(str::to_owned)),
            Self::Registry(error) => (error.code(), error.hint(), Some(error.package().to_owned())),
            Self::LockMissing { .. } => {
                ("LOCK_MISSING", Some("Run an install first, or commit the lock file.".to_owned()), None)
            }
            Self::LockOutOfSync { problems, left_out, .. } => {
                ("LOCK_OUT_OF_SYNC", Some(out_of_sync_hint(problems, left_out)), None)
            }
        };
        Fault { code: Cow::Borrowed(code), message, hint, package }.without_secrets()
    }
}

/// What to do about a lock that does not fit.
fn out_of_sync_hint(problems: &[String], left_out: &[String]) -> String {
    let mut hints = Vec::new();
    if problems.len() > left_out.len() {
        hints.push("Run an install to bring the lock up to date.".to_owned());
    }
    if !left_out.is_empty() {
        let names = left_out.join(", ");
        hints.push(format!(
            "No lock has optional packages that cannot be had ({names}), and `ci` wants all of them as npm's does: use `install`, which \
             goes by the lock, too, or an \"overrides\" to a version or package that can be had."
        ));
    }
    hints.join(" ")
}

#[cfg(test)]
mod tests;
