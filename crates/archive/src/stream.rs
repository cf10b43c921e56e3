//! From compressed pieces to files, without ever holding an archive or a file as a whole.

use crate::{
    ArchiveError, Limits,
    gzip::{Checksum, PieceInflater},
    header::BLOCK,
    settle::{Place, Places},
    tar_walk::{ArchiveKind, Blocks, ExtendedKind, FileHead, Step},
};
use std::fmt;

/// Where the files of an archive go.
pub trait FileSink {
    /// What can go wrong there.
    type Error;

    /// A file begins, whose contents follow; all of them, before the next one begins. A path that was there before is
    /// written anew: what it had is nothing any more.
    fn begin(&mut self, path: &str, executable: bool) -> Result<(), Self::Error>;

    /// The next bytes of the file.
    fn write(&mut self, bytes: &[u8]) -> Result<(), Self::Error>;
}

/// Why unpacking stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StreamError<E> {
    /// The archive is at fault.
    Archive(ArchiveError),
    /// Its files could not be kept.
    Sink(E),
}

impl<E> From<ArchiveError> for StreamError<E> {
    fn from(error: ArchiveError) -> Self {
        Self::Archive(error)
    }
}

/// Unpacks one tarball as it comes. The same files come out as from an [`Extractor`](crate::Extractor), in the order of the
/// archive, and the same tarballs are refused, but for one kind of damage: deflate's length codes without a meaning, which
/// no compressor writes, are refused here, by zlib and so by npm, and read as the longest length by an `Extractor` natively.
/// What was given to the sink until then may not be used.
#[derive(Debug)]
pub struct ArchiveStream<'p> {
    inflater: PieceInflater<'p>,
    tar: TarStream<'p>,
}

impl<'p> ArchiveStream<'p> {
    /// For a tarball of `package` (`name@version`, for messages) whose integrity is verified by the caller, before or
    /// afterwards: no checksum is computed.
    pub fn new(package: &'p str, limits: Limits) -> Self {
        Self::with_checksum(package, limits, Checksum::Skip)
    }

    /// For a tarball without integrity: gzip's own checksum and length are checked.
    pub fn unverified(package: &'p str, limits: Limits) -> Self {
        Self::with_checksum(package, limits, Checksum::Verify)
    }

    fn with_checksum(package: &'p str, limits: Limits, checksum: Checksum) -> Self {
        Self {
            inflater: PieceInflater::new(package, limits.unpacked_bytes, checksum),
            tar: TarStream {
                package,
                blocks: Blocks::new(package, limits, ArchiveKind::Package),
                stage: Stage::Block,
                held: Vec::with_capacity(BLOCK),
                places: Places::default(),
            },
        }
    }

    /// Takes the next bytes of the tarball.
    pub fn push<S: FileSink>(&mut self, piece: &[u8], sink: &mut S) -> Result<(), StreamError<S::Error>> {
        let Self { inflater, tar } = self;
        inflater.push(piece, |inflated| tar.push(inflated, sink))
    }

    /// After the last bytes.
    pub fn finish<S: FileSink>(mut self, sink: &mut S) -> Result<(), StreamError<S::Error>> {
        let Self { inflater, tar } = &mut self;
        inflater.finish(|inflated| tar.push(inflated, sink))?;
        if inflater.length() == 0 {
            return Err(ArchiveError::Empty { package: tar.package.to_owned() }.into());
        }
        Ok(tar.finish()?)
    }
}

/// What the next byte of the archive belongs to.
#[derive(Debug)]
enum Stage {
    /// A block.
    Block,
    /// The body of an extended header, of this many bytes.
    Extended(ExtendedKind, usize),
    /// A file's contents, or with `false` such as nobody wants, with so many bytes to come.
    Body { wanted: bool, left: u64, padding: u64 },
    /// Nothing.
    End,
}

/// The archive within a tarball.
struct TarStream<'p> {
    package: &'p str,
    blocks: Blocks<'p>,
    stage: Stage,
    /// Bytes of a block or an extended header that is not complete.
    held: Vec<u8>,
    /// Whether the file of each path is executable.
    places: Places<bool>,
}

impl TarStream<'_> {
    fn push<S: FileSink>(&mut self, bytes: &[u8], sink: &mut S) -> Result<(), StreamError<S::Error>> {
        let mut rest = bytes;
        while !rest.is_empty() {
            match &mut self.stage {
                Stage::Block => {
                    if let Some(block) = take(&mut self.held, BLOCK, &mut rest) {
                        let block = block.first_chunk().expect("a block was asked for");
                        let step = self.blocks.next(block)?;
                        self.held.clear();
                        self.stage = self.enter(step, sink)?;
                    }
                }
                Stage::Extended(kind, size) => {
                    if let Some(body) = take(&mut self.held, size.next_multiple_of(BLOCK), &mut rest) {
                        self.blocks.extend(*kind, &body[..*size]);
                        self.held.clear();
                        self.stage = Stage::Block;
                    }
                }
                Stage::Body { wanted, left, padding } => {
                    let contents = split_off(&mut rest, left);
                    if *wanted && !contents.is_empty() {
                        sink.write(contents).map_err(StreamError::Sink)?;
                    }
                    split_off(&mut rest, padding);
                    if *left == 0 && *padding == 0 {
                        self.stage = Stage::Block;
                    }
                }
                Stage::End => return Ok(()),
            }
        }
        Ok(())
    }

    /// What comes after a block.
    fn enter<S: FileSink>(&mut self, step: Step, sink: &mut S) -> Result<Stage, StreamError<S::Error>> {
        Ok(match step {
            Step::Next => Stage::Block,
            Step::End => Stage::End,
            Step::Extended { kind, size } => {
                Stage::Extended(kind, usize::try_from(size).map_err(|_| self.truncated())?)
            }
            Step::Body { file, size } => {
                let wanted = file.map_or(Ok(false), |file| self.begin(&file, sink)).map_err(StreamError::Sink)?;
                let padded = size.checked_next_multiple_of(BLOCK as u64).ok_or_else(|| self.truncated())?;
                if size == 0 { Stage::Block } else { Stage::Body { wanted, left: size, padding: padded - size } }
            }
        })
    }

    /// Whether the file is wanted.
    fn begin<S: FileSink>(&mut self, file: &FileHead, sink: &mut S) -> Result<bool, S::Error> {
        let executable = match self.places.place(&file.path, file.executable) {
            Place::Dropped => return Ok(false),
            Place::New => file.executable,
            Place::Again(earlier) => {
                if file.replaces {
                    *earlier = file.executable;
                }
                *earlier
            }
        };
        sink.begin(&file.path, executable)?;
        Ok(true)
    }

    fn finish(&self) -> Result<(), ArchiveError> {
        match self.stage {
            Stage::Extended(..) | Stage::Body { .. } => Err(self.truncated()),
            Stage::Block | Stage::End => self.blocks.finish(),
        }
    }

    fn truncated(&self) -> ArchiveError {
        ArchiveError::Truncated { package: self.package.to_owned() }
    }
}

/// `wanted` bytes: those that are held and those that `rest` begins with. `None`, and all of them held, if there are too few.
fn take<'h, 'r: 'h>(held: &'h mut Vec<u8>, wanted: usize, rest: &mut &'r [u8]) -> Option<&'h [u8]> {
    let (taken, after) = rest.split_at(rest.len().min(wanted - held.len()));
    *rest = after;
    if taken.len() == wanted {
        return Some(taken);
    }
    held.extend_from_slice(taken);
    (held.len() == wanted).then_some(held.as_slice())
}

/// As many bytes as `left` says, or as there are; `left` is what remains.
fn split_off<'r>(rest: &mut &'r [u8], left: &mut u64) -> &'r [u8] {
    let count = usize::try_from(*left).map_or(rest.len(), |left| left.min(rest.len()));
    let (taken, after) = rest.split_at(count);
    *rest = after;
    *left -= count as u64;
    taken
}

impl fmt::Debug for TarStream<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("TarStream").field("stage", &self.stage).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
