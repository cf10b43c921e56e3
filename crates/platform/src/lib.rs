//! What an installer needs from the machine it runs on, as traits.
//!
//! One small trait per effect: [`Http`], [`RandomAccessFile`] and [`Directory`], [`Clock`]. Methods are leaf
//! level and hold no algorithms: retries, caching, ordering and formats live in the crates above. The native, browser and
//! WASI crates implement them; `testkit` has versions that inject faults. Futures are not required to be `Send`, since a
//! browser's are not; an implementation is free to do its work on other threads.

#![deny(missing_docs)]

mod clock;
mod files;
mod http;
pub mod memory;
mod span;

pub use clock::Clock;
pub use files::{Directory, FileError, FileErrorKind, RandomAccessFile};
pub use http::{Http, HttpError, HttpErrorKind, HttpRequest, HttpResponse};
pub use span::{Ending, Span, Work};
