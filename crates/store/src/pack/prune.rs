//! Giving back what nobody needs: packages without a project, what they leave in packs, and the journal's past.
//!
//! 1. Of each pack that is damaged or more than a quarter waste, what is still needed is copied into new packs, which are flushed.
//! 2. A journal of the next generation is written, which says where everything is now. With its seal on durable storage the
//!    store is pruned; a crash before that leaves the store as it was, beside files that the next writer takes for its own.
//! 3. The old journal and the old packs go. What a crash leaves of them goes when the store is opened, or is written over.

use super::{
    Journal, PackStore, PackWriter, SegmentPlace,
    format::{HEADER, pack_name},
    rewrite::PAST,
};
use crate::{PackageKey, StoreError};
use gantry_platform::{Directory, RandomAccessFile};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// One part in this many of a pack may be waste before it is written anew.
const WASTE: u64 = 4;

/// A shorter journal is not written anew for its past alone.
const SHORT_JOURNAL: u64 = 64 << 10;

/// What pruning came to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pruned {
    /// Packages that left the store.
    pub packages: u64,
    /// Bytes that packs and journal take less than before.
    pub freed_bytes: u64,
    /// Packages that were to be moved and found damaged: they are not stored any more.
    pub damaged: u64,
}

/// What is needed of one pack.
#[derive(Debug, Default)]
struct Needed {
    packages: Vec<(PackageKey, SegmentPlace)>,
    bytes: u64,
}

impl<D: Directory> PackStore<D> {
    /// Removes the packages that `is_needed` does not want, and all waste. Where there is no room to move what is needed out of
    /// a pack, only packs go of which nothing is needed. No pack may be open elsewhere. On any failure the store is what it was.
    pub async fn prune(&mut self, is_needed: impl Fn(&PackageKey) -> bool) -> Result<Pruned, StoreError> {
        self.close_packs();
        let mut needed: BTreeMap<u32, Needed> = self.found.iter().map(|&pack| (pack, Needed::default())).collect();
        let mut pruned = Pruned::default();
        for (key, package) in self.catalog.packages() {
            let place = package.place;
            if !is_needed(key) {
                pruned.packages += 1;
            } else if let Some(pack) = needed.get_mut(&place.pack) {
                pack.packages.push((key.clone(), place));
                pack.bytes = pack.bytes.saturating_add(place.stored_length());
            }
        }
        let mut before = self.journal.length();
        let mut old = Vec::new();
        for (&pack, Needed { bytes, .. }) in &needed {
            let length = self.directory.open(&pack_name(pack)).await?.len()?;
            before += length;
            let waste = length.saturating_sub(HEADER).saturating_sub(*bytes);
            if *bytes == 0 || waste > length / WASTE || self.retired.contains(&pack) {
                old.push(pack);
            }
        }
        let said = self.said();
        if pruned.packages == 0 && old.is_empty() && self.journal.length() <= PAST * said + SHORT_JOURNAL {
            return Ok(pruned);
        }
        let unneeded = |pack: &u32| needed.get(pack).is_none_or(|needed| needed.packages.is_empty());
        let empty: Vec<u32> = old.iter().copied().filter(unneeded).collect();
        let moving: Vec<(u32, Needed)> = old.iter().filter_map(|pack| Some((*pack, needed.remove(pack)?))).collect();
        let mut made = Vec::new();
        let written = match self.write_anew(&is_needed, moving, &mut made, &mut pruned).await {
            Err(StoreError::Full { source }) if pruned.packages > 0 || !empty.is_empty() => {
                self.undo(&mut made).await;
                pruned.damaged = 0;
                old = empty;
                let written = self.write_anew(&is_needed, Vec::new(), &mut made, &mut pruned).await;
                written.map_err(|_| StoreError::Full { source })
            }
            written => written,
        };
        let journal = match written {
            Ok(journal) => journal,
            Err(error) => {
                self.undo(&mut made).await;
                return Err(error);
            }
        };
        let past = std::mem::replace(&mut self.journal, journal);
        let name = past.name();
        drop(past);
        // It is done; what cannot be removed now is nobody's.
        let _ = self.directory.remove(&name).await;
        for pack in old {
            if self.directory.remove(&pack_name(pack)).await.is_ok() {
                self.found.remove(&pack);
                self.retired.remove(&pack);
            }
        }
        self.found.extend(made);
        let mut after = self.journal.length();
        for &pack in &self.found {
            after += self.directory.open(&pack_name(pack)).await?.len()?;
        }
        pruned.freed_bytes = before.saturating_sub(after);
        Ok(pruned)
    }

    /// Removes what was written for a journal that did not come about.
    async fn undo(&self, made: &mut Vec<u32>) {
        // The journal first: should it have got its seal, it needs the packs.
        if self.directory.remove(&self.journal.next_name()).await.is_ok() {
            for pack in made.drain(..) {
                let _ = self.directory.remove(&pack_name(pack)).await;
            }
        }
    }

    /// Copies what is to be moved and writes the journal that says so.
    async fn write_anew(
        &mut self,
        is_needed: &impl Fn(&PackageKey) -> bool,
        moving: Vec<(u32, Needed)>,
        made: &mut Vec<u32>,
        pruned: &mut Pruned,
    ) -> Result<Journal<D::File>, StoreError> {
        let mut moved: FxHashMap<PackageKey, Option<SegmentPlace>> = FxHashMap::default();
        let mut writer: Option<PackWriter<D::File>> = None;
        let full_pack = self.full_pack;
        for (pack, Needed { mut packages, .. }) in moving {
            packages.sort_unstable_by_key(|(_, place)| place.offset);
            let source = self.directory.open(&pack_name(pack)).await?;
            for (key, place) in packages {
                if let Some(full) = writer.take_if(|writer| writer.end() >= full_pack) {
                    full.flush()?;
                }
                let target = match &mut writer {
                    Some(target) => target,
                    empty => {
                        let last = self.found.iter().chain(made.iter()).max().copied();
                        let number = last.map_or(Some(0), |last| last.checked_add(1)).ok_or(StoreError::TooLarge)?;
                        let file = self.directory.open(&pack_name(number)).await?;
                        made.push(number);
                        empty.insert(PackWriter::open(file, number, 0)?)
                    }
                };
                let copied = target.copy(&source, place)?;
                pruned.damaged += u64::from(copied.is_none());
                moved.insert(key, copied);
            }
        }
        if let Some(writer) = writer {
            writer.flush()?;
        }
        let place_of = |key: &PackageKey, place| {
            let moved = moved.get(key).copied();
            moved.unwrap_or_else(|| is_needed(key).then_some(place))
        };
        let catalog = self.catalog.pruned(place_of);
        let journal = self.journal.rewritten(&self.directory, &catalog).await?;
        self.catalog = catalog;
        self.catalog.detach();
        Ok(journal)
    }
}

#[cfg(test)]
mod tests;
