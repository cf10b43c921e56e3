//! What the files of the pack store are called and how they begin. The number in a header is the pack's or the journal's
//! generation.

pub(super) use crate::header::HEADER;
use crate::{StoreError, header::header};

/// Name of a store's first journal, and what the names of all others start with.
pub(super) const JOURNAL: &str = "journal";

const PACK_PREFIX: &str = "pack-";
/// Since version 2 packages of more than one block have a checksum for each.
const VERSION: u32 = 2;

/// The two kinds of files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileFormat {
    /// With its generation: a store is pruned by writing its journal anew.
    Journal(u32),
    Pack(u32),
}

/// Name of the journal of a generation.
pub(super) fn journal_name(generation: u32) -> String {
    if generation == 0 { JOURNAL.to_owned() } else { format!("{JOURNAL}-{generation}") }
}

/// The generation of the journal whose file is called `name`.
pub(super) fn journal_of(name: &str) -> Option<u32> {
    let rest = name.strip_prefix(JOURNAL)?;
    let generation = if rest.is_empty() { 0 } else { rest.strip_prefix('-')?.parse().ok()? };
    (journal_name(generation) == name).then_some(generation)
}

/// Whether a file of that name is a journal, of whatever generation.
pub fn is_journal(name: &str) -> bool {
    journal_of(name).is_some()
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
            Self::Journal(generation) => header(b'J', VERSION, generation),
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
            Self::Journal(generation) => journal_name(generation),
            Self::Pack(pack) => pack_name(pack),
        };
        Err(if found.get(..8) != Some(&expected[..8]) {
            StoreError::Format { file, problem: "it is a file of another kind" }
        } else if found.get(8..12) != Some(&expected[8..12]) {
            StoreError::Format { file, problem: "it has another version" }
        } else {
            StoreError::Corrupt { file, problem: "its header is that of another file" }
        })
    }
}
