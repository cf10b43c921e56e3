//! The pipeline itself.

use crate::changes::Asked;
use crate::complete::{Lacking, complete_lock};
use crate::error::TAMPERED;
use crate::host::{Host, LinkReport, PackageStore, ProjectTree};
use crate::in_place::InPlace;
use crate::progress::Progress;
use crate::project::{read_project, read_workspaces};
use crate::request::{Conflicts, Extent, InstallMode, InstallRequest, LockFields, LockUse, Outcome, Update};
use crate::resolve::{Resolved, resolve};
use crate::traffic::{Landing, Traffic};
use crate::yarn::{with_yarn_lock, yarn_lock_of};
use crate::{EngineError, Event, Fault, Phase};
use futures_util::FutureExt;
use gantry_layout::{PlannedPackage, plan, wanted};
use gantry_manifest::{LockEntry, Lockfile, Manifest, ManifestError, Text};
use gantry_resolver::{
    MachineCheck, Project, Resolution, ResolveError, SettledLock, check_machine, legacy_dependencies, lock_mismatches,
    optional_set,
};
use gantry_store::PackageKey;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};

/// Installs a project.
///
/// `listener` is told what happens. The lock is written last: a run that fails or is dropped leaves the project's lock
/// and tree as they were, and what the store has already got is used by the next run.
pub async fn install<H: Host>(
    host: &H,
    request: &InstallRequest,
    listener: &mut dyn FnMut(Event),
) -> Result<Outcome, EngineError> {
    let progress = Progress::new(host.registry().clock(), listener, request.timing);
    host.registry().note_spans(request.timing);
    let result = run(host, request, &progress).boxed_local().await;
    // Of what was given up when it ended.
    progress.take_spans(host.registry());
    if let Some(timing) = progress.take_timing() {
        progress.emit(Event::Timing(timing.report()));
    }
    if let Ok(Outcome { packages, requests, bytes, elapsed, link, .. }) = &result {
        let (packages, requests, bytes, elapsed) = (*packages, *requests, *bytes, *elapsed);
        progress.emit(Event::Done { packages, files: link.files, requests, bytes, elapsed });
    }
    result
}

/// The stages one after the other. Each is behind a box: an install is woken for every part of every answer, and what it goes
/// through each time should be little (WebAssembly that runs often is compiled twice). What runs once is not inlined, either.
async fn run<H: Host>(
    host: &H,
    request: &InstallRequest,
    progress: &Progress<'_, H::Clock>,
) -> Result<Outcome, EngineError> {
    let request = &*with_yarn_lock(request, progress)?;
    let mut beginning = begin(host, request, progress).boxed_local().await?;
    let changed = beginning.asked.as_ref().map(|asked| asked.request(request));
    let request = changed.as_ref().unwrap_or(request);
    let mut traffic = Traffic::new(host, request.resolve.before.is_some());
    let decided = match settled_lock(request, &mut beginning, progress)? {
        Some(decided) => decided,
        None => decide(host, request, &mut beginning, &mut traffic, progress).boxed_local().await?,
    };
    let Decided { mut lockfile, abbreviated, checked: MachineCheck { mut inert, .. } } = decided;
    let mut left_out = Vec::new();
    let mut in_place = InPlace::default();
    if request.extent == Extent::Tree {
        progress.phase(Phase::Fetch);
        let foreign = inert.clone();
        in_place = InPlace::of(host, request, &lockfile, &inert)?;
        fetch(host, request, &lockfile, (&mut inert, &in_place), &mut traffic, progress).boxed_local().await?;
        left_out = inert.difference(&foreign).cloned().collect();
        host.store().commit().await?;
    }
    traffic.give_up_packages();
    if let Some(abbreviated) = abbreviated {
        let lacking = Lacking { abbreviated, old: std::mem::take(&mut beginning.old) };
        complete_lock(host, &mut lockfile, &lacking, request.lock_fields, &mut traffic, progress).boxed_local().await?;
    }
    drop(traffic);
    let package_json = match &beginning.asked {
        Some(asked) => asked.save(request, &mut beginning.project.root, &mut lockfile)?,
        None => None,
    };
    set_header(request, &beginning.project, beginning.read, &mut lockfile)?;
    let concluding = Concluding { lockfile: &lockfile, package_json, inert: &inert, in_place: &in_place, left_out };
    let outcome = conclude(host, request, concluding, progress).boxed_local().await?;
    if let Some(text) = yarn_lock_of(request, &beginning.project, &lockfile, &inert)? {
        host.project().write_yarn_lock(text.as_bytes()).await?;
    }
    Ok(outcome)
}

/// Resolves a project as [`install`] with [`Extent::LockOnly`] does, but writes nothing of it, and gives its peer conflicts.
///
/// Every other failure is what it is to an install.
pub async fn conflicts<H: Host>(
    host: &H,
    request: &InstallRequest,
    listener: &mut dyn FnMut(Event),
) -> Result<Conflicts, EngineError> {
    let request = &InstallRequest { extent: Extent::LockOnly, lock_fields: LockFields::Fast, ..request.clone() };
    let progress = Progress::new(host.registry().clock(), listener, false);
    let request = &*with_yarn_lock(request, &progress)?;
    let beginning = begin(host, request, &progress).boxed_local().await?;
    let changed = beginning.asked.as_ref().map(|asked| asked.request(request));
    let request = changed.as_ref().unwrap_or(request);
    let mut traffic = Traffic::new(host, request.resolve.before.is_some());
    let resolved = work_out(host, request, &beginning, &mut traffic, &progress).boxed_local().await;
    drop(traffic);
    let stopping = match resolved {
        Ok(Resolved { resolution, .. }) => {
            resolution.warnings.iter().for_each(|warning| progress.warn_resolving(warning));
            None
        }
        Err(EngineError::Resolve(ResolveError::PeerConflict(conflict))) => Some(*conflict),
        Err(error) => return Err(error),
    };
    for warning in host.registry().settle().await {
        progress.warn(warning.code, warning.message);
    }
    Ok(Conflicts { accepted: progress.take_conflicts(), stopping })
}

/// What an install starts from.
struct Beginning {
    project: Project,
    /// Changes that the user asks for, which `project` has.
    asked: Option<Asked>,
    /// The project's lock.
    lock: Option<Lockfile>,
    /// The lock of what is installed, where that is started from.
    installed: Option<Lockfile>,
    /// What the lock says of itself.
    read: Option<Header>,
    /// Paths and versions of a lock that says too little of its packages.
    old: FxHashSet<(String, Option<Text>)>,
}

async fn begin<H: Host>(
    host: &H,
    request: &InstallRequest,
    progress: &Progress<'_, H::Clock>,
) -> Result<Beginning, EngineError> {
    let mut root = Manifest::parse_package_json(&request.package_json, &request.package_json_path)?;
    let mut asked = None;
    if request.mode == InstallMode::Install && !request.changes.is_empty() {
        asked = Some(Asked::of(host, request, &mut root, progress).boxed_local().await?);
    }
    let lock = if request.changes.update == Update::All { None } else { read_lock(request, progress)? };
    let workspaces = read_workspaces(host, &root, progress).await?;
    let installed = if starts_from_tree(request, lock.as_ref()) {
        let folders: Vec<String> = workspaces.iter().map(|workspace| workspace.path.clone()).collect();
        host.project().installed(&folders).await
    } else {
        None
    };
    let project = read_project(host, (root, workspaces), lock.as_ref().or(installed.as_ref())).await?;
    let read = lock.as_ref().map(Header::of);
    let old = lock.iter().filter(|lock| lock.is_old()).flat_map(|lock| &lock.packages);
    let old = old.map(|entry| (entry.path.clone(), entry.manifest.version.clone())).collect();
    Ok(Beginning { project, asked, lock, installed, read, old })
}

/// The lock that is to be installed.
struct Decided {
    lockfile: Lockfile,
    /// Packages whose entries lack what only full documents have; `None` where nothing is to be completed.
    abbreviated: Option<FxHashSet<String>>,
    checked: MachineCheck,
}

/// The project's lock, where a resolution would only take out of it what nobody asks for.
#[inline(never)]
fn settled_lock<C: gantry_platform::Clock>(
    request: &InstallRequest,
    beginning: &mut Beginning,
    progress: &Progress<'_, C>,
) -> Result<Option<Decided>, EngineError> {
    let Beginning { project, asked, lock, .. } = beginning;
    let Some(known) = lock.as_ref().filter(|_| asked.is_none()) else { return Ok(None) };
    if known.is_old() || !is_named(request, known, &project.root) || !describes_project(known, project) {
        return Ok(None);
    }
    let Some(settled) = SettledLock::of(project, known, &request.resolve) else { return Ok(None) };
    let Some(mut lockfile) = lock.take() else { return Ok(None) };
    lockfile.packages.retain(|entry| !settled.extraneous().contains(&entry.path));
    progress.count(|counters| counters.resolved = u32::try_from(lockfile.packages.len()).unwrap_or(u32::MAX));
    let checked = settled.check_machine()?;
    for warning in &checked.warnings {
        progress.warn(warning.code, warning.message.clone());
    }
    Ok(Some(Decided { lockfile, abbreviated: None, checked }))
}

/// Resolves.
async fn decide<'a, H: Host>(
    host: &'a H,
    request: &InstallRequest,
    beginning: &mut Beginning,
    traffic: &mut Traffic<'a, H>,
    progress: &Progress<'_, H::Clock>,
) -> Result<Decided, EngineError> {
    let Resolved { resolution, abbreviated } =
        work_out(host, request, beginning, traffic, progress).boxed_local().await?;
    for warning in &resolution.warnings {
        progress.warn_resolving(warning);
    }
    let (lockfile, abbreviated) = match (request.mode, beginning.lock.take()) {
        (InstallMode::Ci, Some(lock)) => (confirmed(request, lock, &resolution)?, None),
        _ => (resolution.lockfile, Some(abbreviated)),
    };
    // Its warnings are those of the resolution, which have been told.
    let checked = check_machine(&lockfile, &request.resolve)?;
    Ok(Decided { lockfile, abbreviated, checked })
}

async fn work_out<'a, H: Host>(
    host: &'a H,
    request: &InstallRequest,
    beginning: &Beginning,
    traffic: &mut Traffic<'a, H>,
    progress: &Progress<'_, H::Clock>,
) -> Result<Resolved, EngineError> {
    let Beginning { project, lock, installed, .. } = beginning;
    progress.phase(Phase::Resolve);
    // A kept document that turns out to be damaged is as good as absent: what was made of it is made again.
    loop {
        let start = lock.as_ref().or(installed.as_ref());
        let resolved = resolve(host, request, project.clone(), start, traffic, progress).boxed_local().await;
        if !host.registry().take_damage() {
            return resolved;
        }
        *traffic = Traffic::new(host, request.resolve.before.is_some());
    }
}

/// What is to be made and written.
struct Concluding<'l> {
    lockfile: &'l Lockfile,
    /// The new text of the project's manifest.
    package_json: Option<Vec<u8>>,
    inert: &'l BTreeSet<String>,
    in_place: &'l InPlace,
    left_out: Vec<String>,
}

/// Makes the tree and writes manifest and lock.
async fn conclude<H: Host>(
    host: &H,
    request: &InstallRequest,
    Concluding { lockfile, package_json, inert, in_place, left_out }: Concluding<'_>,
    progress: &Progress<'_, H::Clock>,
) -> Result<Outcome, EngineError> {
    let text = lockfile.to_text();
    let mut link = LinkReport::default();
    let mut packages = 0;
    let mut scripts = BTreeSet::new();
    if request.extent == Extent::Tree {
        progress.phase(Phase::Link);
        let index = |key: &PackageKey| host.store().index(key).or_else(|| in_place.index(key));
        let plan = plan(&text, inert, &request.omit, &index)?;
        packages = u32::try_from(plan.packages.len()).unwrap_or(u32::MAX);
        for package in &plan.packages {
            if index(&package.key).is_some_and(|index| index.facts.has_install_script) {
                scripts.insert(format!("{}@{}", package.name, package.version));
            }
        }
        link = host.project().link(&plan, request.mode, host.store()).await?;
    }

    progress.phase(Phase::Lock);
    if let Some(bytes) = &package_json {
        host.project().write_manifest(bytes).await?;
    }
    let lock_bytes = text.to_bytes();
    // `ci` leaves the file as it is, however it is written.
    let is_written = request.mode == InstallMode::Install && request.lock_use == LockUse::ReadAndWrite;
    let lock_changed = is_written && request.lockfile.as_deref() != Some(&lock_bytes);
    if lock_changed {
        host.project().write_lock(&lock_bytes).await?;
    }
    for warning in host.registry().settle().await {
        progress.warn(warning.code, warning.message);
    }
    progress.report();
    let counters = progress.counters.get();
    let elapsed = progress.elapsed();
    Ok(Outcome {
        complete_lockfile: if lockfile.is_old() { text.to_complete_bytes() } else { lock_bytes.clone() },
        lockfile: lock_bytes,
        lock_changed,
        package_json,
        packages,
        reused: counters.reused,
        requests: counters.requests,
        bytes: counters.bytes,
        elapsed,
        link,
        left_out,
        scripts: scripts.into_iter().collect(),
    })
}

/// The project's lock. `install` treats a damaged one as absent, with a warning, as npm does; one that is whole but cannot be
/// used here would lose its versions that way, so it stops the install. `ci` takes nothing but a lock it can use.
fn read_lock<C: gantry_platform::Clock>(
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
        (Ok(lock), _) => Ok(Some(lock)),
        (Err(error), InstallMode::Install) if is_damage(&error) => {
            progress.warn(error.code(), format!("{error}; the lock is made anew"));
            Ok(None)
        }
        (Err(error), _) => Err(error.into()),
    }
}

/// Where there is no lock, the tree starts from what is installed: what fits stays as it is, however old. Not where a lock is
/// there and passed over on purpose: then npm begins from nothing.
fn starts_from_tree(request: &InstallRequest, lock: Option<&Lockfile>) -> bool {
    let is_passed_over = request.lock_use == LockUse::Ignore && request.lockfile.is_some();
    let is_kept_to = request.changes.update != Update::All;
    lock.is_none() && !is_passed_over && is_kept_to && request.mode == InstallMode::Install
}

/// Whether npm would take the file for no lock at all.
fn is_damage(error: &ManifestError) -> bool {
    matches!(error.code(), "LOCK_JSON" | "LOCK_SHAPE" | "LOCK_CONFLICT")
}

/// What a lock says of itself.
struct Header {
    name: Option<Text>,
    version: Option<Text>,
    lockfile_version: u32,
}

impl Header {
    fn of(lock: &Lockfile) -> Self {
        let Lockfile { name, version, lockfile_version, .. } = lock;
        Self { name: name.clone(), version: version.clone(), lockfile_version: *lockfile_version }
    }
}

/// Decides which version of the format is written: the one that is asked for, else the one that was read, except that
/// version 1 is brought up to date. Where npm writes no lock it does not look at the project's name either, and the hidden
/// lock has the one of the lock that was read.
#[inline(never)]
fn set_header(
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
    if lockfile.lockfile_version < 3 && request.mode == InstallMode::Install {
        lockfile.dependencies = legacy_dependencies(project, lockfile, &request.resolve)?;
    }
    Ok(())
}

/// Whether the lock has the project's name, or its folder's where the project has none.
fn is_named(request: &InstallRequest, lock: &Lockfile, root: &Manifest) -> bool {
    let own = root.name.as_deref().filter(|name| !name.is_empty());
    let folder = Some(request.resolve.folder_name.as_str()).filter(|name| !name.is_empty());
    lock.name.as_deref() == own.or(folder) && lock.entry("").is_some_and(|entry| entry.manifest.name.as_deref() == own)
}

/// Whether the lock was made from these manifests. Where it was not, it may hold packages that nobody asks for any more.
fn describes_project(lock: &Lockfile, project: &Project) -> bool {
    let folders = project.workspaces.iter().map(|workspace| (&workspace.path, &workspace.manifest));
    let mut folders = folders.chain(project.folders.iter().map(|folder| (&folder.path, &folder.manifest)));
    let root = describes(lock, "", &project.root) && describes_workspaces(lock, project);
    root && folders.all(|(path, manifest)| describes(lock, path, manifest))
}

/// Whether the lock links to the project's workspaces and to no other folder in their place.
fn describes_workspaces(lock: &Lockfile, project: &Project) -> bool {
    let known: BTreeSet<(String, String)> =
        Project::of_lock(lock).workspaces.into_iter().map(|known| (known.name, known.path)).collect();
    let found = project.workspaces.iter().map(|found| (found.name.clone(), found.path.clone()));
    known == found.collect::<BTreeSet<_>>()
}

/// Whether an entry repeats the members of a manifest that matter: sorted, where `package.json` may have any order.
fn describes(lock: &Lockfile, path: &str, root: &Manifest) -> bool {
    let Some(LockEntry { manifest, .. }) = lock.entry(path) else { return false };
    let maps = |manifest: &Manifest| {
        let maps = [
            &manifest.dependencies,
            &manifest.dev_dependencies,
            &manifest.optional_dependencies,
            &manifest.peer_dependencies,
            &manifest.bin,
            &manifest.engines,
        ];
        maps.map(|map| map.iter().map(|(key, value)| (key.clone(), value.clone())).collect::<BTreeMap<_, _>>())
    };
    let optional_peers = |manifest: &Manifest| manifest.peer_optional.iter().cloned().collect::<BTreeSet<_>>();
    maps(manifest) == maps(root)
        && optional_peers(manifest) == optional_peers(root)
        && manifest.version == root.version
        && manifest.license == root.license
        && manifest.workspaces == root.workspaces
}

/// `ci` takes the lock as it is or not at all. What the lock alone could not settle (a peer conflict that was accepted when
/// it was made, say) has been resolved again from it, and must have come to the same; what nobody asks for any more is
/// not installed.
fn confirmed(request: &InstallRequest, mut lock: Lockfile, resolution: &Resolution) -> Result<Lockfile, EngineError> {
    let problems = lock_mismatches(&lock, resolution);
    if problems.is_empty() && lock.is_old() {
        // What npm 6 wrote says too little to install from; only its versions count.
        return Ok(Lockfile { name: lock.name, version: lock.version, ..resolution.lockfile.clone() });
    }
    if problems.is_empty() {
        let asked_for: FxHashMap<&str, &LockEntry> =
            resolution.lockfile.packages.iter().map(|entry| (entry.path.as_str(), entry)).collect();
        lock.packages.retain_mut(|entry| {
            let Some(LockEntry { dev, optional, dev_optional, peer, .. }) = asked_for.get(entry.path.as_str()) else {
                return false;
            };
            (entry.dev, entry.optional, entry.dev_optional, entry.peer) = (*dev, *optional, *dev_optional, *peer);
            true
        });
        return Ok(lock);
    }
    Err(EngineError::LockOutOfSync { path: request.lockfile_path.clone(), problems })
}

/// Brings everything the tree needs into the store. An optional package that cannot be had is left out as npm leaves it
/// out, with what depends on it and what only they need: their paths join `inert`.
async fn fetch<'a, H: Host>(
    host: &'a H,
    request: &InstallRequest,
    lockfile: &Lockfile,
    (inert, in_place): (&mut BTreeSet<String>, &InPlace),
    traffic: &mut Traffic<'a, H>,
    progress: &Progress<'_, H::Clock>,
) -> Result<(), EngineError> {
    let mut missing: Missing = FxHashMap::default();
    let packages = wanted(lockfile, inert, &request.omit)?.into_iter();
    for package in packages.filter(|package| !in_place.has(&package.path)) {
        missing.entry(package.key.clone()).or_default().push(package);
    }
    traffic.retain_packages(|key| missing.contains_key(key));
    let mut ordered: Vec<&PlannedPackage> = missing.values().filter_map(|places| places.first()).collect();
    ordered.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    let entries: FxHashMap<&str, &LockEntry> =
        lockfile.packages.iter().map(|entry| (entry.path.as_str(), entry)).collect();
    for package in ordered {
        traffic.want_planned(package, entries.get(package.path.as_str()).copied(), progress)?;
    }
    missing.retain(|key, _| host.store().index(key).is_none());

    for (key, fault) in traffic.take_failures() {
        if let Some(places) = missing.remove(&key) {
            give_up(request, lockfile, &places, fault, inert, progress)?;
            forget(&mut missing, inert);
        }
    }
    while !missing.is_empty() {
        match traffic.next(progress).await {
            Some(Landing::Package(job, result)) => {
                let Some(places) = missing.remove(&job.key) else { continue };
                if let Err(fault) = result {
                    give_up(request, lockfile, &places, fault, inert, progress)?;
                    forget(&mut missing, inert);
                }
            }
            Some(Landing::Packument(..) | Landing::Version(..) | Landing::Source(..)) => {}
            None => {
                return Err(Fault::new("STORE_LOST", "the store forgot a package that it had reported as there")
                    .with_hint("Storage may have been cleared meanwhile; install again.")
                    .into());
            }
        }
    }
    Ok(())
}

/// What the store lacks, with all places of the tree it is for.
type Missing = FxHashMap<PackageKey, Vec<PlannedPackage>>;

/// Takes out of `missing` what is for no place any more.
fn forget(missing: &mut Missing, inert: &BTreeSet<String>) {
    missing.retain(|_, places| {
        places.retain(|package| !inert.contains(&package.path));
        !places.is_empty()
    });
}

/// Leaves out an optional package that failed; any other failure stops the install.
fn give_up<C: gantry_platform::Clock>(
    request: &InstallRequest,
    lockfile: &Lockfile,
    places: &[PlannedPackage],
    fault: Fault,
    inert: &mut BTreeSet<String>,
    progress: &Progress<'_, C>,
) -> Result<(), EngineError> {
    if !fault.is_of_a_package() || fault.code == TAMPERED {
        return Err(fault.into());
    }
    let mut gone = BTreeSet::new();
    for package in places {
        match optional_set(lockfile, &request.resolve, &package.path, inert)? {
            Some(set) => gone.extend(set),
            None => return Err(fault.into()),
        }
    }
    let others: BTreeSet<String> = gone.iter().filter_map(|path| lockfile.entry(path)).map(LockEntry::label).collect();
    if let Some(package) = places.first() {
        let name = format!("{}@{}", package.name, package.version);
        let with: Vec<&str> = others.iter().map(String::as_str).filter(|other| *other != name).collect();
        let with = if with.is_empty() { String::new() } else { format!(" with {}", with.join(", ")) };
        progress.warn(fault.code.to_string(), format!("optional {name} left out{with}: {}", fault.message));
    }
    inert.extend(gone);
    Ok(())
}
