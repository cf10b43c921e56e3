//! Packages that somebody has changed through a project.
//!
//! Where a project's files are hard links, `chown -R` and `chmod -R` of its `node_modules` change the store's files as well, and
//! so all other projects, and who may write to these. The `index` of a package is in no project: its owner and its mode, which
//! are those of a file that may not be run, say what they were. Both commands go over whole trees, so one file tells of all, and
//! a look costs less than a hundredth of what linking a package does.

use super::publish;
use super::record::Record;
use super::removal::discard;
use super::unpack::Building;
use crate::NativeError;
use gantry_store::PackageIndex;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use xxhash_rust::xxh3::xxh3_64;

/// Reading and writing, for everybody.
const READ_AND_WRITE: u32 = 0o666;

/// One thread at a time mends; packages are at several paths.
static MENDING: Mutex<()> = Mutex::new(());

/// Whose a file is, and who may do what with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Standing {
    pub user: u32,
    mode: u32,
}

impl From<&Metadata> for Standing {
    fn from(data: &Metadata) -> Self {
        Self { user: data.uid(), mode: data.mode() }
    }
}

/// What of a file is not as in the store, judged by the package's `index`.
pub(super) fn alteration(file: Standing, index: Standing) -> Option<&'static str> {
    if file.user != index.user {
        Some("belongs to somebody else")
    } else if (file.mode ^ index.mode) & READ_AND_WRITE != 0 {
        Some("has another mode")
    } else {
        None
    }
}

/// What was done to a package's files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Change {
    /// Something about one has changed: its mode, its contents if their time was put back, or only who else has it.
    Touched,
    /// One was written to.
    Written,
}

/// The most that was done since then to files of the package in `directory`, if anything was.
pub(super) fn latest_change(directory: &Path, index: &PackageIndex, since: SystemTime) -> Option<Change> {
    let files = directory.join("files");
    let change = |path: &str| {
        let data = fs::symlink_metadata(files.join(path)).ok()?;
        if data.modified().is_ok_and(|time| time >= since) {
            return Some(Change::Written);
        }
        // `cp --preserve` and the like put back when a file was written to, but nobody can put this back.
        let touched = Duration::new(data.ctime().try_into().ok()?, data.ctime_nsec().try_into().ok()?);
        (UNIX_EPOCH + touched >= since).then_some(Change::Touched)
    };
    index.files.iter().filter_map(|file| change(&file.path)).max()
}

/// Has the package in `directory`, which is this user's, as it was stored; `kept` is its `index`. One whose contents are others, too, leaves the
/// store, which is [`NativeError::Corrupt`].
pub(crate) fn mend_if_altered(
    directory: &Path,
    index: &PackageIndex,
    kept: Standing,
    temporary: &Path,
) -> Result<(), NativeError> {
    if !is_altered(directory, index, kept) {
        return Ok(());
    }
    let _alone = MENDING.lock().unwrap_or_else(PoisonError::into_inner);
    if !is_altered(directory, index, kept) {
        return Ok(());
    }
    let renewed = renewed(directory, temporary)?;
    discard(directory, temporary)?;
    match renewed {
        Some(building) => publish(building.into_directory(), temporary, directory),
        None => Err(NativeError::Corrupt { path: directory.to_owned() }),
    }
}

fn is_altered(directory: &Path, index: &PackageIndex, kept: Standing) -> bool {
    let Some(first) = index.files.first() else { return false };
    let file = fs::symlink_metadata(directory.join("files").join(&first.path));
    file.is_ok_and(|file| alteration((&file).into(), kept).is_some())
}

/// The same package again, of files of this user; `None` if its contents are not what was stored.
fn renewed(directory: &Path, temporary: &Path) -> Result<Option<Building>, NativeError> {
    let path = directory.join("index");
    let bytes = fs::read(&path).map_err(NativeError::io("read", &path))?;
    let Ok(Record { index, sums: Some(sums) }) = Record::decode(&bytes) else { return Ok(None) };
    let mut building = Building::create(temporary)?;
    for (file, sum) in index.files.iter().zip(&sums) {
        let path = directory.join("files").join(&file.path);
        match fs::read(&path) {
            Ok(contents) if xxh3_64(&contents) == *sum => {
                building.write_file(&file.path, file.executable, &contents)?
            }
            Ok(_) => return Ok(None),
            // Nobody may read it any more; as little is known of it as of one that is another.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Ok(None),
            Err(error) => return Err(NativeError::io("read", &path)(error)),
        }
    }
    building.write_index(&index)?;
    Ok(Some(building))
}
