//! How the store names packages.

use crate::{LayoutError, ScriptVerdict, Scripts};
use gantry_archive::Integrity;
use gantry_manifest::LockEntry;
use gantry_spec::is_tarball;
use gantry_store::PackageKey;

/// How the store names the packages of one project.
#[derive(Debug, Clone, Copy)]
pub struct PackageKeys<'p> {
    owner: &'p str,
    scripts: &'p Scripts,
    building: &'p [String],
}

impl<'p> PackageKeys<'p> {
    /// `owner` tells the project from the others that share the store; `scripts` says which repositories are built in it.
    pub fn new(owner: &'p str, scripts: &'p Scripts) -> Self {
        Self { owner, scripts, building: &[] }
    }

    /// The same while packages of these commits are being built: for that they are needed as they are in their repositories.
    #[must_use]
    pub fn while_building(self, building: &'p [String]) -> Self {
        Self { building, ..self }
    }

    /// Whether a package is built in its repository, by what a lock calls its commit.
    pub fn is_built(&self, resolved: &str) -> bool {
        let is_being_built = || {
            let commit = resolved.rsplit_once('#').map_or("", |(_, commit)| commit);
            self.building.iter().any(|other| other == commit)
        };
        self.scripts.verdict_of_commit(resolved) == ScriptVerdict::Allowed && !is_being_built()
    }

    /// The same where no scripts run.
    pub fn without_scripts(owner: &'p str) -> Self {
        Self::new(owner, &Scripts::None)
    }

    /// The name of the package of a lock entry that has a tarball of its own: by what it hashes to, else by where it comes from,
    /// else by what it is. What neither a hash nor a commit vouches for is stored for its owner alone: where it comes from depends
    /// on the project's settings and folder.
    pub fn of(&self, entry: &LockEntry) -> Result<PackageKey, LayoutError> {
        let resolved = entry.resolved.as_deref();
        Ok(match (&entry.integrity, resolved) {
            // A commit says more than what one compressor made of it.
            (_, Some(resolved)) if is_git(resolved) => self.of_commit(resolved),
            (Some(integrity), _) => {
                let problem = || LayoutError::Integrity { path: entry.path.clone(), integrity: integrity.to_string() };
                PackageKey::from_integrity(&Integrity::parse(integrity).map_err(|_| problem())?)
            }
            (None, Some(address)) => PackageKey::of_owner(address, self.owner),
            (None, None) => PackageKey::of_owner(&entry.label(), self.owner),
        })
    }

    /// The name of the package in a repository, by what a lock calls its commit. What its scripts have made of it is another
    /// package than what the repository has.
    fn of_commit(&self, resolved: &str) -> PackageKey {
        if self.is_built(resolved) { PackageKey::of_built(resolved) } else { PackageKey::from_address(resolved) }
    }
}

/// Whether the `resolved` of a lock is a folder of the user's, of which the package is made (npm's `install-links`).
pub fn is_folder(resolved: &str) -> bool {
    resolved.strip_prefix("file:").is_some_and(|path| !is_tarball(path))
}

/// Whether the `resolved` of a lock is a commit of a git repository.
pub fn is_git(resolved: &str) -> bool {
    resolved.starts_with("git+") || resolved.starts_with("git:")
}
