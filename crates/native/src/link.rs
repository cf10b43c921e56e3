//! Putting a package's files into a project by the cheapest way that the two places allow.
//!
//! The ladder is clone of the whole directory (APFS), reflink, hard link, copy. It is tried once for each pair of store
//! and project with a real file, never per package, and what stopped a better way is kept to be shown: a fast path that
//! fails in silence is not one. A file that has as many hard links as its file system allows is copied; that is the one
//! exception made per file.

use crate::NativeError;
use crate::descriptor::{make_directories, open_directory};
use crate::temporary::{remove_any, unique_name};
use gantry_store::PackageIndex;
use rustix::fs::AtFlags;
use rustix::io::Errno;
use std::fs;
use std::io;
use std::path::Path;

/// How files get from the store into a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkMethod {
    /// One `clonefile` for the whole package (APFS).
    CloneDirectory,
    /// A copy that shares its blocks until it is written to (btrfs, XFS, APFS).
    Reflink,
    /// The same file under a second name.
    HardLink,
    /// The bytes again.
    Copy,
}

impl LinkMethod {
    /// What to try first on this platform.
    pub const BEST: Self = if cfg!(target_os = "macos") { Self::CloneDirectory } else { Self::Reflink };

    /// The next lesser way.
    pub fn next(self) -> Option<Self> {
        match self {
            Self::CloneDirectory => Some(Self::Reflink),
            Self::Reflink => Some(Self::HardLink),
            Self::HardLink => Some(Self::Copy),
            Self::Copy => None,
        }
    }

    /// For people.
    pub fn describe(self) -> &'static str {
        match self {
            Self::CloneDirectory => "clone",
            Self::Reflink => "reflink",
            Self::HardLink => "hard link",
            Self::Copy => "copy",
        }
    }
}

/// Links packages by the best way between one store and one project.
#[derive(Debug)]
pub(crate) struct Linker {
    pub method: LinkMethod,
    /// Why not a better one.
    pub reason: Option<String>,
}

impl Linker {
    /// Tries the ladder between two existing directories, from `best` down.
    pub fn probe(best: LinkMethod, store: &Path, project: &Path) -> Result<Self, NativeError> {
        let source = store.join(unique_name("probe-"));
        fs::create_dir_all(&source).map_err(NativeError::io("create", &source))?;
        let file = source.join("file");
        let result = fs::write(&file, b"probe")
            .map_err(NativeError::io("write", &file))
            .and_then(|()| Self::climb(best, &source, project));
        let _ = fs::remove_dir_all(&source);
        result
    }

    fn climb(best: LinkMethod, source: &Path, project: &Path) -> Result<Self, NativeError> {
        let mut method = best;
        let mut reason = None;
        loop {
            let target = project.join(unique_name(".gantry-probe-"));
            let tried = match method {
                LinkMethod::CloneDirectory => reflink_copy::reflink(source, &target),
                LinkMethod::Reflink => reflink_copy::reflink(source.join("file"), &target),
                LinkMethod::HardLink => fs::hard_link(source.join("file"), &target),
                LinkMethod::Copy => fs::copy(source.join("file"), &target).map(drop),
            };
            let _ = if method == LinkMethod::CloneDirectory {
                fs::remove_dir_all(&target)
            } else {
                fs::remove_file(&target)
            };
            match (tried, method.next()) {
                (Ok(()), _) => return Ok(Self { method, reason }),
                (Err(error), Some(next)) => {
                    reason = Some(format!("{} is not possible here: {error}", method.describe()));
                    method = next;
                }
                (Err(error), None) => return Err(NativeError::io("write to", project)(error)),
            }
        }
    }

    /// Puts the package whose files are in `source` at `target`, which must not exist while its parent must. Files at or
    /// below a path of `replaced` are left out.
    pub fn place(
        &self,
        source: &Path,
        index: &PackageIndex,
        target: &Path,
        replaced: &[String],
    ) -> Result<(), NativeError> {
        if self.method == LinkMethod::CloneDirectory {
            reflink_copy::reflink(source, target).map_err(NativeError::io("clone to", target))?;
            return replaced.iter().try_for_each(|path| remove_any(&target.join(path)));
        }
        let stays = |path: &str| {
            let gone = |place: &String| {
                path.strip_prefix(place.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            };
            !replaced.iter().any(gone)
        };
        fs::create_dir(target).map_err(NativeError::io("create", target))?;
        let (from, to) = (open_directory(source)?, open_directory(target)?);
        let mut made = String::new();
        for record in index.files.iter().filter(|record| stays(&record.path)) {
            let parent = record.path.rsplit_once('/').map_or("", |(parent, _)| parent);
            if parent != made {
                make_directories(&to, parent, &made)
                    .map_err(|error| NativeError::io("create", &target.join(parent))(error))?;
                parent.clone_into(&mut made);
            }
            let placed = match self.method {
                LinkMethod::HardLink => {
                    match rustix::fs::linkat(&from, record.path.as_str(), &to, record.path.as_str(), AtFlags::empty()) {
                        Err(Errno::MLINK) => fs::copy(source.join(&record.path), target.join(&record.path)).map(drop),
                        other => other.map_err(io::Error::from),
                    }
                }
                LinkMethod::Reflink => reflink_copy::reflink(source.join(&record.path), target.join(&record.path)),
                LinkMethod::Copy | LinkMethod::CloneDirectory => {
                    fs::copy(source.join(&record.path), target.join(&record.path)).map(drop)
                }
            };
            placed.map_err(|error| NativeError::io("link", &target.join(&record.path))(error))?;
        }
        Ok(())
    }
}
