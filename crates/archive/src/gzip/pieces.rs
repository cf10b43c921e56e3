//! Inflating piece by piece, through a small buffer.
//!
//! What a stream is taken for, and what is wrong with it, is as in [`Inflater`](super::Inflater): gzip of one or several
//! members with zeros behind them, or, without gzip's magic number, the archive itself.

use super::{Checksum, Run, TRAILER, moved};
use crate::ArchiveError;
use flate2::{Crc, Decompress, FlushDecompress, Status};
use std::fmt;

/// Bytes inflated before they are given on: several times deflate's window, of which zlib copies as much at every call,
/// and little enough to stay in a cache.
const OUTPUT: usize = 256 << 10;

const MAGIC: [u8; 2] = [0x1f, 0x8b];

/// What the next byte belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// The first two bytes, which say whether it is gzip.
    Magic,
    /// A member's header.
    Header,
    /// A member's data.
    Data,
    /// A member's checksum and size.
    Trailer,
    /// Another member, or padding.
    Between,
    /// Zeros, and whatever follows them.
    Padding,
    /// An archive that is not compressed.
    Plain,
}

/// A stream under way.
pub(crate) struct PieceInflater<'p> {
    run: Run<'p>,
    stage: Stage,
    /// Bytes of a header or trailer that is not complete.
    held: Vec<u8>,
    stream: Decompress,
    output: Vec<u8>,
    /// Of the member under way.
    sum: Crc,
    /// Inflated bytes of all members.
    length: usize,
}

impl<'p> PieceInflater<'p> {
    /// At the start of a stream of at most `maximum` inflated bytes.
    pub fn new(package: &'p str, maximum: u64, checksum: Checksum) -> Self {
        Self {
            run: Run::new(package, maximum, checksum),
            stage: Stage::Magic,
            held: Vec::new(),
            stream: Decompress::new(false),
            output: Vec::new(),
            sum: Crc::new(),
            length: 0,
        }
    }

    /// Inflated bytes so far.
    pub fn length(&self) -> usize {
        self.length
    }

    /// Takes the next piece; gives what it inflates to, in pieces, to `put`.
    pub fn push<E: From<ArchiveError>>(
        &mut self,
        piece: &[u8],
        mut put: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut rest = piece;
        loop {
            match self.stage {
                Stage::Magic => {
                    if self.held.len() < MAGIC.len() && !rest.is_empty() {
                        self.held.push(rest[0]);
                        rest = &rest[1..];
                    } else if self.held.len() < MAGIC.len() {
                        return Ok(());
                    } else if self.held == MAGIC {
                        self.stage = Stage::Header;
                    } else {
                        self.stage = Stage::Plain;
                        self.plain(&mut put)?;
                    }
                    continue;
                }
                Stage::Header => match self.header(rest)? {
                    Some(after) => rest = after,
                    None => return Ok(()),
                },
                Stage::Data => rest = self.data(rest, &mut put)?,
                Stage::Trailer => {
                    let (trailer, after) = rest.split_at(rest.len().min(TRAILER - self.held.len()));
                    rest = after;
                    self.held.extend_from_slice(trailer);
                    if self.held.len() == TRAILER {
                        self.end_member()?;
                    }
                }
                Stage::Between if rest.first().is_some_and(|&byte| byte == 0) => self.stage = Stage::Padding,
                Stage::Between if !rest.is_empty() => self.stage = Stage::Header,
                Stage::Between | Stage::Padding => return Ok(()),
                Stage::Plain => {
                    self.count(rest.len())?;
                    return put(rest);
                }
            }
            if rest.is_empty() && self.stage != Stage::Header {
                return Ok(());
            }
        }
    }

    /// After the last piece.
    pub fn finish<E: From<ArchiveError>>(&mut self, mut put: impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        match self.stage {
            Stage::Magic if self.held.is_empty() => {
                Err(ArchiveError::Empty { package: self.run.package.to_owned() }.into())
            }
            // A single byte is no gzip.
            Stage::Magic => self.plain(&mut put),
            Stage::Header | Stage::Data | Stage::Trailer => Err(self.run.truncated().into()),
            Stage::Between | Stage::Padding | Stage::Plain => Ok(()),
        }
    }

    fn plain<E: From<ArchiveError>>(&mut self, put: &mut impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        self.count(self.held.len())?;
        put(&std::mem::take(&mut self.held))
    }

    /// Reads a member's header; gives what follows it in `rest`, or nothing if it is not complete yet.
    fn header<'r>(&mut self, mut rest: &'r [u8]) -> Result<Option<&'r [u8]>, ArchiveError> {
        loop {
            // At least a usual header, and then twice as much each time, so that a long one is not read over and over.
            let (taken, after) = rest.split_at(rest.len().min(self.held.len().max(10)));
            self.held.extend_from_slice(taken);
            match self.run.after_header(&self.held) {
                // Without what was taken last it was too short, so all that is left of it is of those bytes.
                Ok(unread) => {
                    rest = &rest[taken.len() - unread.len()..];
                    break;
                }
                Err(ArchiveError::Truncated { .. }) if after.is_empty() => return Ok(None),
                Err(ArchiveError::Truncated { .. }) => rest = after,
                Err(error) => return Err(error),
            }
        }
        self.held.clear();
        self.stage = Stage::Data;
        self.stream.reset(false);
        self.sum = Crc::new();
        Ok(Some(rest))
    }

    /// Inflates what there is; gives what follows the member's data.
    fn data<'r, E: From<ArchiveError>>(
        &mut self,
        mut rest: &'r [u8],
        put: &mut impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<&'r [u8], E> {
        if self.output.is_empty() {
            self.output = vec![0; OUTPUT];
        }
        loop {
            let (consumed, produced) = (self.stream.total_in(), self.stream.total_out());
            let status = self
                .stream
                .decompress(rest, &mut self.output, FlushDecompress::None)
                .map_err(|_| self.run.damaged("invalid deflate data"))?;
            let consumed = moved(consumed, self.stream.total_in());
            let produced = moved(produced, self.stream.total_out());
            rest = &rest[consumed..];
            self.count(produced)?;
            let inflated = &self.output[..produced];
            if self.run.checksum == Checksum::Verify {
                self.sum.update(inflated);
            }
            put(inflated)?;
            if status == Status::StreamEnd {
                self.stage = Stage::Trailer;
                return Ok(rest);
            }
            if produced < self.output.len() {
                if rest.is_empty() {
                    return Ok(rest);
                }
                if consumed == 0 && produced == 0 {
                    return Err(self.run.damaged("invalid deflate data").into());
                }
            }
        }
    }

    fn end_member(&mut self) -> Result<(), ArchiveError> {
        if self.run.checksum == Checksum::Verify {
            self.run.compare(&self.held, &self.sum)?;
        }
        self.held.clear();
        self.stage = Stage::Between;
        Ok(())
    }

    fn count(&mut self, bytes: usize) -> Result<(), ArchiveError> {
        self.length = self.length.saturating_add(bytes);
        if self.length > self.run.maximum { Err(self.run.too_large()) } else { Ok(()) }
    }
}

impl fmt::Debug for PieceInflater<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("PieceInflater")
            .field("stage", &self.stage)
            .field("length", &self.length)
            .finish_non_exhaustive()
    }
}
