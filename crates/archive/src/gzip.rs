//! Inflating into one reused buffer.
//!
//! The gzip header and trailer are read here and `flate2` only sees the raw deflate stream, which costs a fifth less than
//! its gzip decoder because no CRC is computed: a damaged stream can inflate without complaint, so callers either have
//! verified the compressed bytes or ask for [`Checksum::Verify`]. The trailer's size is a hint for the buffer's size, never
//! believed beyond the limit, and the buffer grows if it was too small.

mod pieces;
mod whole;

pub(crate) use pieces::PieceInflater;

use crate::{ArchiveError, LimitKind};
use flate2::{Crc, Decompress, FlushDecompress, Status};
use std::cell::RefCell;
use whole::Whole;

/// Room beyond what is expected, so that the end of the stream is seen without growing.
const SLACK: usize = 64;

/// A buffer up to this size is kept for the next package, a larger one only while packages need it.
const KEEP: usize = 32 << 20;

/// deflate cannot expand by more than this factor.
const MAXIMUM_RATIO: usize = 1032;

/// Bytes of a member's trailer: CRC-32 and size modulo 2^32, both little-endian.
const TRAILER: usize = 8;

/// Whether gzip's own checksum and size are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Checksum {
    /// The bytes have been verified by other means.
    Skip,
    /// They have not.
    Verify,
}

/// The reused buffer and decompressor.
#[derive(Debug)]
pub(crate) struct Inflater {
    /// As long as it ever needed to be; what lies beyond `length` is left from earlier packages.
    buffer: Vec<u8>,
    length: usize,
    stream: Decompress,
    whole: Whole,
}

impl Inflater {
    pub fn new() -> Self {
        Self { buffer: Vec::new(), length: 0, stream: Decompress::new(false), whole: Whole::new() }
    }

    /// Bytes of memory that are held.
    #[cfg(test)]
    pub fn capacity(&self) -> usize {
        self.buffer.capacity()
    }

    /// The archive in `input`: inflated if it is gzip, else as it is. At most `maximum` bytes.
    pub fn unpack(
        &mut self,
        package: &str,
        input: &[u8],
        maximum: u64,
        checksum: Checksum,
    ) -> Result<&[u8], ArchiveError> {
        self.length = 0;
        if input.is_empty() {
            return Err(ArchiveError::Empty { package: package.to_owned() });
        }
        let mut run = Run::new(package, maximum, checksum);
        let maximum = run.maximum;
        if input.starts_with(&[0x1f, 0x8b]) {
            let expected = run.expected_size(input);
            self.reserve(expected.saturating_add(SLACK));
            if expected > 0
                && self.whole.inflate(run.after_header(input)?, TRAILER, &mut self.buffer[..expected])
                && (checksum == Checksum::Skip || run.is_whole(input, &self.buffer[..expected]))
            {
                self.length = expected;
            } else {
                run.members(self, input)?;
            }
        } else {
            if input.len() > maximum {
                return Err(run.too_large());
            }
            self.reserve(input.len());
            self.buffer[..input.len()].copy_from_slice(input);
            self.length = input.len();
        }
        Ok(&self.buffer[..self.length])
    }

    /// Makes the empty buffer hold `size` bytes at least.
    fn reserve(&mut self, size: usize) {
        if self.buffer.len() < size || (self.buffer.len() > KEEP && size <= KEEP) {
            // Freed first: both together could be more memory than there is.
            self.buffer = Vec::new();
            self.buffer = vec![0; size];
        }
    }
}

/// What a gzip body of `what` (a name, for messages) contains, at most `maximum` bytes; its checksum is compared. What is no
/// gzip comes back as it is.
pub fn gunzip(what: &str, body: &[u8], maximum: u64) -> Result<Vec<u8>, ArchiveError> {
    thread_local! {
        static INFLATER: RefCell<Inflater> = RefCell::new(Inflater::new());
    }
    INFLATER.with_borrow_mut(|inflater| {
        let length = inflater.unpack(what, body, maximum, Checksum::Verify).map(<[u8]>::len);
        // Also after a failure: what it had reserved would go along with the next body, however small.
        let mut unpacked = std::mem::take(&mut inflater.buffer);
        unpacked.truncate(length?);
        Ok(unpacked)
    })
}

/// One stream.
#[derive(Debug)]
struct Run<'a> {
    package: &'a str,
    maximum: usize,
    checksum: Checksum,
}

impl<'a> Run<'a> {
    fn new(package: &'a str, maximum: u64, checksum: Checksum) -> Self {
        let maximum = usize::try_from(maximum).unwrap_or(usize::MAX).min(usize::MAX - SLACK);
        Self { package, maximum, checksum }
    }

    /// What the last trailer promises, as far as it can be true.
    fn expected_size(&self, input: &[u8]) -> usize {
        let promised = input.last_chunk::<4>().map_or(0, |bytes| u32::from_le_bytes(*bytes));
        let possible = input.len().saturating_mul(MAXIMUM_RATIO);
        usize::try_from(promised).unwrap_or(usize::MAX).min(possible).min(self.maximum)
    }

    /// Inflates one member after the other. Zeros after the last one are padding, anything else is damage.
    fn members(&mut self, inflater: &mut Inflater, input: &[u8]) -> Result<(), ArchiveError> {
        let mut rest = input;
        loop {
            rest = self.after_header(rest)?;
            let start = inflater.length;
            rest = self.member(inflater, rest)?;
            let (trailer, after) = rest.split_at_checked(TRAILER).ok_or_else(|| self.truncated())?;
            if self.checksum == Checksum::Verify {
                let mut sum = Crc::new();
                sum.update(&inflater.buffer[start..inflater.length]);
                self.compare(trailer, &sum)?;
            }
            rest = after;
            if rest.first().is_none_or(|&byte| byte == 0) {
                return Ok(());
            }
        }
    }

    /// Whether the last trailer is that of all of `unpacked`.
    fn is_whole(&self, input: &[u8], unpacked: &[u8]) -> bool {
        let mut sum = Crc::new();
        sum.update(unpacked);
        input.last_chunk::<TRAILER>().is_some_and(|trailer| self.compare(trailer, &sum).is_ok())
    }

    fn after_header<'i>(&self, input: &'i [u8]) -> Result<&'i [u8], ArchiveError> {
        const HAS_CRC: u8 = 2;
        const HAS_EXTRA: u8 = 4;
        const HAS_NAME: u8 = 8;
        const HAS_COMMENT: u8 = 16;
        const RESERVED: u8 = 0xe0;
        let skip = |bytes: &'i [u8], count: usize| bytes.get(count..).ok_or_else(|| self.truncated());
        let skip_text = |bytes: &'i [u8]| {
            let end = bytes.iter().position(|&byte| byte == 0).ok_or_else(|| self.truncated())?;
            Ok::<_, ArchiveError>(&bytes[end + 1..])
        };
        match input {
            [0x1f] | [0x1f, 0x8b] | [0x1f, 0x8b, 8] => return Err(self.truncated()),
            [0x1f, 0x8b, 8, ..] => {}
            [0x1f, 0x8b, ..] => return Err(self.damaged("unknown compression method")),
            _ => return Err(self.damaged("unexpected bytes after the compressed data")),
        }
        let flags = input[3];
        if flags & RESERVED != 0 {
            return Err(self.damaged("unknown header flags"));
        }
        let mut rest = skip(input, 10)?;
        if flags & HAS_EXTRA != 0 {
            let length = rest.first_chunk::<2>().ok_or_else(|| self.truncated())?;
            rest = skip(rest, 2 + usize::from(u16::from_le_bytes(*length)))?;
        }
        if flags & HAS_NAME != 0 {
            rest = skip_text(rest)?;
        }
        if flags & HAS_COMMENT != 0 {
            rest = skip_text(rest)?;
        }
        if flags & HAS_CRC != 0 {
            rest = skip(rest, 2)?;
        }
        Ok(rest)
    }

    /// Inflates one member's data to the end of the buffer; gives what follows the data.
    fn member<'i>(&self, inflater: &mut Inflater, input: &'i [u8]) -> Result<&'i [u8], ArchiveError> {
        let Inflater { buffer, length, stream, .. } = inflater;
        stream.reset(false);
        let mut rest = input;
        loop {
            let (consumed, produced) = (stream.total_in(), stream.total_out());
            let status = stream
                .decompress(rest, &mut buffer[*length..], FlushDecompress::Finish)
                .map_err(|_| self.damaged("invalid deflate data"))?;
            let consumed = moved(consumed, stream.total_in());
            let produced = moved(produced, stream.total_out());
            rest = &rest[consumed..];
            *length += produced;
            if *length > self.maximum {
                return Err(self.too_large());
            }
            if status == Status::StreamEnd {
                return Ok(rest);
            }
            if *length == buffer.len() {
                // `SLACK` above the maximum at most, so that one byte too many is noticed.
                let size = (2 * buffer.len()).max(1 << 16).min(self.maximum + SLACK);
                buffer.resize(size, 0);
            } else if rest.is_empty() {
                return Err(self.truncated());
            } else if consumed == 0 && produced == 0 {
                return Err(self.damaged("invalid deflate data"));
            }
        }
    }

    fn compare(&self, trailer: &[u8], unpacked: &Crc) -> Result<(), ArchiveError> {
        let expected = [unpacked.sum().to_le_bytes(), unpacked.amount().to_le_bytes()].concat();
        if trailer == expected { Ok(()) } else { Err(self.damaged("checksum or length does not match")) }
    }

    fn truncated(&self) -> ArchiveError {
        ArchiveError::Truncated { package: self.package.to_owned() }
    }

    fn damaged(&self, reason: &'static str) -> ArchiveError {
        ArchiveError::Gzip { package: self.package.to_owned(), reason }
    }

    fn too_large(&self) -> ArchiveError {
        let maximum = u64::try_from(self.maximum).unwrap_or(u64::MAX);
        ArchiveError::Limit { package: self.package.to_owned(), limit: LimitKind::UnpackedBytes, maximum }
    }
}

fn moved(before: u64, after: u64) -> usize {
    usize::try_from(after - before).expect("no more moves than the buffers in memory hold")
}
