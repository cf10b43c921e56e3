//! The files of the user that an install starts from.

use super::{LOCK, ProjectDirectory, SHRINKWRAP, YARN_LOCK};
use crate::NativeError;
use std::fs;
use std::io;
use std::path::Path;

/// What an install starts from.
#[derive(Debug, Default)]
pub struct ProjectFiles {
    /// Text of `package.json`; `None` if there is none.
    pub package_json: Option<Vec<u8>>,
    /// Text of the lock; `None` if there is none.
    pub lockfile: Option<Vec<u8>>,
    /// The lock's file name: `npm-shrinkwrap.json` where that is there, as npm prefers it.
    pub lockfile_name: &'static str,
    /// Text of `yarn.lock`; `None` if there is none.
    pub yarn_lock: Option<Vec<u8>>,
}

impl ProjectDirectory {
    /// Reads what an install starts from.
    pub fn read(path: &Path) -> Result<ProjectFiles, NativeError> {
        let package_json = read_optional(&path.join("package.json"))?;
        let shrinkwrap = read_optional(&path.join(SHRINKWRAP))?;
        let (lockfile, lockfile_name) = match shrinkwrap {
            // An empty one is as good as none.
            Some(bytes) if !bytes.is_empty() => (Some(bytes), SHRINKWRAP),
            _ => (read_optional(&path.join(LOCK))?, LOCK),
        };
        let yarn_lock = read_optional(&path.join(YARN_LOCK))?;
        Ok(ProjectFiles { package_json, lockfile, lockfile_name, yarn_lock })
    }
}

fn read_optional(path: &Path) -> Result<Option<Vec<u8>>, NativeError> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(NativeError::io("read", path)(error)),
    }
}
