//! Putting a package's files into a project by the cheapest way that the two places allow.
//!
//! The ladder is clone of the whole directory (APFS), reflink, hard link, copy. It is tried once for each pair of store
//! and project with a real file, never per package, and what stopped a better way is kept to be shown: a fast path that
//! fails in silence is not one. Single files can be refused all the same: one that has as many links as its file system
//! allows, that belongs to somebody else, that is on another mount, or that alone was made without copy-on-write. Such a file is
//! copied, and told of.

use crate::NativeError;
use crate::descriptor::{close, folder_of, make_directories, open_directory};
use crate::own_files::{OwnFiles, Private};
use crate::temporary::{remove_any, unique_name};
use gantry_store::PackageIndex;
use rustix::fs::AtFlags;
use rustix::io::Errno;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};

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
    reason: Option<String>,
    /// Who installs.
    pub user: u32,
    /// What is not to share the store's files.
    pub own_files: OwnFiles,
    /// Whether packages were copied because somebody else has stored them.
    foreign: AtomicBool,
    /// Whether some were because the project changes them.
    patched: AtomicBool,
    /// Whether some were because their scripts are run.
    scripted: AtomicBool,
    refused: Mutex<Refused>,
}

/// Files that were copied because the method was refused for them.
#[derive(Debug, Default)]
struct Refused {
    files: u64,
    /// What the system said of the first.
    first: Option<io::Error>,
}

/// A directory of the store to try linking with, and a file in it.
#[derive(Debug)]
pub(crate) struct Sample {
    pub directory: PathBuf,
    pub file: String,
}

impl Sample {
    fn path(&self) -> PathBuf {
        self.directory.join(&self.file)
    }
}

impl Linker {
    fn new(method: LinkMethod, reason: Option<String>) -> Self {
        let user = rustix::process::geteuid().as_raw();
        Self {
            method,
            reason,
            user,
            own_files: OwnFiles::default(),
            foreign: AtomicBool::default(),
            patched: AtomicBool::default(),
            scripted: AtomicBool::default(),
            refused: Mutex::default(),
        }
    }

    /// Which packages are not to share the store's files, since theirs change.
    pub fn sparing(mut self, own_files: OwnFiles) -> Self {
        self.own_files = own_files;
        self
    }

    /// Tries the ladder from `best` down, with a file made in `temporary` of the store. Where nothing can be written to that,
    /// or no more, it is tried with what is kept there.
    pub fn probe(
        best: LinkMethod,
        temporary: &Path,
        kept: impl FnOnce() -> Option<Sample>,
        place: &Path,
    ) -> Result<Self, NativeError> {
        let sample = Sample { directory: temporary.join(unique_name("probe-")), file: "file".to_owned() };
        let made = fs::create_dir_all(&sample.directory)
            .and_then(|()| fs::write(sample.path(), b"probe"))
            .map_err(NativeError::io("write", &sample.path()));
        let result = match made {
            Ok(()) => Self::climb(best, &sample, place),
            Err(error) if error.is_denied() || error.is_of_full_disk() => Self::probe_with(best, kept(), place),
            Err(error) => Err(error),
        };
        let _ = fs::remove_dir_all(&sample.directory);
        result
    }

    /// Tries it with what the store keeps; if that is nothing, there is nothing to link, whatever the method.
    fn probe_with(best: LinkMethod, kept: Option<Sample>, place: &Path) -> Result<Self, NativeError> {
        match kept {
            Some(sample) => Self::climb(best, &sample, place),
            None => Ok(Self::new(LinkMethod::Copy, None)),
        }
    }

    fn climb(best: LinkMethod, sample: &Sample, place: &Path) -> Result<Self, NativeError> {
        let mut method = best;
        let mut reason = None;
        loop {
            let target = place.join(unique_name("probe-"));
            let tried = match method {
                LinkMethod::CloneDirectory => reflink_copy::reflink(&sample.directory, &target),
                LinkMethod::Reflink => reflink_copy::reflink(sample.path(), &target),
                LinkMethod::HardLink => fs::hard_link(sample.path(), &target),
                LinkMethod::Copy => copy(&sample.path(), &target, false),
            };
            let _ = if method == LinkMethod::CloneDirectory {
                fs::remove_dir_all(&target)
            } else {
                fs::remove_file(&target)
            };
            match (tried, method.next()) {
                (Ok(()), _) => return Ok(Self::new(method, reason)),
                (Err(error), Some(next)) => {
                    reason = Some(obstacle(method, &error));
                    method = next;
                }
                (Err(error), None) => return Err(NativeError::io("write to", place)(error)),
            }
        }
    }

    /// Why files got there by a lesser method than the best: all of them, or some.
    pub fn reason(&self) -> Option<String> {
        let refused = self.refused();
        let some = refused.first.as_ref().map(|error| {
            format!("{} files copied, for which {} was refused: {error}", refused.files, self.method.describe())
        });
        let told = |flag: &AtomicBool, reason: &str| flag.load(Ordering::Relaxed).then(|| reason.to_owned());
        let foreign = told(&self.foreign, "packages that another user has stored are copied");
        let patched = told(&self.patched, "packages that have a patch in patches/ are copied");
        let scripted = told(&self.scripted, "packages whose scripts are run are copied");
        let reasons: Vec<String> =
            [self.reason.clone(), some, foreign, patched, scripted].into_iter().flatten().collect();
        (!reasons.is_empty()).then(|| reasons.join("; "))
    }

    fn refused(&self) -> MutexGuard<'_, Refused> {
        self.refused.lock().expect("no thread panics while it holds this lock")
    }

    /// Puts the package whose files are in `source` at `target`, which must not exist while its parent must. Files at or
    /// below a path of `replaced` are left out, and what is to be `private` is copied. A file that `source` lacks is
    /// [`NativeError::Corrupt`].
    pub fn place(
        &self,
        source: &Path,
        index: &PackageIndex,
        target: &Path,
        replaced: &[String],
        private: Option<Private>,
    ) -> Result<(), NativeError> {
        if self.method == LinkMethod::CloneDirectory {
            reflink_copy::reflink(source, target).map_err(|error| failure("clone to", source, target, error))?;
            return replaced.iter().try_for_each(|path| remove_any(&target.join(path)));
        }
        let stays = |path: &str| {
            let gone = |place: &String| {
                path.strip_prefix(place.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            };
            !replaced.iter().any(gone)
        };
        fs::create_dir(target).map_err(NativeError::io("create", target))?;
        let from = open_directory(source).map_err(|error| match error {
            NativeError::Io { source: cause, .. } => failure("link", source, target, cause),
            other => other,
        })?;
        let to = open_directory(target)?;
        let method = self.method_for(private);
        let mut made = String::new();
        for record in index.files.iter().filter(|record| stays(&record.path)) {
            let parent = folder_of(&record.path, &made);
            if parent != made {
                make_directories(&to, parent, &made)
                    .map_err(|error| NativeError::io("create", &target.join(parent))(error))?;
                parent.clone_into(&mut made);
            }
            let paths = || (source.join(&record.path), target.join(&record.path));
            let placed = match method {
                LinkMethod::HardLink => {
                    let path = record.path.as_str();
                    rustix::fs::linkat(&from, path, &to, path, AtFlags::empty()).map_err(io::Error::from)
                }
                LinkMethod::Reflink => {
                    let (source, target) = paths();
                    reflink_copy::reflink(source, target)
                }
                LinkMethod::Copy | LinkMethod::CloneDirectory => {
                    let (source, target) = paths();
                    copy(&source, &target, record.executable)
                }
            };
            if let Err(error) = placed {
                let (source, target) = paths();
                self.settle(&source, &target, record.executable, error)
                    .map_err(|error| failure("link", &source, &target, error))?;
            }
        }
        Ok(())
    }

    /// What somebody else has stored is theirs to change, and must not become part of this user's project; the system refuses such
    /// links to all but root. What the project changes must not become part of others.
    fn method_for(&self, private: Option<Private>) -> LinkMethod {
        let Some(private) = private.filter(|_| self.method == LinkMethod::HardLink) else { return self.method };
        let told = match private {
            Private::Foreign => &self.foreign,
            Private::Patched => &self.patched,
            Private::Scripted => &self.scripted,
        };
        told.store(true, Ordering::Relaxed);
        LinkMethod::Copy
    }

    /// Does what is left to do for a file that could not be placed. Where something is in its place it stays: the folder was
    /// empty, so that is a file of the same package whose name is the same to this file system.
    fn settle(&self, source: &Path, target: &Path, executable: bool, error: io::Error) -> io::Result<()> {
        let copied = match error.kind() {
            io::ErrorKind::AlreadyExists => return Ok(()),
            _ => self.copy_instead(source, target, executable, error),
        };
        copied.or_else(|error| if error.kind() == io::ErrorKind::AlreadyExists { Ok(()) } else { Err(error) })
    }

    /// Copies a file where `error` says that the method does not do for it.
    fn copy_instead(&self, source: &Path, target: &Path, executable: bool, error: io::Error) -> io::Result<()> {
        const REFUSALS: [Errno; 6] =
            [Errno::MLINK, Errno::PERM, Errno::ACCESS, Errno::XDEV, Errno::INVAL, Errno::OPNOTSUPP];
        let is_refusal = REFUSALS.iter().any(|errno| error.raw_os_error() == Some(errno.raw_os_error()));
        if self.method == LinkMethod::Copy || !is_refusal {
            return Err(error);
        }
        copy(source, target, executable)?;
        let mut refused = self.refused();
        refused.files += 1;
        refused.first.get_or_insert(error);
        Ok(())
    }
}

/// Copies to a new file: what is there may be one of the store's. Its mode is what the package says and the process's umask
/// leaves: the store may be where there are no modes, and the project where none can be changed.
fn copy(source: &Path, target: &Path, executable: bool) -> io::Result<()> {
    let mut from = File::open(source)?;
    let mode = if executable { 0o777 } else { 0o666 };
    let mut to = OpenOptions::new().write(true).create_new(true).mode(mode).open(target)?;
    io::copy(&mut from, &mut to)?;
    close(to)
}

/// Why a method is passed over, for people: what many file systems lack is no fault.
fn obstacle(method: LinkMethod, error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::CrossesDevices => format!("no {} between two file systems", method.describe()),
        io::ErrorKind::Unsupported => format!("this file system has no {}", method.describe()),
        _ => format!("{} is not possible here: {error}", method.describe()),
    }
}

/// What a failure to put `source` at `target` means: a source that is gone is a damaged package.
fn failure(action: &'static str, source: &Path, target: &Path, error: io::Error) -> NativeError {
    if error.kind() == io::ErrorKind::NotFound && fs::symlink_metadata(source).is_err() {
        return NativeError::Corrupt { path: source.to_owned() };
    }
    NativeError::io(action, target)(error)
}

#[cfg(test)]
mod tests;
