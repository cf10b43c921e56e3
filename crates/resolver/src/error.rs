//! Everything that can go wrong while resolving, each with a stable code, and what is only worth a warning.

#[cfg(test)]
mod tests;

use crate::explain::PeerConflict;

/// Every code an error of this crate can carry.
pub const CODES: &[&str] = &[
    "RESOLVE_NOT_ALLOWED",
    "RESOLVE_UNSUPPORTED",
    "RESOLVE_INVALID_SPEC",
    "RESOLVE_PACKAGE_NOT_FOUND",
    "RESOLVE_NO_MATCHING_VERSION",
    "RESOLVE_INCOMPLETE_MANIFEST",
    "RESOLVE_FETCH",
    "RESOLVE_PEER_CONFLICT",
    "RESOLVE_OVERRIDE",
    "RESOLVE_OVERRIDE_CONFLICT",
    "RESOLVE_OVERRIDE_REFERENCE",
    "RESOLVE_PLATFORM",
    "RESOLVE_ENGINE",
    "RESOLVE_LOCK",
    "RESOLVE_INVALID_DATE",
    "RESOLVE_TOO_COMPLEX",
    "RESOLVE_UNFINISHED",
];

/// One step of the answer to "who wants this": a dependant and what it asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requirement {
    /// `name@version` of the dependant, or `the root project`.
    pub dependant: String,
    /// Where the dependant lives; empty for the root.
    pub location: String,
    /// `prod`, `dev`, `optional`, `peer` or `peerOptional`.
    pub kind: &'static str,
    /// What is asked for, as written.
    pub spec: String,
}

/// Why there is no tree.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum ResolveError {
    /// Something this resolver does not do yet.
    #[error("{dependency}: {missing} not supported{}", chain(wanted_by))]
    Unsupported {
        /// The dependency, as `name@spec`.
        dependency: String,
        /// What would be needed, with its verb: `git dependencies are`.
        missing: String,
        /// Who wants it, nearest first.
        wanted_by: Vec<Requirement>,
    },
    /// Something in the lock may not be had from where it is.
    #[error("{package} ({spec}): {message}")]
    NotAllowed {
        /// Where it is in the tree.
        package: String,
        /// Where it comes from.
        spec: String,
        /// What is not allowed.
        message: String,
    },
    /// A name or specifier that means nothing.
    #[error("{name}@{spec}: {message}{}", chain(wanted_by))]
    InvalidSpec {
        /// The dependency's name.
        name: String,
        /// The specifier as written.
        spec: String,
        /// What is wrong with it.
        message: String,
        /// Who wants it, nearest first.
        wanted_by: Vec<Requirement>,
    },
    /// The registry has no such package.
    #[error("{package} is not in the registry (asked for as {package}@{spec}){}", chain(wanted_by))]
    PackageNotFound {
        /// The package's name.
        package: String,
        /// The specifier as written.
        spec: String,
        /// Who wants it, nearest first.
        wanted_by: Vec<Requirement>,
    },
    /// The package exists, but no version of it is what was asked for.
    #[error("no matching version found for {package}@{spec}{}", chain(wanted_by))]
    NoMatchingVersion {
        /// The package's name.
        package: String,
        /// The specifier as written.
        spec: String,
        /// What the tag `latest` points to.
        latest: Option<String>,
        /// Who wants it, nearest first.
        wanted_by: Vec<Requirement>,
    },
    /// The registry's description of a version cannot be used.
    #[error("the registry's manifest of {package}@{spec} is incomplete{}", chain(wanted_by))]
    IncompleteManifest {
        /// The package's name.
        package: String,
        /// The specifier as written.
        spec: String,
        /// Who wants it, nearest first.
        wanted_by: Vec<Requirement>,
    },
    /// Asking for a package failed.
    #[error("{package}@{spec} could not be fetched: {message}{}", chain(wanted_by))]
    Fetch {
        /// The package's name.
        package: String,
        /// The specifier as written.
        spec: String,
        /// Code of the failure below.
        cause: &'static str,
        /// What happened.
        message: String,
        /// Who wants it, nearest first.
        wanted_by: Vec<Requirement>,
    },
    /// Peer dependencies contradict each other.
    #[error("{0}")]
    PeerConflict(Box<PeerConflict>),
    /// A rule of `overrides` cannot be understood.
    #[error("override {key:?}: {message}")]
    Override {
        /// The rule's key.
        key: String,
        /// What is wrong with it.
        message: String,
    },
    /// A rule of `overrides` contradicts a direct dependency.
    #[error("Override for {name}@{spec} conflicts with direct dependency")]
    OverrideConflict {
        /// The dependency's name.
        name: String,
        /// What the project itself asks for.
        spec: String,
    },
    /// A rule of `overrides` refers to a dependency that is not there.
    #[error("Unable to resolve reference {reference}")]
    OverrideReference {
        /// The reference, with its `$`.
        reference: String,
    },
    /// A required package is not made for this machine.
    #[error("{package} is not made for {current} (wanted: {required})")]
    Platform {
        /// `name@version`.
        package: String,
        /// What the package lists.
        required: String,
        /// What the target is.
        current: String,
    },
    /// A required package is not made for this version of Node or npm, and `engine-strict` is set.
    #[error("{package} needs {required}, this is {current}")]
    Engine {
        /// `name@version`.
        package: String,
        /// What the package lists.
        required: String,
        /// What the target is.
        current: String,
    },
    /// The lock file contradicts itself.
    #[error("lock entry {path:?}: {message}")]
    Lock {
        /// The entry's key.
        path: String,
        /// What is wrong with it.
        message: String,
    },
    /// The setting `before` is not a date.
    #[error("{text:?} is not a date")]
    InvalidDate {
        /// As given.
        text: String,
    },
    /// The dependencies form something that would take practically for ever.
    #[error("the dependencies are too complex: {what}")]
    TooComplex {
        /// What grows without bound.
        what: String,
    },
    /// The result was asked for before it was there.
    #[error("the resolution is not finished")]
    Unfinished,
}

fn chain(wanted_by: &[Requirement]) -> String {
    wanted_by
        .iter()
        .map(|step| {
            let place = if step.location.is_empty() { String::new() } else { format!(" at {}", step.location) };
            format!("\n  {} {:?} from {}{place}", step.kind, step.spec, step.dependant)
        })
        .collect()
}

impl ResolveError {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Unsupported { .. } => "RESOLVE_UNSUPPORTED",
            Self::NotAllowed { .. } | Self::Fetch { cause: "RESOLVE_NOT_ALLOWED", .. } => "RESOLVE_NOT_ALLOWED",
            Self::InvalidSpec { .. } => "RESOLVE_INVALID_SPEC",
            Self::PackageNotFound { .. } => "RESOLVE_PACKAGE_NOT_FOUND",
            Self::NoMatchingVersion { .. } => "RESOLVE_NO_MATCHING_VERSION",
            Self::IncompleteManifest { .. } => "RESOLVE_INCOMPLETE_MANIFEST",
            Self::Fetch { .. } => "RESOLVE_FETCH",
            Self::PeerConflict(_) => "RESOLVE_PEER_CONFLICT",
            Self::Override { .. } => "RESOLVE_OVERRIDE",
            Self::OverrideConflict { .. } => "RESOLVE_OVERRIDE_CONFLICT",
            Self::OverrideReference { .. } => "RESOLVE_OVERRIDE_REFERENCE",
            Self::Platform { .. } => "RESOLVE_PLATFORM",
            Self::Engine { .. } => "RESOLVE_ENGINE",
            Self::Lock { .. } => "RESOLVE_LOCK",
            Self::InvalidDate { .. } => "RESOLVE_INVALID_DATE",
            Self::TooComplex { .. } => "RESOLVE_TOO_COMPLEX",
            Self::Unfinished => "RESOLVE_UNFINISHED",
        }
    }

    /// The package concerned, by name or as `name@version`.
    pub fn package(&self) -> Option<&str> {
        match self {
            Self::Unsupported { dependency, .. } => Some(dependency),
            Self::InvalidSpec { name, .. } | Self::OverrideConflict { name, .. } => Some(name),
            Self::PackageNotFound { package, .. }
            | Self::NoMatchingVersion { package, .. }
            | Self::IncompleteManifest { package, .. }
            | Self::NotAllowed { package, .. }
            | Self::Fetch { package, .. }
            | Self::Platform { package, .. }
            | Self::Engine { package, .. } => Some(package),
            Self::PeerConflict(_)
            | Self::Override { .. }
            | Self::OverrideReference { .. }
            | Self::Lock { .. }
            | Self::InvalidDate { .. }
            | Self::TooComplex { .. }
            | Self::Unfinished => None,
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        let text = match self {
            Self::NoMatchingVersion { latest: Some(latest), package, .. } => {
                return Some(format!("the latest version of {package} is {latest}"));
            }
            Self::PackageNotFound { .. } => "check the spelling and the registry configured for its scope",
            Self::PeerConflict(conflict) if !conflict.remedies.is_empty() => {
                let remedies = conflict.remedies.join(", or ");
                return Some(format!("{remedies}; a possibly broken tree is accepted with force or legacy-peer-deps"));
            }
            Self::PeerConflict(_) => {
                "fix the conflicting versions, or accept a possibly broken tree with force or legacy-peer-deps"
            }
            Self::OverrideConflict { .. } => {
                "give the override the same specifier as the dependency, or refer to it as $name"
            }
            Self::Platform { .. } => "install for a target it supports, or make the dependency optional",
            Self::NotAllowed { .. } | Self::Fetch { cause: "RESOLVE_NOT_ALLOWED", .. } => {
                "change allow-git, allow-remote, allow-file or allow-directory, or do without the package"
            }
            Self::Lock { .. } => "remove the lock file and resolve again",
            Self::InvalidDate { .. } => "write the date as 2025-01-31 or 2025-01-31T12:00:00Z",
            _ => return None,
        };
        Some(text.to_owned())
    }
}

/// Something worth telling that did not stop the resolution.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResolveWarning {
    /// npm's code: `ERESOLVE`, `EBADENGINE`.
    pub code: &'static str,
    /// One paragraph.
    pub message: String,
    /// The conflict that was accepted, where it is one.
    pub conflict: Option<Box<PeerConflict>>,
}
