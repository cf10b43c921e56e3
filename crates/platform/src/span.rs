//! What was done, and when: the raw material of diagnostics.

use crate::HttpErrorKind;

/// The kinds of work that are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Work {
    /// A request for a packument, up to its whole body.
    Packument,
    /// A request for the document of one version.
    Version,
    /// A request for a tarball.
    Tarball,
    /// Waiting before a request is made again.
    Backoff,
    /// Removing the encoding that an answer came in.
    Inflate,
    /// Looking up a kept document.
    Kept,
    /// Finding the versions in a packument.
    Scan,
    /// Writing documents to the metadata mirror.
    Mirror,
    /// Hashing a tarball.
    Verify,
    /// Inflating and reading the archive.
    Unpack,
    /// Writing a package to the store.
    Store,
    /// The resolver's own work.
    Resolve,
}

impl Work {
    /// All kinds, in the order of their declaration.
    pub const ALL: [Self; 12] = [
        Self::Packument,
        Self::Version,
        Self::Tarball,
        Self::Backoff,
        Self::Inflate,
        Self::Kept,
        Self::Scan,
        Self::Mirror,
        Self::Verify,
        Self::Unpack,
        Self::Store,
        Self::Resolve,
    ];

    /// A short name in lower case.
    pub fn name(self) -> &'static str {
        match self {
            Self::Packument => "packument",
            Self::Version => "version",
            Self::Tarball => "tarball",
            Self::Backoff => "backoff",
            Self::Inflate => "inflate",
            Self::Kept => "kept",
            Self::Scan => "scan",
            Self::Mirror => "mirror",
            Self::Verify => "verify",
            Self::Unpack => "unpack",
            Self::Store => "store",
            Self::Resolve => "resolve",
        }
    }

    /// Whether it is a request.
    pub fn is_request(self) -> bool {
        matches!(self, Self::Packument | Self::Version | Self::Tarball)
    }
}

/// How a piece of work ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// As it should; for a request, with an answer, whatever its status.
    Done,
    /// A request that got none, or none that could be taken.
    Failed(HttpErrorKind),
    /// Nobody waited for it any longer.
    Abandoned,
}

impl Ending {
    /// All there are, in an order that stays.
    pub const ALL: [Self; 11] = [
        Self::Done,
        Self::Abandoned,
        Self::Failed(HttpErrorKind::Connect),
        Self::Failed(HttpErrorKind::Interrupted),
        Self::Failed(HttpErrorKind::Timeout),
        Self::Failed(HttpErrorKind::TooLarge),
        Self::Failed(HttpErrorKind::Redirect),
        Self::Failed(HttpErrorKind::InvalidUrl),
        Self::Failed(HttpErrorKind::Encoding),
        Self::Failed(HttpErrorKind::Certificate),
        Self::Failed(HttpErrorKind::Proxy),
    ];

    /// A short name in lower case.
    pub fn name(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Abandoned => "abandoned",
            Self::Failed(HttpErrorKind::Connect) => "connect",
            Self::Failed(HttpErrorKind::Interrupted) => "interrupted",
            Self::Failed(HttpErrorKind::Timeout) => "timeout",
            Self::Failed(HttpErrorKind::TooLarge) => "too large",
            Self::Failed(HttpErrorKind::Redirect) => "redirect",
            Self::Failed(HttpErrorKind::InvalidUrl) => "invalid address",
            Self::Failed(HttpErrorKind::Encoding) => "encoding",
            Self::Failed(HttpErrorKind::Certificate) => "certificate",
            Self::Failed(HttpErrorKind::Proxy) => "proxy",
        }
    }
}

/// One piece of work. Times are those of the platform's monotonic clock, in milliseconds.
#[derive(Debug, Clone, PartialEq)]
pub struct Span {
    /// Of which kind.
    pub work: Work,
    /// For a request, how many milliseconds it had waited in the client by then; else 0.
    pub queued: f64,
    /// When it began; of a request, when it was sent.
    pub began: f64,
    /// When it ended, well or badly.
    pub ended: f64,
    /// For a request, when the headers of an answer were there; else 0.
    pub answered: f64,
    /// For a request, its status, and 0 where no answer came; else 0.
    pub status: u16,
    /// Bytes received, read or written; 0 where that says nothing.
    pub bytes: u64,
    /// How it ended.
    pub ending: Ending,
}

impl Span {
    /// Work that was done, and is no request.
    pub fn of(work: Work, began: f64, ended: f64, bytes: u64) -> Self {
        Self { work, queued: 0.0, began, ended, answered: 0.0, status: 0, bytes, ending: Ending::Done }
    }
}
