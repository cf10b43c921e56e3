//! Package tarballs over bytes: what they must hash to, and what is in them; and archives of whole trees.
//!
//! [`Integrity`] checks compressed bytes against a subresource integrity string. [`Extractor`] turns them into the files
//! that npm would leave on disk: one leading folder stripped, links and devices dropped, the last of two equal names kept.
//! Nothing here touches a disk; contents borrow from one buffer that is used again for every package.

#![deny(missing_docs)]

mod error;
mod extract;
mod gzip;
mod header;
mod integrity;
mod limits;
mod packlist;
mod path;
mod pax;
mod repository;
mod settle;
mod sha512;
mod stream;
mod tar_walk;
mod tree_archive;

pub use error::{ArchiveError, CODES};
pub use extract::{Entry, Extractor, Repository};
pub use gzip::gunzip;
pub use integrity::{Algorithm, Hash, Integrity, IntegrityCheck};
pub use limits::{LimitKind, Limits};
pub use packlist::{PackageFiles, packlist};
pub use repository::write_archive;
pub use stream::{ArchiveStream, FileSink, StreamError};
pub use tree_archive::{ArchiveFormat, TreeArchive};
