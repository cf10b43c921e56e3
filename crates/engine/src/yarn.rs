//! The project's `yarn.lock`, made ready for the resolution.

use crate::EngineError;
use crate::progress::Progress;
use crate::request::{Extent, InstallMode, InstallRequest, LockUse, Update};
use gantry_layout::{Omit, installed};
use gantry_manifest::{Lockfile, YarnLock};
use gantry_platform::Clock;
use gantry_registry::PUBLIC_HOSTS;
use gantry_resolver::{Project, YarnHints, yarn_text};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

const NAME: &str = "yarn.lock";

/// The request with what `yarn.lock` says, where there is one and locks count. To npm none is wrong: of one that cannot be
/// read to its end, what comes before counts, and the user is told.
pub(crate) fn with_yarn_lock<'r, C: Clock>(
    request: &'r InstallRequest,
    progress: &Progress<'_, C>,
) -> Result<Cow<'r, InstallRequest>, EngineError> {
    // Whoever wants everything looked up again begins without any lock.
    let is_kept_to = request.lock_use != LockUse::Ignore && request.changes.update != Update::All;
    let counts = request.mode == InstallMode::Ci || is_kept_to;
    // An empty file is none to npm.
    let Some(bytes) = request.yarn_lock.as_ref().filter(|bytes| counts && !bytes.is_empty()) else {
        return Ok(Cow::Borrowed(request));
    };
    let lock = YarnLock::parse(bytes, NAME)?;
    if let Some(line) = lock.unread_from {
        let message =
            format!("{NAME}:{line}: this is not version 1 of the format; what comes from there on does not count");
        progress.warn("LOCK_SHAPE", message);
    }
    let [yarn_host, npm_host] = PUBLIC_HOSTS.map(str::to_owned);
    let mut request = request.clone();
    request.resolve.yarn = Some(YarnHints { lock: Arc::new(lock), yarn_host, npm_host });
    Ok(Cow::Owned(request))
}

/// What `yarn.lock` is to say of an install, where that differs from what it says. npm writes it with the hidden lock, also
/// where it writes no other, and of the tree as it is installed: without what is not for this machine or not wanted.
pub(crate) fn yarn_lock_of(
    request: &InstallRequest,
    project: &Project,
    lockfile: &Lockfile,
    inert: &BTreeSet<String>,
) -> Result<Option<String>, EngineError> {
    if request.resolve.yarn.is_none() {
        return Ok(None);
    }
    let mut placed_lock = lockfile.clone();
    // Where there is no tree, npm leaves nothing out that it can install.
    let omit = if request.extent == Extent::Tree { request.omit } else { Omit::default() };
    let placed = installed(lockfile, inert, &omit)?;
    placed_lock.packages.retain(|entry| placed.contains(&entry.path));
    let text = match yarn_text(project, &placed_lock, &request.resolve)? {
        // npm writes it with the lock first, of all that is in that, and over that only if there is anything left to write.
        None if request.mode == InstallMode::Install && request.lock_use == LockUse::ReadAndWrite => {
            yarn_text(project, lockfile, &request.resolve)?
        }
        text => text,
    };
    Ok(text.filter(|text| request.yarn_lock.as_deref() != Some(text.as_bytes())))
}
