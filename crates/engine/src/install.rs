//! The pipeline itself.

use crate::bring::{Brought, add_found, bring, found_in, unpacked};
use crate::carried::{FoundInside, found_anew, give_up_carried, take_back};
use crate::changes::{Asked, Manifests};
use crate::choice::{Chosen, choose};
use crate::complete::{Lacking, complete_lock};
use crate::duplicates::duplicates;
use crate::host::{Host, ProjectTree, UsersFiles};
use crate::known_lock::{
    Header, confirmed, describes_project, is_named, is_to_lose_addresses, read_lock, read_lock_to_replace,
    renew_folders, set_header, set_legacy_tree, starts_from_tree, style_of,
};
use crate::part::{Part, chosen_folders};
use crate::progress::Progress;
use crate::project::{read_commands, read_project, read_workspaces};
use crate::repairs::warn_of_repairs;
use crate::request::{
    Conflicts, Deprecated, Extent, InstallMode, InstallRequest, LockFields, LockUse, Outcome, Update,
};
use crate::resolve::{Resolved, resolve};
use crate::traffic::Traffic;
use crate::tree::{MadeTree, Making, make_tree};
use crate::yarn::{with_yarn_lock, yarn_lock_of};
use crate::{EngineError, Event, Phase};
use futures_util::FutureExt;
use futures_util::future::{Either, select};
use gantry_layout::{PlannedPackage, wanted};
use gantry_manifest::{LockEntry, LockText, Lockfile, Manifest, Text};
use gantry_platform::Clock;
use gantry_resolver::{MachineCheck, Project, ResolveError, SettledLock, check_machine, check_overrides};
use rustc_hash::FxHashSet;
use std::collections::BTreeSet;

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
    let changed = beginning.request(request);
    let request = changed.as_ref().unwrap_or(request);
    let mut traffic = Traffic::new(host, request.resolve.before.is_some());
    traffic.know_sources(beginning.asked.as_mut().map(Asked::take_sources).unwrap_or_default());
    let decided = match settled_lock(request, &mut beginning, progress)? {
        Some(decided) => decided,
        None => decide(host, request, &mut beginning, &mut traffic, progress).boxed_local().await?,
    };
    let Decided { mut lockfile, abbreviated, found, mut listed, checked, incomplete } = decided;
    let mut inert = checked.inert;
    if request.mode == InstallMode::Ci {
        renew_folders(&mut lockfile, &beginning.project);
    }
    if beginning.chosen.is_none() {
        give_up_carried(request, &mut lockfile, &inert)?;
    }
    let before = beginning.before.take();
    let project = &beginning.project;
    let whole = (project, before.as_ref().unwrap_or(project), beginning.chosen.as_ref());
    let Some(abbreviated) = abbreviated else {
        // A lock that is kept to: nothing is to be added to what it says, and no change was asked for.
        set_header(request, &beginning.project, beginning.read.take(), &mut lockfile)?;
        let mut part = Part::of(host, request, whole, &lockfile, &inert).boxed_local().await?;
        let making = part.as_ref().map_or((request, &lockfile), |part| (&part.request, &part.lockfile));
        let left_out = (&mut inert, &incomplete, part.is_some());
        let bringing = bring(host, making, left_out, &mut traffic, progress).boxed_local();
        // The text is what it is, whatever comes: time to make it while packages are on their way.
        let pause = host.registry().clock().sleep(TEXT_MILLISECONDS).boxed_local();
        let (text, mut brought) = match select(bringing, pause).await {
            Either::Left((brought, _)) => (lockfile.to_text(), brought?),
            Either::Right(((), bringing)) => (lockfile.to_text(), bringing.await?),
        };
        let present = (&inert, &brought);
        let found =
            found_in(host, request, &beginning.project, (&lockfile, part.as_ref()), present).boxed_local().await?;
        let text = if found.is_empty() {
            text
        } else {
            drop(text);
            let (into, left_out) = ((&mut lockfile, &mut part), (&mut inert, &incomplete));
            let more =
                add_found(host, (request, whole), found, into, left_out, &mut traffic, progress).boxed_local().await?;
            brought = more.unwrap_or(brought);
            set_legacy_tree(request, &beginning.project, &mut lockfile)?;
            lockfile.to_text()
        };
        drop(traffic);
        let (manifests, made_by) = (Manifests::default(), part);
        let part = made_by.as_ref();
        let concluding = Concluding { lockfile: &lockfile, text, manifests, part, inert: &inert, brought };
        let outcome = conclude(host, request, &beginning.project, concluding, progress).boxed_local().await?;
        return Ok(Outcome { tree: made_by.map_or(lockfile, |part| part.lockfile), ..outcome });
    };
    let mut part = Part::of(host, request, whole, &lockfile, &inert).boxed_local().await?;
    if !found.is_empty() {
        let unpacked = unpacked(request, part.as_ref(), &lockfile, &inert)?;
        take_back(&mut lockfile, &found, |path| unpacked.as_ref().is_none_or(|unpacked| unpacked.contains(path)));
    }
    let making = part.as_ref().map_or((request, &lockfile), |part| (&part.request, &part.lockfile));
    let left_out = (&mut inert, &incomplete, part.is_some());
    let mut brought = bring(host, making, left_out, &mut traffic, progress).boxed_local().await?;
    let present = (&inert, &brought);
    let found = found_in(host, request, &beginning.project, (&lockfile, part.as_ref()), present).boxed_local().await?;
    if !found.is_empty() {
        listed.extend(found.iter().map(|entry| entry.path.clone()));
        let (into, left_out) = ((&mut lockfile, &mut part), (&mut inert, &incomplete));
        let more =
            add_found(host, (request, whole), found, into, left_out, &mut traffic, progress).boxed_local().await?;
        brought = more.unwrap_or(brought);
    }
    let lacking = Lacking { abbreviated, known: std::mem::take(&mut beginning.known), listed };
    complete_lock(host, &mut lockfile, &lacking, request.lock_fields, &mut traffic, progress).boxed_local().await?;
    drop(traffic);
    let manifests = match &beginning.asked {
        Some(asked) => asked.save(host, request, &mut beginning.project, &mut lockfile).boxed_local().await?,
        None => Manifests::default(),
    };
    set_header(request, &beginning.project, beginning.read, &mut lockfile)?;
    let part = part.map(|part| part.completed(&lockfile));
    let text = lockfile.to_text();
    let concluding = Concluding { lockfile: &lockfile, text, manifests, part: part.as_ref(), inert: &inert, brought };
    let outcome = conclude(host, request, &beginning.project, concluding, progress).boxed_local().await?;
    Ok(Outcome { tree: part.map_or(lockfile, |part| part.lockfile), ..outcome })
}

/// How long packages have been on their way when the lock's text is made, in milliseconds: the first ones are under way then.
const TEXT_MILLISECONDS: f64 = 40.0;

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
    let changed = beginning.request(request);
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

/// The packages that a clean install puts in place, by the project's lock as it is; one that is at several paths comes once for
/// each. Asks no registry for anything.
pub async fn packages_of_ci<H: Host>(host: &H, request: &InstallRequest) -> Result<Vec<PlannedPackage>, EngineError> {
    let mut deaf = |_| {};
    let progress = Progress::new(host.registry().clock(), &mut deaf, false);
    let request = &InstallRequest { mode: InstallMode::Ci, extent: Extent::Tree, ..request.clone() };
    let Beginning { project, chosen, lock, .. } = begin(host, request, &progress).boxed_local().await?;
    let lock = lock.ok_or_else(|| EngineError::LockMissing { path: request.lockfile_path.clone() })?;
    let inert = check_machine(&lock, &request.resolve)?.inert;
    let part = Part::of(host, request, (&project, &project, chosen.as_ref()), &lock, &inert).boxed_local().await?;
    Ok(match part {
        Some(part) => wanted(&part.lockfile, &BTreeSet::new(), &part.request.omit, host.project().keys())?,
        None => wanted(&lock, &inert, &request.omit, host.project().keys())?,
    })
}

/// What an install starts from.
struct Beginning {
    project: Project,
    /// The part of the project that was chosen, where it is not the whole.
    chosen: Option<Chosen>,
    /// The folders that it is about.
    folders: Vec<String>,
    /// The project without the changes that the user asks for, where a part was chosen and there are any.
    before: Option<Project>,
    /// Changes that the user asks for, which `project` has.
    asked: Option<Asked>,
    /// What of the tree is to be looked up again because it is there more than once.
    duplicates: Vec<String>,
    /// The project's lock.
    lock: Option<Lockfile>,
    /// The lock of what is installed, where that is started from.
    installed: Option<Lockfile>,
    /// What the lock says of itself.
    read: Option<Header>,
    /// Paths and versions of what is started from and says too little.
    known: FxHashSet<(String, Option<Text>)>,
}

impl Beginning {
    /// The request with what the resolution has to look up again, and where it has to look first.
    fn request(&self, request: &InstallRequest) -> Option<InstallRequest> {
        let mut changed = self.asked.as_ref().map(|asked| asked.request(request));
        if !self.duplicates.is_empty() {
            let changed = changed.get_or_insert_with(|| request.clone());
            changed.resolve.update.extend(self.duplicates.iter().cloned());
            // As every update.
            if changed.lock_use == LockUse::Read {
                changed.lock_use = LockUse::ReadAndWrite;
            }
        } else if let (Update::Duplicates, Some(changed)) = (&request.changes.update, &mut changed) {
            // Where nothing is there twice, npm finds nothing that it was asked for.
            changed.resolve.requested = false;
        }
        if self.lock.is_none() && self.installed.is_some() {
            changed.get_or_insert_with(|| request.clone()).resolve.from_tree = true;
        }
        if self.chosen.is_some() {
            changed.get_or_insert_with(|| request.clone()).resolve.explicit_in.clone_from(&self.folders);
        }
        changed
    }
}

async fn begin<H: Host>(
    host: &H,
    request: &InstallRequest,
    progress: &Progress<'_, H::Clock>,
) -> Result<Beginning, EngineError> {
    let mut root = Manifest::parse_package_json(&request.package_json, &request.package_json_path)?;
    read_commands(host, "", &mut root).await?;
    let mut workspaces = read_workspaces(host, &root, progress).await?;
    let chosen = choose(&request.workspaces, &workspaces, &request.resolve.project_path, &|code, message| {
        progress.warn(code, message)
    })?;
    warn_of_repairs(host, request, progress).await?;
    let lock = match request.changes.update {
        Update::All => read_lock_to_replace(request)?,
        _ => read_lock(request, progress)?,
    };
    let installed = if starts_from_tree(request, lock.as_ref()) {
        let folders: Vec<String> = workspaces.iter().map(|workspace| workspace.path.clone()).collect();
        host.project().installed(&folders).await?
    } else {
        None
    };
    let start = lock.as_ref().or(installed.as_ref());
    let folder = request.resolve.folder_name.as_str();
    if request.changes.update == Update::Duplicates && lock.is_some() && root.name.is_none() && !folder.is_empty() {
        // npm's `dedupe` goes on from the tree that it looked for duplicates in, whose root has a name as every folder.
        root.name = Some(folder.into());
    }
    let duplicates = match (&request.changes.update, start) {
        (Update::Duplicates, Some(start)) => duplicates(start, &request.resolve.folder_name),
        _ => Vec::new(),
    };
    let folders = chosen_folders(request, chosen.as_ref(), start, progress);
    let (mut asked, mut before) = (None, None);
    if request.mode == InstallMode::Install && !request.changes.is_empty() {
        // npm reads the project as it is before it changes it, and gives up there, also where the change would mend it.
        let unchanged = Project { root: root.clone(), workspaces: workspaces.clone(), folders: Vec::new() };
        check_overrides(&unchanged, &request.resolve)?;
        if chosen.is_some() {
            before = Some(read_project(host, (root.clone(), workspaces.clone()), start).await?);
        }
        let manifests = (&mut root, workspaces.as_mut_slice());
        asked = Some(Asked::of(host, request, manifests, &folders, progress).boxed_local().await?);
    }
    let project = read_project(host, (root, workspaces), start).await?;
    let read = lock.as_ref().map(Header::of);
    let is_old = lock.as_ref().is_some_and(Lockfile::is_old);
    let known = start.iter().flat_map(|start| &start.packages);
    let known = known.filter(|entry| is_old || !entry.manifest.is_complete());
    let known = known.map(|entry| (entry.path.clone(), entry.manifest.version.clone())).collect();
    Ok(Beginning { project, chosen, folders, before, asked, duplicates, lock, installed, read, known })
}

/// The lock that is to be installed.
struct Decided {
    lockfile: Lockfile,
    /// Packages whose entries lack what only full documents have; `None` where nothing is to be completed.
    abbreviated: Option<FxHashSet<String>>,
    /// What the resolution found in packages.
    found: Vec<FoundInside>,
    /// Paths of packages of which a shrinkwrap says all that the lock is to say.
    listed: BTreeSet<String>,
    checked: MachineCheck,
    /// Paths of optional packages of which something that they need could not be had, with what only they need. Nothing in the
    /// lock tells so.
    incomplete: BTreeSet<String>,
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
    let fits = is_named(request, known, &project.root) && describes_project(request.mode, known, project);
    if known.is_old() || !fits || is_to_lose_addresses(request, known) {
        return Ok(None);
    }
    let Some(settled) = SettledLock::of(project, known, request.resolve_options()) else { return Ok(None) };
    let Some(mut lockfile) = lock.take() else { return Ok(None) };
    lockfile.style = style_of(request).unwrap_or(lockfile.style);
    lockfile.packages.retain(|entry| !settled.extraneous().contains(&entry.path));
    progress.count(|counters| counters.resolved = u32::try_from(lockfile.packages.len()).unwrap_or(u32::MAX));
    let checked = settled.check_machine()?;
    for warning in &checked.warnings {
        progress.warn(warning.code, warning.message.clone());
    }
    let (found, listed, incomplete) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
    Ok(Some(Decided { lockfile, abbreviated: None, found, listed, checked, incomplete }))
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
    let start = beginning.lock.as_ref().or(beginning.installed.as_ref());
    let found = found_anew(&resolution.lockfile, start);
    let (lockfile, abbreviated) = match (request.mode, beginning.lock.take()) {
        (InstallMode::Ci, Some(lock)) => (confirmed(request, lock, &resolution)?, None),
        _ => (resolution.lockfile, Some(abbreviated)),
    };
    // Its warnings are those of the resolution, which have been told.
    let mut checked = check_machine(&lockfile, &request.resolve)?;
    let incomplete: BTreeSet<String> = resolution.inert.difference(&checked.inert).cloned().collect();
    checked.inert.extend(incomplete.iter().cloned());
    Ok(Decided { lockfile, abbreviated, found, listed: resolution.listed, checked, incomplete })
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
    text: LockText<'l>,
    manifests: Manifests,
    /// What the tree is made by, where that is not the lock.
    part: Option<&'l Part>,
    inert: &'l BTreeSet<String>,
    brought: Brought,
}

/// Makes the tree and writes manifest and locks. Whoever has the lock has to say by [`Outcome::tree`] what the tree is.
async fn conclude<H: Host>(
    host: &H,
    request: &InstallRequest,
    project: &Project,
    Concluding { lockfile, text, mut manifests, part, inert, brought }: Concluding<'_>,
    progress: &Progress<'_, H::Clock>,
) -> Result<Outcome, EngineError> {
    let deprecated = deprecated(part.map_or(lockfile, |part| &part.lockfile));
    let lock_bytes = text.to_bytes();
    // `ci` leaves the file as it is, however it is written.
    let is_written = request.mode == InstallMode::Install && request.lock_use == LockUse::ReadAndWrite;
    let lock_changed = is_written && request.lockfile.as_deref() != Some(&lock_bytes);
    let nothing = BTreeSet::new();
    let (installing, installed, left) = match part {
        Some(part) => (&part.request, &part.lockfile, &nothing),
        None => (request, lockfile, inert),
    };
    let yarn_lock = yarn_lock_of(installing, project, installed, left)?;
    let lock = lock_changed.then_some(&*lock_bytes);
    let locks = UsersFiles { lock, yarn_lock: yarn_lock.as_deref().map(str::as_bytes), ..UsersFiles::default() };
    host.project().make_room(&locks.with_manifests(&manifests))?;
    let made = if request.extent == Extent::Tree {
        let making = Making { lockfile: installed, text: &text, part, project, inert, brought };
        make_tree(host, installing, making, progress).boxed_local().await?
    } else {
        MadeTree { left_out: brought.left_out, ..MadeTree::default() }
    };
    let MadeTree { link, packages, scripts, unreviewed_folders, left_out } = made;
    let placed: FxHashSet<&str> = link.placed.iter().map(String::as_str).collect();
    let warnings = Deprecated::warnings(&deprecated, |folder| placed.contains(folder));
    warnings.into_iter().for_each(|warning| progress.emit(warning));

    progress.phase(Phase::Lock);
    // Scripts have written there, or whoever has not waited.
    if let Some(anew) = manifests.anew(host, request, project).boxed_local().await? {
        host.project().make_room(&locks.with_manifests(&anew))?;
        manifests = anew;
    }
    for (folder, bytes) in &manifests.workspaces {
        host.project().write_manifest(folder, bytes).await?;
    }
    if let Some(bytes) = &manifests.root {
        host.project().write_manifest("", bytes).await?;
    }
    if lock_changed {
        host.project().write_lock(&lock_bytes).await?;
    }
    for warning in host.registry().settle().await {
        progress.warn(warning.code, warning.message);
    }
    progress.report();
    let counters = progress.counters.get();
    let elapsed = progress.elapsed();
    if let Some(text) = yarn_lock {
        host.project().write_yarn_lock(text.as_bytes()).await?;
    }
    Ok(Outcome {
        tree_lockfile: match part {
            Some(part) => part.lockfile.to_text().to_complete_bytes(),
            None if lockfile.is_old() => text.to_complete_bytes(),
            None => lock_bytes.clone(),
        },
        is_part: part.is_some(),
        tree: Lockfile::default(),
        lockfile: lock_bytes,
        lock_changed,
        package_json: manifests.root,
        workspace_manifests: manifests.workspaces,
        packages,
        reused: counters.reused,
        requests: counters.requests,
        bytes: counters.bytes,
        elapsed,
        link,
        left_out,
        scripts,
        unreviewed_folders,
        deprecated,
    })
}

fn deprecated(lockfile: &Lockfile) -> Vec<Deprecated> {
    let of_entry = |entry: &LockEntry| {
        let message = entry.manifest.deprecated.as_ref().filter(|message| !message.is_empty())?;
        Some(Deprecated { path: entry.path.clone(), package: entry.label(), message: message.to_string() })
    };
    lockfile.packages.iter().filter_map(of_entry).collect()
}
