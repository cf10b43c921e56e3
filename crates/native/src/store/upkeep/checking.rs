//! Whether packages in the store still are what was unpacked.
//!
//! Files in `node_modules` may be the store's own by another name, so that a program that writes into one in place changes it
//! for every project. Nothing but reading all of it tells.

use super::super::altered::alteration;
use super::super::record::Record;
use super::super::{Layout, listed, read_with_metadata};
use crate::NativeError;
use crate::threads::together;
use gantry_store::{FileRecord, PackageKey};
use std::fs::{self, Metadata};
use std::io;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use xxhash_rust::xxh3::xxh3_64;

/// What became of a package.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::store) enum Condition {
    /// What was unpacked.
    Whole,
    /// All files are there in their sizes. What they hashed to was not written down.
    WithoutSums,
    /// Something is not as it was.
    Damaged { problem: String },
}

/// Looks at packages on all cores; the answers are in the order of `keys`.
pub(super) fn check_all(layout: &Layout, keys: &[PackageKey]) -> Result<Vec<Condition>, NativeError> {
    let next = AtomicUsize::new(0);
    let found = Mutex::new(Vec::with_capacity(keys.len()));
    together(keys.len(), || {
        while let Some((number, key)) =
            Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|at| Some((at, keys.get(at)?)))
        {
            let condition = check(layout, key);
            found.lock().expect("no thread panics while it holds this lock").push((number, condition));
        }
    });
    let mut found = found.into_inner().expect("no thread panics while it holds this lock");
    found.sort_by_key(|(number, _)| *number);
    found.into_iter().map(|(_, condition)| condition).collect()
}

/// Looks at one package.
pub(in crate::store) fn check(layout: &Layout, key: &PackageKey) -> Result<Condition, NativeError> {
    let directory = layout.directory(key);
    let damaged = |problem: String| Ok(Condition::Damaged { problem });
    let path = directory.join("index");
    let (bytes, kept) = match read_with_metadata(&path) {
        Ok(read) => read,
        Err(error) if is_none(&error) => return damaged("it has no list of its files".to_owned()),
        Err(error) => return Err(NativeError::io("read", &path)(error)),
    };
    let record = match Record::decode(&bytes) {
        Ok(record) => record,
        Err(error) => return damaged(error.to_string()),
    };
    let files = directory.join("files");
    for (number, file) in record.index.files.iter().enumerate() {
        let sum = record.sums.as_ref().map(|sums| sums[number]);
        if let Some(problem) = check_file(layout, &files.join(&file.path), &kept, file, sum)? {
            return damaged(format!("{} {problem}", file.path));
        }
    }
    if count_files(&files)? != record.index.files.len() {
        return damaged("it has files that the package has not".to_owned());
    }
    Ok(if record.sums.is_some() { Condition::Whole } else { Condition::WithoutSums })
}

/// Whether a file could not be read because there is none: nothing, or something else in its place or on the way there.
fn is_none(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory | io::ErrorKind::IsADirectory)
}

/// What is wrong with a file; `kept` is its package's `index`.
fn check_file(
    layout: &Layout,
    path: &Path,
    kept: &Metadata,
    file: &FileRecord,
    sum: Option<u64>,
) -> Result<Option<&'static str>, NativeError> {
    let failed = || NativeError::io("read", path);
    let data = match fs::symlink_metadata(path) {
        Err(error) if is_none(&error) => return Ok(Some("is missing")),
        data => data.map_err(failed())?,
    };
    let alteration = || alteration((&data).into(), kept.into());
    if let Some(problem) = layout.difference(&data, file).or_else(alteration) {
        return Ok(Some(problem));
    }
    let is_other = match sum {
        Some(sum) => xxh3_64(&fs::read(path).map_err(failed())?) != sum,
        None => false,
    };
    Ok(is_other.then_some("has other contents"))
}

/// How many files are in a folder and below.
fn count_files(folder: &Path) -> Result<usize, NativeError> {
    let mut count = 0;
    for entry in listed(folder)? {
        let is_folder = entry.file_type().map_err(NativeError::io("read", &entry.path()))?.is_dir();
        count += if is_folder { count_files(&entry.path())? } else { 1 };
    }
    Ok(count)
}
