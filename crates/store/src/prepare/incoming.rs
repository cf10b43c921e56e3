//! A tarball on its way to where its files are kept, piece by piece.

use super::{Alteration, Placement, Streamed};
use crate::{PackageIndex, Segment, SegmentPlace, StoreError};
use gantry_archive::{ArchiveError, ArchiveStream, Integrity, IntegrityCheck, Limits, StreamError};
use gantry_platform::RandomAccessFile;

/// Verifies, inflates, unpacks and puts down a tarball as its bytes come; of the tarball and its archive nothing is kept.
/// Until it is [finished](Self::finish) nothing of it may be used.
#[derive(Debug)]
pub struct Incoming<'a, P> {
    package: &'a str,
    check: Option<IntegrityCheck<'a>>,
    stream: ArchiveStream<'a>,
    files: Streamed<P>,
    /// What was wrong with the archive: it does not matter if the bytes turn out to be the wrong ones.
    damage: Option<ArchiveError>,
}

/// Why a tarball was not taken.
#[derive(Debug)]
pub enum IncomingError<E> {
    /// It is not the one that was promised.
    Mismatch(ArchiveError),
    /// It is, but cannot be unpacked.
    Archive(ArchiveError),
    /// It could not be kept.
    Store(E),
}

impl<E> From<E> for IncomingError<E> {
    fn from(error: E) -> Self {
        Self::Store(error)
    }
}

impl<'a, P: Placement> Incoming<'a, P> {
    /// The tarball of `package` (`name@version`, for messages), the files of which go to `placement`. Where `integrity` is not
    /// known gzip's own checksum is compared.
    pub fn new(package: &'a str, integrity: Option<&'a Integrity>, placement: P) -> Self {
        let limits = Limits::default();
        let stream = match integrity {
            Some(_) => ArchiveStream::new(package, limits),
            None => ArchiveStream::unverified(package, limits),
        };
        let files = Streamed::new(placement);
        Self { package, check: integrity.map(Integrity::check), stream, files, damage: None }
    }

    /// Verifies the next bytes; they are to be given to [`unpack`](Self::unpack) too.
    pub fn verify(&mut self, piece: &[u8]) {
        if let Some(check) = &mut self.check {
            check.update(piece);
        }
    }

    /// Unpacks the next bytes. It only fails where files cannot be kept.
    pub fn unpack(&mut self, piece: &[u8]) -> Result<(), P::Error> {
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

    /// After the last bytes: as [`Streamed::finish`], if they are those that were promised.
    pub fn finish(self) -> Result<(P, PackageIndex, Vec<Alteration>), IncomingError<P::Error>> {
        let Self { package, check, stream, mut files, damage } = self;
        check.map_or(Ok(()), |check| check.finish(package)).map_err(IncomingError::Mismatch)?;
        let ended = damage.map_or_else(|| stream.finish(&mut files), |error| Err(error.into()));
        ended.map_err(|error| match error {
            StreamError::Archive(error) => IncomingError::Archive(error),
            StreamError::Sink(error) => IncomingError::Store(error),
        })?;
        Ok(files.finish())
    }
}

impl<F: RandomAccessFile> Incoming<'_, Segment<'_, F>> {
    /// After the last bytes: appends the package as [`PackWriter::append`](crate::PackWriter::append) does. If it fails,
    /// nothing of it stays in the pack.
    pub fn append(self) -> Result<(SegmentPlace, PackageIndex), IncomingError<StoreError>> {
        let (segment, mut index, alterations) = self.finish()?;
        let place = segment.finish(&mut index, &alterations)?;
        Ok((place, index))
    }
}

#[cfg(test)]
mod tests;
