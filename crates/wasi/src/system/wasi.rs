//! Preview 1's error numbers: the standard library knows only some of them by kind.

use super::Meaning;
use std::io::{Error, ErrorKind};

/// `errno` of <https://github.com/WebAssembly/WASI/blob/main/legacy/preview1/docs.md>.
mod errno {
    pub const ACCES: i32 = 2;
    pub const DQUOT: i32 = 19;
    pub const FBIG: i32 = 22;
    pub const NOENT: i32 = 44;
    pub const NOMEM: i32 = 48;
    pub const NOSPC: i32 = 51;
    pub const NOSYS: i32 = 52;
    pub const NOTSUP: i32 = 58;
    pub const PERM: i32 = 63;
    pub const ROFS: i32 = 69;
    pub const NOTCAPABLE: i32 = 76;
}

/// What `error` means.
pub(crate) fn meaning(error: &Error) -> Meaning {
    match error.raw_os_error() {
        Some(errno::NOENT) => Meaning::NotFound,
        Some(errno::NOTCAPABLE) => Meaning::NotOpened,
        Some(errno::NOSPC | errno::DQUOT | errno::FBIG | errno::NOMEM) => Meaning::Full,
        Some(errno::ACCES | errno::PERM | errno::ROFS) => Meaning::Denied,
        Some(errno::NOSYS | errno::NOTSUP) => Meaning::Unsupported,
        // The standard library's own words for a path that no opened folder leads to have no number.
        None if error.to_string().contains("pre-opened") => Meaning::NotOpened,
        _ if error.kind() == ErrorKind::NotFound => Meaning::NotFound,
        _ => Meaning::Failed,
    }
}
