//! Packages that stay where they are: those of which nothing tells where they came from, and those that were made of a folder of
//! the user, of the same version. They are neither fetched nor put in place.

use crate::EngineError;
use crate::host::{Host, ProjectTree};
use crate::request::{InstallMode, InstallRequest};
use gantry_layout::{is_folder, wanted};
use gantry_manifest::{Lockfile, Text};
use gantry_store::{PackageIndex, PackageKey};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;
use std::sync::Arc;

/// What of a lock stays.
#[derive(Debug, Default)]
pub(crate) struct InPlace {
    paths: FxHashSet<String>,
    indexes: FxHashMap<PackageKey, Arc<PackageIndex>>,
}

impl InPlace {
    /// Looks at the packages whose entries have neither address nor integrity, or the address of a folder. `ci` makes everything
    /// anew.
    pub fn of<H: Host>(
        host: &H,
        request: &InstallRequest,
        lockfile: &Lockfile,
        inert: &BTreeSet<String>,
    ) -> Result<Self, EngineError> {
        let mut found = Self::default();
        let lacks = lockfile
            .packages
            .iter()
            .any(|entry| !entry.link && !entry.is_top() && may_stay(entry.resolved.as_ref(), entry.integrity.as_ref()));
        if request.mode == InstallMode::Ci || !lacks {
            return Ok(found);
        }
        for package in wanted(lockfile, inert, &request.omit, host.project().keys())? {
            if !may_stay(package.resolved.as_ref(), package.integrity.as_ref()) {
                continue;
            }
            if let Some(index) = host.project().in_place(&package) {
                found.indexes.insert(package.key, Arc::new(index));
                found.paths.insert(package.path);
            }
        }
        Ok(found)
    }

    /// Whether the package at `path` stays.
    pub fn has(&self, path: &str) -> bool {
        self.paths.contains(path)
    }

    /// The files of one that stays.
    pub fn index(&self, key: &PackageKey) -> Option<Arc<PackageIndex>> {
        self.indexes.get(key).cloned()
    }
}

fn may_stay(resolved: Option<&Text>, integrity: Option<&Text>) -> bool {
    integrity.is_none() && resolved.is_none_or(|resolved| is_folder(resolved))
}
