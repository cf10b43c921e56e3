//! The append-only file that says what is stored.
//!
//! After the header come [frames](crate::frame), one for each record. A batch is flushed before the next one is written,
//! so a crash can only damage the last: frames from the first damaged one on are cut off when the journal is opened.
//! Damage with a *later batch* behind it did not come from a crash and is an error. The batch's number keeps what an
//! earlier, failed write left from being taken for new.

use super::{
    Catalog, JournalRecord,
    format::{FileFormat, HEADER, JOURNAL},
};
use crate::{
    StoreError,
    frame::{FRAME, Frame, write_frame},
};
use bytes::Bytes;
use gantry_platform::RandomAccessFile;

/// An open journal.
#[derive(Debug)]
pub struct Journal<F> {
    file: F,
    /// Where the next frame goes: the end of the last whole one.
    end: u64,
    /// Number of the last batch, tried or done.
    batch: u32,
}

impl<F: RandomAccessFile> Journal<F> {
    /// Opens a journal, writing the header of an empty one, and gives what it adds up to. A torn tail is cut off.
    pub fn open(file: F) -> Result<(Self, Catalog), StoreError> {
        let length = file.len()?;
        let mut bytes = vec![0; usize::try_from(length).map_err(|_| corrupt("it is larger than memory"))?];
        file.read_exact_at(0, &mut bytes)?;
        if is_unborn(&bytes) {
            file.truncate(0)?;
            file.write_all_at(0, &FileFormat::Journal.header())?;
            file.flush()?;
            return Ok((Self { file, end: HEADER, batch: 0 }, Catalog::default()));
        }
        let Replay { catalog, end, batch } = replay(bytes.into())?;
        if end < length {
            file.truncate(end)?;
            file.flush()?;
        }
        Ok((Self { file, end, batch }, catalog))
    }

    /// Appends records and flushes; when it returns they are durable, in this order: a later one is never there without
    /// those before it. When it fails, whether they are recorded shows when the journal is next opened, and this journal
    /// goes on as if they were not.
    pub fn append_batch(&mut self, records: &[JournalRecord]) -> Result<(), StoreError> {
        if records.is_empty() {
            return Ok(());
        }
        self.batch = self.batch.wrapping_add(1);
        let mut bytes = Vec::new();
        for record in records {
            write_frame(&mut bytes, self.end, self.batch, |bytes| record.write(bytes))?;
        }
        let written = self.file.write_all_at(self.end, &bytes).and_then(|()| self.file.flush());
        if let Err(error) = written {
            // What is left behind the end would be ignored; without it the next try has room.
            let _ = self.file.truncate(self.end);
            return Err(error.into());
        }
        self.end += bytes.len() as u64;
        Ok(())
    }

    /// Length of the file in bytes.
    pub fn length(&self) -> u64 {
        self.end
    }
}

/// What reading a journal gives.
pub(super) struct Replay {
    pub catalog: Catalog,
    /// The end of the last whole frame.
    end: u64,
    /// Number of the last batch.
    batch: u32,
}

/// Adds a journal's records up.
pub(super) fn replay(bytes: Bytes) -> Result<Replay, StoreError> {
    if is_unborn(&bytes) {
        return Ok(Replay { catalog: Catalog::default(), end: 0, batch: 0 });
    }
    let header = usize::try_from(HEADER).expect("a header is small");
    FileFormat::Journal.check(&bytes[..header.min(bytes.len())])?;
    let mut catalog = Catalog::default();
    let (mut position, mut batch) = (header, 0);
    while position < bytes.len() {
        match Frame::read(&bytes, position).filter(|frame| frame.batch >= batch) {
            Some(frame) => {
                catalog.apply(JournalRecord::read(&bytes.slice(position + FRAME..frame.end))?);
                (position, batch) = (frame.end, frame.batch);
            }
            None if later_batch_follows(&bytes, position) => {
                return Err(corrupt("a record does not match its checksum"));
            }
            None => break,
        }
    }
    Ok(Replay { catalog, end: position as u64, batch })
}

/// Whether behind the damage at `position` is a frame of a batch that began behind it too. Looked for byte by byte, since
/// the damaged frame's length means nothing.
fn later_batch_follows(bytes: &[u8], position: usize) -> bool {
    (position + 1..bytes.len())
        .filter_map(|position| Frame::read(bytes, position))
        .any(|frame| frame.batch_start > position)
}

/// Whether a crash may have left this of a journal that was being made: nothing, zeros, or a part of the header.
fn is_unborn(bytes: &[u8]) -> bool {
    let header = FileFormat::Journal.header();
    (bytes.len() < header.len() && header.starts_with(bytes)) || bytes.iter().all(|&byte| byte == 0)
}

fn corrupt(problem: &'static str) -> StoreError {
    StoreError::Corrupt { file: JOURNAL.into(), problem }
}

#[cfg(test)]
mod tests;
