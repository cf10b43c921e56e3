//! What can go wrong between here and a registry.

use crate::retry::{Repeatable, status_is_transient};
use gantry_archive::ArchiveError;
use gantry_manifest::ManifestError;
use gantry_platform::{HttpError, HttpErrorKind};

/// Every code this crate's errors have.
pub const CODES: &[&str] = &[
    "REGISTRY_NOT_CACHED",
    "REGISTRY_NOT_FOUND",
    "REGISTRY_UNAUTHORIZED",
    "REGISTRY_STATUS",
    "REGISTRY_UNREACHABLE",
    "REGISTRY_TIMEOUT",
    "REGISTRY_TOO_LARGE",
    "REGISTRY_PROXY",
    "REGISTRY_PACKUMENT",
    "REGISTRY_TARBALL",
    "REGISTRY_URL",
    "REGISTRY_CERTIFICATE",
];

/// Something that the user should know of and that stops nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegistryWarning {
    /// A stable code.
    pub code: &'static str,
    /// For people.
    pub message: String,
}

/// An answer that cannot be used, or none at all.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RegistryError {
    /// Nothing may be asked for, and no copy is kept; npm's `ENOTCACHED`.
    #[error("{package} is not in the store, and requests are turned off")]
    NotCached {
        /// The package concerned.
        package: String,
    },
    /// The registry has no such package, version or file.
    #[error("{package} is not in the registry: {url} answered {status}")]
    NotFound {
        /// The package asked for.
        package: String,
        /// The address asked, without credentials.
        url: String,
        /// 404, 405 or 410.
        status: u16,
    },
    /// The registry wants other credentials.
    #[error("the registry refuses to give {package}: {url} answered {status}")]
    Unauthorized {
        /// The package asked for.
        package: String,
        /// The address asked, without credentials.
        url: String,
        /// 401 or 403.
        status: u16,
    },
    /// Any other status.
    #[error("the registry could not give {package}: {url} answered {status}")]
    Status {
        /// The package asked for.
        package: String,
        /// The address asked, without credentials.
        url: String,
        /// The status code.
        status: u16,
        /// What the registry asked to wait.
        retry_after_milliseconds: Option<f64>,
    },
    /// No answer.
    #[error("no answer for {package}: {source}")]
    Unreachable {
        /// The package asked for.
        package: String,
        /// What the platform said.
        source: HttpError,
    },
    /// An answer that is no packument.
    #[error("the registry's answer for {package} is not a packument ({url}): {source}")]
    Packument {
        /// The package asked for.
        package: String,
        /// The address asked, without credentials.
        url: String,
        /// What is wrong with it.
        source: ManifestError,
    },
    /// A tarball that is not what the lock or packument promised, twice.
    #[error("{source}")]
    Tarball {
        /// The package concerned.
        package: String,
        /// The address asked, without credentials.
        url: String,
        /// What is wrong with it.
        source: ArchiveError,
    },
    /// An address that cannot be used.
    #[error("{package} has an unusable address: {url}")]
    Url {
        /// The package concerned.
        package: String,
        /// The address.
        url: String,
    },
    /// A registry that is configured with a client certificate, where none can be chosen.
    #[error("{package} is to be asked for with a client certificate, which this platform cannot choose: {url}")]
    Certificate {
        /// The package concerned.
        package: String,
        /// The address, without credentials.
        url: String,
    },
}

impl RegistryError {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotCached { .. } => "REGISTRY_NOT_CACHED",
            Self::NotFound { .. } => "REGISTRY_NOT_FOUND",
            Self::Unauthorized { .. } => "REGISTRY_UNAUTHORIZED",
            Self::Status { .. } => "REGISTRY_STATUS",
            Self::Unreachable { source, .. } if source.kind == HttpErrorKind::Timeout => "REGISTRY_TIMEOUT",
            Self::Unreachable { source, .. } if source.kind == HttpErrorKind::TooLarge => "REGISTRY_TOO_LARGE",
            Self::Unreachable { source, .. } if source.kind == HttpErrorKind::Proxy => "REGISTRY_PROXY",
            Self::Unreachable { .. } => "REGISTRY_UNREACHABLE",
            Self::Packument { .. } => "REGISTRY_PACKUMENT",
            Self::Tarball { source, .. } => source.code(),
            Self::Url { .. } => "REGISTRY_URL",
            Self::Certificate { .. } => "REGISTRY_CERTIFICATE",
        }
    }

    /// The package concerned.
    pub fn package(&self) -> &str {
        match self {
            Self::NotCached { package }
            | Self::NotFound { package, .. }
            | Self::Unauthorized { package, .. }
            | Self::Status { package, .. }
            | Self::Unreachable { package, .. }
            | Self::Packument { package, .. }
            | Self::Tarball { package, .. }
            | Self::Url { package, .. }
            | Self::Certificate { package, .. } => package,
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::NotCached { .. } => {
                "Install once with the network, or leave out offline (prefer-offline asks for what is not kept)."
                    .to_owned()
            }
            Self::NotFound { package, .. } => {
                format!(
                    "Check the spelling of {package}, and that this registry has it (private packages may need credentials)."
                )
            }
            Self::Unauthorized { .. } => {
                "Set a token for this registry: in .npmrc (//host/:_authToken=…), in a page by the options token and tokens."
                    .to_owned()
            }
            Self::Status { status: 429, .. } => "The registry asks for fewer requests; try again later.".to_owned(),
            Self::Status { .. } => "The registry has a problem of its own; try again later.".to_owned(),
            Self::Unreachable { source, .. } if source.kind == HttpErrorKind::TooLarge => {
                "Check the registry's address: nothing that large is a package.".to_owned()
            }
            Self::Unreachable { source, .. } if source.kind == HttpErrorKind::Certificate => {
                "Check cafile or ca, which say whom to trust beside the system's authorities, and this registry's certfile \
                 and keyfile, which say who asks."
                    .to_owned()
            }
            Self::Unreachable { source, .. } if source.kind == HttpErrorKind::Proxy => {
                "Check https-proxy and proxy in .npmrc, and https_proxy, http_proxy and proxy in the environment; noproxy and \
                 no_proxy list who is asked without one. Whom a proxy asks to log in has name and password in its address."
                    .to_owned()
            }
            Self::Unreachable { .. } => {
                "Check the network and the registry's address; a page also needs a registry that allows CORS, and a \
                 Content-Security-Policy, if it has one, with that address in connect-src."
                    .to_owned()
            }
            Self::Packument { .. } => {
                "Check the registry's address: something else may be answering (a login page, a proxy).".to_owned()
            }
            Self::Tarball { source, .. } => return source.hint(),
            Self::Url { .. } => "Only http and https addresses can be fetched.".to_owned(),
            Self::Certificate { .. } => {
                "Leave certfile, keyfile, cert and key out of the settings, and use a token where the registry takes one; a \
                 browser shows the certificate that its user chooses."
                    .to_owned()
            }
        })
    }

    /// Whether asking again may succeed.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Status { status, .. } => status_is_transient(*status),
            Self::Unreachable { source, .. } => source.kind.is_transient(),
            Self::NotCached { .. }
            | Self::NotFound { .. }
            | Self::Unauthorized { .. }
            | Self::Packument { .. }
            | Self::Tarball { .. }
            | Self::Url { .. }
            | Self::Certificate { .. } => false,
        }
    }

    /// How to ask again, where that may succeed.
    pub fn repeatable(&self) -> Option<Repeatable> {
        let after_milliseconds = match self {
            Self::Status { retry_after_milliseconds, .. } => *retry_after_milliseconds,
            _ => None,
        };
        self.is_transient().then_some(Repeatable { after_milliseconds })
    }
}
