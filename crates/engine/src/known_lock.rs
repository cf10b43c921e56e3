//! The lock that an install finds: whether it counts, whether it is of this project, and what of it the new one keeps.

use crate::EngineError;
use crate::progress::Progress;
use crate::request::{InstallMode, InstallRequest, LockUse, Update};
use gantry_manifest::{LockEntry, Lockfile, Manifest, ManifestError, Text, TextStyle};
use gantry_resolver::{Project, Resolution, legacy_dependencies, lock_mismatches};
use gantry_spec::{Spec, SpecKind};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};

/// The project's lock. `install` treats a damaged one as absent, with a warning, as npm does; one that is whole but cannot be
/// used here would lose its versions that way, so it stops the install. `ci` takes nothing but a lock it can use.
pub(crate) fn read_lock<C: gantry_platform::Clock>(
    request: &InstallRequest,
    progress: &Progress<'_, C>,
) -> Result<Option<Lockfile>, EngineError> {
    let used = request.mode == InstallMode::Ci || request.lock_use != LockUse::Ignore;
    // An empty file is none to npm.
    let Some(bytes) = request.lockfile.as_ref().filter(|bytes| used && !bytes.is_empty()) else {
        return match request.mode {
            InstallMode::Install => Ok(None),
            InstallMode::Ci => Err(EngineError::LockMissing { path: request.lockfile_path.clone() }),
        };
    };
    match (Lockfile::parse(bytes, &request.lockfile_path), request.mode) {
        (Ok(mut lock), _) => {
            name_repositories_as_npm(&mut lock);
            Ok(Some(lock))
        }
        (Err(error), InstallMode::Install) if is_damage(&error) => {
            progress.warn(error.code(), format!("{error}; the lock is made anew"));
            Ok(None)
        }
        (Err(error), _) => Err(error.into()),
    }
}

/// The lock where none of its versions is kept, as in `update`: one that could not be read is not written over, either.
pub(crate) fn read_lock_to_replace(request: &InstallRequest) -> Result<Option<Lockfile>, EngineError> {
    let bytes = request.lockfile.as_ref().filter(|_| request.lock_use != LockUse::Ignore);
    match bytes.map(|bytes| Lockfile::parse(bytes, &request.lockfile_path)) {
        Some(Err(error @ ManifestError::LockVersion { .. })) => Err(error.into()),
        _ => Ok(None),
    }
}

/// Has every repository of a host that npm knows by the one address that npm has for it (`consistent-resolve.js`), whichever the
/// lock has.
fn name_repositories_as_npm(lock: &mut Lockfile) {
    for entry in lock.packages.iter_mut().filter(|entry| !entry.link) {
        let Some(resolved) = entry.resolved.as_deref().filter(|resolved| resolved.starts_with("git")) else { continue };
        let Ok(SpecKind::Git(git)) = Spec::parse(entry.folder_name(), resolved).map(|spec| spec.kind) else { continue };
        let committish = resolved.split_once('#').map(|(_, committish)| committish);
        if let (Some(hosted), Some(committish)) = (git.hosted, committish) {
            entry.resolved = Some(hosted.resolved(committish).into());
        }
    }
}

/// Where there is no lock, the tree starts from what is installed: what fits stays as it is, however old. Not where a lock is
/// there and passed over on purpose: then npm begins from nothing.
pub(crate) fn starts_from_tree(request: &InstallRequest, lock: Option<&Lockfile>) -> bool {
    let is_passed_over = request.lock_use == LockUse::Ignore && request.lockfile.is_some();
    let is_kept_to = request.changes.update != Update::All;
    lock.is_none() && !is_passed_over && is_kept_to && !request.resolve.global && request.mode == InstallMode::Install
}

/// Whether npm would take the file for no lock at all.
fn is_damage(error: &ManifestError) -> bool {
    matches!(error.code(), "LOCK_JSON" | "LOCK_SHAPE" | "LOCK_CONFLICT")
}

/// What a lock says of itself.
pub(crate) struct Header {
    name: Option<Text>,
    version: Option<Text>,
    lockfile_version: u32,
}

impl Header {
    pub fn of(lock: &Lockfile) -> Self {
        let Lockfile { name, version, lockfile_version, .. } = lock;
        Self { name: name.clone(), version: version.clone(), lockfile_version: *lockfile_version }
    }
}

/// Decides which version of the format is written: the one that is asked for, else the one that was read, except that
/// version 1 is brought up to date. Where npm writes no lock it does not look at the project's name either, and the hidden
/// lock has the one of the lock that was read.
#[inline(never)]
pub(crate) fn set_header(
    request: &InstallRequest,
    project: &Project,
    read: Option<Header>,
    lockfile: &mut Lockfile,
) -> Result<(), EngineError> {
    let kept = read.as_ref().map(|read| read.lockfile_version).filter(|version| *version > 1);
    let (name, version) = read.map_or((None, None), |read| (read.name, read.version));
    if request.mode == InstallMode::Install && request.lock_use != LockUse::ReadAndWrite {
        (lockfile.name, lockfile.version) = (name, version);
    } else if lockfile.version.is_none() {
        // npm writes the project's version over that of the lock, and where there is none it writes nothing.
        lockfile.version = version;
    }
    lockfile.lockfile_version = request.lockfile_version.or(kept).unwrap_or(Lockfile::DEFAULT_VERSION);
    set_legacy_tree(request, project, lockfile)
}

/// Makes the tree that versions 1 and 2 have for npm 6, of the packages as they are.
pub(crate) fn set_legacy_tree(
    request: &InstallRequest,
    project: &Project,
    lockfile: &mut Lockfile,
) -> Result<(), EngineError> {
    if lockfile.lockfile_version < 3 && request.mode == InstallMode::Install {
        lockfile.dependencies = legacy_dependencies(project, lockfile, &request.resolve)?;
    }
    Ok(())
}

/// Whether the lock has the project's name, or its folder's where the project has none.
pub(crate) fn is_named(request: &InstallRequest, lock: &Lockfile, root: &Manifest) -> bool {
    let own = root.name.as_deref().filter(|name| !name.is_empty());
    let folder = Some(request.resolve.folder_name.as_str()).filter(|name| !name.is_empty());
    lock.name.as_deref() == own.or(folder) && lock.entry("").is_some_and(|entry| entry.manifest.name.as_deref() == own)
}

/// Whether the lock says where packages of registries are, and is not to.
pub(crate) fn is_to_lose_addresses(request: &InstallRequest, lock: &Lockfile) -> bool {
    let has_address = |entry: &LockEntry| !entry.link && entry.resolved.is_some();
    request.mode == InstallMode::Install && request.resolve.omit_resolved && lock.packages.iter().any(has_address)
}

/// How a lock is laid out: like the `package.json` beside it. `None` where that is no text.
pub(crate) fn style_of(request: &InstallRequest) -> Option<TextStyle> {
    std::str::from_utf8(&request.package_json).ok().map(TextStyle::detect)
}

/// Whether the lock was made from these manifests. Where it was not, it may hold packages that nobody asks for any more. For
/// `ci`, which does not write it, what they ask for is enough: npm reads the rest anew.
pub(crate) fn describes_project(mode: InstallMode, lock: &Lockfile, project: &Project) -> bool {
    let describes = |path: &str, manifest: &Manifest| {
        let entry = lock.entry(path);
        entry.is_some_and(|entry| match mode {
            InstallMode::Install => entry.says_all_of(manifest),
            InstallMode::Ci => asks_the_same(&entry.manifest, manifest),
        })
    };
    let root = describes("", &project.root) && describes_workspaces(lock, project);
    root && folders_of(project).all(|(path, manifest)| describes(path, manifest))
}

/// The folders of a project beside its own, with their manifests.
fn folders_of(project: &Project) -> impl Iterator<Item = (&str, &Manifest)> {
    let workspaces = project.workspaces.iter().map(|workspace| (workspace.path.as_str(), &workspace.manifest));
    workspaces.chain(project.folders.iter().map(|folder| (folder.path.as_str(), &folder.manifest)))
}

/// Whether the lock links to the project's workspaces and to no other folder in their place.
fn describes_workspaces(lock: &Lockfile, project: &Project) -> bool {
    let known: BTreeSet<(String, String)> =
        Project::of_lock(lock).workspaces.into_iter().map(|known| (known.name, known.path)).collect();
    let found = project.workspaces.iter().map(|found| (found.name.clone(), found.path.clone()));
    known == found.collect::<BTreeSet<_>>()
}

/// Whether two manifests ask for the same, in whatever order.
fn asks_the_same(left: &Manifest, right: &Manifest) -> bool {
    let maps = |manifest: &Manifest| {
        let maps = [
            &manifest.dependencies,
            &manifest.dev_dependencies,
            &manifest.optional_dependencies,
            &manifest.peer_dependencies,
            &manifest.engines,
        ];
        maps.map(|map| map.iter().map(|(key, value)| (key.clone(), value.clone())).collect::<BTreeMap<_, _>>())
    };
    let optional_peers = |manifest: &Manifest| manifest.peer_optional.iter().cloned().collect::<BTreeSet<_>>();
    maps(left) == maps(right) && optional_peers(left) == optional_peers(right) && left.workspaces == right.workspaces
}

/// What the folders of a project say of themselves, in the place of what their lock says of them: npm's `ci` reads their manifests
/// anew, so that neither a version nor a command is that of an older one.
pub(crate) fn renew_folders(lock: &mut Lockfile, project: &Project) {
    let mut folders: FxHashMap<&str, &Manifest> = folders_of(project).collect();
    for entry in lock.packages.iter_mut().filter(|entry| !entry.link && !entry.path.is_empty()) {
        if let Some(manifest) = folders.remove(entry.path.as_str()) {
            let name = manifest.name.clone().filter(|name| name != entry.folder_name());
            entry.manifest = Manifest { name, overrides: None, dist: None, ..manifest.clone() };
        }
    }
}

/// `ci` takes the lock as it is or not at all. What the lock alone could not settle (a peer conflict that was accepted when
/// it was made, say) has been resolved again from it, and must have come to the same; what nobody asks for any more is
/// not installed.
pub(crate) fn confirmed(
    request: &InstallRequest,
    mut lock: Lockfile,
    resolution: &Resolution,
) -> Result<Lockfile, EngineError> {
    let problems = lock_mismatches(&lock, resolution);
    if problems.is_empty() && lock.is_old() {
        // What npm 6 wrote says too little to install from; only its versions count.
        return Ok(Lockfile { name: lock.name, version: lock.version, ..resolution.lockfile.clone() });
    }
    if problems.is_empty() {
        // The hidden lock is laid out like the manifest as well.
        lock.style = style_of(request).unwrap_or(lock.style);
        let asked_for: FxHashMap<&str, &LockEntry> =
            resolution.lockfile.packages.iter().map(|entry| (entry.path.as_str(), entry)).collect();
        lock.packages.retain_mut(|entry| {
            let Some(asked) = asked_for.get(entry.path.as_str()) else { return false };
            if asked.link != entry.link {
                // Whether a folder is linked to is for the settings to say, not for the lock.
                entry.clone_from(asked);
            }
            let LockEntry { dev, optional, dev_optional, peer, .. } = asked;
            (entry.dev, entry.optional, entry.dev_optional, entry.peer) = (*dev, *optional, *dev_optional, *peer);
            true
        });
        return Ok(lock);
    }
    let left_out = resolution.left_out.clone();
    Err(EngineError::LockOutOfSync { path: request.lockfile_path.clone(), problems, left_out })
}
