//! Who uses the store, and who takes things out of it.
//!
//! An install relies on what it has found in the store until it has linked it. So whoever installs holds a shared lock on the
//! store's folder, and whoever takes out what nothing uses holds an exclusive one, for as long as it takes to move that aside.
//! The locks end with their processes, and leave nothing behind.

use crate::NativeError;
use crate::descriptor::open_directory;
use rustix::fs::{FlockOperation, fstat, stat};
use rustix::io::Errno;
use std::os::fd::OwnedFd;
use std::path::Path;

/// A lock on a store's folder; given back when dropped.
#[derive(Debug)]
pub(super) struct StoreLock {
    _folder: OwnedFd,
}

impl StoreLock {
    /// Keeps what is in the store in `root` there. `None` where there is no store yet, or where its file system has no locks:
    /// an install goes on without, as nothing is lost but time if something is taken out under it.
    pub fn shared(root: &Path) -> Option<Self> {
        Self::take(root, FlockOperation::LockShared).ok().flatten()
    }

    /// As [`shared`](Self::shared); where nobody uses the store in `root`, `alone` is called first, while nobody can begin to.
    pub fn shared_after(root: &Path, alone: impl FnOnce()) -> Option<Self> {
        match Self::take(root, FlockOperation::NonBlockingLockExclusive) {
            Ok(Some(lock)) => {
                alone();
                // A lock on the same folder cannot be made a shared one at once; nothing is relied on yet.
                drop(lock);
                Self::shared(root)
            }
            Ok(None) => None,
            Err(_) => Self::shared(root),
        }
    }

    /// Waits until nobody uses the store in `root`; `tell` is called if that is not at once. `None` where there is no store.
    pub fn exclusive(root: &Path, tell: impl FnOnce()) -> Result<Option<Self>, NativeError> {
        let failed = |errno: Errno| NativeError::io("lock", root)(errno.into());
        match Self::take(root, FlockOperation::NonBlockingLockExclusive) {
            Err(Errno::WOULDBLOCK) => {
                tell();
                Self::take(root, FlockOperation::LockExclusive).map_err(failed)
            }
            taken => taken.map_err(failed),
        }
    }

    fn take(root: &Path, operation: FlockOperation) -> Result<Option<Self>, Errno> {
        loop {
            let folder = match open_directory(root) {
                Ok(folder) => folder,
                Err(NativeError::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => {
                    return Ok(None);
                }
                Err(NativeError::Io { source, .. }) => return Err(Errno::from_io_error(&source).unwrap_or(Errno::IO)),
                Err(_) => return Err(Errno::IO),
            };
            while let Err(errno) = rustix::fs::flock(&folder, operation) {
                if errno != Errno::INTR {
                    return Err(errno);
                }
            }
            // Somebody may have put another folder there meanwhile.
            let identity = |data: rustix::fs::Stat| (data.st_dev, data.st_ino);
            if stat(root).map(identity).ok() == fstat(&folder).map(identity).ok() {
                return Ok(Some(Self { _folder: folder }));
            }
        }
    }
}
