//! The journal written anew, packs left as they are: without its past, or without packages that were recorded in vain.

use super::{Journal, PackStore};
use crate::{PackageKey, StoreError};
use gantry_platform::Directory;
use rustc_hash::FxHashSet;
use std::collections::BTreeMap;

/// A journal this many times as long as what it says is written anew, if it is not short anyway.
pub(super) const PAST: u64 = 2;
/// A journal with so many bytes more than that is written anew although nobody asked for it: a project's lock is in it as
/// often as the project was changed.
const LONG_PAST: u64 = 4 << 20;

/// Where the recorded segments of packs ended.
#[derive(Debug, Clone, Default)]
pub struct PackEnds(BTreeMap<u32, u64>);

impl<D: Directory> PackStore<D> {
    /// Whether most of the journal is past, and that is much.
    pub fn has_long_past(&self) -> bool {
        let length = self.journal.length();
        length > LONG_PAST && length > PAST * self.said() + LONG_PAST
    }

    /// Writes the journal anew, without its past. On any failure the store is what it was.
    pub async fn forget_past(&mut self) -> Result<(), StoreError> {
        let journal = self.journal.rewritten(&self.directory, &self.catalog).await;
        self.replace_journal(journal).await?;
        self.catalog.detach();
        Ok(())
    }

    /// Where packs end now, for [`forget_packages`](Self::forget_packages).
    pub fn mark(&self) -> PackEnds {
        PackEnds(self.catalog.pack_ends().clone())
    }

    /// Forgets packages that were recorded since `mark` and that nobody has had: whoever appends next writes over them. On any
    /// failure the store is what it was.
    pub async fn forget_packages(&mut self, keys: &FxHashSet<PackageKey>, mark: &PackEnds) -> Result<(), StoreError> {
        let mut catalog = self.catalog.pruned(|key, place| (!keys.contains(key)).then_some(place));
        catalog.reserve_all(&mark.0);
        let journal = self.journal.rewritten(&self.directory, &catalog).await;
        self.replace_journal(journal).await?;
        self.catalog = catalog;
        self.catalog.detach();
        Ok(())
    }

    /// Bytes of the records that say what is stored.
    pub(super) fn said(&self) -> u64 {
        self.catalog.records().map(|record| record.size() as u64).sum()
    }

    /// Goes on with a journal of the next generation, if it could be written.
    async fn replace_journal(&mut self, journal: Result<Journal<D::File>, StoreError>) -> Result<(), StoreError> {
        match journal {
            Ok(journal) => {
                let past = std::mem::replace(&mut self.journal, journal);
                let name = past.name();
                drop(past);
                // What cannot be removed now goes when the store is opened.
                let _ = self.directory.remove(&name).await;
                Ok(())
            }
            Err(error) => {
                // Without its seal it would go when the store is opened.
                let _ = self.directory.remove(&self.journal.next_name()).await;
                Err(error)
            }
        }
    }
}

#[cfg(test)]
mod tests;
