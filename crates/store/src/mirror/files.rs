//! Which files a mirror has, and which of them count.
//!
//! A journal is called `metadata-journal-<generation>`; its header names the pack it belongs to, `metadata-pack-<number>`.
//! The journal of the highest generation with a whole header is the mirror. A new one is made so:
//!
//! 1. its records are written behind the place of the header, and the pack if there is a new one;
//! 2. the header is written: from here on this journal counts;
//! 3. the files that do not belong to it are removed. Who has them open goes on reading them.

use crate::header::{HEADER, header};
use bytes::Bytes;
use gantry_platform::{Directory, FileError, FileErrorKind, RandomAccessFile};

const JOURNAL: &str = "metadata-journal-";
const PACK: &str = "metadata-pack-";

/// Version of both formats.
const VERSION: u32 = 1;

/// The header of a journal of this pack.
pub(super) fn journal_header(pack: u32) -> [u8; HEADER as usize] {
    header(b'M', VERSION, pack)
}

/// The header of a pack.
pub(super) fn pack_header(pack: u32) -> [u8; HEADER as usize] {
    header(b'D', VERSION, pack)
}

pub(super) fn journal_name(generation: u32) -> String {
    format!("{JOURNAL}{generation}")
}

pub(super) fn pack_name(pack: u32) -> String {
    format!("{PACK}{pack}")
}

/// The mirror's files in a directory.
#[derive(Debug, Default)]
pub(super) struct Listing {
    /// Generations of journals, the highest first.
    pub journals: Vec<u32>,
    pub packs: Vec<u32>,
}

/// A journal that counts.
#[derive(Debug)]
pub(super) struct Current<F> {
    pub generation: u32,
    pub pack: u32,
    pub journal: F,
    pub pack_file: F,
    /// What the journal holds, header included.
    pub bytes: Bytes,
}

impl Listing {
    /// What is there.
    pub async fn read<D: Directory>(directory: &D) -> Result<Self, FileError> {
        let names = directory.list().await?;
        let number = |name: &str, prefix: &str| name.strip_prefix(prefix)?.parse::<u32>().ok();
        let mut journals: Vec<u32> = names.iter().filter_map(|name| number(name, JOURNAL)).collect();
        journals.sort_unstable_by(|a, b| b.cmp(a));
        Ok(Self { journals, packs: names.iter().filter_map(|name| number(name, PACK)).collect() })
    }

    /// Opens the journal that counts.
    pub async fn current<D: Directory>(&self, directory: &D) -> Result<Option<Current<D::File>>, FileError> {
        for &generation in &self.journals {
            let journal = directory.open(&journal_name(generation)).await?;
            let bytes = read_all(&journal)?;
            let Some(pack) = pack_of(&bytes).filter(|pack| self.packs.contains(pack)) else { continue };
            let pack_file = directory.open(&pack_name(pack)).await?;
            let mut found = pack_header(pack);
            if pack_file.read_exact_at(0, &mut found).is_ok() && found == pack_header(pack) {
                return Ok(Some(Current { generation, pack, journal, pack_file, bytes }));
            }
        }
        Ok(None)
    }

    /// Removes what does not belong to this generation. What somebody has open, where that keeps files from being removed,
    /// is removed another time.
    pub async fn remove_others<D: Directory>(
        &self,
        directory: &D,
        generation: u32,
        pack: u32,
    ) -> Result<(), FileError> {
        let journals = self.journals.iter().filter(|&&other| other != generation).map(|&other| journal_name(other));
        let packs = self.packs.iter().filter(|&&other| other != pack).map(|&other| pack_name(other));
        for name in journals.chain(packs) {
            match directory.remove(&name).await {
                Err(error) if error.kind != FileErrorKind::Locked => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }

    /// A generation higher than all.
    pub fn next_generation(&self) -> u32 {
        self.journals.first().map_or(1, |highest| highest.saturating_add(1))
    }

    /// A pack number that is not taken.
    pub fn next_pack(&self) -> u32 {
        self.packs.iter().max().map_or(1, |highest| highest.saturating_add(1))
    }
}

/// The pack that a journal's header names.
fn pack_of(journal: &[u8]) -> Option<u32> {
    let pack = u32::from_le_bytes(*journal.get(12..)?.first_chunk()?);
    journal.starts_with(&journal_header(pack)).then_some(pack)
}

pub(super) fn read_all(file: &impl RandomAccessFile) -> Result<Bytes, FileError> {
    let mut bytes = vec![0; usize::try_from(file.len()?).unwrap_or(usize::MAX)];
    file.read_exact_at(0, &mut bytes)?;
    Ok(bytes.into())
}
