//! Files and directories named relative to an open directory, so that the kernel does not walk a long path for each.

use crate::NativeError;
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::IntoRawFd;
use std::path::Path;

/// Opens a directory as a place to name things from.
pub(crate) fn open_directory(path: &Path) -> Result<OwnedFd, NativeError> {
    let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC;
    rustix::fs::open(path, flags, Mode::empty()).map_err(|errno| NativeError::io("open", path)(errno.into()))
}

/// Makes a new file at `path` below `root`, for writing. As npm's, it may be what the process's umask leaves.
pub(crate) fn create_file(root: &impl AsFd, path: &str, executable: bool) -> io::Result<File> {
    let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC;
    let mode = Mode::from_raw_mode(if executable { 0o777 } else { 0o666 });
    Ok(rustix::fs::openat(root, path, flags, mode)?.into())
}

/// Closes a file that was written. File systems of networks, and those with quotas, may only then say that what was written is not
/// kept, of which nobody hears when a file is dropped.
pub(crate) fn close(file: File) -> io::Result<()> {
    // SAFETY: the descriptor was the file's own, which has given it up.
    match unsafe { rustix::io::try_close(file.into_raw_fd()) } {
        // It is closed all the same.
        Err(Errno::INTR) => Ok(()),
        closed => Ok(closed?),
    }
}

/// Writes a file as `fs::write` does, and hears of what [`close`] hears of.
pub(crate) fn write_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(bytes)?;
    close(file)
}

/// The folder that `path` is in; of most files that is `previous`, the one of the file before.
pub(crate) fn folder_of<'p>(path: &'p str, previous: &str) -> &'p str {
    let rest = path
        .strip_prefix(previous)
        .and_then(|rest| if previous.is_empty() { Some(rest) } else { rest.strip_prefix('/') });
    match rest {
        Some(name) if !name.as_bytes().contains(&b'/') => &path[..previous.len()],
        _ => path.rsplit_once('/').map_or("", |(folder, _)| folder),
    }
}

/// Makes `path` and its parents below `root`; `previous` and its parents are known to be there.
pub(crate) fn make_directories(root: &impl AsFd, path: &str, previous: &str) -> io::Result<()> {
    let mode = Mode::RWXU | Mode::RWXG | Mode::RWXO;
    let mut end = 0;
    while end < path.len() {
        end = path[end + 1..].find('/').map_or(path.len(), |position| end + 1 + position);
        let prefix = &path[..end];
        let there = previous == prefix || previous.strip_prefix(prefix).is_some_and(|rest| rest.starts_with('/'));
        if !there {
            match rustix::fs::mkdirat(root, prefix, mode) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::folder_of;

    #[test]
    fn the_folder_before_does_not_matter_to_which_a_file_is_in() {
        for path in ["a", "a/b", "a/b/c", "ab/c", "a//b", "/a", "a/", "é/b"] {
            let expected = path.rsplit_once('/').map_or("", |(folder, _)| folder);
            for previous in ["", "a", "a/b", "ab", "a/", "/", "b", "é", "a/b/c"] {
                assert_eq!(folder_of(path, previous), expected, "{path} after {previous}");
            }
        }
    }
}
