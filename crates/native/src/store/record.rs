//! The file `index` of a package: its file list, and what each file hashes to.
//!
//! ```text
//! 0            1 byte, which no file list begins with
//! inode        8 bytes, little endian: the number of this file in its file system
//! count        4 bytes, little endian
//! sums         8 bytes for each file in the order of the list, little endian: XXH3 of its contents
//! file list    as the store has it everywhere
//! ```
//! The sums tell whether a file is still what was unpacked, which the tarball's own hash cannot once the tarball is gone. They
//! are compared when somebody asks for that, not at each install. The inode tells whether the package is where it was unpacked,
//! or a copy of that, as caches and images are. Stores of before there were sums have the list alone.

use gantry_store::{PackageIndex, StoreError};
use std::fs::OpenOptions;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

const MARK: u8 = 0;
const INODE: usize = 8;
const HEADER: usize = 1 + INODE + 4;
const SUM: usize = 8;

/// What the store knows of a package.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Record {
    pub index: PackageIndex,
    /// One for each file; `None` in a store of before there were any.
    pub sums: Option<Vec<u64>>,
}

impl Record {
    /// `inode` is that of the file that it goes into.
    pub fn encode(index: &PackageIndex, sums: &[u64], inode: u64) -> Vec<u8> {
        let list = index.encode();
        let mut bytes = Vec::with_capacity(HEADER + SUM * sums.len() + list.len());
        bytes.push(MARK);
        bytes.extend(inode.to_le_bytes());
        // A package has no more files than its limits allow, which are far below.
        bytes.extend(u32::try_from(sums.len()).unwrap_or(u32::MAX).to_le_bytes());
        bytes.extend(sums.iter().flat_map(|sum| sum.to_le_bytes()));
        bytes.extend(list);
        bytes
    }

    pub fn decode(bytes: &[u8]) -> Result<Self, StoreError> {
        let Parts { sums, list } = Parts::of(bytes)?;
        let index = PackageIndex::decode(list)?;
        let sums = sums.map(|sums| sums.as_chunks::<SUM>().0.iter().map(|sum| u64::from_le_bytes(*sum)).collect());
        if sums.as_ref().is_some_and(|sums: &Vec<u64>| sums.len() != index.files.len()) {
            return Err(corrupt("it has another number of sums than of files"));
        }
        Ok(Self { index, sums })
    }

    /// Whether `bytes`, read from a file with this number, were written into another one.
    pub fn is_copy(bytes: &[u8], inode: u64) -> bool {
        bytes.first() == Some(&MARK) && bytes.get(1..=INODE).is_some_and(|written| written != inode.to_le_bytes())
    }

    /// Makes a copy at home in its file, where that can be written to.
    pub fn settle(path: &Path, inode: u64) -> io::Result<()> {
        OpenOptions::new().write(true).open(path)?.write_all_at(&inode.to_le_bytes(), 1)
    }

    /// The file list alone, which is all that an install asks for.
    pub fn decode_index(bytes: &[u8]) -> Result<PackageIndex, StoreError> {
        PackageIndex::decode(Parts::of(bytes)?.list)
    }
}

/// A record, not decoded.
struct Parts<'a> {
    sums: Option<&'a [u8]>,
    list: &'a [u8],
}

impl<'a> Parts<'a> {
    fn of(bytes: &'a [u8]) -> Result<Self, StoreError> {
        if bytes.first() != Some(&MARK) {
            return Ok(Self { sums: None, list: bytes });
        }
        let short = || corrupt("it is too short");
        let (header, rest) = bytes.split_at_checked(HEADER).ok_or_else(short)?;
        let count = header[1 + INODE..].iter().rev().fold(0_usize, |count, byte| count << 8 | usize::from(*byte));
        let parts = count.checked_mul(SUM).and_then(|length| rest.split_at_checked(length));
        parts.map(|(sums, list)| Self { sums: Some(sums), list }).ok_or_else(short)
    }
}

fn corrupt(problem: &'static str) -> StoreError {
    StoreError::Corrupt { file: "package index".into(), problem }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gantry_store::FileRecord;

    fn index() -> PackageIndex {
        let file = |path: &str, offset, size| FileRecord { path: path.to_owned(), offset, size, executable: false };
        PackageIndex { files: vec![file("a.js", 0, 3), file("b/c.js", 3, 1)], ..PackageIndex::default() }
    }

    #[test]
    fn what_is_written_is_read() {
        let bytes = Record::encode(&index(), &[7, u64::MAX], 11);
        assert!(!Record::is_copy(&bytes, 11) && Record::is_copy(&bytes, 12));
        assert_eq!(Record::decode(&bytes).unwrap(), Record { index: index(), sums: Some(vec![7, u64::MAX]) });
        assert_eq!(Record::decode_index(&bytes).unwrap(), index());
    }

    #[test]
    fn a_list_of_before_there_were_sums_is_read_too() {
        let bytes = index().encode();
        assert!(!Record::is_copy(&bytes, 11), "nothing tells");
        assert_eq!(Record::decode(&bytes).unwrap(), Record { index: index(), sums: None });
        assert_eq!(Record::decode_index(&bytes).unwrap(), index());
    }

    #[test]
    fn what_was_cut_or_does_not_fit_is_refused() {
        let bytes = Record::encode(&index(), &[7, 8], 1 << 40);
        for end in 0..bytes.len() {
            assert!(Record::decode(&bytes[..end]).is_err(), "{end}");
            assert!(Record::decode_index(&bytes[..end]).is_err(), "{end}");
        }
        assert!(Record::decode(&Record::encode(&index(), &[7], 1)).is_err());
        assert!(Record::decode(&[0, 1, 1, 1, 1, 1, 1, 1, 1, 255, 255, 255, 255, 1]).is_err());
    }
}
