//! Which of an archive's files are left in the end.
//!
//! The last of several files with one path wins, with the mode of the first (npm opens the existing file again). Where a
//! file and a folder want one name, whichever came first stays and the later entry is dropped.

use crate::Entry;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::hash_map;

/// A file in the order of the archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found<'a> {
    pub entry: Entry<'a>,
    /// A contiguous file (type `7`) replaces an earlier file instead of writing into it, and so keeps its own mode.
    pub replaces: bool,
}

/// The files that stay, sorted by path.
pub(crate) fn settle(found: Vec<Found<'_>>) -> Vec<Entry<'_>> {
    let mut numbered: Vec<(usize, Found<'_>)> = found.into_iter().enumerate().collect();
    numbered.sort_unstable_by(|(_, left), (_, right)| left.entry.path.cmp(&right.entry.path));
    let paths: Vec<&str> = numbered.iter().map(|(_, found)| found.entry.path.as_str()).collect();
    if !clash(&paths) {
        return numbered.into_iter().map(|(_, found)| found.entry).collect();
    }
    numbered.sort_unstable_by_key(|(number, _)| *number);
    let mut kept = one_by_one(numbered.into_iter().map(|(_, found)| found).collect());
    kept.sort_unstable_by(|left, right| left.path.cmp(&right.path));
    kept
}

/// Whether two of the sorted paths are equal or one is a folder of another; hardly any archive has such.
fn clash(sorted: &[&str]) -> bool {
    let mut previous_folder = "";
    sorted.windows(2).any(|pair| pair[0] == pair[1])
        || sorted.iter().any(|path| {
            let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
            if folder == previous_folder {
                return false;
            }
            previous_folder = folder;
            ancestors(path).any(|folder| sorted.binary_search(&folder).is_ok())
        })
}

/// The folders that lead to `path`.
fn ancestors(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').map(|(end, _)| &path[..end])
}

/// Places the files as they come, as npm does.
#[cold]
fn one_by_one(found: Vec<Found<'_>>) -> Vec<Entry<'_>> {
    let mut places = Places::default();
    let mut kept: Vec<Entry<'_>> = Vec::with_capacity(found.len());
    for Found { entry, replaces } in found {
        match places.place(&entry.path, kept.len()) {
            Place::Dropped => {}
            Place::New => kept.push(entry),
            Place::Again(earlier) => {
                let earlier = &mut kept[*earlier];
                earlier.data = entry.data;
                if replaces {
                    earlier.executable = entry.executable;
                }
            }
        }
    }
    kept
}

/// Which paths are taken, and by what; `T` is what is kept of each file.
#[derive(Debug)]
pub(crate) struct Places<T> {
    files: FxHashMap<String, T>,
    folders: FxHashSet<String>,
    /// The folder of the file before, into which most files go as well.
    folder: String,
}

/// What becomes of a file.
#[derive(Debug)]
pub(crate) enum Place<'p, T> {
    /// A folder has its name, or a file that of one of its folders.
    Dropped,
    /// It is the first of its name.
    New,
    /// It takes the place of an earlier one.
    Again(&'p mut T),
}

impl<T> Default for Places<T> {
    fn default() -> Self {
        Self { files: FxHashMap::default(), folders: FxHashSet::default(), folder: String::new() }
    }
}

impl<T> Places<T> {
    /// Places a file; `kept` is kept of it if it is the first of its name.
    pub fn place(&mut self, path: &str, kept: T) -> Place<'_, T> {
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let is_known = folder == self.folder;
        if self.folders.contains(path) || (!is_known && ancestors(path).any(|folder| self.files.contains_key(folder))) {
            return Place::Dropped;
        }
        if !is_known {
            self.folders.extend(ancestors(path).map(str::to_owned));
            folder.clone_into(&mut self.folder);
        }
        match self.files.entry(path.to_owned()) {
            hash_map::Entry::Occupied(earlier) => Place::Again(earlier.into_mut()),
            hash_map::Entry::Vacant(free) => {
                free.insert(kept);
                Place::New
            }
        }
    }
}

#[cfg(test)]
mod tests;
