//! What the files of the pack store are called and how they begin. The number in a header is the pack's (0 for the
//! journal).

pub(super) use crate::header::HEADER;
use crate::{StoreError, header::header};

/// Name of the journal.
pub(super) const JOURNAL: &str = "journal";

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
        match self {
            Self::Journal => header(b'J', VERSION, 0),
            Self::Pack(pack) => header(b'P', VERSION, pack),
        }
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
