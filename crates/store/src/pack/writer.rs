//! Appends packages to one pack.
//!
//! A browser's write costs 10 to 150 µs whatever its size, so the files of packages are gathered into writes of
//! [`WRITE_SIZE`]. What has been [settled](PackWriter::settle) is the file's, whatever becomes of the writer. Nothing is
//! durable before [`PackWriter::flush`].

use super::{
    Segment, SegmentCheck, SegmentPlace,
    format::{FileFormat, HEADER, pack_name},
};
use crate::{PreparedPackage, StoreError};
use gantry_platform::RandomAccessFile;

/// Bytes gathered before they are written. Larger writes gained nothing in Chromium and a factor of two in Firefox up to
/// here (`append to one pack`: 256 KB 1.4 GB/s, 1 MB 2.7 GB/s).
const WRITE_SIZE: usize = 1 << 20;

/// Appends packages to one pack, in writes of a size that storage likes.
#[derive(Debug)]
pub struct PackWriter<F> {
    file: F,
    pack: u32,
    /// Where `buffer` goes.
    written: u64,
    buffer: Vec<u8>,
}

impl<F: RandomAccessFile> PackWriter<F> {
    /// Writes to `pack`, whose file is `file`, from `start` on; both as a
    /// [`PackAssignment`](super::PackAssignment) has them. What the file has behind `start` was never recorded: it is cut
    /// off.
    pub fn open(file: F, pack: u32, start: u64) -> Result<Self, StoreError> {
        let writer = Self::at(file, pack, start)?;
        if writer.file.len()? > start {
            writer.file.truncate(start)?;
        }
        Ok(writer)
    }

    /// Takes the place of a writer that was opened with the same values and is lost: goes on at the end of the file, since
    /// what that one appended may still be recorded.
    pub fn resume(file: F, pack: u32, start: u64) -> Result<Self, StoreError> {
        let end = file.len()?.max(start);
        Self::at(file, pack, end)
    }

    fn at(file: F, pack: u32, start: u64) -> Result<Self, StoreError> {
        let format = FileFormat::Pack(pack);
        let mut writer = Self { file, pack, written: start, buffer: Vec::with_capacity(WRITE_SIZE) };
        if start < HEADER {
            // The pack has no packages: whatever is there was never recorded.
            writer.written = 0;
            writer.buffer.extend(format.header());
            return Ok(writer);
        }
        Self::check(&writer.file, pack, start)?;
        Ok(writer)
    }

    /// Refuses a file that is not that of `pack`, or that ends before `start`.
    pub(super) fn check(file: &F, pack: u32, start: u64) -> Result<(), StoreError> {
        if file.len()? < start {
            let problem = "it is shorter than what was recorded of it";
            return Err(StoreError::Corrupt { file: pack_name(pack), problem });
        }
        let format = FileFormat::Pack(pack);
        let mut header = format.header();
        file.read_exact_at(0, &mut header)?;
        format.check(&header)
    }

    /// Appends a package, of which some may be in memory until [`settle`](Self::settle): before that nobody may hear of it.
    /// When it fails, nothing of the package stays and others may be appended.
    pub fn append(&mut self, package: &PreparedPackage<'_>) -> Result<SegmentPlace, StoreError> {
        let mut segment = self.begin();
        package.contents.iter().try_for_each(|contents| segment.put(contents))?;
        segment.end()
    }

    /// When it returns, the bytes of all packages that have been appended are in the file: they may be recorded after the next
    /// [`flush`](Self::flush), also by another writer if this one is lost before. When it fails, of those that were appended
    /// since it was last called nothing may be recorded, and others may be appended.
    pub fn settle(&mut self) -> Result<(), StoreError> {
        let settled = self.write_buffer();
        if settled.is_err() {
            // The header of a pack without packages goes with the first of them.
            self.rewind(self.written.max(HEADER));
        }
        settled
    }

    /// Begins a package whose contents come piece by piece.
    pub fn begin(&mut self) -> Segment<'_, F> {
        Segment::new(self)
    }

    /// Appends a package that another pack has; `None`, and nothing is appended, if it is damaged there.
    pub(super) fn copy<S: RandomAccessFile>(
        &mut self,
        source: &S,
        place: SegmentPlace,
    ) -> Result<Option<SegmentPlace>, StoreError> {
        let start = self.end();
        let copied = self.copy_pieces(source, place);
        if !matches!(copied, Ok(true)) {
            self.rewind(start);
        }
        Ok(copied?.then_some(SegmentPlace { pack: self.pack, offset: start, ..place }))
    }

    /// Gives whether the copy is what its checksum says.
    fn copy_pieces<S: RandomAccessFile>(&mut self, source: &S, place: SegmentPlace) -> Result<bool, StoreError> {
        if place.end().is_none_or(|end| source.len().is_ok_and(|length| length < end)) {
            return Ok(false);
        }
        let mut check = SegmentCheck::new(place);
        let mut piece = Vec::new();
        while let Some((offset, size)) = check.wanted() {
            piece.resize(usize::try_from(size).map_err(|_| StoreError::TooLarge)?, 0);
            source.read_exact_at(place.offset + offset, &mut piece)?;
            check.update(&piece);
            self.put(&piece)?;
        }
        self.write_buffer()?;
        Ok(check.is_whole())
    }

    /// Cuts off what the file has behind what has been settled: nobody writes over it before the next package.
    pub fn cut(&self) -> Result<(), StoreError> {
        if self.file.len()? > self.written {
            self.file.truncate(self.written)?;
        }
        Ok(())
    }

    /// The file of the pack.
    pub fn file(&self) -> &F {
        &self.file
    }

    /// When it returns every package that has been settled in this file is on durable storage. It needs no room.
    pub fn flush(&self) -> Result<(), StoreError> {
        Ok(self.file.flush()?)
    }

    /// Part of what has been settled; also what is not flushed yet.
    pub fn read(&self, offset: u64, length: u64) -> Result<Vec<u8>, StoreError> {
        if offset.checked_add(length).is_none_or(|end| end > self.written) {
            let problem = "a package is said to lie behind its end";
            return Err(StoreError::Corrupt { file: pack_name(self.pack), problem });
        }
        let mut bytes = vec![0; usize::try_from(length).map_err(|_| StoreError::TooLarge)?];
        self.file.read_exact_at(offset, &mut bytes)?;
        Ok(bytes)
    }

    /// Where the next package goes.
    pub fn end(&self) -> u64 {
        self.written + self.buffer.len() as u64
    }

    pub(super) fn pack(&self) -> u32 {
        self.pack
    }

    pub(super) fn put(&mut self, contents: &[u8]) -> Result<(), StoreError> {
        if self.buffer.len() + contents.len() > WRITE_SIZE {
            self.write_buffer()?;
        }
        if contents.len() >= WRITE_SIZE {
            self.file.write_all_at(self.written, contents)?;
            self.written += contents.len() as u64;
        } else {
            self.buffer.extend_from_slice(contents);
        }
        Ok(())
    }

    pub(super) fn write_buffer(&mut self) -> Result<(), StoreError> {
        if !self.buffer.is_empty() {
            self.file.write_all_at(self.written, &self.buffer)?;
            self.written += self.buffer.len() as u64;
            self.buffer.clear();
        }
        Ok(())
    }

    /// Takes back what was appended from `start` on.
    pub(super) fn rewind(&mut self, start: u64) {
        match start.checked_sub(self.written).and_then(|length| usize::try_from(length).ok()) {
            Some(length) => self.buffer.truncate(length),
            None => {
                self.buffer.clear();
                self.written = start;
            }
        }
    }
}
