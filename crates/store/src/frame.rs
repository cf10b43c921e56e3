//! Frames: how a journal's records lie in its file, each with what is needed to tell a whole one from a torn one.
//!
//! ```text
//! checksum     8 bytes: xxh3-64 of what follows, seeded with the frame's offset
//! length       4 bytes: of the record, 1 at least
//! batch        4 bytes: number of the batch, growing
//! distance     4 bytes: from the batch's first frame to this one
//! record
//! ```
//! All little-endian. The seed keeps what an earlier, failed write left elsewhere from being taken for a frame.

use crate::StoreError;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Bytes of a frame before its record.
pub(crate) const FRAME: usize = 20;

/// A frame whose checksum is right.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Frame {
    pub batch: u32,
    /// Offset of the batch's first frame.
    pub batch_start: usize,
    pub end: usize,
}

impl Frame {
    /// The frame at `position` of a file; `None` if there is no whole one.
    pub fn read(bytes: &[u8], position: usize) -> Option<Self> {
        let head = bytes.get(position..position.checked_add(FRAME)?)?;
        let number = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        let (length, batch, distance) =
            (usize::try_from(number(8)).ok()?, number(12), usize::try_from(number(16)).ok()?);
        let end = position.checked_add(FRAME)?.checked_add(length)?;
        if length == 0 || distance > position {
            return None;
        }
        let checked = bytes.get(position + 8..end)?;
        let checksum = xxh3_64_with_seed(checked, position as u64);
        (checksum.to_le_bytes() == head[..8]).then_some(Self { batch, batch_start: position - distance, end })
    }
}

/// Appends a frame to `bytes`, which hold the batch's frames so far and will be written at `base`.
pub(crate) fn write_frame(
    bytes: &mut Vec<u8>,
    base: u64,
    batch: u32,
    record: impl FnOnce(&mut Vec<u8>),
) -> Result<(), StoreError> {
    let start = bytes.len();
    let distance = u32::try_from(start).map_err(|_| StoreError::TooLarge)?;
    bytes.extend_from_slice(&[0; FRAME]);
    record(bytes);
    let length = u32::try_from(bytes.len() - start - FRAME).map_err(|_| StoreError::TooLarge)?;
    let frame = &mut bytes[start..];
    frame[8..12].copy_from_slice(&length.to_le_bytes());
    frame[12..16].copy_from_slice(&batch.to_le_bytes());
    frame[16..FRAME].copy_from_slice(&distance.to_le_bytes());
    let checksum = xxh3_64_with_seed(&frame[8..], base + start as u64);
    frame[..8].copy_from_slice(&checksum.to_le_bytes());
    Ok(())
}
