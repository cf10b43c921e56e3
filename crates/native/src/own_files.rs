//! Packages that get files of their own where others share the store's, since what is in them changes in the project: by patches,
//! or by their own scripts.

use crate::NativeError;
use crate::patched::Patched;
use crate::temporary::replace_users_file;
use crate::workspace::entries;
use gantry_layout::Plan;
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Why a package gets files of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Private {
    /// Somebody else has stored it.
    Foreign,
    /// The project changes it in place.
    Patched,
    /// Its scripts are run.
    Scripted,
}

/// Which packages of a project do.
#[derive(Debug, Default)]
pub(crate) struct OwnFiles {
    patched: Patched,
    /// Paths of those that may run scripts.
    scripted: BTreeSet<String>,
}

impl OwnFiles {
    /// Those of a plan.
    pub fn of(project: &Path, plan: &Plan) -> Self {
        let scripted = plan.scripted.iter().filter(|scripted| !scripted.is_link);
        Self { patched: Patched::of(project, plan), scripted: scripted.map(|scripted| scripted.path.clone()).collect() }
    }

    /// Why the package at `path` of the project does; `None` where it may share.
    pub fn why(&self, path: &str) -> Option<Private> {
        let patched = self.patched.has(path).then_some(Private::Patched);
        patched.or_else(|| self.scripted.contains(path).then_some(Private::Scripted))
    }
}

/// Gives what is in `folder` of a project files of its own in the places of those that others share, with what is in them now:
/// they may be changed already. Tells whether there were any.
pub(crate) fn separate(folder: &Path) -> Result<bool, NativeError> {
    let mut any = false;
    for name in entries(folder)? {
        let path = folder.join(name);
        let Ok(data) = path.symlink_metadata() else { continue };
        if data.is_dir() {
            any |= separate(&path)?;
        } else if data.is_file() && data.nlink() > 1 {
            let bytes = fs::read(&path).map_err(NativeError::io("read", &path))?;
            replace_users_file(&path, &bytes)?;
            any = true;
        }
    }
    Ok(any)
}
