//! From compressed bytes to files.

use crate::{
    ArchiveError, Limits,
    gzip::{Checksum, Inflater},
    repository::archive_commit,
    settle::settle,
    tar_walk::{ArchiveKind, walk},
};
use std::borrow::Cow;

/// One file of a package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry<'a> {
    /// Path within the package: `lib/a.js`. Not empty, no empty, `.` or `..` component, no NUL, no leading `/`.
    pub path: String,
    /// Contents.
    pub data: Cow<'a, [u8]>,
    /// Whether the archive marks it executable for anybody.
    pub executable: bool,
}

/// What the archive of a repository has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repository<'a> {
    /// The commit it is of, where the archive says so.
    pub commit: Option<String>,
    /// Its files, sorted by path (byte order).
    pub entries: Vec<Entry<'a>>,
}

/// Unpacks tarballs, one after the other, into one buffer.
///
/// Gzip (of several members too) and plain tar are read. What npm leaves out silently is left out: folders, links,
/// devices, headers with a wrong checksum, paths with `..`. A `.gitignore` becomes `.npmignore`.
#[derive(Debug)]
pub struct Extractor {
    limits: Limits,
    inflater: Inflater,
}

impl Extractor {
    /// An extractor that keeps to `limits`.
    pub fn new(limits: Limits) -> Self {
        Self { limits, inflater: Inflater::new() }
    }

    /// The files of a tarball whose integrity has been verified, sorted by path (byte order). No checksum is computed.
    pub fn extract(&mut self, package: &str, compressed: &[u8]) -> Result<Vec<Entry<'_>>, ArchiveError> {
        self.run(package, compressed, Checksum::Skip)
    }

    /// As [`extract`](Self::extract), for a tarball without integrity: gzip's own checksum and length are checked.
    pub fn extract_unverified(&mut self, package: &str, compressed: &[u8]) -> Result<Vec<Entry<'_>>, ArchiveError> {
        self.run(package, compressed, Checksum::Verify)
    }

    /// The archive within a tarball whose integrity has been verified, for callers that read or measure it themselves. What
    /// is not compressed comes back as it is. No checksum is computed.
    pub fn inflate(&mut self, package: &str, compressed: &[u8]) -> Result<&[u8], ArchiveError> {
        self.inflater.unpack(package, compressed, self.limits.unpacked_bytes, Checksum::Skip)
    }

    /// As [`extract_unverified`](Self::extract_unverified), for the archive of a repository: a `.gitignore` keeps its name.
    /// With the commit that the archive says it is of.
    pub fn extract_repository(&mut self, package: &str, compressed: &[u8]) -> Result<Repository<'_>, ArchiveError> {
        let archive = self.inflater.unpack(package, compressed, self.limits.unpacked_bytes, Checksum::Verify)?;
        let entries = settle(walk(package, archive, &self.limits, ArchiveKind::Repository)?);
        Ok(Repository { commit: archive_commit(archive), entries })
    }

    fn run(&mut self, package: &str, compressed: &[u8], checksum: Checksum) -> Result<Vec<Entry<'_>>, ArchiveError> {
        let archive = self.inflater.unpack(package, compressed, self.limits.unpacked_bytes, checksum)?;
        if archive.is_empty() {
            return Err(ArchiveError::Empty { package: package.to_owned() });
        }
        Ok(settle(walk(package, archive, &self.limits, ArchiveKind::Package)?))
    }
}

impl Default for Extractor {
    fn default() -> Self {
        Self::new(Limits::default())
    }
}

#[cfg(test)]
mod tests;
