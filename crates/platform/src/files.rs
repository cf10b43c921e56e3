//! Flat directories of random-access files: what the pack store is built on.
//!
//! Reading, writing and flushing are synchronous because OPFS sync access handles are, and because that is what makes
//! them fast there; opening is asynchronous for the same reason.

use core::future::Future;
use std::rc::Rc;

/// An open file. Exclusive: nobody else writes it while it is open.
pub trait RandomAccessFile {
    /// Length in bytes.
    fn len(&self) -> Result<u64, FileError>;
    /// Whether the file has no bytes.
    fn is_empty(&self) -> Result<bool, FileError> {
        Ok(self.len()? == 0)
    }
    /// Fills `buffer` from `offset`; a file that ends before that is an error of kind [`FileErrorKind::UnexpectedEnd`].
    fn read_exact_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), FileError>;
    /// Writes all of `bytes` at `offset`, growing the file.
    fn write_all_at(&self, offset: u64, bytes: &[u8]) -> Result<(), FileError>;
    /// Cuts or grows the file to `length`.
    fn truncate(&self, length: u64) -> Result<(), FileError>;
    /// Returns once everything written is on durable storage.
    fn flush(&self) -> Result<(), FileError>;
}

impl<F: RandomAccessFile> RandomAccessFile for Rc<F> {
    fn len(&self) -> Result<u64, FileError> {
        (**self).len()
    }

    fn read_exact_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), FileError> {
        (**self).read_exact_at(offset, buffer)
    }

    fn write_all_at(&self, offset: u64, bytes: &[u8]) -> Result<(), FileError> {
        (**self).write_all_at(offset, bytes)
    }

    fn truncate(&self, length: u64) -> Result<(), FileError> {
        (**self).truncate(length)
    }

    fn flush(&self) -> Result<(), FileError> {
        (**self).flush()
    }
}

/// A flat directory of files.
pub trait Directory {
    /// What [`open`](Self::open) gives.
    type File: RandomAccessFile;
    /// Opens `name`, creating it empty where it is missing.
    fn open(&self, name: &str) -> impl Future<Output = Result<Self::File, FileError>>;
    /// Removes `name`; it need not exist.
    fn remove(&self, name: &str) -> impl Future<Output = Result<(), FileError>>;
    /// The names of all files, in no order.
    fn list(&self) -> impl Future<Output = Result<Vec<String>, FileError>>;
}

/// Why a file operation failed.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{path}: {message}")]
pub struct FileError {
    /// What kind of failure.
    pub kind: FileErrorKind,
    /// The file or directory concerned.
    pub path: String,
    /// What the platform said.
    pub message: String,
}

/// The kinds of file failure that callers tell apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FileErrorKind {
    /// It is not there.
    NotFound,
    /// Somebody else has it open.
    Locked,
    /// Disk or quota full.
    NoSpace,
    /// Not permitted, or a read-only place.
    Denied,
    /// The file ends before what was to be read.
    UnexpectedEnd,
    /// Storage of this kind does not exist here.
    Unsupported,
    /// Anything else.
    Failed,
}
