//! What is asked of an install, and what comes of it.

use crate::choice::WorkspaceChoice;
use crate::event::Event;
use crate::host::LinkReport;
use gantry_layout::Omit;
use gantry_manifest::{DependencyKind, Lockfile};
use gantry_resolver::{Opening, PeerConflict, ResolveOptions};
use gantry_spec::PackageName;
use serde_json::Value;
use std::collections::BTreeSet;

/// Which of npm's two commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum InstallMode {
    /// `npm install`: the lock is used where it fits and brought up to date.
    #[default]
    Install,
    /// `npm ci`: the lock must fit and is never written.
    Ci,
}

/// Whether the lock gets the fields that only full documents have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LockFields {
    /// As npm writes them: completed from unpacked packages, else from each version's own document.
    #[default]
    Npm,
    /// Only what is at hand without further requests.
    Fast,
}

/// What becomes of the project's lock in an install. `ci` reads it whatever this says, and never writes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LockUse {
    /// It is read, kept to, and brought up to date.
    #[default]
    ReadAndWrite,
    /// It is read and kept to, and stays as it is: npm's `save=false`.
    Read,
    /// It is neither read nor written: npm's `package-lock=false`.
    Ignore,
}

/// How far to go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Extent {
    /// Up to `node_modules`.
    #[default]
    Tree,
    /// Up to the lock: nothing is unpacked but what resolution needs.
    LockOnly,
}

/// What is to be looked up again although what is there fits: `npm update`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Update {
    /// Nothing.
    #[default]
    Nothing,
    /// Everything: the lock counts for nothing.
    All,
    /// These packages, wherever they are in the tree.
    Names(Vec<String>),
    /// Those that are in the tree more than once: npm's `dedupe`. Where there are none nothing is looked up.
    Duplicates,
}

impl Update {
    /// Of packages that are named, without a version, as npm's `update` takes them. Gives back what is no name.
    pub fn of_names(names: Vec<String>) -> Result<Self, String> {
        match names.iter().find(|name| name.parse::<PackageName>().is_err()) {
            Some(other) => Err(format!("update {other}: that is no name of a package")),
            None => Ok(Self::Names(names)),
        }
    }
}

/// Changes to the project's own dependencies that the user asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changes {
    /// What to add, as one writes it on a command line: `name`, `name@range`, a folder, a tarball, a repository. Paths are
    /// relative to the project, also where it is added to a workspace.
    pub add: Vec<String>,
    /// Names of dependencies to remove.
    pub remove: Vec<String>,
    /// What to look up again.
    pub update: Update,
    /// As which kind to list what is added; `None`: as what it is listed already, else as an ordinary dependency.
    pub kind: Option<DependencyKind>,
    /// Whether what is added is to be bundled with the package.
    pub bundle: bool,
    /// What stands before the version in `package.json`: npm's `save-prefix`, nothing for `save-exact`.
    pub prefix: String,
    /// Whether `package.json` is written.
    pub save: bool,
    /// Whether packages that nobody asks for go also where an install leaves them: npm's `prune`.
    pub prune: bool,
}

impl Default for Changes {
    fn default() -> Self {
        Self {
            add: Vec::new(),
            remove: Vec::new(),
            update: Update::Nothing,
            kind: None,
            bundle: false,
            prefix: "^".to_owned(),
            save: true,
            prune: false,
        }
    }
}

impl Changes {
    /// Whether nothing is asked for.
    pub fn is_empty(&self) -> bool {
        self.add.is_empty() && self.remove.is_empty() && self.update == Update::Nothing
    }
}

/// One install.
#[derive(Debug, Clone, Default)]
pub struct InstallRequest {
    /// Text of the root `package.json`.
    pub package_json: Vec<u8>,
    /// How to call that file in messages.
    pub package_json_path: String,
    /// Text of the lock, if the project has one.
    pub lockfile: Option<Vec<u8>>,
    /// How to call that file in messages.
    pub lockfile_path: String,
    /// Text of the project's `yarn.lock`, if it has one: a hint where there is no lock, and brought up to date.
    pub yarn_lock: Option<Vec<u8>>,
    /// Whether the lock is read and written.
    pub lock_use: LockUse,
    /// npm's `lockfile-version`: which of versions 1, 2 and 3 to write. `None` keeps the one of the project's lock, except
    /// that version 1 becomes 3.
    pub lockfile_version: Option<u32>,
    /// `install` or `ci`.
    pub mode: InstallMode,
    /// How far to go.
    pub extent: Extent,
    /// Which lock fields.
    pub lock_fields: LockFields,
    /// What not to install (it is in the lock all the same).
    pub omit: Omit,
    /// Whether to make no links to commands: npm's `bin-links=false`, for file systems without links. Those to folders of the
    /// user are made all the same.
    pub without_commands: bool,
    /// Whether packages with scripts of which nothing is said stop the install: npm's `strict-allow-scripts`.
    pub strict_scripts: bool,
    /// What to add, remove and update; not with `ci`.
    pub changes: Changes,
    /// Which part of the project it is about.
    pub workspaces: WorkspaceChoice,
    /// Target and rules of resolution.
    pub resolve: ResolveOptions,
    /// Whether to tell at the end where the time went ([`Event::Timing`](crate::Event::Timing)).
    pub timing: bool,
}

impl InstallRequest {
    /// The same as npm's `update`: that writes the lock whatever is saved, and `package.json` only if it is told to.
    #[must_use]
    pub fn into_update(mut self) -> Self {
        self.resolve.save = self.changes.save;
        if self.lock_use == LockUse::Read {
            self.lock_use = LockUse::ReadAndWrite;
        }
        self
    }

    /// What the tree is resolved by: a clean install saves nothing.
    pub(crate) fn resolve_options(&self) -> ResolveOptions {
        let mut options = self.resolve.clone();
        options.save &= self.mode == InstallMode::Install;
        options.opening = match self.extent {
            _ if self.is_for_lock_alone() => Opening::Placed,
            Extent::LockOnly => Opening::Never,
            Extent::Tree => Opening::Unpacked,
        };
        options
    }

    /// Whether the tree is built for the lock alone. `npm ci` and `npm prune` build theirs before they look whether it is to be
    /// made.
    pub(crate) fn is_for_lock_alone(&self) -> bool {
        self.extent == Extent::LockOnly && self.mode == InstallMode::Install && !self.changes.prune
    }

    /// Whether a lock is kept to, so that hardly any documents are asked for.
    pub fn has_lock(&self) -> bool {
        self.lockfile.is_some() && self.lock_use != LockUse::Ignore && self.changes.is_empty()
    }
}

/// The peer conflicts of a project.
#[derive(Debug, Clone, Default)]
pub struct Conflicts {
    /// Those that an install accepts, with a warning.
    pub accepted: Vec<PeerConflict>,
    /// The one that stops an install, if one does.
    pub stopping: Option<PeerConflict>,
}

impl Conflicts {
    /// A list of what [`PeerConflict::to_json`] gives, each with `stops`: whether it stops an install. The one that does is
    /// the last.
    pub fn to_json(&self) -> Value {
        let accepted = self.accepted.iter().map(|conflict| (conflict, false));
        let all = accepted.chain(self.stopping.as_ref().map(|conflict| (conflict, true)));
        let tell = |(conflict, stops): (&PeerConflict, bool)| {
            let mut object = conflict.to_json();
            object["stops"] = stops.into();
            object
        };
        all.map(tell).collect()
    }
}

/// A completed install.
#[derive(Debug, Clone, Default)]
pub struct Outcome {
    /// The lock's text.
    pub lockfile: Vec<u8>,
    /// A lock that the tree can be made from again: the same, but where that is of version 1, and where
    /// [only a part](Self::is_part) of the project was installed.
    pub tree_lockfile: Vec<u8>,
    /// Whether the tree is what an install of a part of the project has made. Then everything in
    /// [`tree_lockfile`](Self::tree_lockfile) belongs to it but for [`left_out`](Self::left_out), whatever was to be omitted.
    pub is_part: bool,
    /// The same lock as it was at hand: the project is the entry without a path, and what is not for this machine or was to be
    /// omitted is in it, too.
    pub tree: Lockfile,
    /// Whether it differs from what the project had.
    pub lock_changed: bool,
    /// The new text of `package.json`; `None` where it stays as it is.
    pub package_json: Option<Vec<u8>>,
    /// Folders of workspaces whose `package.json` was changed, with its new text.
    pub workspace_manifests: Vec<(String, Vec<u8>)>,
    /// Installed packages.
    pub packages: u32,
    /// Of these, how many the store had before.
    pub reused: u32,
    /// Requests made.
    pub requests: u32,
    /// Compressed bytes of tarballs received.
    pub bytes: u64,
    /// Milliseconds it took.
    pub elapsed: f64,
    /// How the tree was made; default where [`Extent::LockOnly`] was asked.
    pub link: LinkReport,
    /// Paths of optional packages that belong on the target and could not be had.
    pub left_out: Vec<String>,
    /// `name@version` of installed packages that have install scripts of which nothing is said, sorted: they did not run.
    pub scripts: Vec<String>,
    /// Folders of the user that links lead to and of which nothing is said, relative to the project, sorted: scripts that they
    /// have did not run.
    pub unreviewed_folders: Vec<String>,
    /// Packages in the lock that their authors advise against; those that are left out of the tree, too.
    pub deprecated: Vec<Deprecated>,
}

/// A package that its author advises against.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deprecated {
    /// Its folder: `node_modules/a`.
    pub path: String,
    /// `name@version`
    pub package: String,
    /// What its author says.
    pub message: String,
}

impl Deprecated {
    /// Warnings of those whose folders are new, each package once, as npm has them for whatever it unpacks.
    pub fn warnings(all: &[Self], is_new: impl Fn(&str) -> bool) -> Vec<Event> {
        let mut told = BTreeSet::new();
        let new = all.iter().filter(|deprecated| is_new(&deprecated.path) && told.insert(&deprecated.package));
        let warning = |Self { package, message, .. }: &Self| Event::Warning {
            code: "DEPRECATED".to_owned(),
            message: format!("{package}: {message}"),
        };
        new.map(warning).collect()
    }
}
