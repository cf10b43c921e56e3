//! Bringing what a tree needs into the store, and what turns out to come along with it.

use crate::carried::unlisted;
use crate::fetch::fetch;
use crate::host::{Host, PackageStore, ProjectTree};
use crate::in_place::InPlace;
use crate::part::{Part, Whole};
use crate::progress::Progress;
use crate::request::{Extent, InstallRequest};
use crate::traffic::Traffic;
use crate::{EngineError, Phase};
use futures_util::FutureExt;
use gantry_layout::{installed, is_folder, wanted};
use gantry_manifest::{LockEntry, Lockfile, Text};
use gantry_resolver::Project;
use std::collections::BTreeSet;

/// What a tree is made of.
#[derive(Default)]
pub(crate) struct Brought {
    pub in_place: InPlace,
    /// Paths of optional packages that could not be had, with what only they need.
    pub left_out: Vec<String>,
}

/// Brings what the tree needs into the store. What is left out joins `inert`, where what is `incomplete` is already; a part of a
/// project has nothing of it to begin with.
pub(crate) async fn bring<'a, H: Host>(
    host: &'a H,
    (request, lockfile): (&InstallRequest, &Lockfile),
    (all_inert, incomplete, is_part): (&mut BTreeSet<String>, &BTreeSet<String>, bool),
    traffic: &mut Traffic<'a, H>,
    progress: &Progress<'_, H::Clock>,
) -> Result<Brought, EngineError> {
    let mut brought = Brought { left_out: incomplete.iter().cloned().collect(), ..Brought::default() };
    if request.extent == Extent::Tree {
        progress.phase(Phase::Fetch);
        let foreign = if is_part { BTreeSet::new() } else { all_inert.clone() };
        let inert = &mut foreign.clone();
        brought.in_place = InPlace::of(host, request, lockfile, inert)?;
        forget_folders(host, request, lockfile, (inert, &brought.in_place), traffic)?;
        fetch(host, request, lockfile, (inert, &brought.in_place), traffic, progress).boxed_local().await?;
        brought.left_out = inert.difference(&foreign).chain(incomplete).cloned().collect();
        all_inert.extend(brought.left_out.iter().cloned());
    }
    // What is still under way are wrong guesses, and packages that are in the store but whose flight is committing what it
    // has got together with others. Nobody polls flights from here on, so whatever they hold has to go first.
    traffic.give_up_packages();
    if request.extent == Extent::Tree {
        host.store().commit().await?;
    }
    Ok(brought)
}

/// Has the store forget what was made of folders of the user before, and is to be made of them anew: what is in them now nothing
/// tells. Each is made once.
fn forget_folders<'a, H: Host>(
    host: &'a H,
    request: &InstallRequest,
    lockfile: &Lockfile,
    (inert, in_place): (&BTreeSet<String>, &InPlace),
    traffic: &Traffic<'a, H>,
) -> Result<(), EngineError> {
    let is_of_folder = |resolved: Option<&Text>| resolved.is_some_and(|resolved| is_folder(resolved));
    if !lockfile.packages.iter().any(|entry| is_of_folder(entry.resolved.as_ref())) {
        return Ok(());
    }
    for package in wanted(lockfile, inert, &request.omit, host.project().keys())? {
        let is_anew = is_of_folder(package.resolved.as_ref()) && !in_place.has(&package.path);
        if is_anew && !traffic.has_asked_for(&package.key) {
            host.store().forget(&package.key)?;
        }
    }
    Ok(())
}

/// Entries for what the packages of a tree bring along or list themselves, and what its lock does not say. All of them must be in
/// the store.
pub(crate) async fn found_in<H: Host>(
    host: &H,
    request: &InstallRequest,
    project: &Project,
    (lockfile, part): (&Lockfile, Option<&Part>),
    (inert, brought): (&BTreeSet<String>, &Brought),
) -> Result<Vec<LockEntry>, EngineError> {
    let touched = part.map(Part::touched);
    unlisted(host, request, project, (lockfile, touched.as_ref()), (inert, &brought.in_place)).await
}

/// Adds entries for what was found in packages to the lock, by which the part of it changes that is installed. Where some of it
/// comes from somewhere else, since a shrinkwrap lists it, and where only a part is installed, that is brought as well: gives what
/// the tree is made of then.
pub(crate) async fn add_found<'a, H: Host>(
    host: &'a H,
    (request, whole): (&InstallRequest, Whole<'_>),
    found: Vec<LockEntry>,
    (lockfile, part): (&mut Lockfile, &mut Option<Part>),
    (inert, incomplete): (&mut BTreeSet<String>, &BTreeSet<String>),
    traffic: &mut Traffic<'a, H>,
    progress: &Progress<'_, H::Clock>,
) -> Result<Option<Brought>, EngineError> {
    let comes_alone = found.iter().any(|entry| entry.resolved.is_some() || entry.integrity.is_some());
    lockfile.packages.extend(found);
    if let Some(before) = part.take() {
        *part = before.renewed(host, request, whole, lockfile).await?;
    } else if !comes_alone {
        return Ok(None);
    }
    let making = part.as_ref().map_or((request, &*lockfile), |part| (&part.request, &part.lockfile));
    bring(host, making, (inert, incomplete, part.is_some()), traffic, progress).await.map(Some)
}

/// The paths of what is unpacked; `None` where all is looked into although nothing is.
pub(crate) fn unpacked(
    request: &InstallRequest,
    part: Option<&Part>,
    lockfile: &Lockfile,
    inert: &BTreeSet<String>,
) -> Result<Option<BTreeSet<String>>, EngineError> {
    if request.is_for_lock_alone() {
        return Ok(None);
    }
    Ok(Some(match (request.extent, part) {
        (Extent::LockOnly, _) => BTreeSet::new(),
        (Extent::Tree, Some(part)) => part.touched(),
        (Extent::Tree, None) => installed(lockfile, inert, &request.omit)?,
    }))
}
