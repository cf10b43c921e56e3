//! Faults a server plays on purpose, and the rules that say when.
//!
//! A rule looks at the decoded path of a request (`/@scope/name`, `/left/-/left-1.0.0.tgz`). A pattern without `*` is
//! a prefix; with `*` (any run of characters, slashes too) it is a glob over the whole path; a final `$` makes a
//! pattern without `*` exact. The first rule that matches and has turns left is played, and spends one turn.
use serde::{Deserialize, Serialize};

/// What a server does instead of answering properly.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Fault {
    /// Never answers; the connection stays open.
    HangBeforeHeaders,
    /// Sends right headers and `after` bytes of the body, then nothing more.
    HangInBody {
        /// Bytes sent before.
        #[serde(default)]
        after: usize,
    },
    /// Sends right headers and `after` bytes of the body, then resets the TCP connection.
    Reset {
        /// Bytes sent before.
        #[serde(default)]
        after: usize,
    },
    /// Sends right headers and `after` bytes of the body, then closes the connection in the normal way.
    Close {
        /// Bytes sent before.
        #[serde(default)]
        after: usize,
    },
    /// Sends only the first `after` bytes, with a content-length that agrees.
    Truncate {
        /// Bytes sent.
        #[serde(default)]
        after: usize,
    },
    /// Sends the whole body with a content-length that is `by` bytes too big, then closes; a negative number cuts it.
    WrongLength {
        /// Bytes added to the true length.
        by: i64,
    },
    /// Says `content-encoding: gzip` and sends bytes that are none.
    GzipGarbage,
    /// Sends an HTML page, as captive portals and proxies do.
    Html {
        /// Status of the page.
        #[serde(default = "ok")]
        status: u16,
    },
    /// Answers with a status and a small JSON error.
    Status {
        /// The status.
        status: u16,
        /// Value of `Retry-After`.
        #[serde(default)]
        retry_after: Option<String>,
    },
    /// Redirects; without `to`, to the very same address for ever.
    Redirect {
        /// Where to.
        #[serde(default)]
        to: Option<String>,
        /// Status of the redirect.
        #[serde(default = "found")]
        status: u16,
    },
    /// Flips one byte of the body: the one at `at`, else the middle one.
    Corrupt {
        /// Position of the byte.
        #[serde(default)]
        at: Option<usize>,
    },
    /// Sends the body in pieces of `bytes` bytes, one every `every_ms` milliseconds.
    Drip {
        /// Bytes in one piece.
        bytes: usize,
        /// Milliseconds between pieces.
        every_ms: u64,
    },
    /// Waits, then answers properly.
    Delay {
        /// Milliseconds to wait.
        ms: u64,
    },
    /// Sends a body of this many bytes of white space, whose length is not announced.
    Huge {
        /// Bytes in the body.
        bytes: u64,
    },
    /// Sends that many nested arrays.
    DeepJson {
        /// Depth of nesting.
        depth: usize,
    },
    /// Sends the right packument, not compressed, with so many further versions that together take this many bytes. They
    /// are made while they are sent, and are kept nowhere. For a package that has versions.
    BigPackument {
        /// Bytes of the further versions.
        bytes: u64,
        /// How many they are.
        versions: u32,
    },
    /// Sends the right body without announcing its length.
    NoLength,
}

fn ok() -> u16 {
    200
}

fn found() -> u16 {
    302
}

/// When to play a fault.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FaultRule {
    /// The pattern; see the module.
    pub path: String,
    /// How many times; `None` is always.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// How many matching requests pass untouched before the first turn.
    #[serde(default)]
    pub skip: u64,
    /// What to do.
    #[serde(flatten)]
    pub fault: Fault,
}

impl FaultRule {
    /// Plays a fault on every request that matches.
    pub fn always(path: impl Into<String>, fault: Fault) -> Self {
        Self { path: path.into(), count: None, skip: 0, fault }
    }

    /// Plays a fault on the first `count` requests that match.
    pub fn times(path: impl Into<String>, count: u64, fault: Fault) -> Self {
        Self { path: path.into(), count: Some(count), skip: 0, fault }
    }

    /// Lets `skip` matching requests through first.
    pub fn after(mut self, skip: u64) -> Self {
        self.skip = skip;
        self
    }

    /// The fault for this request, if it is this rule's turn. Spends the turn.
    pub(crate) fn take(&mut self, path: &str) -> Option<Fault> {
        if self.count == Some(0) || !matches(&self.path, path) {
            return None;
        }
        if self.skip > 0 {
            self.skip -= 1;
            return None;
        }
        if let Some(count) = &mut self.count {
            *count -= 1;
        }
        Some(self.fault.clone())
    }
}

/// Whether a path fits a pattern.
pub(crate) fn matches(pattern: &str, path: &str) -> bool {
    if !pattern.contains('*') {
        return match pattern.strip_suffix('$') {
            Some(exact) => exact == path,
            None => path.starts_with(pattern),
        };
    }
    let mut pieces = pattern.split('*');
    let first = pieces.next().unwrap_or_default();
    let Some(mut rest) = path.strip_prefix(first) else { return false };
    let mut pieces: Vec<&str> = pieces.collect();
    let last = pieces.pop().unwrap_or_default();
    for piece in pieces {
        match rest.find(piece) {
            Some(position) => rest = &rest[position + piece.len()..],
            None => return false,
        }
    }
    rest.len() >= last.len() && rest.ends_with(last)
}

#[cfg(test)]
mod tests;
