//! The append-only file that says what is stored.
//!
//! After the header come [frames](crate::frame), one for each record. A batch is flushed before the next one is written,
//! so a crash can only damage the last: frames from the first damaged one on are cut off when the journal is opened.
//! Damage with a *later batch* behind it did not come from a crash and is an error. The batch's number keeps what an
//! earlier, failed write left from being taken for new.

use super::{
    Catalog, JournalRecord,
    format::{FileFormat, HEADER, JOURNAL, journal_name, journal_of},
};
use crate::{
    StoreError,
    frame::{FRAME, Frame, write_frame},
};
use bytes::Bytes;
use gantry_platform::{Directory, RandomAccessFile};

/// An open journal.
#[derive(Debug)]
pub struct Journal<F> {
    file: F,
    generation: u32,
    /// Where the next frame goes: the end of the last whole one.
    end: u64,
    /// Number of the last batch, tried or done.
    batch: u32,
    /// Whether there may be more behind the end than this journal knows of.
    is_doubtful: bool,
}

impl<F: RandomAccessFile> Journal<F> {
    /// Opens the newest journal of a directory, or makes the first, and gives what it adds up to. A torn tail is cut off.
    ///
    /// A later generation that has no seal was not finished: it goes, and the one before still says what is stored. With a
    /// seal it is the one that counts, and those before it go.
    pub async fn open<D: Directory<File = F>>(directory: &D) -> Result<(Self, Catalog), StoreError> {
        let mut generations: Vec<u32> = directory.list().await?.iter().filter_map(|name| journal_of(name)).collect();
        generations.sort_unstable();
        while let Some(generation) = generations.pop() {
            let file = directory.open(&journal_name(generation)).await?;
            if generation > 0 && !generations.is_empty() {
                let Replay { sealed, .. } = replay(contents(&file)?.into(), generation)?;
                if !sealed {
                    drop(file);
                    directory.remove(&journal_name(generation)).await?;
                    continue;
                }
            }
            let opened = Self::open_file(file, generation)?;
            for earlier in generations {
                directory.remove(&journal_name(earlier)).await?;
            }
            return Ok(opened);
        }
        Self::open_file(directory.open(JOURNAL).await?, 0)
    }

    fn open_file(file: F, generation: u32) -> Result<(Self, Catalog), StoreError> {
        let bytes = contents(&file)?;
        let length = bytes.len() as u64;
        if is_unborn(&bytes, generation) {
            file.truncate(0)?;
            file.write_all_at(0, &FileFormat::Journal(generation).header())?;
            file.flush()?;
            return Ok((Self { file, generation, end: HEADER, batch: 0, is_doubtful: false }, Catalog::default()));
        }
        let Replay { catalog, end, batch, sealed } = replay(bytes.into(), generation)?;
        if generation > 0 && !sealed {
            return Err(corrupt("it was not finished, and the one before it is gone"));
        }
        if end < length {
            file.truncate(end)?;
            file.flush()?;
        }
        Ok((Self { file, generation, end, batch, is_doubtful: false }, catalog))
    }

    /// Writes the next generation, which says what `catalog` has and nothing else. It counts once this returns; the file of
    /// this one is then in nobody's way.
    pub async fn rewritten<D: Directory<File = F>>(
        &self,
        directory: &D,
        catalog: &Catalog,
    ) -> Result<Self, StoreError> {
        let generation = self.generation.checked_add(1).ok_or(StoreError::TooLarge)?;
        let file = directory.open(&journal_name(generation)).await?;
        file.truncate(0)?;
        file.write_all_at(0, &FileFormat::Journal(generation).header())?;
        let mut journal = Self { file, generation, end: HEADER, batch: 0, is_doubtful: false };
        let mut records = Vec::new();
        let mut size = 0;
        for record in catalog.records() {
            size += record.size();
            records.push(record);
            if size >= BATCH_SIZE {
                journal.append_batch(&records)?;
                records.clear();
                size = 0;
            }
        }
        records.push(JournalRecord::Seal);
        journal.append_batch(&records)?;
        Ok(journal)
    }

    /// Name of its file.
    pub fn name(&self) -> String {
        journal_name(self.generation)
    }

    /// Name of the next generation's file.
    pub fn next_name(&self) -> String {
        journal_name(self.generation.saturating_add(1))
    }

    /// Appends records and flushes; when it returns they are durable, in this order: a later one is never there without
    /// those before it. When it fails this journal goes on as if they were not recorded; whether that is certain is told by
    /// [`is_doubtful`](Self::is_doubtful).
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
            let cut = self.file.truncate(self.end).and_then(|()| self.file.flush());
            self.is_doubtful |= cut.is_err();
            return Err(error.into());
        }
        // Whatever was left is written over, or begins with a batch that is not the next one.
        self.is_doubtful = false;
        self.end += bytes.len() as u64;
        Ok(())
    }

    /// Whether what could not be appended may be recorded all the same, which shows when the journal is next opened.
    pub fn is_doubtful(&self) -> bool {
        self.is_doubtful
    }

    /// Length of the file in bytes.
    pub fn length(&self) -> u64 {
        self.end
    }
}

/// Bytes of records that a journal written anew holds in memory at once.
const BATCH_SIZE: usize = 4 << 20;

fn contents<F: RandomAccessFile>(file: &F) -> Result<Vec<u8>, StoreError> {
    let length = file.len()?;
    let mut bytes = vec![0; usize::try_from(length).map_err(|_| corrupt("it is larger than memory"))?];
    file.read_exact_at(0, &mut bytes)?;
    Ok(bytes)
}

/// What reading a journal gives.
pub(super) struct Replay {
    pub catalog: Catalog,
    /// The end of the last whole frame.
    end: u64,
    /// Number of the last batch.
    batch: u32,
    /// Whether everything of an earlier generation is in it.
    pub sealed: bool,
}

/// Adds a journal's records up.
pub(super) fn replay(bytes: Bytes, generation: u32) -> Result<Replay, StoreError> {
    if is_unborn(&bytes, generation) {
        return Ok(Replay { catalog: Catalog::default(), end: 0, batch: 0, sealed: false });
    }
    let header = usize::try_from(HEADER).expect("a header is small");
    FileFormat::Journal(generation).check(&bytes[..header.min(bytes.len())])?;
    let mut catalog = Catalog::default();
    let (mut position, mut batch, mut sealed) = (header, 0, false);
    while position < bytes.len() {
        match Frame::read(&bytes, position).filter(|frame| frame.batch >= batch) {
            Some(frame) => {
                let record = JournalRecord::read(&bytes.slice(position + FRAME..frame.end))?;
                sealed |= record == JournalRecord::Seal;
                catalog.apply(record);
                (position, batch) = (frame.end, frame.batch);
            }
            None if later_batch_follows(&bytes, position) => {
                return Err(corrupt("a record does not match its checksum"));
            }
            None => break,
        }
    }
    Ok(Replay { catalog, end: position as u64, batch, sealed })
}

/// Whether behind the damage at `position` is a frame of a batch that began behind it too. Looked for byte by byte, since
/// the damaged frame's length means nothing.
fn later_batch_follows(bytes: &[u8], position: usize) -> bool {
    (position + 1..bytes.len())
        .filter_map(|position| Frame::read(bytes, position))
        .any(|frame| frame.batch_start > position)
}

/// Whether a crash may have left this of a journal that was being made: nothing, zeros, or a part of the header.
fn is_unborn(bytes: &[u8], generation: u32) -> bool {
    let header = FileFormat::Journal(generation).header();
    (bytes.len() < header.len() && header.starts_with(bytes)) || bytes.iter().all(|&byte| byte == 0)
}

fn corrupt(problem: &'static str) -> StoreError {
    StoreError::Corrupt { file: JOURNAL.into(), problem }
}

#[cfg(test)]
mod tests;
