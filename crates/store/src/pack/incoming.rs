//! A tarball on its way into a pack, piece by piece.

use super::{PackWriter, Segment, SegmentPlace};
use crate::{PackageIndex, StoreError, Streamed};
use gantry_archive::{ArchiveError, ArchiveStream, Integrity, IntegrityCheck, Limits, StreamError};
use gantry_platform::RandomAccessFile;

/// Verifies, inflates, unpacks and appends a tarball as its bytes come; of the tarball and its archive nothing is kept.
/// Until it is [finished](Self::finish) nothing of it counts, and nothing of it stays if it is not.
#[derive(Debug)]
pub struct Incoming<'a, F: RandomAccessFile> {
    package: &'a str,
    check: Option<IntegrityCheck<'a>>,
    stream: ArchiveStream<'a>,
    files: Streamed<Segment<'a, F>>,
    /// What was wrong with the archive: it does not matter if the bytes turn out to be the wrong ones.
    damage: Option<ArchiveError>,
}

/// Why a tarball was not taken.
#[derive(Debug)]
pub enum IncomingError {
    /// It is not the one that was promised.
    Mismatch(ArchiveError),
    /// It is, but cannot be unpacked.
    Archive(ArchiveError),
    /// It could not be kept.
    Store(StoreError),
}

impl From<StoreError> for IncomingError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl<'a, F: RandomAccessFile> Incoming<'a, F> {
    /// The tarball of `package` (`name@version`, for messages). Where `integrity` is not known gzip's own checksum is
    /// compared.
    pub fn new(package: &'a str, integrity: Option<&'a Integrity>, writer: &'a mut PackWriter<F>) -> Self {
        let limits = Limits::default();
        let stream = match integrity {
            Some(_) => ArchiveStream::new(package, limits),
            None => ArchiveStream::unverified(package, limits),
        };
        let files = Streamed::new(writer.begin());
        Self { package, check: integrity.map(Integrity::check), stream, files, damage: None }
    }

    /// Verifies the next bytes; they are to be given to [`unpack`](Self::unpack) too.
    pub fn verify(&mut self, piece: &[u8]) {
        if let Some(check) = &mut self.check {
            check.update(piece);
        }
    }

    /// Unpacks the next bytes. It only fails where files cannot be kept.
    pub fn unpack(&mut self, piece: &[u8]) -> Result<(), StoreError> {
        if self.damage.is_some() {
            return Ok(());
        }
        match self.stream.push(piece, &mut self.files) {
            Ok(()) => Ok(()),
            Err(StreamError::Sink(error)) => Err(error),
            Err(StreamError::Archive(error)) => {
                self.damage = Some(error);
                Ok(())
            }
        }
    }

    /// After the last bytes: when it returns the package's bytes are in the file, as [`PackWriter::append`] says.
    pub fn finish(self) -> Result<(SegmentPlace, PackageIndex), IncomingError> {
        let Self { package, check, stream, mut files, damage } = self;
        check.map_or(Ok(()), |check| check.finish(package)).map_err(IncomingError::Mismatch)?;
        let ended = damage.map_or_else(|| stream.finish(&mut files), |error| Err(error.into()));
        ended.map_err(|error| match error {
            StreamError::Archive(error) => IncomingError::Archive(error),
            StreamError::Sink(error) => IncomingError::Store(error),
        })?;
        let (segment, mut index, alterations) = files.finish();
        let place = segment.finish(&mut index, &alterations)?;
        Ok((place, index))
    }
}

#[cfg(test)]
mod tests;
