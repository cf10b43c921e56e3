//! Which packages a project will most likely need, told before any document of a registry is there.
//!
//! A resolver learns names level by level: what a package depends on is in its packument. Over a network each level is a
//! round trip, and trees have six to eleven of them, most of which lead through the same popular packages. A table of what
//! those depend on, made from time to time, foretells nearly all names from the first level.
//!
//! It is a guess and nothing more: a name that is foretold may be asked for early. What is resolved never depends on it, so an
//! old table costs some round trips and some requests for nothing, and no table costs round trips.
#![deny(missing_docs)]
#![forbid(unsafe_code)]

mod table;
mod walk;

pub use table::{FormatError, Table};
pub use walk::{Foretold, Walk};

/// The table of the public registry's most used packages, of 25 November 2026 (`npm run forecast` makes it anew). Half a megabyte:
/// it is in a program only if that names it.
pub const POPULAR: &[u8] = include_bytes!("../data/popular.bin");
