//! What can go wrong in the test support. Codes are stable; addresses never carry credentials.
use std::path::PathBuf;

/// An error of the test support.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TestkitError {
    /// A file or folder could not be read or written.
    #[error("cannot {action} {}", path.display())]
    File {
        /// What was tried: "read", "write", …
        action: &'static str,
        /// The file concerned.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// The server could not get its port or its threads.
    #[error("cannot listen on {address}")]
    Listen {
        /// Address asked for.
        address: String,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// The server's certificate could not be made.
    #[error("cannot make a certificate")]
    Certificate {
        /// What the generator said.
        #[source]
        source: rcgen::Error,
    },
    /// The server's certificate could not be used.
    #[error("cannot offer TLS")]
    Tls {
        /// What the library said.
        #[source]
        source: rustls::Error,
    },
    /// A JSON document is not what it should be.
    #[error("{document} is not the JSON expected")]
    Document {
        /// File, address or package.
        document: String,
        /// What the parser said.
        #[source]
        source: serde_json::Error,
    },
    /// A package name or tarball path that must not become a file name.
    #[error("{name:?} cannot be stored")]
    Name {
        /// The name as it came.
        name: String,
    },
    /// An address that is not http or https.
    #[error("{url:?} is not an http address")]
    Url {
        /// The address, without credentials.
        url: String,
    },
    /// No set of fixtures of that name.
    #[error("there is no set of fixtures called {name:?}")]
    UnknownFixtures {
        /// The name asked for.
        name: String,
    },
    /// The upstream registry could not be asked.
    #[error("cannot get {url}")]
    Upstream {
        /// The address, without credentials.
        url: String,
        /// What the client said.
        #[source]
        source: reqwest::Error,
    },
    /// The upstream registry answered with an error.
    #[error("{url} answered {status}")]
    UpstreamStatus {
        /// The address, without credentials.
        url: String,
        /// The status.
        status: u16,
    },
    /// `npm` could not be started.
    #[error("cannot start npm")]
    NpmMissing {
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// `npm` ended with an error.
    #[error("npm {arguments} failed in {project}: {stderr}")]
    NpmFailed {
        /// The arguments given.
        arguments: String,
        /// Name of the project.
        project: String,
        /// The last lines npm wrote.
        stderr: String,
    },
    /// There is nothing to record.
    #[error("{} holds no folder with a package.json", folder.display())]
    NoProjects {
        /// The folder of projects.
        folder: PathBuf,
    },
}

impl TestkitError {
    /// Every code, in the order of the variants.
    pub const CODES: &[&str] = &[
        "TESTKIT_FILE",
        "TESTKIT_LISTEN",
        "TESTKIT_CERTIFICATE",
        "TESTKIT_TLS",
        "TESTKIT_DOCUMENT",
        "TESTKIT_NAME",
        "TESTKIT_URL",
        "TESTKIT_UNKNOWN_FIXTURES",
        "TESTKIT_UPSTREAM",
        "TESTKIT_UPSTREAM_STATUS",
        "TESTKIT_NPM_MISSING",
        "TESTKIT_NPM_FAILED",
        "TESTKIT_NO_PROJECTS",
    ];

    /// The stable code of this error.
    pub fn code(&self) -> &'static str {
        match self {
            Self::File { .. } => "TESTKIT_FILE",
            Self::Listen { .. } => "TESTKIT_LISTEN",
            Self::Certificate { .. } => "TESTKIT_CERTIFICATE",
            Self::Tls { .. } => "TESTKIT_TLS",
            Self::Document { .. } => "TESTKIT_DOCUMENT",
            Self::Name { .. } => "TESTKIT_NAME",
            Self::Url { .. } => "TESTKIT_URL",
            Self::UnknownFixtures { .. } => "TESTKIT_UNKNOWN_FIXTURES",
            Self::Upstream { .. } => "TESTKIT_UPSTREAM",
            Self::UpstreamStatus { .. } => "TESTKIT_UPSTREAM_STATUS",
            Self::NpmMissing { .. } => "TESTKIT_NPM_MISSING",
            Self::NpmFailed { .. } => "TESTKIT_NPM_FAILED",
            Self::NoProjects { .. } => "TESTKIT_NO_PROJECTS",
        }
    }

    /// What the reader can do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Listen { .. } => Some("use --port 0 to take any free port".into()),
            Self::UnknownFixtures { .. } => Some("the sets are \"basic\" and \"scripts\"".into()),
            Self::NpmMissing { .. } => Some("the recorder needs Node.js with npm on the PATH".into()),
            Self::NoProjects { .. } => Some("give a folder whose sub-folders each hold a package.json".into()),
            Self::File { .. }
            | Self::Certificate { .. }
            | Self::Tls { .. }
            | Self::Document { .. }
            | Self::Name { .. }
            | Self::Url { .. }
            | Self::Upstream { .. }
            | Self::UpstreamStatus { .. }
            | Self::NpmFailed { .. } => None,
        }
    }

    /// Whether asking the upstream registry again may help.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Upstream { .. } => true,
            Self::UpstreamStatus { status, .. } => *status == 429 || *status >= 500,
            _ => false,
        }
    }

    pub(crate) fn file(action: &'static str, path: &std::path::Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::File { action, path, source }
    }

    pub(crate) fn document(document: impl Into<String>) -> impl FnOnce(serde_json::Error) -> Self {
        let document = document.into();
        move |source| Self::Document { document, source }
    }
}
