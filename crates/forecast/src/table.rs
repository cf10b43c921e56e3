//! The table's format, read in place.
//!
//! All numbers are little-endian. After eight bytes of [`MAGIC`] come the number of names `n`, of entries `e`, and of bytes in
//! all names, `u32` each; then the end of each name (`n` × `u32`), the first entry of each name and one more (`(n + 1)` ×
//! `u32`), the start of each record (`e` × `u32`), the names, sorted by their bytes, and the records.
//!
//! An entry is a line of versions of a package within which npm's carets stay, represented by its last one; a name's entries begin
//! with the one that is tagged `latest`, the others follow from high to low. A prerelease is in no line: where something depends on
//! one, it is an entry of its own behind the others, by its three numbers. A record has the three numbers of that version, twice
//! the number of its dependencies (one more if it has builds for one platform each) and which, how many peers and which, all as
//! variable-length numbers of seven bits a byte, the lowest first. A dependency is the number of an entry, or `e` and the number of
//! a name of which no more is known.

use thiserror::Error;

const MAGIC: &[u8; 8] = b"gantryF\x02";

/// Bytes that are no table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("these bytes are no forecast table of this version")]
pub struct FormatError;

/// A table of packages and what they depend on.
#[derive(Debug, Clone, Copy)]
pub struct Table<'t> {
    name_ends: &'t [u8],
    first_entries: &'t [u8],
    record_starts: &'t [u8],
    names: &'t [u8],
    records: &'t [u8],
}

/// What a dependency leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    Entry(u32),
    Name(u32),
}

/// What is known of a line of versions.
#[derive(Debug)]
pub(crate) struct Record<'t> {
    pub(crate) version: [u64; 3],
    /// Whether it has builds for one platform each, whose versions only its packument tells.
    pub(crate) has_builds: bool,
    /// How many dependencies follow.
    dependencies: u64,
    entries: u32,
    rest: Numbers<'t>,
}

impl<'t> Table<'t> {
    /// Reads a table where it is. Its inside is looked at when it is used: where that makes no sense it foretells less.
    ///
    /// # Errors
    /// Another format, or less than the beginning announces.
    pub fn new(bytes: &'t [u8]) -> Result<Self, FormatError> {
        let rest = bytes.strip_prefix(MAGIC).ok_or(FormatError)?;
        let (header, rest) = rest.split_at_checked(12).ok_or(FormatError)?;
        let number = |index| word(header, index).map(|number| number as usize).ok_or(FormatError);
        let (names, entries, name_bytes) = (number(0)?, number(1)?, number(2)?);
        let mut rest = rest;
        let mut part = |words: usize, size: usize| {
            let (part, others) = words.checked_mul(size).and_then(|length| rest.split_at_checked(length))?;
            rest = others;
            Some(part)
        };
        let name_ends = part(names, 4).ok_or(FormatError)?;
        let first_entries = part(names.checked_add(1).ok_or(FormatError)?, 4).ok_or(FormatError)?;
        let record_starts = part(entries, 4).ok_or(FormatError)?;
        let names = part(name_bytes, 1).ok_or(FormatError)?;
        Ok(Self { name_ends, first_entries, record_starts, names, records: rest })
    }

    pub(crate) fn len(&self) -> usize {
        self.name_ends.len() / 4
    }

    pub(crate) fn name(&self, number: u32) -> Option<&'t str> {
        let start = match number.checked_sub(1) {
            Some(previous) => word(self.name_ends, previous as usize)?,
            None => 0,
        };
        let end = word(self.name_ends, number as usize)?;
        std::str::from_utf8(self.names.get(start as usize..end as usize)?).ok()
    }

    /// The number of a name.
    pub(crate) fn find(&self, name: &str) -> Option<u32> {
        let (mut low, mut high) = (0, u32::try_from(self.len()).ok()?);
        while low < high {
            let middle = low + (high - low) / 2;
            match self.name(middle)?.cmp(name) {
                std::cmp::Ordering::Equal => return Some(middle),
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        None
    }

    /// The entries of a name, the one that is tagged `latest` first; none that the table does not have, whatever it says where it
    /// is damaged.
    pub(crate) fn entries(&self, name: u32) -> std::ops::Range<u32> {
        let bound = |index| word(self.first_entries, index).map_or(0, |entry| entry.min(self.count()));
        bound(name as usize)..bound(name as usize + 1)
    }

    /// The name that an entry is of.
    pub(crate) fn name_of(&self, entry: u32) -> Option<u32> {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low + (high - low) / 2;
            if word(self.first_entries, middle + 1)? <= entry { low = middle + 1 } else { high = middle }
        }
        u32::try_from(low).ok()
    }

    pub(crate) fn record(&self, entry: u32) -> Option<Record<'t>> {
        let start = word(self.record_starts, entry as usize)?;
        let mut rest = Numbers(self.records.get(start as usize..)?);
        let version = [rest.next()?, rest.next()?, rest.next()?];
        let count = rest.next()?;
        let (has_builds, dependencies) = (count & 1 > 0, count >> 1);
        Some(Record { version, has_builds, dependencies, entries: self.count(), rest })
    }

    /// How many entries there are; the beginning announces them in 32 bits.
    fn count(&self) -> u32 {
        u32::try_from(self.record_starts.len() / 4).unwrap_or(u32::MAX)
    }
}

impl Record<'_> {
    /// Its dependencies, then its peers. Each list ends early where the table is damaged.
    pub(crate) fn targets(mut self) -> [Vec<Target>; 2] {
        let dependencies = self.list(self.dependencies);
        let peers = self.rest.next().unwrap_or(0);
        [dependencies, self.list(peers)]
    }

    fn list(&mut self, count: u64) -> Vec<Target> {
        let mut targets = Vec::new();
        while (targets.len() as u64) < count
            && let Some(number) = self.rest.next().and_then(|number| u32::try_from(number).ok())
        {
            targets.push(match number.checked_sub(self.entries) {
                None => Target::Entry(number),
                Some(name) => Target::Name(name),
            });
        }
        targets
    }
}

/// Numbers of variable length.
#[derive(Debug)]
struct Numbers<'t>(&'t [u8]);

impl Iterator for Numbers<'_> {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..63).step_by(7) {
            let (&byte, rest) = self.0.split_first()?;
            self.0 = rest;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }
}

fn word(bytes: &[u8], index: usize) -> Option<u32> {
    let start = index.checked_mul(4)?;
    Some(u32::from_le_bytes(bytes.get(start..start.checked_add(4)?)?.try_into().ok()?))
}
