//! Packages whose files scripts may change for everybody.
//!
//! While scripts run in a project whose files are links to the store's, they may write into these. Who has run them looks for that
//! [afterwards](changed_since), and a note in the store says that this is still to be done: since when, and of which packages. The
//! note is locked as long as the process lives that has made it, or one of the scripts' that have outlived that; who then finds
//! it looks in its stead, before anything is taken from the store.

use super::altered::{Change, latest_change};
use super::removal::discard;
use super::upkeep::{Condition, check, label_of};
use super::{Layout, is_stale, listed};
use crate::NativeError;
use crate::temporary::unique_name;
use gantry_store::{PackageIndex, PackageKey};
use rustix::fs::{FlockOperation, flock};
use rustix::io::{Errno, FdFlags, fcntl_setfd};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Where the notes are in the store.
const NOTES: &str = "lent";

/// A store that projects have files of.
pub(crate) trait SharedStore {
    /// Where things are in it.
    fn layout(&self) -> &Layout;
    /// A package's files; `None` if it is not there.
    fn listed_files(&self, key: &PackageKey) -> Option<Arc<PackageIndex>>;

    /// Whether a package is not what was unpacked any more, of what was changed after `since`. Costs one `lstat` a file, and reads a
    /// package of which anything was changed: that may be no more than who has links to its files.
    fn has_changed(&self, key: &PackageKey, since: SystemTime) -> Result<bool, NativeError> {
        self.listed_files(key).map_or(Ok(false), |index| changed_since(self.layout(), key, &index, since))
    }

    /// Takes a package that is in place in a project out of the store.
    fn take_out(&self, key: &PackageKey) -> Result<(), NativeError> {
        discard(&self.layout().directory(key), &self.layout().temporary)
    }

    /// Notes that scripts may change these packages from then on. A store that nobody may write to, or whose disk is full, goes without
    /// that.
    fn lend<'k>(&self, keys: impl Iterator<Item = &'k PackageKey>, since: SystemTime) -> Option<Loan> {
        Loan::note(self.layout(), keys, since).ok()
    }
}

/// A note of packages that scripts may change. If it is only dropped, another process will look at them.
#[derive(Debug)]
pub(crate) struct Loan {
    note: PathBuf,
    _locked: File,
}

impl Loan {
    fn note<'k>(layout: &Layout, keys: impl Iterator<Item = &'k PackageKey>, since: SystemTime) -> io::Result<Self> {
        let notes = layout.root.join(NOTES);
        fs::create_dir_all(&notes)?;
        fs::create_dir_all(&layout.temporary)?;
        let name = unique_name("");
        let (temporary, note) = (layout.temporary.join(format!("lent-{name}")), notes.join(name));
        let mut text = since.duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos().to_string();
        for key in keys {
            text.push('\n');
            text.push_str(key.as_str());
        }
        let written = || {
            let mut file = File::create(&temporary)?;
            // Where there are no locks its age has to do.
            let _ = flock(&file, FlockOperation::LockExclusive);
            // Scripts have it, too, and may live longer.
            fcntl_setfd(&file, FdFlags::empty())?;
            file.write_all(text.as_bytes())?;
            fs::rename(&temporary, &note)?;
            Ok(file)
        };
        match written() {
            Ok(file) => Ok(Self { note, _locked: file }),
            Err(error) => {
                let _ = fs::remove_file(&temporary);
                Err(error)
            }
        }
    }

    /// All has been looked at.
    pub fn end(self) {
        let _ = fs::remove_file(&self.note);
    }
}

/// Looks for what scripts have changed whose installs have died meanwhile, and takes it out of the store. Gives the packages' labels. What
/// cannot be looked at stays noted.
pub(super) fn settle(layout: &Layout) -> Vec<String> {
    let mut labels = Vec::new();
    for entry in listed(&layout.root.join(NOTES)).unwrap_or_default() {
        let path = entry.path();
        // On file systems of networks only who may write takes a lock alone.
        let writable = File::options().read(true).write(true).open(&path);
        let Ok(file) = writable.or_else(|_| File::open(&path)) else { continue };
        if is_somebodys(&file, &path) {
            continue;
        }
        let Some((since, keys)) = fs::read_to_string(&path).ok().as_deref().and_then(read) else {
            let _ = fs::remove_file(&path);
            continue;
        };
        let taken = keys.iter().try_for_each(|key| {
            let Some(index) = layout.read_index(key) else { return Ok(()) };
            if changed_since(layout, key, &index, since)? {
                discard(&layout.directory(key), &layout.temporary)?;
                labels.push(label_of(key, &index));
            }
            Ok::<(), NativeError>(())
        });
        if taken.is_ok() {
            let _ = fs::remove_file(&path);
        }
    }
    labels.sort_unstable();
    labels.dedup();
    labels
}

/// Whether whoever has made a note, or a script of theirs, still runs.
fn is_somebodys(note: &File, path: &Path) -> bool {
    match flock(note, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => false,
        Err(Errno::WOULDBLOCK) => true,
        Err(_) => !is_stale(path),
    }
}

/// What a note says.
fn read(text: &str) -> Option<(SystemTime, Vec<PackageKey>)> {
    let mut lines = text.lines();
    let since = lines.next()?.parse().ok().map(Duration::from_nanos)?;
    Some((UNIX_EPOCH.checked_add(since)?, lines.filter_map(PackageKey::parse).collect()))
}

fn changed_since(
    layout: &Layout,
    key: &PackageKey,
    index: &PackageIndex,
    since: SystemTime,
) -> Result<bool, NativeError> {
    match latest_change(&layout.directory(key), index, since) {
        None => Ok(false),
        Some(change) => Ok(match check(layout, key)? {
            Condition::Whole => false,
            Condition::WithoutSums => change == Change::Written,
            Condition::Damaged { .. } => true,
        }),
    }
}
