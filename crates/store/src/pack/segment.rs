//! A package on its way into a pack.

use super::{PackWriter, SegmentPlace, check::BlockSums};
use crate::prepare::{Alteration, Placement};
use crate::{PackageIndex, StoreError};
use gantry_platform::RandomAccessFile;

/// What of a package has been appended. Unless it is [finished](Self::finish) nothing of it stays.
pub struct Segment<'w, F: RandomAccessFile> {
    writer: &'w mut PackWriter<F>,
    start: u64,
    sums: BlockSums,
    is_finished: bool,
}

impl<'w, F: RandomAccessFile> Segment<'w, F> {
    pub(super) fn new(writer: &'w mut PackWriter<F>) -> Self {
        Self { start: writer.end(), writer, sums: BlockSums::default(), is_finished: false }
    }

    /// Appends the next bytes.
    pub fn put(&mut self, bytes: &[u8]) -> Result<(), StoreError> {
        self.sums.update(bytes);
        self.writer.put(bytes)
    }

    /// Makes the alterations, by appending what is altered once more, and ends the package, as [`PackWriter::append`] does.
    pub fn finish(mut self, index: &mut PackageIndex, alterations: &[Alteration]) -> Result<SegmentPlace, StoreError> {
        for Alteration { file, removed } in alterations {
            let (Some(removed), Some(record)) = (removed, index.files.get_mut(*file)) else { continue };
            self.writer.write_buffer()?;
            let mut contents = self.writer.read(self.start + record.offset, record.size + 1)?;
            contents.remove(usize::try_from(*removed).map_err(|_| StoreError::TooLarge)?);
            record.offset = self.length();
            self.put(&contents)?;
        }
        self.end()
    }

    pub(super) fn end(mut self) -> Result<SegmentPlace, StoreError> {
        let (pack, length) = (self.writer.pack(), self.length());
        let (list, checksum) = std::mem::take(&mut self.sums).finish();
        self.writer.put(&list)?;
        self.is_finished = true;
        Ok(SegmentPlace { pack, offset: self.start, length, checksum })
    }

    fn length(&self) -> u64 {
        self.writer.end() - self.start
    }
}

impl<F: RandomAccessFile> Placement for Segment<'_, F> {
    type Error = StoreError;

    /// Everything has its mode in the index.
    fn begin(&mut self, _path: &str, _executable: bool) -> Result<u64, StoreError> {
        Ok(self.length())
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), StoreError> {
        self.put(bytes)
    }
}

impl<F: RandomAccessFile> Drop for Segment<'_, F> {
    fn drop(&mut self) {
        if !self.is_finished {
            self.writer.rewind(self.start);
        }
    }
}

impl<F: RandomAccessFile> std::fmt::Debug for Segment<'_, F> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Segment").field("start", &self.start).finish_non_exhaustive()
    }
}
