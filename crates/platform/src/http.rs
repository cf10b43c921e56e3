//! One HTTP request, one buffered response.

use bytes::Bytes;
use core::future::Future;

/// A `GET` request.
#[derive(Debug, Clone, Default)]
pub struct HttpRequest {
    /// Absolute URL, without credentials.
    pub url: String,
    /// Header names in lower case, with values. In a browser only safelisted ones avoid a preflight. `accept-encoding` is the
    /// client's affair where it is not said, and in a browser in any case.
    pub headers: Vec<(String, String)>,
    /// Longest time without any progress (connect, headers, or the next piece of body), in milliseconds.
    pub timeout_milliseconds: u64,
    /// A response whose (decoded) body is longer than this many bytes is given up with [`HttpErrorKind::TooLarge`].
    pub max_body_bytes: u64,
    /// Which of the client certificates that the platform was given is to be shown, by the name it was given under. No other
    /// origin is shown it, wherever redirects lead. Only for platforms that [choose](Http::chooses_certificates).
    pub certificate: Option<String>,
}

/// A response with its whole body.
#[derive(Debug, Clone, Default)]
pub struct HttpResponse {
    /// Status code, after redirects.
    pub status: u16,
    /// Header names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body, content encodings removed.
    pub body: Bytes,
    /// Milliseconds that the request waited in the client before it was sent; 0 where that cannot be told.
    pub sent_after: f64,
    /// Milliseconds from sending the request until the headers were there.
    pub answered_after: f64,
    /// Milliseconds, the last ones, in which content encodings were removed; 0 where that cannot be told.
    pub decoded_in: f64,
}

impl HttpResponse {
    /// Whether the body is what was asked for: with status 200, or 203, a 200 that something on the way has changed.
    pub fn has_content(&self) -> bool {
        matches!(self.status, 200 | 203)
    }

    /// The first value of header `name`, which is given in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.header_lines(name).next()
    }

    /// The values of all lines of header `name`, which is given in lower case. Of a header that is a list the lines belong
    /// together (RFC 9110, section 5.3).
    pub fn header_lines(&self, name: &str) -> impl Iterator<Item = &str> {
        self.headers.iter().filter(move |(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

/// Sends requests.
///
/// An implementation follows redirects (at most 20), removes `authorization` and `cookie` when one leaves the origin,
/// and resolves once the whole body is there. Dropping the future cancels the request. Status codes are not errors.
pub trait Http {
    /// Sends `request` and collects the response.
    fn send(&self, request: HttpRequest) -> impl Future<Output = Result<HttpResponse, HttpError>>;
    /// Does `work` on what has arrived: on a thread of the client's, where it has any, here and now where not.
    fn aside<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> impl Future<Output = T> {
        async { work() }
    }
    /// Whether client certificates can be chosen; in browsers their users choose.
    fn chooses_certificates(&self) -> bool {
        false
    }
    /// Whether the origin of `url` has turned out to answer at once, so that nothing is to be gained by asking it early.
    fn is_near(&self, url: &str) -> bool {
        let _ = url;
        false
    }
}

/// Why no response came.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{url}: {message}")]
pub struct HttpError {
    /// What kind of failure.
    pub kind: HttpErrorKind,
    /// The address asked, without credentials.
    pub url: String,
    /// What the platform said.
    pub message: String,
    /// Whether an answer had begun to come: its headers were here.
    pub has_answered: bool,
}

/// The kinds of transport failure that callers tell apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum HttpErrorKind {
    /// No connection: refused, unreachable, name unknown, blocked by CORS, or offline.
    Connect,
    /// The connection broke while the response was under way.
    Interrupted,
    /// No progress within the time allowed.
    Timeout,
    /// The body is longer than the request allowed.
    TooLarge,
    /// More redirects than allowed, or a redirect to something that is not HTTP.
    Redirect,
    /// The address cannot be used.
    InvalidUrl,
    /// The body's content encoding is damaged.
    Encoding,
    /// One of the two does not take the other's certificate. Browsers do not tell this from no connection.
    Certificate,
    /// The proxy that the address is to be asked through cannot be one, or refuses who asks.
    Proxy,
}

impl HttpErrorKind {
    /// Whether asking again may succeed.
    pub fn is_transient(self) -> bool {
        matches!(self, Self::Connect | Self::Interrupted | Self::Timeout | Self::Encoding)
    }
}
