//! Comparing what is read of a pack with what was recorded of it.
//!
//! A package's bytes have a checksum for each block of [`BLOCK`] bytes, so that whoever reads one file of a large package need not
//! read all of it to trust it. Behind the bytes of a package that has more than one block these checksums follow, xxh3-64,
//! little-endian, and the journal has the checksum of them; of a package with one block the journal has that block's.

use super::SegmentPlace;
use std::ops::Range;
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

/// Bytes that have a checksum of their own. Reading them costs a browser little more than reading a file's few thousand.
pub(super) const BLOCK: u64 = 16 << 10;

/// Bytes of a checksum.
const CHECKSUM: u64 = size_of::<u64>() as u64;

/// Bytes read at a time.
const READ_SIZE: u64 = 1 << 20;

impl SegmentPlace {
    /// Where the checksums of the blocks are, from the segment's start; empty where there is only one block.
    pub fn checksums(&self) -> Range<u64> {
        let blocks = self.length.div_ceil(BLOCK);
        let bytes = if blocks > 1 { blocks * CHECKSUM } else { 0 };
        self.length..self.length.saturating_add(bytes)
    }

    /// Bytes of the pack that it takes: the package's, and what follows them.
    pub fn stored_length(&self) -> u64 {
        self.checksums().end
    }
}

/// The checksums of a segment's blocks, from its bytes piece by piece.
#[derive(Default)]
pub(super) struct BlockSums {
    sums: Vec<u64>,
    /// Of the block under way, if it has begun.
    hasher: Option<Box<Xxh3>>,
    /// How much of the block under way there is.
    begun: usize,
}

impl BlockSums {
    /// Takes the next bytes.
    pub fn update(&mut self, mut bytes: &[u8]) {
        const SIZE: usize = BLOCK as usize;
        while !bytes.is_empty() {
            if self.begun == 0
                && let Some((block, rest)) = bytes.split_at_checked(SIZE)
            {
                self.sums.push(xxh3_64(block));
                bytes = rest;
                continue;
            }
            let (part, rest) = bytes.split_at(bytes.len().min(SIZE - self.begun));
            self.hasher.get_or_insert_default().update(part);
            self.begun += part.len();
            if self.begun == SIZE {
                self.end_block();
            }
            bytes = rest;
        }
    }

    fn end_block(&mut self) {
        if let Some(hasher) = &mut self.hasher {
            self.sums.push(hasher.digest());
            hasher.reset();
        }
        self.begun = 0;
    }

    /// After the last bytes: what follows them in the pack, and the checksum of the whole.
    pub fn finish(mut self) -> (Vec<u8>, u64) {
        if self.begun > 0 {
            self.end_block();
        }
        match self.sums.as_slice() {
            [] => (Vec::new(), xxh3_64(&[])),
            [only] => (Vec::new(), *only),
            sums => {
                let list: Vec<u8> = sums.iter().flat_map(|sum| sum.to_le_bytes()).collect();
                let checksum = xxh3_64(&list);
                (list, checksum)
            }
        }
    }
}

/// The checksum of a segment that is read piece by piece.
pub struct SegmentCheck {
    place: SegmentPlace,
    sums: BlockSums,
    /// What was read behind the package's bytes.
    list: Vec<u8>,
    read: u64,
}

impl SegmentCheck {
    /// Nothing is read yet.
    pub fn new(place: SegmentPlace) -> Self {
        Self { place, sums: BlockSums::default(), list: Vec::new(), read: 0 }
    }

    /// The next piece to read: its offset in the segment, and its size in bytes. `None` when all is read.
    pub fn wanted(&self) -> Option<(u64, u64)> {
        let size = READ_SIZE.min(self.place.stored_length() - self.read);
        (size > 0).then_some((self.read, size))
    }

    /// Takes the bytes of the piece that was wanted.
    pub fn update(&mut self, bytes: &[u8]) {
        let left = usize::try_from(self.place.length.saturating_sub(self.read)).unwrap_or(usize::MAX);
        let (contents, list) = bytes.split_at(bytes.len().min(left));
        self.sums.update(contents);
        self.list.extend_from_slice(list);
        self.read += bytes.len() as u64;
    }

    /// Whether all was read and is what was recorded.
    pub fn is_whole(self) -> bool {
        let (list, checksum) = self.sums.finish();
        self.read == self.place.stored_length() && list == self.list && checksum == self.place.checksum
    }
}

impl std::fmt::Debug for SegmentCheck {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("SegmentCheck")
            .field("place", &self.place)
            .field("read", &self.read)
            .finish_non_exhaustive()
    }
}

/// What of one package's segment is known to be what was recorded: block by block, as its files are read.
#[derive(Debug, Clone)]
pub struct CheckedSegment {
    length: u64,
    /// By block; `None` once it is known to be right.
    sums: Vec<Option<u64>>,
}

impl CheckedSegment {
    /// A package all of which is known to be right.
    pub fn whole(place: &SegmentPlace) -> Self {
        Self { length: place.length, sums: Vec::new() }
    }

    /// A package of which nothing is known, with the bytes at [`SegmentPlace::checksums`]; `None` if these are damaged.
    pub fn new(place: &SegmentPlace, list: &[u8]) -> Option<Self> {
        let length = place.length;
        let expected = place.checksums();
        if expected.is_empty() {
            return Some(Self { length, sums: vec![Some(place.checksum)] });
        }
        let (sums, _) = list.as_chunks::<8>();
        let is_whole = list.len() as u64 == expected.end - expected.start && xxh3_64(list) == place.checksum;
        is_whole.then(|| Self { length, sums: sums.iter().map(|sum| Some(u64::from_le_bytes(*sum))).collect() })
    }

    /// Whether the bytes at `part`, which lies within the package, are known to be right.
    pub fn is_right(&self, part: &Range<u64>) -> bool {
        self.sums.get(Self::blocks(part)).is_none_or(|sums| sums.iter().all(Option::is_none))
    }

    /// What to read for the bytes at `part`: just that where it is known to be right, else all of its blocks, to be
    /// [accepted](Self::accept).
    pub fn wanted(&self, part: &Range<u64>) -> Range<u64> {
        if self.is_right(part) {
            return part.clone();
        }
        part.start / BLOCK * BLOCK..part.end.div_ceil(BLOCK).saturating_mul(BLOCK).min(self.length)
    }

    /// Compares the blocks from `start` on, as they were [wanted](Self::wanted); false if one is damaged.
    pub fn accept(&mut self, start: u64, bytes: &[u8]) -> bool {
        let blocks = Self::blocks(&(start..start + bytes.len() as u64));
        let Some(sums) = self.sums.get_mut(blocks) else { return true };
        for (sum, block) in sums.iter_mut().zip(bytes.chunks(BLOCK as usize)) {
            if sum.is_some_and(|sum| sum != xxh3_64(block)) {
                return false;
            }
            *sum = None;
        }
        true
    }

    fn blocks(part: &Range<u64>) -> Range<usize> {
        let number = |block: u64| usize::try_from(block).unwrap_or(usize::MAX);
        number(part.start / BLOCK)..number(part.end.div_ceil(BLOCK))
    }
}

#[cfg(test)]
mod tests;
