//! What the store's files are called and how they begin.
//!
//! Every file starts with 16 bytes: 8 of magic, the format's version, and the pack's number (0 for a journal), both 32-bit
//! little-endian.

use crate::StoreError;

/// Name of the journal.
pub(super) const JOURNAL: &str = "journal";

/// Bytes before the contents.
pub(super) const HEADER: u64 = 16;

const PACK_PREFIX: &str = "pack-";
const VERSION: u32 = 1;

/// The two kinds of files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileFormat {
    Journal,
    Pack(u32),
}

/// Name of a pack's file.
pub fn pack_name(pack: u32) -> String {
    format!("{PACK_PREFIX}{pack}")
}

/// The pack whose file is called `name`.
pub(super) fn pack_of(name: &str) -> Option<u32> {
    let pack = name.strip_prefix(PACK_PREFIX)?.parse().ok()?;
    (pack_name(pack) == name).then_some(pack)
}

impl FileFormat {
    /// The header.
    pub fn header(self) -> [u8; HEADER as usize] {
        let mut header = *b"GANTRY J\0\0\0\0\0\0\0\0";
        if let Self::Pack(pack) = self {
            header[7] = b'P';
            header[12..].copy_from_slice(&pack.to_le_bytes());
        }
        header[8..12].copy_from_slice(&VERSION.to_le_bytes());
        header
    }

    /// Refuses the header of any other file.
    pub fn check(self, found: &[u8]) -> Result<(), StoreError> {
        let expected = self.header();
        if found == expected {
            return Ok(());
        }
        let file = match self {
            Self::Journal => JOURNAL.to_owned(),
            Self::Pack(pack) => pack_name(pack),
        };
        Err(if found.get(..8) != Some(&expected[..8]) {
            StoreError::Format { file, problem: "it is a file of another kind" }
        } else if found.get(8..12) != Some(&expected[8..12]) {
            StoreError::Format { file, problem: "it has another version" }
        } else {
            StoreError::Corrupt { file, problem: "its header names another pack" }
        })
    }
}
