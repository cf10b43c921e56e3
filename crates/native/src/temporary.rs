//! Temporary names, and guards that remove what was not published.

use crate::NativeError;
use crate::descriptor::{close, write_file};
use rustix::fs::Access;
use rustix::io::Errno;
use std::fs::{self, File, Metadata};
use std::io::{self, Seek, SeekFrom, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How the name of everything temporary in a project begins. Folders of the user's may begin so too: [`temporary_stem`] tells
/// names that were made here from others.
pub(crate) const PREFIX: &str = ".gantry-";

/// Hexadecimal digits of the time in a name, which are as many until the year 2554.
const TIME_DIGITS: usize = 16;

/// Links after links followed at most, as by Linux.
const MOST_LINKS: usize = 40;

static COUNTER: AtomicU64 = AtomicU64::new(0);

/// A name that no other process or thread uses.
pub(crate) fn unique_name(prefix: &str) -> String {
    let nanoseconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos());
    let count = COUNTER.fetch_add(1, Ordering::Relaxed);
    format!("{prefix}{:x}-{nanoseconds:0TIME_DIGITS$x}-{count:x}", std::process::id())
}

/// What of a name made by [`unique_name`] stands between [`PREFIX`] and what makes it unique: nothing for a workspace, the
/// name of a file for what is to replace that. `None` for any other name.
pub(crate) fn temporary_stem(name: &str) -> Option<&str> {
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    let rest = name.strip_prefix(PREFIX)?;
    let (rest, count) = rest.rsplit_once('-')?;
    let (rest, time) = rest.rsplit_once('-')?;
    let (stem, process) = rest.rsplit_once('-').unwrap_or(("", rest));
    (is_number(process) && time.len() == TIME_DIGITS && is_number(time) && is_number(count)).then_some(stem)
}

/// How long ago a name was made by [`unique_name`], by this machine's clock; `None` for any other name.
pub(crate) fn age_of_name(name: &str) -> Option<Duration> {
    let (rest, _) = name.rsplit_once('-')?;
    let (_, time) = rest.rsplit_once('-')?;
    let nanoseconds = u64::from_str_radix(time, 16).ok().filter(|_| time.len() == TIME_DIGITS)?;
    (UNIX_EPOCH + Duration::from_nanos(nanoseconds)).elapsed().ok()
}

/// A directory that is removed with all it holds unless it was published.
#[derive(Debug)]
pub(crate) struct TemporaryDirectory {
    path: Option<PathBuf>,
}

impl TemporaryDirectory {
    /// Makes a new directory below `parent`, which is made too.
    pub fn create(parent: &Path, prefix: &str) -> Result<Self, NativeError> {
        let path = parent.join(unique_name(prefix));
        fs::create_dir_all(&path).map_err(NativeError::io("create", &path))?;
        Ok(Self { path: Some(path) })
    }

    pub fn path(&self) -> &Path {
        self.path.as_deref().expect("the path is only taken by what consumes the guard")
    }

    /// Renames it to `target`. Where something is there already it is given back instead.
    pub fn publish(mut self, target: &Path) -> Result<Option<Self>, NativeError> {
        match fs::rename(self.path(), target) {
            Ok(()) => {
                self.path = None;
                Ok(None)
            }
            Err(error) if is_taken(&error) => Ok(Some(self)),
            Err(error) => Err(NativeError::io("publish", target)(error)),
        }
    }

    /// Leaves it where it is.
    pub fn leave(mut self) {
        self.path = None;
    }

    /// Removes it now, and says why that cannot be.
    pub fn remove(mut self) -> Result<(), NativeError> {
        let path = self.path.take().expect("the path is only taken by what consumes the guard");
        remove_directory(&path).map_err(NativeError::io("remove", &path))
    }
}

/// Whether a directory could not be renamed because something is where it was to be: a directory that is not empty, or a file.
fn is_taken(error: &io::Error) -> bool {
    use io::ErrorKind::{AlreadyExists, DirectoryNotEmpty, NotADirectory};
    matches!(error.kind(), DirectoryNotEmpty | AlreadyExists | NotADirectory)
}

impl Drop for TemporaryDirectory {
    fn drop(&mut self) {
        if let Some(path) = &self.path {
            let _ = remove_directory(path);
        }
    }
}

/// Writes `bytes` beside `path` and renames it there, so that `path` is always whole.
pub(crate) fn replace_file(path: &Path, bytes: &[u8]) -> Result<(), NativeError> {
    replace(path, bytes, None)
}

/// As [`replace_file`], for a file of the user: it keeps its mode and its owner, and where it is a link, what that leads to is
/// replaced or, if it is not there, made. One that cannot be replaced (it is a mount point, or nothing can be made beside it)
/// is written in place, as npm writes all of them.
pub(crate) fn replace_users_file(path: &Path, bytes: &[u8]) -> Result<(), NativeError> {
    let target = fs::canonicalize(path).unwrap_or_else(|_| end_of_links(path));
    let Ok(old) = fs::metadata(&target) else { return replace(&target, bytes, None) };
    let replaced = replace(&target, bytes, Some((&old, true)));
    let Err(NativeError::Io { source, .. }) = &replaced else { return replaced };
    if !cannot_be_replaced(source) {
        return replaced;
    }
    match fs::OpenOptions::new().write(true).open(&target) {
        Ok(file) => overwrite(file, bytes, old.len()).map_err(NativeError::io("write", path)),
        // Who may not write it may have it replaced all the same; then it is theirs.
        Err(_) => replace(&target, bytes, Some((&old, false))).or(replaced),
    }
}

/// Fails where [`replace_users_file`] would because nobody may write there.
pub(crate) fn check_replaceable(path: &Path) -> Result<(), NativeError> {
    let target = fs::canonicalize(path).unwrap_or_else(|_| end_of_links(path));
    let refusal = match fs::OpenOptions::new().write(true).open(&target) {
        Err(error) if cannot_be_replaced(&error) || error.kind() == io::ErrorKind::NotFound => error,
        // Any other failure is told of when it comes.
        _ => return Ok(()),
    };
    let folder = target.parent().unwrap_or(Path::new("."));
    // A file that is not there, or that only its mode protects, can be put there by who may write to the folder.
    let is_of_mode = matches!(Errno::from_io_error(&refusal), Some(Errno::ACCESS | Errno::NOENT));
    match rustix::fs::access(folder, Access::WRITE_OK) {
        Ok(()) if is_of_mode => Ok(()),
        Err(errno) if is_of_mode => Err(NativeError::io("write", path)(errno.into())),
        _ => Err(NativeError::io("write", path)(refusal)),
    }
}

/// Replaces what is in a file. One that becomes longer is given room first, so that a full disk leaves it as it was.
fn overwrite(mut file: File, bytes: &[u8], old: u64) -> io::Result<()> {
    let length = bytes.len() as u64;
    if length > old {
        let more = vec![b' '; usize::try_from(length - old).unwrap_or_default()];
        file.seek(SeekFrom::End(0))?;
        if let Err(error) = file.write_all(&more) {
            let _ = file.set_len(old);
            return Err(error);
        }
        file.rewind()?;
    }
    file.write_all(bytes)?;
    file.set_len(length)?;
    close(file)
}

/// Whether it is the place of a file, and not the disk, that is in the way of another one.
fn cannot_be_replaced(error: &io::Error) -> bool {
    use io::ErrorKind::{AlreadyExists, CrossesDevices, PermissionDenied, ReadOnlyFilesystem, ResourceBusy};
    matches!(error.kind(), AlreadyExists | CrossesDevices | PermissionDenied | ReadOnlyFilesystem | ResourceBusy)
}

/// Where a path leads whose last link leads to nothing.
fn end_of_links(path: &Path) -> PathBuf {
    let mut end = path.to_owned();
    for _ in 0..MOST_LINKS {
        let Ok(next) = fs::read_link(&end) else { break };
        end = end.parent().unwrap_or(Path::new(".")).join(next);
    }
    end
}

/// What is to take the place of a file: complete, in a folder from where it can be renamed there, and removed unless it is.
#[derive(Debug)]
pub(crate) struct Successor {
    temporary: PathBuf,
    target: PathBuf,
}

impl Successor {
    /// Of a file of the user, as [`replace_users_file`] would put it there, in `folder`. `None` where that cannot be.
    pub fn of_users_file(path: &Path, bytes: &[u8], folder: &Path) -> Result<Option<Self>, NativeError> {
        let target = fs::canonicalize(path).unwrap_or_else(|_| end_of_links(path));
        let old = fs::metadata(&target).ok();
        match Self::write(folder, &target, bytes, old.as_ref().map(|old| (old, true))) {
            Err(NativeError::Io { source, .. }) if cannot_be_replaced(&source) => Ok(None),
            written => written.map(Some),
        }
    }

    /// `old`: whose mode the file is to have, and whether its owner, too.
    fn write(folder: &Path, target: &Path, bytes: &[u8], old: Option<(&Metadata, bool)>) -> Result<Self, NativeError> {
        let name = target.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let temporary = folder.join(unique_name(&format!("{PREFIX}{name}-")));
        let successor = Self { temporary, target: target.to_owned() };
        write_file(&successor.temporary, bytes)
            .and_then(|()| old.map_or(Ok(()), |(old, is_owned)| make_like(&successor.temporary, old, is_owned)))
            .map_err(NativeError::io("write", target))?;
        Ok(successor)
    }

    /// Takes the file's place.
    pub fn publish(self) -> Result<(), NativeError> {
        fs::rename(&self.temporary, &self.target).map_err(NativeError::io("replace", &self.target))
    }
}

impl Drop for Successor {
    fn drop(&mut self) {
        // It is gone where it was published.
        let _ = fs::remove_file(&self.temporary);
    }
}

fn replace(path: &Path, bytes: &[u8], old: Option<(&Metadata, bool)>) -> Result<(), NativeError> {
    Successor::write(path.parent().unwrap_or(Path::new(".")), path, bytes, old)?.publish()
}

/// Gives a file of this process the mode of another, and its owner if that `is_owned`.
fn make_like(path: &Path, other: &Metadata, is_owned: bool) -> io::Result<()> {
    let own = fs::metadata(path)?;
    if is_owned && (own.uid(), own.gid()) != (other.uid(), other.gid()) {
        // Whatever the system calls it: in containers there are owners that nobody can name.
        let denied = |error| io::Error::new(io::ErrorKind::PermissionDenied, error);
        std::os::unix::fs::chown(path, Some(other.uid()), Some(other.gid())).map_err(denied)?;
    }
    fs::set_permissions(path, other.permissions())
}

/// Removes a file, a link, or a directory with all it holds.
pub(crate) fn remove_any(path: &Path) -> Result<(), NativeError> {
    let is_directory = fs::symlink_metadata(path).is_ok_and(|data| data.is_dir());
    let removed = if is_directory { remove_directory(path) } else { fs::remove_file(path) };
    removed.map_err(NativeError::io("remove", path))
}

/// Removes a directory with all it holds. Where somebody may not list or change some of it, who is its owner is let do so first:
/// what is on its way out would stay for ever.
fn remove_directory(path: &Path) -> io::Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            allow_changes(path);
            fs::remove_dir_all(path)
        }
        removed => removed,
    }
}

/// Lets the owner of a directory and of those below list and change them, as far as that is this user.
fn allow_changes(directory: &Path) {
    const ALL_OF_OWNER: u32 = 0o700;
    let Ok(data) = fs::symlink_metadata(directory) else { return };
    let mode = data.permissions().mode();
    if mode & ALL_OF_OWNER != ALL_OF_OWNER {
        let _ = fs::set_permissions(directory, fs::Permissions::from_mode(mode | ALL_OF_OWNER));
    }
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            allow_changes(&entry.path());
        }
    }
}

/// Makes the directory that `path` is in.
pub(crate) fn make_parent(path: &Path) -> Result<(), NativeError> {
    match path.parent() {
        Some(parent) => fs::create_dir_all(parent).map_err(NativeError::io("create", parent)),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::{PREFIX, temporary_stem, unique_name};

    #[test]
    fn temporary_names_are_told_from_those_that_only_begin_so() {
        assert_eq!(temporary_stem(&unique_name(PREFIX)), Some(""));
        assert_eq!(temporary_stem(&unique_name(".gantry-package-lock.json-")), Some("package-lock.json"));
        for name in [".gantry-notes", ".gantry-store", ".gantry-1-2-3", ".gantry-a-b", ".gantry-wasi", "gantry"] {
            assert_eq!(temporary_stem(name), None, "{name}");
        }
    }
}
