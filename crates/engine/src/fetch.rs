//! Brings what a lock lists into the store, and leaves out what is optional and cannot be had.

use crate::error::TAMPERED;
use crate::host::{Host, PackageStore, ProjectTree};
use crate::in_place::InPlace;
use crate::progress::Progress;
use crate::request::InstallRequest;
use crate::traffic::{Landing, Traffic};
use crate::{EngineError, Fault};
use gantry_layout::{PlannedPackage, wanted};
use gantry_manifest::{LockEntry, Lockfile};
use gantry_resolver::optional_set;
use gantry_store::PackageKey;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// Brings everything the tree needs into the store. An optional package that cannot be had is left out as npm leaves it
/// out, with what depends on it and what only they need: their paths join `inert`.
pub(crate) async fn fetch<'a, H: Host>(
    host: &'a H,
    request: &InstallRequest,
    lockfile: &Lockfile,
    (inert, in_place): (&mut BTreeSet<String>, &InPlace),
    traffic: &mut Traffic<'a, H>,
    progress: &Progress<'_, H::Clock>,
) -> Result<(), EngineError> {
    let mut missing: Missing = FxHashMap::default();
    let packages = wanted(lockfile, inert, &request.omit, host.project().keys())?.into_iter();
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
    let paths: Vec<&str> = places.iter().map(|package| package.path.as_str()).collect();
    leave_out(request, lockfile, &paths, &fault, inert, progress)
}

/// Leaves out an optional package that is at `paths`, with what goes with it; the failure stops the install where it is not
/// optional in one of them.
pub(crate) fn leave_out<C: gantry_platform::Clock>(
    request: &InstallRequest,
    lockfile: &Lockfile,
    paths: &[impl AsRef<str>],
    fault: &Fault,
    inert: &mut BTreeSet<String>,
    progress: &Progress<'_, C>,
) -> Result<(), EngineError> {
    let mut gone = BTreeSet::new();
    for path in paths {
        match optional_set(lockfile, &request.resolve, path.as_ref(), inert)? {
            Some(set) => gone.extend(set),
            None => return Err(fault.clone().into()),
        }
    }
    let others: BTreeSet<String> = gone.iter().filter_map(|path| lockfile.entry(path)).map(LockEntry::label).collect();
    if let Some(package) = paths.first().and_then(|path| lockfile.entry(path.as_ref())) {
        let name = package.label();
        let with: Vec<&str> = others.iter().map(String::as_str).filter(|other| *other != name).collect();
        let with = if with.is_empty() { String::new() } else { format!(" with {}", with.join(", ")) };
        progress.warn(fault.code.to_string(), format!("optional {name} left out{with}: {}", fault.message));
    }
    inert.extend(gone);
    Ok(())
}
