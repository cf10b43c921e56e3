//! Which of an archive's files are left in the end.
//!
//! The last of several files with one path wins, with the mode of the first (npm opens the existing file again). Where a
//! file and a folder want one name, whichever came first stays and the later entry is dropped.

use crate::Entry;
use rustc_hash::{FxHashMap, FxHashSet};

/// A file in the order of the archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found<'a> {
    pub entry: Entry<'a>,
    /// A contiguous file (type `7`) replaces an earlier file instead of writing into it, and so keeps its own mode.
    pub replaces: bool,
}

/// The files that stay, sorted by path.
pub(crate) fn settle(found: Vec<Found<'_>>) -> Vec<Entry<'_>> {
    let mut order: Vec<usize> = (0..found.len()).collect();
    order.sort_by(|&left, &right| found[left].entry.path.cmp(&found[right].entry.path));
    let paths: Vec<&str> = order.iter().map(|&position| found[position].entry.path.as_str()).collect();
    let mut kept: Vec<Entry<'_>> =
        if clash(&paths) { one_by_one(found) } else { found.into_iter().map(|found| found.entry).collect() };
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
fn one_by_one(found: Vec<Found<'_>>) -> Vec<Entry<'_>> {
    let mut files: FxHashMap<String, usize> = FxHashMap::default();
    let mut folders: FxHashSet<String> = FxHashSet::default();
    let mut kept: Vec<Entry<'_>> = Vec::with_capacity(found.len());
    for Found { entry, replaces } in found {
        if folders.contains(&entry.path) || ancestors(&entry.path).any(|folder| files.contains_key(folder)) {
            continue;
        }
        if let Some(&earlier) = files.get(&entry.path) {
            let earlier = &mut kept[earlier];
            earlier.data = entry.data;
            if replaces {
                earlier.executable = entry.executable;
            }
            continue;
        }
        folders.extend(ancestors(&entry.path).map(str::to_owned));
        files.insert(entry.path.clone(), kept.len());
        kept.push(entry);
    }
    kept
}

#[cfg(test)]
mod tests;
