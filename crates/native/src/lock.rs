//! The right to change a project.
//!
//! One process at a time has it, from before it reads the project until its last change is made: otherwise the lock file of
//! one install could come to lie over the tree of another. It is a lock on the folder itself, which ends with the process,
//! however that ends, and leaves nothing behind. Some file systems have no locks (shares without a service for them, some in
//! user space): there whoever installs goes on without, as npm does everywhere, and leaves alone what may be of another.

use crate::NativeError;
use crate::leftovers::sweep;
use rustix::fs::{FlockOperation, Mode, OFlags};
use rustix::io::Errno;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

/// How long another one is waited for: most installs are over by then, and one that was killed takes a moment to end.
const PATIENCE: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(10);

/// What a file system says that has no locks.
const WITHOUT_LOCKS: [Errno; 4] = [Errno::NOSYS, Errno::NOTSUP, Errno::OPNOTSUPP, Errno::NOLCK];

/// The right to change one project; given back when dropped.
#[derive(Debug)]
pub struct ProjectLock {
    _folder: OwnedFd,
}

impl ProjectLock {
    /// Takes the lock on the project in `path` and removes what dead processes left there. `None` where there is no such
    /// folder: there is nothing to change then, as who reads the project will find.
    pub fn take(path: &Path) -> Result<Option<Self>, NativeError> {
        // Where it is `.`, that names nothing to who reads the error elsewhere.
        let named = || std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let folder = match rustix::fs::open(path, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()) {
            Ok(folder) => folder,
            Err(Errno::NOENT) => return Ok(None),
            Err(errno) => return Err(NativeError::io("open", &named())(errno.into())),
        };
        let began = Instant::now();
        loop {
            match rustix::fs::flock(&folder, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => {
                    sweep(path);
                    return Ok(Some(Self { _folder: folder }));
                }
                Err(Errno::WOULDBLOCK) if began.elapsed() < PATIENCE => thread::sleep(PAUSE),
                Err(Errno::WOULDBLOCK) => return Err(NativeError::Busy { path: named() }),
                Err(Errno::INTR) => {}
                Err(errno) if WITHOUT_LOCKS.contains(&errno) => return Ok(Some(Self { _folder: folder })),
                Err(errno) => return Err(NativeError::io("lock", &named())(errno.into())),
            }
        }
    }
}
