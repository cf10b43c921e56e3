//! Renames that are taken back together.
//!
//! What an install changes of a tree in use it changes by renames alone, and a failure half-way takes all of them back in
//! the reverse order. Some directories cannot be renamed although what is in them can: mount points, and on overlays those
//! of a lower layer. Their entries are moved one by one.

use crate::NativeError;
use crate::place::make_link;
use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// One thing that was done.
#[derive(Debug)]
enum Step {
    Moved {
        from: PathBuf,
        to: PathBuf,
        /// Whether nobody needs what was moved.
        is_new: bool,
    },
    Exchanged {
        left: PathBuf,
        right: PathBuf,
    },
    Made(PathBuf),
    Linked(PathBuf),
    Unlinked {
        path: PathBuf,
        target: PathBuf,
    },
    Removed {
        path: PathBuf,
        permissions: fs::Permissions,
    },
}

/// Renames made so far; dropped before [`Moves::keep`], it takes them back.
#[derive(Debug, Default)]
pub(crate) struct Moves {
    steps: Vec<Step>,
}

impl Moves {
    /// Renames `from` to `to`, replacing a file that is there. Tells whether there was anything to rename.
    pub fn rename(&mut self, action: &'static str, from: &Path, to: &Path) -> Result<bool, NativeError> {
        match self.attempt(from, to, action == PUBLISH) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound && fs::symlink_metadata(from).is_err() => Ok(false),
            Err(error) => Err(NativeError::io(action, if action == SET_ASIDE { from } else { to })(error)),
        }
    }

    fn attempt(&mut self, from: &Path, to: &Path, is_new: bool) -> io::Result<()> {
        match fs::rename(from, to) {
            Ok(()) => {
                self.steps.push(Step::Moved { from: from.to_owned(), to: to.to_owned(), is_new });
                Ok(())
            }
            Err(error) if whole_directory_refused(&error) && fs::symlink_metadata(from)?.is_dir() => {
                self.move_entries(from, to, is_new)
            }
            Err(error) => Err(error),
        }
    }

    fn move_entries(&mut self, from: &Path, to: &Path, is_new: bool) -> io::Result<()> {
        let permissions = fs::symlink_metadata(from)?.permissions();
        fs::create_dir(to)?;
        self.steps.push(Step::Made(to.to_owned()));
        for entry in fs::read_dir(from)? {
            let name = entry?.file_name();
            self.attempt(&from.join(&name), &to.join(&name), is_new)?;
        }
        fs::set_permissions(to, permissions.clone())?;
        fs::remove_dir(from)?;
        self.steps.push(Step::Removed { path: from.to_owned(), permissions });
        Ok(())
    }

    /// Exchanges two things by one step of the system, where it has such a step for them.
    pub fn exchange(&mut self, left: &Path, right: &Path) -> io::Result<()> {
        renameat_with(CWD, left, CWD, right, RenameFlags::EXCHANGE)?;
        self.steps.push(Step::Exchanged { left: left.to_owned(), right: right.to_owned() });
        Ok(())
    }

    /// Makes a symbolic link where nothing is.
    pub fn link(&mut self, path: &Path, target: &str) -> Result<(), NativeError> {
        make_link(path, target)?;
        self.steps.push(Step::Linked(path.to_owned()));
        Ok(())
    }

    /// Removes a symbolic link, wherever it is.
    pub fn unlink(&mut self, path: &Path) -> Result<(), NativeError> {
        let target = fs::read_link(path).map_err(NativeError::io("read", path))?;
        fs::remove_file(path).map_err(NativeError::io("remove", path))?;
        self.steps.push(Step::Unlinked { path: path.to_owned(), target });
        Ok(())
    }

    /// What was done stays.
    pub fn keep(mut self) {
        self.steps.clear();
    }

    /// Takes everything back; tells whether that was possible.
    pub fn take_back(mut self) -> bool {
        self.undo()
    }

    fn undo(&mut self) -> bool {
        let mut all = true;
        while let Some(step) = self.steps.pop() {
            let undone = match &step {
                Step::Moved { from, to, is_new } => move_back(to, from, *is_new),
                Step::Exchanged { left, right } => {
                    match renameat_with(CWD, left, CWD, right, RenameFlags::EXCHANGE) {
                        // Somebody has removed what came there.
                        Err(Errno::NOENT) => move_back(left, right, false),
                        other => other.map_err(io::Error::from),
                    }
                }
                // What else is in there by now is not ours.
                Step::Made(path) => fs::remove_dir(path).or_else(unless(io::ErrorKind::DirectoryNotEmpty)),
                Step::Linked(path) => fs::remove_file(path).or_else(unless(io::ErrorKind::NotFound)),
                Step::Unlinked { path, target } => symlink(target, path),
                Step::Removed { path, permissions } => {
                    fs::create_dir_all(path).and_then(|()| fs::set_permissions(path, permissions.clone()))
                }
            };
            // The rest goes back all the same.
            all &= undone.is_ok();
        }
        all
    }
}

/// Moves `to` back to where it came `from`, also where scripts have taken away the folder that it was in. What was new and is gone
/// need not go.
fn move_back(to: &Path, from: &Path, is_new: bool) -> io::Result<()> {
    match fs::rename(to, from) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            if fs::symlink_metadata(to).is_err() {
                return if is_new { Ok(()) } else { Err(error) };
            }
            from.parent().map_or(Ok(()), fs::create_dir_all)?;
            fs::rename(to, from)
        }
        other => other,
    }
}

/// Passes over failures of a kind.
fn unless(kind: io::ErrorKind) -> impl FnOnce(io::Error) -> io::Result<()> {
    move |error| if error.kind() == kind { Ok(()) } else { Err(error) }
}

impl Drop for Moves {
    fn drop(&mut self) {
        self.undo();
    }
}

/// What [`Moves::rename`] is called in messages when something makes way.
pub(crate) const SET_ASIDE: &str = "set aside";
/// What [`Moves::rename`] is called in messages when something new gets its place.
pub(crate) const PUBLISH: &str = "publish";

/// Whether a directory could not be renamed for what it is.
pub(crate) fn whole_directory_refused(error: &io::Error) -> bool {
    let code = error.raw_os_error();
    [Errno::XDEV, Errno::BUSY].iter().any(|errno| code == Some(errno.raw_os_error()))
}

#[cfg(test)]
mod tests;
