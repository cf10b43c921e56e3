//! Packs that cannot be appended to: their header is not theirs, or they end before what was recorded of them.
//!
//! Such a pack is found by its length when an install begins, or when a writer refuses it. No writer gets it again, what it still has can be read and is written to
//! another pack by the next prune, and packages that it lacks bytes of leave the store, so that the next install brings them.

use super::{JournalRecord, PackStore, PackWriter, format::HEADER};
use crate::StoreError;
use gantry_platform::{Directory, RandomAccessFile};

impl<D: Directory> PackStore<D> {
    /// Looks at a pack that a writer refused, open as `file`, and retires it if it is damaged; gives whether it is. Nobody
    /// may be writing to it.
    pub fn retire_if_damaged(&mut self, pack: u32, file: &D::File) -> Result<bool, StoreError> {
        let end = self.catalog.pack_ends().get(&pack).copied().unwrap_or(0);
        if end < HEADER {
            // Nothing is recorded of it: whatever is there is written over.
            return Ok(false);
        }
        match PackWriter::check(file, pack, end) {
            Ok(()) => return Ok(false),
            Err(StoreError::Corrupt { .. } | StoreError::Format { .. }) => {}
            Err(other) => return Err(other),
        }
        self.retire(pack, file.len()?)?;
        Ok(true)
    }

    /// The packs that are there, or that something is recorded of, and where each must not end before.
    pub fn pack_ends(&self) -> Vec<(u32, u64)> {
        let mut ends = self.catalog.pack_ends().clone();
        for pack in &self.found {
            ends.entry(*pack).or_default();
        }
        ends.into_iter().collect()
    }

    /// Retires a pack whose file has `length` bytes, if it ends before what is recorded of it; gives whether it does.
    pub fn retire_if_short(&mut self, pack: u32, length: u64) -> Result<bool, StoreError> {
        let is_short = self.catalog.pack_ends().get(&pack).is_some_and(|&end| length < end);
        if is_short {
            self.retire(pack, length)?;
        }
        Ok(is_short)
    }

    /// No writer gets it again, and what lies beyond its end leaves the store.
    fn retire(&mut self, pack: u32, length: u64) -> Result<(), StoreError> {
        let packages = self.catalog.packages().into_iter();
        let lost = packages
            .filter(|(_, package)| package.place.pack == pack && package.place.end().is_none_or(|end| end > length))
            .map(|(key, _)| JournalRecord::PackageRemoved { key: key.clone() })
            .collect();
        self.retired.insert(pack);
        self.commit(lost)
    }
}

#[cfg(test)]
mod tests;
