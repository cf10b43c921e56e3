//! Completing a lock with what abbreviated packuments leave out.
//!
//! npm resolves from full documents and writes each package's license (and a few rarer members) into the lock. Gantry takes
//! them from the unpacked package's own `package.json`, which costs nothing; what is not unpacked (other platforms,
//! `--lockfile-only`) is asked one version document at a time, and once: the mirror keeps what they said. An answer that
//! cannot be had is a warning, never a failure.

use crate::EngineError;
use crate::host::{Host, PackageStore, ProjectTree};
use crate::progress::Progress;
use crate::request::LockFields;
use crate::traffic::{Traffic, VersionId};
use gantry_manifest::{LockEntry, Lockfile, Text};
use gantry_registry::VersionFacts;
use rustc_hash::FxHashSet;
use std::collections::BTreeSet;

/// Which entries of a lock may lack something.
pub(crate) struct Lacking {
    /// Packages whose packument was abbreviated, by name.
    pub abbreviated: FxHashSet<String>,
    /// Paths and versions of what was started from and had no license: what stays npm leaves as it was noted. Of all that a
    /// lock of npm 6 or before had, too: there npm itself takes what abbreviated packuments say, and leaves it at that.
    pub known: FxHashSet<(String, Option<Text>)>,
    /// Paths of what a package lists that it needs, or brings along: npm takes over what it says, and no more.
    pub listed: BTreeSet<String>,
}

impl Lacking {
    fn has(&self, entry: &LockEntry) -> bool {
        self.abbreviated.contains(entry.package_name())
            && !self.listed.contains(&entry.path)
            && (self.known.is_empty() || !self.known.contains(&(entry.path.clone(), entry.manifest.version.clone())))
    }
}

/// Fills in what the manifests of packages whose packument was abbreviated lack.
pub(crate) async fn complete_lock<H: Host>(
    host: &H,
    lock: &mut Lockfile,
    lacking: &Lacking,
    fields: LockFields,
    traffic: &mut Traffic<'_, H>,
    progress: &Progress<'_, H::Clock>,
) -> Result<(), EngineError> {
    let mut missing = Vec::new();
    for (position, entry) in lock.packages.iter_mut().enumerate() {
        // What the project itself bundles has a tarball of its own, unlike what a dependency brings along.
        let is_carried = entry.in_bundle && entry.integrity.is_none();
        // Nor is anything known of one that was found in place but what it says itself.
        let is_unknown = entry.resolved.is_none() && entry.integrity.is_none();
        let registry_package = !entry.path.is_empty() && !entry.link && !is_carried && !is_unknown;
        if !registry_package || entry.manifest.is_complete() || !lacking.has(entry) {
            continue;
        }
        let version = entry.manifest.version.as_deref().unwrap_or_default();
        // What is kept is in memory already; the store has to open a file.
        let kept = host.registry().kept_facts(entry.package_name(), version, entry.integrity.as_deref());
        let known = match kept {
            Some(facts) => Some(facts.lock_members),
            None => host.store().index(&host.project().keys().of(entry)?).map(|index| index.facts.lock_members.clone()),
        };
        match known {
            Some(Some(members)) => entry.manifest.complete(&members),
            Some(None) => {}
            None => missing.push(position),
        }
    }
    if fields == LockFields::Fast {
        return Ok(());
    }
    // Most were asked for while the tree was resolved. Those of wrong guesses are waited for as well: kept, they are not
    // asked for again by every run that guesses the same.
    for &position in &missing {
        let entry = &lock.packages[position];
        traffic.want_facts(version_of(entry), entry.integrity.as_deref().map(Into::into));
    }
    let facts = traffic.all_facts(progress).await;
    for position in missing {
        let entry = &mut lock.packages[position];
        match facts.get(&version_of(entry)) {
            Some(Ok(VersionFacts { lock_members: Some(members) })) => entry.manifest.complete(members),
            Some(Ok(VersionFacts { lock_members: None })) | None => {}
            // Everything is fetched, and the lock is valid without the field: the user is told, and the install goes on.
            Some(Err(error)) => progress
                .warn("LOCK_INCOMPLETE", format!("the license of {} is not in the lock: {error}", entry.label())),
        }
    }
    Ok(())
}

fn version_of(entry: &LockEntry) -> VersionId {
    let version = entry.manifest.version.clone().unwrap_or_default();
    VersionId { name: entry.package_name().into(), version }
}
