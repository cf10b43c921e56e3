//! What the pipeline needs from a platform, above the bare effects: a package store, and a place to put the tree.

use crate::changes::Manifests;
use crate::{Fault, InstallMode};
use bytes::Bytes;
use core::future::{Future, ready};
use futures_util::future::LocalBoxFuture;
use gantry_archive::Entry;
use gantry_forecast::Table;
use gantry_layout::{PackageKeys, Plan, PlannedPackage, Scripts, is_folder, is_git};
use gantry_manifest::{Lockfile, Text};
use gantry_platform::{Clock, Http, Span};
use gantry_registry::{RegistryClient, Slot, TarballRequest};
use gantry_store::{PackageIndex, PackageKey};
use std::sync::Arc;

/// One package to bring into the store.
#[derive(Debug, Clone)]
pub struct IngestJob {
    /// Where the store keeps it.
    pub key: PackageKey,
    /// Its name, for events.
    pub name: Text,
    /// Its version, for events.
    pub version: Text,
    /// How to fetch it.
    pub tarball: TarballRequest,
    /// Where its bytes come from, if not from an address: they are got when its turn comes.
    pub source: Option<JobSource>,
    /// Unpacked size in bytes as the registry states it, so that big ones can go first; 0 where unknown.
    pub size_hint: u64,
    /// When it was asked for, in milliseconds on the host's clock.
    pub asked: f64,
    /// What it holds while it is under way; to be given up while its request waits to be made again.
    pub slot: Slot,
}

/// Where a package comes from that no address serves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JobSource {
    /// A file of the user, relative to the project.
    File(String),
    /// A folder of the user, as the lock has it, of which the package is made.
    Folder(String),
    /// A commit of a git repository, as the lock has it.
    Git(String),
}

impl JobSource {
    /// What the `resolved` of a lock names; `None` for an address.
    pub(crate) fn of(resolved: &str) -> Option<Self> {
        match resolved.strip_prefix("file:") {
            Some(_) if is_folder(resolved) => Some(Self::Folder(resolved.to_owned())),
            Some(path) => Some(Self::File(path.to_owned())),
            None => is_git(resolved).then(|| Self::Git(resolved.to_owned())),
        }
    }
}

/// A package that is now in the store.
#[derive(Debug, Clone)]
pub struct IngestReport {
    /// Its files and facts.
    pub index: Arc<PackageIndex>,
    /// Compressed bytes received.
    pub bytes: u64,
    /// Requests it took.
    pub requests: u32,
    /// How requests, hashing, unpacking and writing went, on the host's clock.
    pub spans: Vec<Span>,
}

/// Keeps packages, each once, whatever project wants it.
pub trait PackageStore {
    /// The files of `key`, if it is there and complete.
    fn index(&self, key: &PackageKey) -> Option<Arc<PackageIndex>>;
    /// Fetches, verifies, unpacks and stores a package. Nothing of a package that fails is ever visible. May be dropped at any
    /// time, and is before anything else is asked of the store that may wait for what it holds.
    fn ingest(&self, job: IngestJob) -> impl Future<Output = Result<IngestReport, Fault>>;
    /// Makes everything ingested so far durable.
    fn commit(&self) -> impl Future<Output = Result<(), Fault>>;
    /// Forgets a package that is to be stored anew, since nothing tells whether it is still the same. Projects keep theirs.
    fn forget(&self, _key: &PackageKey) -> Result<(), Fault> {
        Ok(())
    }
    /// Contents of one file of a stored package; `None` if it has no such file.
    fn read_file(&self, key: &PackageKey, path: &str) -> impl Future<Output = Result<Option<Vec<u8>>, Fault>>;
}

/// What making the tree came to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LinkReport {
    /// Packages put in place anew.
    pub linked: u32,
    /// Their folders; none where the platform compares the tree with the one before only later, and then tells itself of those
    /// that are deprecated.
    pub placed: Vec<String>,
    /// Packages that were in place.
    pub kept: u32,
    /// Files in all packages of the tree.
    pub files: u64,
    /// How files got there, in the platform's words (`hard link`, `clone`, `copy`, `virtual tree`).
    pub method: String,
    /// Why not by a better way, where there is one.
    pub reason: Option<String>,
    /// What of the tree before could not be removed, and why.
    pub left_behind: Option<String>,
    /// Of what the plan lets run scripts, labels of what had some that were run.
    pub scripts_run: Vec<String>,
    /// Labels of packages that scripts have written into where other projects share their files. They have files of their own now
    /// and are no more in the store.
    pub scripts_changed: Vec<String>,
    /// Optional packages of these whose scripts failed, by path, and how. They are in the tree still.
    pub scripts_failed: Vec<(String, Fault)>,
}

/// The project that an install is for. Paths are relative to it, with `/`; what is outside of it starts with `..`.
pub trait ProjectTree {
    /// What tells it from the other projects that share the store: what of its packages nothing vouches for is stored for it
    /// alone ([`PackageKeys`]).
    fn owner(&self) -> &str;
    /// What may run its scripts when it is put in place. None where there are no processes.
    fn scripts(&self) -> &Scripts {
        &Scripts::None
    }
    /// Commits whose packages are being built by whoever has begun this install.
    fn building(&self) -> &[String] {
        &[]
    }
    /// How the store names the project's packages.
    fn keys(&self) -> PackageKeys<'_> {
        PackageKeys::new(self.owner(), self.scripts()).while_building(self.building())
    }
    /// Names of the folders in the user's folder at `path`; none where there is no folder.
    fn folders(&self, path: &str) -> impl Future<Output = Result<Vec<String>, Fault>>;
    /// Names of what else is in the user's folder at `path`; links count as files, whatever they lead to.
    fn files(&self, path: &str) -> impl Future<Output = Result<Vec<String>, Fault>>;
    /// The project's `package.json` as it is now, where others may have written it since the request was made; `None` where
    /// the request says all there is to say.
    fn manifest_now(&self) -> impl Future<Output = Result<Option<Bytes>, Fault>> {
        ready(Ok(None))
    }
    /// Contents of the user's file at `path`; `None` where there is none.
    fn read(&self, path: &str) -> impl Future<Output = Result<Option<Bytes>, Fault>>;
    /// The files of the package that npm makes of the user's folder at `path`, sorted by path. `name` is for messages. If it
    /// `is_prepared`, its `prepare` script is run first.
    fn packed(
        &self,
        name: &str,
        path: &str,
        _is_prepared: bool,
    ) -> impl Future<Output = Result<Vec<Entry<'static>>, Fault>> {
        let message = format!("{name}: packages cannot be made of folders here, such as {path}");
        ready(Err(Fault::new("CONFIG_UNSUPPORTED", message).with_package(name)))
    }
    /// Whether the user's folder at `path` has scripts that would be run if it were allowed to. Where none ever run it has none.
    fn has_scripts(&self, _path: &str) -> bool {
        false
    }
    /// Makes `node_modules` what `plan` says, and runs the scripts that it allows; for [`InstallMode::Ci`] whatever else was
    /// there goes. Either all of it becomes visible or what was there stays; a script that fails has it stay, unless its package
    /// is optional.
    fn link(
        &self,
        plan: &Plan,
        mode: InstallMode,
        store: &impl PackageStore,
    ) -> impl Future<Output = Result<LinkReport, Fault>>;
    /// All that is installed, as a lock without what is left out: what a project starts from that has no lock, and what stays
    /// where only a part of a project is installed. Of what nothing tells where it came from, it has neither address nor
    /// integrity. `workspaces` are the project's folders that belong to it in any case. Not asked for [`InstallMode::Ci`].
    fn installed(&self, workspaces: &[String]) -> impl Future<Output = Result<Option<Lockfile>, Fault>>;
    /// The package of a plan that does not say where it comes from, or that was made of the same folder and is of the same
    /// version, where it is in place: then it stays as it is.
    fn in_place(&self, _package: &PlannedPackage) -> Option<PackageIndex> {
        None
    }
    /// Makes sure, before the tree is touched, that the user's files can be replaced by what will be written there. Who cannot
    /// tell lets it come to that.
    fn make_room(&self, _files: &UsersFiles<'_>) -> Result<(), Fault> {
        Ok(())
    }
    /// Replaces the `package.json` of the project, or of the workspace in `folder` (empty for the project), in one step.
    fn write_manifest(&self, folder: &str, bytes: &[u8]) -> impl Future<Output = Result<(), Fault>>;
    /// Replaces the lock file in one step.
    fn write_lock(&self, bytes: &[u8]) -> impl Future<Output = Result<(), Fault>>;
    /// Replaces `yarn.lock`. Only asked of who has handed one in.
    fn write_yarn_lock(&self, _bytes: &[u8]) -> impl Future<Output = Result<(), Fault>> {
        core::future::ready(Ok(()))
    }
}

/// What an install writes into files of the user's.
#[derive(Debug, Clone, Default)]
pub struct UsersFiles<'f> {
    /// Each `package.json` that changes, by its folder; empty for the project's.
    pub manifests: Vec<(&'f str, &'f [u8])>,
    /// The lock, if it changes.
    pub lock: Option<&'f [u8]>,
    /// `yarn.lock`, if it changes.
    pub yarn_lock: Option<&'f [u8]>,
}

impl<'f> UsersFiles<'f> {
    /// With these manifests.
    pub(crate) fn with_manifests(&self, manifests: &'f Manifests) -> Self {
        let workspaces = manifests.workspaces.iter().map(|(folder, bytes)| (folder.as_str(), &**bytes));
        let root = manifests.root.iter().map(|bytes| ("", &**bytes));
        Self { manifests: workspaces.chain(root).collect(), ..self.clone() }
    }
}

/// Builds packages of repositories by their own scripts, where a platform has processes.
pub trait Builder {
    /// What the scripts of a package make of the files of a commit. `name` is the package's, for messages; files are sorted by path.
    fn build<'a>(
        &'a self,
        name: &'a str,
        commit: &'a str,
        files: Vec<Entry<'static>>,
    ) -> LocalBoxFuture<'a, Result<Vec<Entry<'static>>, Fault>>;
}

/// Git itself, where a platform has it.
pub trait Git {
    /// What `git ls-remote` prints for the repository at `url`.
    fn list<'a>(&'a self, url: &'a str) -> LocalBoxFuture<'a, Result<String, Fault>>;
    /// The files of `revision` of the repository at `url`: a commit, or whatever else git reads as one. Where `built_as` is a
    /// package's name, they are what its scripts make of them, with the repository around them.
    fn check_out<'a>(
        &'a self,
        url: &'a str,
        revision: &'a str,
        built_as: Option<&'a str>,
    ) -> LocalBoxFuture<'a, Result<Checkout, Fault>>;
}

/// A commit with its files; links and what git itself keeps are not among them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkout {
    /// The commit.
    pub commit: String,
    /// The files, sorted by path.
    pub files: Vec<Entry<'static>>,
}

/// How many requests of each kind may be under way.
#[derive(Debug, Clone, Copy)]
pub struct Slots {
    /// Documents, however many packages are under way.
    pub documents: usize,
    /// Packages being fetched, waiting to be unpacked, or unpacked. How many of them are fetched is the platform's affair.
    pub packages: usize,
    /// Documents, while no package is asked for. Each package takes one of them away, down to `documents`.
    pub together: usize,
}

/// A platform.
pub trait Host {
    /// Its HTTP client.
    type Http: Http;
    /// Its clock.
    type Clock: Clock;
    /// Its store.
    type Store: PackageStore;
    /// Its project.
    type Project: ProjectTree;

    /// The registries.
    fn registry(&self) -> &RegistryClient<Self::Http, Self::Clock>;
    /// The store.
    fn store(&self) -> &Self::Store;
    /// The project.
    fn project(&self) -> &Self::Project;
    /// How much at once.
    fn slots(&self) -> Slots;
    /// What is known of packages before any registry is asked.
    fn forecast(&self) -> Option<Table<'static>> {
        None
    }
    /// Git, where there is one.
    fn git(&self) -> Option<&dyn Git> {
        None
    }
    /// What builds packages of repositories; wherever the project's scripts may run.
    fn builder(&self) -> Option<&dyn Builder> {
        None
    }
}
