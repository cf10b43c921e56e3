//! Keeping documents, and giving back the place of what has been replaced.

use super::{
    Freshness, MirrorKey, Validators,
    catalog::{Catalog, Document},
    expiry::Worth,
    files::{Current, Listing, journal_header, journal_name, pack_header, pack_name, read_all},
    record::{DocumentPlace, Record, State},
};
use crate::{frame::write_frame, header::HEADER};
use gantry_manifest::Packument;
use gantry_platform::{Directory, FileError, FileErrorKind, RandomAccessFile};
use std::sync::Arc;
use xxhash_rust::xxh3::xxh3_64;

/// Bytes gathered before they are written: a browser's write costs 10 to 150 µs whatever its size.
const WRITE_SIZE: usize = 1 << 20;

/// Less than this is not worth compacting.
const SMALL_PACK: u64 = if cfg!(test) { 64 << 10 } else { 8 << 20 };
const SMALL_JOURNAL: u64 = if cfg!(test) { 8 << 10 } else { 1 << 20 };

/// Something to keep.
#[derive(Debug, Clone)]
pub enum MirrorWrite {
    /// A document that was answered.
    Document {
        /// Its key.
        key: MirrorKey,
        /// The document, scanned.
        packument: Arc<Packument>,
        /// How long it is good for.
        freshness: Freshness,
        /// How to ask whether it has changed.
        validators: Validators,
    },
    /// A document that is kept was confirmed; costs some hundred bytes, whatever its size.
    Refreshed {
        /// Its key.
        key: MirrorKey,
        /// How long it is good for.
        freshness: Freshness,
        /// How to ask whether it has changed.
        validators: Validators,
    },
    /// What a version's own document says, which never changes.
    Facts {
        /// The version's key.
        key: MirrorKey,
        /// Integrity of the tarball that it is about.
        integrity: String,
        /// Members for the lock.
        lock_members: Option<String>,
    },
}

/// Which documents were kept, and where.
#[derive(Debug)]
pub struct Written {
    /// Number of the pack.
    pub(super) pack: u32,
    /// By their numbers among what was to be written.
    pub(super) documents: Vec<(usize, DocumentPlace)>,
    bytes: u64,
}

impl Written {
    /// Bytes that were written, records included.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
}

/// The one writer of a mirror. That there is only one is up to the caller.
#[derive(Debug)]
pub struct MirrorWriter<D: Directory> {
    directory: D,
    files: Files<D::File>,
}

/// A journal and its pack, open for writing.
#[derive(Debug)]
struct Files<F> {
    generation: u32,
    pack: u32,
    journal: F,
    pack_file: F,
    /// Where the next frame and the next document go.
    journal_end: u64,
    pack_end: u64,
    batch: u32,
}

impl<D: Directory> MirrorWriter<D> {
    /// Opens the mirror of a directory, or makes one there.
    pub async fn open(directory: D) -> Result<Self, FileError> {
        let listing = Listing::read(&directory).await?;
        let files = match listing.current(&directory).await? {
            Some(current) => {
                let Current { generation, pack, journal, pack_file, bytes } = current;
                let length = bytes.len() as u64;
                let Catalog { end, batch, pack_end, .. } = Catalog::replay(bytes);
                if end < length {
                    journal.truncate(end)?;
                }
                Files { generation, pack, journal, pack_file, journal_end: end, pack_end, batch }
            }
            None => {
                let pack = listing.next_pack();
                let pack_file = directory.open(&pack_name(pack)).await?;
                pack_file.write_all_at(0, &pack_header(pack))?;
                Files::publish(&directory, listing.next_generation(), pack, pack_file, HEADER, &[]).await?
            }
        };
        listing.remove_others(&directory, files.generation, files.pack).await?;
        Ok(Self { directory, files })
    }

    /// Keeps these. Documents are written first, then the records that say so; a failure leaves some out and nothing
    /// damaged. Documents that cannot have an outline, or whose body is not in memory, are passed over: what has no body came
    /// out of a mirror.
    pub fn write(&mut self, writes: &[MirrorWrite]) -> Result<Written, FileError> {
        let files = &mut self.files;
        files.batch = files.batch.wrapping_add(1);
        let mut frames = Vec::new();
        let mut gathered = Gathered { at: files.pack_end, bytes: Vec::new() };
        let mut written = Written { pack: files.pack, documents: Vec::new(), bytes: 0 };
        for (number, write) in writes.iter().enumerate() {
            match write {
                MirrorWrite::Document { key, packument, freshness, validators } => {
                    let (Some(outline), Some(body)) = (packument.outline(), packument.body()) else { continue };
                    let Some(place) = place_of(gathered.end(), &outline, &body) else { continue };
                    gathered.put(&files.pack_file, &outline)?;
                    gathered.put(&files.pack_file, &body)?;
                    let state = State::new(*freshness, validators);
                    files.frame(&mut frames, &Record::Document { key: key.as_str(), place, state })?;
                    written.documents.push((number, place));
                }
                MirrorWrite::Refreshed { key, freshness, validators } => {
                    let state = State::new(*freshness, validators);
                    files.frame(&mut frames, &Record::Refreshed { key: key.as_str(), state })?;
                }
                MirrorWrite::Facts { key, integrity, lock_members } => {
                    let record = Record::Facts { key: key.as_str(), integrity, lock_members: lock_members.as_deref() };
                    files.frame(&mut frames, &record)?;
                }
            }
        }
        gathered.write(&files.pack_file)?;
        written.bytes = gathered.at - files.pack_end + frames.len() as u64;
        files.pack_end = gathered.at;
        files.journal.write_all_at(files.journal_end, &frames)?;
        files.journal_end += frames.len() as u64;
        Ok(written)
    }

    /// Gives back what replaced records and documents take, and those that have not been used [for long](super::expiry), once
    /// that is more than half of everything. Documents that are damaged are dropped.
    pub async fn compact(&mut self) -> Result<(), FileError> {
        let catalog = Catalog::replay(read_all(&self.files.journal)?);
        let Files { generation, pack, journal_end, pack_end, .. } = self.files;
        let is_worth = |total: u64, used: u64, small: u64| total > small && total - used.min(total) > total / 2;
        let worth = Worth::of(catalog.documents());
        let move_documents = is_worth(pack_end, worth.length(), SMALL_PACK);
        if !move_documents && !is_worth(journal_end, catalog.used_journal(), SMALL_JOURNAL) {
            return Ok(());
        }
        let listing = Listing::read(&self.directory).await?;
        let pack = if move_documents { listing.next_pack() } else { pack };
        let pack_file = self.directory.open(&pack_name(pack)).await?;
        let mut end = pack_end;
        let mut records = Vec::new();
        if move_documents {
            pack_file.write_all_at(0, &pack_header(pack))?;
            let mut gathered = Gathered { at: HEADER, bytes: Vec::new() };
            for mut document in worth.documents.iter().copied() {
                let Some(parts) = self.read_whole(&document.place)? else { continue };
                document.place.offset = gathered.end();
                gathered.put(&pack_file, &parts)?;
                records.push(document.record());
            }
            gathered.write(&pack_file)?;
            end = gathered.at;
            records.extend(catalog.all_facts().into_iter().filter(|facts| worth.keeps(facts)));
        } else {
            // All of them: where no record tells of a place, something else would be written there.
            records.extend(catalog.documents().into_iter().map(Document::record));
            records.extend(catalog.all_facts());
        }
        let generation = listing.next_generation().max(generation.saturating_add(1));
        self.files = Files::publish(&self.directory, generation, pack, pack_file, end, &records).await?;
        listing.remove_others(&self.directory, generation, pack).await
    }

    /// Removes the mirror of a directory and no other files. It must not be open.
    pub async fn destroy(directory: &D) -> Result<(), FileError> {
        let Listing { journals, packs } = Listing::read(directory).await?;
        for generation in journals {
            directory.remove(&journal_name(generation)).await?;
        }
        for pack in packs {
            directory.remove(&pack_name(pack)).await?;
        }
        Ok(())
    }

    /// Both parts of a document; `None` if they are not what was recorded.
    fn read_whole(&self, place: &DocumentPlace) -> Result<Option<Vec<u8>>, FileError> {
        let pack = &self.files.pack_file;
        if place.end().is_none_or(|end| pack.len().is_ok_and(|length| length < end)) {
            return Ok(None);
        }
        let mut parts = vec![0; usize::try_from(place.length()).unwrap_or(usize::MAX)];
        pack.read_exact_at(place.offset, &mut parts)?;
        let (outline, body) = parts.split_at(place.outline as usize);
        let is_whole = xxh3_64(outline) == place.outline_checksum && xxh3_64(body) == place.body_checksum;
        Ok(is_whole.then_some(parts))
    }
}

impl<F: RandomAccessFile> Files<F> {
    /// Steps 1 and 2 of making a journal, as [`files`](super::files) has them; the pack is written already.
    async fn publish<D: Directory<File = F>>(
        directory: &D,
        generation: u32,
        pack: u32,
        pack_file: F,
        pack_end: u64,
        records: &[Record<'_>],
    ) -> Result<Self, FileError> {
        let journal = directory.open(&journal_name(generation)).await?;
        journal.truncate(0)?;
        let mut files = Self { generation, pack, journal, pack_file, journal_end: HEADER, pack_end, batch: 1 };
        let mut frames = Vec::new();
        for record in records {
            files.frame(&mut frames, record)?;
        }
        files.journal.write_all_at(HEADER, &frames)?;
        files.journal.write_all_at(0, &journal_header(pack))?;
        files.journal_end += frames.len() as u64;
        Ok(files)
    }

    fn frame(&self, frames: &mut Vec<u8>, record: &Record<'_>) -> Result<(), FileError> {
        write_frame(frames, self.journal_end, self.batch, |bytes| record.write(bytes)).map_err(|error| FileError {
            kind: FileErrorKind::Failed,
            path: journal_name(self.generation),
            message: error.to_string(),
        })
    }
}

/// `None` for a document that is too large.
fn place_of(offset: u64, outline: &[u8], body: &[u8]) -> Option<DocumentPlace> {
    Some(DocumentPlace {
        offset,
        outline: u32::try_from(outline.len()).ok()?,
        body: u32::try_from(body.len()).ok()?,
        outline_checksum: xxh3_64(outline),
        body_checksum: xxh3_64(body),
    })
}

/// Bytes that belong one behind the other, written in large pieces.
struct Gathered {
    /// Where `bytes` go.
    at: u64,
    bytes: Vec<u8>,
}

impl Gathered {
    fn end(&self) -> u64 {
        self.at + self.bytes.len() as u64
    }

    fn put(&mut self, file: &impl RandomAccessFile, bytes: &[u8]) -> Result<(), FileError> {
        if self.bytes.len() + bytes.len() > WRITE_SIZE {
            self.write(file)?;
        }
        if bytes.len() >= WRITE_SIZE {
            file.write_all_at(self.at, bytes)?;
            self.at += bytes.len() as u64;
        } else {
            self.bytes.extend_from_slice(bytes);
        }
        Ok(())
    }

    fn write(&mut self, file: &impl RandomAccessFile) -> Result<(), FileError> {
        if !self.bytes.is_empty() {
            file.write_all_at(self.at, &self.bytes)?;
            self.at += self.bytes.len() as u64;
            self.bytes.clear();
        }
        Ok(())
    }
}
