//! What a journal records.

use crate::{
    PackageKey, StoreError,
    wire::{Reader, write_bytes, write_number, write_text},
};
use bytes::Bytes;

/// Kinds of records. 17 to 31 are kept for compaction.
const PACKAGE: u8 = 1;
const PACKAGE_REMOVED: u8 = 2;
const PROJECT: u8 = 3;
const PROJECT_REMOVED: u8 = 4;
/// Ends what a journal of a later generation starts with: without it that journal does not count.
const SEAL: u8 = 16;

/// Where a package's bytes are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SegmentPlace {
    /// Number of the pack.
    pub pack: u32,
    /// Offset in the pack.
    pub offset: u64,
    /// Bytes.
    pub length: u64,
    /// xxh3-64 of those bytes, or of the checksums that follow them ([`checksums`](Self::checksums)).
    pub checksum: u64,
}

/// One record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JournalRecord {
    /// A package is stored.
    Package {
        /// Its key.
        key: PackageKey,
        /// Where its bytes are.
        place: SegmentPlace,
        /// Its index, as [`PackageIndex::encode`](crate::PackageIndex::encode) gives it.
        index: Bytes,
    },
    /// A package is no longer stored.
    PackageRemoved {
        /// Its key.
        key: PackageKey,
    },
    /// A project is installed; replaces what was recorded under its name.
    Project {
        /// Its name.
        name: String,
        /// Its lock file.
        lock: Bytes,
        /// How it was installed, in a form the store does not look into.
        options: Bytes,
        /// A number that grows with every install of the project.
        sequence: u64,
    },
    /// A project is gone.
    ProjectRemoved {
        /// Its name.
        name: String,
    },
    /// All that a pruned store had is recorded before this.
    Seal,
}

impl JournalRecord {
    /// Appends the record's bytes, the first of which says what it is.
    pub(super) fn write(&self, bytes: &mut Vec<u8>) {
        match self {
            Self::Package { key, place, index } => {
                bytes.push(PACKAGE);
                write_text(bytes, key.as_str());
                write_number(bytes, place.pack.into());
                write_number(bytes, place.offset);
                write_number(bytes, place.length);
                bytes.extend_from_slice(&place.checksum.to_le_bytes());
                write_bytes(bytes, index);
            }
            Self::PackageRemoved { key } => {
                bytes.push(PACKAGE_REMOVED);
                write_text(bytes, key.as_str());
            }
            Self::Project { name, lock, options, sequence } => {
                bytes.push(PROJECT);
                write_text(bytes, name);
                write_number(bytes, *sequence);
                write_bytes(bytes, lock);
                write_bytes(bytes, options);
            }
            Self::ProjectRemoved { name } => {
                bytes.push(PROJECT_REMOVED);
                write_text(bytes, name);
            }
            Self::Seal => bytes.push(SEAL),
        }
    }

    /// About how many bytes it takes.
    pub(super) fn size(&self) -> usize {
        match self {
            Self::Package { index, .. } => index.len(),
            Self::Project { lock, options, .. } => lock.len() + options.len(),
            _ => 0,
        }
    }

    /// Reads what [`write`](Self::write) wrote. Long parts stay in `bytes`.
    pub(super) fn read(bytes: &Bytes) -> Result<Self, StoreError> {
        let mut reader = Reader::new(bytes);
        let kind = reader.byte().unwrap_or_default();
        if !(PACKAGE..=PROJECT_REMOVED).contains(&kind) && kind != SEAL {
            return Err(StoreError::Format {
                file: super::format::JOURNAL.into(),
                problem: "it has records of a newer version",
            });
        }
        Self::read_body(kind, &mut reader, bytes)
            .filter(|_| reader.is_at_end())
            .ok_or(StoreError::Corrupt { file: super::format::JOURNAL.into(), problem: "a record cannot be decoded" })
    }

    fn read_body(kind: u8, reader: &mut Reader<'_>, bytes: &Bytes) -> Option<Self> {
        Some(match kind {
            PACKAGE => Self::Package {
                key: PackageKey::parse(reader.text()?)?,
                place: SegmentPlace {
                    pack: u32::try_from(reader.number()?).ok()?,
                    offset: reader.number()?,
                    length: reader.number()?,
                    checksum: u64::from_le_bytes(reader.array()?),
                },
                index: bytes.slice_ref(reader.bytes()?),
            },
            PACKAGE_REMOVED => Self::PackageRemoved { key: PackageKey::parse(reader.text()?)? },
            PROJECT => Self::Project {
                name: reader.text()?.to_owned(),
                sequence: reader.number()?,
                lock: bytes.slice_ref(reader.bytes()?),
                options: bytes.slice_ref(reader.bytes()?),
            },
            SEAL => Self::Seal,
            _ => Self::ProjectRemoved { name: reader.text()?.to_owned() },
        })
    }
}

impl SegmentPlace {
    /// Where the segment ends; `None` for a place that no writer can have made.
    pub(super) fn end(&self) -> Option<u64> {
        self.offset.checked_add(self.stored_length())
    }
}
