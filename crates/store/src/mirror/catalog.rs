//! What a journal adds up to.

use super::{
    MirrorKey,
    record::{DocumentPlace, Record, State},
};
use crate::{frame::FRAME, frame::Frame, header::HEADER};
use bytes::Bytes;
use rustc_hash::FxHashMap;
use std::ops::Range;
use xxhash_rust::xxh3::xxh3_64;

/// The records of a journal that count. Texts stay in the journal's bytes.
#[derive(Debug)]
pub(super) struct Catalog {
    bytes: Bytes,
    /// By the hash of the key. Two keys of one hash displace each other; the key is compared when it is looked up.
    entries: FxHashMap<u64, Entry>,
    /// The end of the last whole frame.
    pub end: u64,
    /// Number of the last batch.
    pub batch: u32,
    /// Where the last document ends that was ever recorded.
    pub pack_end: u64,
}

#[derive(Debug)]
struct Entry {
    record: Range<usize>,
    /// A later `Refreshed` of the same key.
    refreshed: Option<Range<usize>>,
}

/// A document as the journal has it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Document<'a> {
    pub key: &'a str,
    pub place: DocumentPlace,
    pub state: State<'a>,
    /// Where in the journal it was recorded or refreshed for the last time.
    pub recorded: usize,
}

impl<'a> Document<'a> {
    /// The record that says all of it.
    pub fn record(self) -> Record<'a> {
        let Self { key, place, state, .. } = self;
        Record::Document { key, place, state }
    }
}

impl Catalog {
    /// Adds a journal's records up. What follows the first frame that is not whole does not count, nor does a record that
    /// cannot be read.
    pub fn replay(bytes: Bytes) -> Self {
        let mut entries: FxHashMap<u64, Entry> = FxHashMap::default();
        let mut position = usize::try_from(HEADER).expect("a header is small");
        let (mut batch, mut pack_end) = (0, HEADER);
        while let Some(frame) = Frame::read(&bytes, position).filter(|frame| frame.batch >= batch) {
            let record = position + FRAME..frame.end;
            (position, batch) = (frame.end, frame.batch);
            match Record::read(&bytes[record.clone()]) {
                Some(Record::Document { key, place, .. }) => {
                    let Some(end) = place.end() else { continue };
                    pack_end = pack_end.max(end);
                    entries.insert(xxh3_64(key.as_bytes()), Entry { record, refreshed: None });
                }
                Some(Record::Facts { key, .. }) => {
                    entries.insert(xxh3_64(key.as_bytes()), Entry { record, refreshed: None });
                }
                Some(Record::Refreshed { key, .. }) => {
                    if let Some(entry) = entries.get_mut(&xxh3_64(key.as_bytes())) {
                        entry.refreshed = Some(record);
                    }
                }
                None => {}
            }
        }
        Self { bytes, entries, end: position as u64, batch, pack_end }
    }

    /// A journal without records.
    pub fn empty() -> Self {
        Self::replay(Bytes::new())
    }

    pub fn document(&self, key: &MirrorKey) -> Option<Document<'_>> {
        let entry = self.entries.get(&hash_of(key))?;
        self.document_of(entry).filter(|document| document.key == key.as_str())
    }

    /// What is known of a version whose tarball has this integrity.
    pub fn facts(&self, key: &MirrorKey, integrity: &str) -> Option<Option<&str>> {
        match Record::read(&self.bytes[self.entries.get(&hash_of(key))?.record.clone()])? {
            Record::Facts { key: known, integrity: known_integrity, lock_members } => {
                (known == key.as_str() && known_integrity == integrity).then_some(lock_members)
            }
            _ => None,
        }
    }

    /// All documents, in the order of their places.
    pub fn documents(&self) -> Vec<Document<'_>> {
        let mut documents: Vec<Document<'_>> =
            self.entries.values().filter_map(|entry| self.document_of(entry)).collect();
        documents.sort_unstable_by_key(|document| document.place.offset);
        documents
    }

    /// All records of versions, in the order they were written.
    pub fn all_facts(&self) -> Vec<Record<'_>> {
        let mut ranges: Vec<&Range<usize>> = self.entries.values().map(|entry| &entry.record).collect();
        ranges.sort_unstable_by_key(|range| range.start);
        let records = ranges.into_iter().filter_map(|range| Record::read(&self.bytes[range.clone()]));
        records.filter(|record| matches!(record, Record::Facts { .. })).collect()
    }

    /// Bytes of the journal that its records would need without those that have been replaced.
    pub fn used_journal(&self) -> u64 {
        self.entries.values().map(|entry| (FRAME + entry.record.len()) as u64).sum()
    }

    fn document_of(&self, entry: &Entry) -> Option<Document<'_>> {
        let Record::Document { key, place, state } = Record::read(&self.bytes[entry.record.clone()])? else {
            return None;
        };
        let recorded = entry.refreshed.as_ref().unwrap_or(&entry.record).start;
        let refreshed = entry.refreshed.clone().and_then(|range| Record::read(&self.bytes[range]));
        let state = match refreshed {
            Some(Record::Refreshed { state, .. }) => state,
            _ => state,
        };
        Some(Document { key, place, state, recorded })
    }
}

fn hash_of(key: &MirrorKey) -> u64 {
    xxh3_64(key.as_str().as_bytes())
}
