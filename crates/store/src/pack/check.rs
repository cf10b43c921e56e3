//! Comparing what is read of a pack with what was recorded of it.

use super::SegmentPlace;
use xxhash_rust::xxh3::Xxh3;

/// Bytes read at a time.
const READ_SIZE: u64 = 1 << 20;

/// The checksum of a segment that is read piece by piece.
pub struct SegmentCheck {
    place: SegmentPlace,
    hasher: Xxh3,
    read: u64,
}

impl SegmentCheck {
    /// Nothing is read yet.
    pub fn new(place: SegmentPlace) -> Self {
        Self { place, hasher: Xxh3::new(), read: 0 }
    }

    /// The next piece to read: its offset in the segment, and its size in bytes. `None` when all is read.
    pub fn wanted(&self) -> Option<(u64, u64)> {
        let size = READ_SIZE.min(self.place.length - self.read);
        (size > 0).then_some((self.read, size))
    }

    /// Takes the bytes of the piece that was wanted.
    pub fn update(&mut self, bytes: &[u8]) {
        self.hasher.update(bytes);
        self.read += bytes.len() as u64;
    }

    /// Whether all was read and is what was recorded.
    pub fn is_whole(&self) -> bool {
        self.read == self.place.length && self.hasher.digest() == self.place.checksum
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
