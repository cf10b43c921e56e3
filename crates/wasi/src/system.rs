//! What the system's answer to a file operation means.

#[cfg(not(target_os = "wasi"))]
#[path = "system/other.rs"]
mod imp;
#[cfg(target_os = "wasi")]
#[path = "system/wasi.rs"]
mod imp;

pub(crate) use imp::meaning;

/// The failures that are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// Nothing is there.
    NotFound,
    /// No folder that the host has opened leads there.
    #[cfg_attr(not(target_os = "wasi"), expect(dead_code, reason = "a native program is opened everything"))]
    NotOpened,
    /// No room.
    Full,
    /// A read-only place, or not permitted.
    Denied,
    /// The host knows no such operation.
    Unsupported,
    /// Anything else.
    Failed,
}
