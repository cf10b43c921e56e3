//! Packages that stay where they are because nothing tells where they came from: they are neither fetched nor put in place.

use crate::EngineError;
use crate::host::{Host, ProjectTree};
use crate::request::{InstallMode, InstallRequest};
use gantry_layout::wanted;
use gantry_manifest::Lockfile;
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
    /// Looks at the packages whose entries have neither address nor integrity. `ci` makes everything anew.
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
            .any(|entry| !entry.link && !entry.is_top() && entry.resolved.is_none() && entry.integrity.is_none());
        if request.mode == InstallMode::Ci || !lacks {
            return Ok(found);
        }
        for package in wanted(lockfile, inert, &request.omit, host.project().keys())? {
            if package.resolved.is_some() || package.integrity.is_some() {
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
