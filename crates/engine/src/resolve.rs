//! Drives the resolver: its requests become packument flights, its picks become package flights.

use crate::host::{Host, PackageStore};
use crate::jobs::job_of;
use crate::progress::Progress;
use crate::request::{Extent, InstallMode, InstallRequest, LockFields};
use crate::sources::{self, Found};
use crate::traffic::{Landing, Traffic, VersionId};
use crate::{EngineError, Fault};
use gantry_archive::Integrity;
use gantry_layout::Omit;
use gantry_manifest::{Lockfile, Manifest, TextStyle};
use gantry_platform::Work;
use gantry_registry::RegistryError;
use gantry_resolver::{
    BundleContents, BundleRequest, PackumentProblem, Pick, Priority, Project, Resolution, ResolveError, Resolver, Step,
    installs_on,
};
use gantry_store::PackageKey;
use rustc_hash::{FxHashMap, FxHashSet};

const SHRINKWRAP: &str = "npm-shrinkwrap.json";

/// A resolved tree, and what is needed to complete its lock.
pub(crate) struct Resolved {
    pub resolution: Resolution,
    /// Packages whose packument was abbreviated, so that the lock lacks what only full documents have.
    pub abbreviated: FxHashSet<String>,
}

/// Resolves, and fetches packages as their versions are picked.
pub(crate) async fn resolve<'a, H: Host>(
    host: &'a H,
    request: &InstallRequest,
    project: Project,
    lock: Option<&Lockfile>,
    traffic: &mut Traffic<'a, H>,
    progress: &Progress<'_, H::Clock>,
) -> Result<Resolved, EngineError> {
    let mut options = request.resolve.clone();
    // A lock looks like the package.json beside it.
    options.style = std::str::from_utf8(&request.package_json).ok().map(TextStyle::detect);
    options.save = options.save && request.mode == InstallMode::Install;
    let mut resolver = Resolver::new(project, lock, options)?;
    let mut bundles: FxHashMap<PackageKey, BundleRequest> = FxHashMap::default();
    let mut abbreviated = FxHashSet::default();
    let mut failures: FxHashMap<String, Fault> = FxHashMap::default();
    // Which picks will be left out is known once the tree stands: until then nothing is fetched that may be.
    let fetches_early = request.extent == Extent::Tree && request.omit == Omit::default();
    loop {
        let step =
            progress.timed(Work::Resolve, "next", || resolver.next()).map_err(|error| explain(error, &failures))?;
        for pick in resolver.take_picks() {
            progress.count(|counters| counters.resolved += 1);
            let is_unpacked = request.extent == Extent::Tree && installs_on(&pick.manifest, &request.resolve.target);
            if is_unpacked && fetches_early {
                if let Some(job) = job_of(host, &pick.name, &pick.manifest)? {
                    traffic.want(job, progress);
                }
            } else if !is_unpacked && request.lock_fields == LockFields::Npm && lacks_facts(host, &pick, &abbreviated) {
                let version = VersionId { name: pick.name, version: pick.version };
                traffic.want_facts(version, pick.integrity);
            }
        }
        let mut answered = false;
        for bundle in resolver.take_bundle_requests() {
            let Some(job) = job_of(host, &bundle.name, &bundle.manifest)? else {
                // No tarball, nothing bundled.
                resolver.answer_bundle(bundle.id, Ok(BundleContents::default()));
                answered = true;
                continue;
            };
            if host.store().index(&job.key).is_some() {
                resolver.answer_bundle(bundle.id, Ok(bundled_manifests(host, &job.key).await?));
                answered = true;
            } else if let Some(fault) = traffic.failure(&job.key).cloned() {
                // It was fetched on a guess, and is not fetched again.
                answer_failed(&mut resolver, &mut failures, request.extent, bundle, fault);
                answered = true;
            } else {
                bundles.insert(job.key.clone(), bundle);
                traffic.want(job, progress);
            }
        }
        for source in resolver.take_source_requests() {
            traffic.want_source(source);
        }
        for warning in resolver.take_warnings() {
            progress.warn_resolving(&warning);
        }
        match step {
            Step::Done => break,
            Step::Need(requests) => {
                for need in requests {
                    match need.priority {
                        Priority::Demand => traffic.demand(need.name),
                        Priority::Prefetch => traffic.prefetch(need.name),
                    }
                }
            }
        }
        if answered {
            continue;
        }
        match traffic.next(progress).await {
            Some(Landing::Packument(name, result)) => {
                if result.as_ref().is_ok_and(|packument| packument.is_abbreviated()) {
                    abbreviated.insert(name.as_str().to_owned());
                }
                let answer = result.map_err(|error| {
                    let problem = problem_with(&error);
                    failures.insert(name.as_str().to_owned(), EngineError::from(error).to_fault());
                    problem
                });
                progress.timed(Work::Resolve, name.as_str(), || resolver.answer(&name, answer));
            }
            Some(Landing::Source(source, result)) => {
                let answer = match result {
                    Ok(found) => {
                        let Found { answer, job, notes } = *found;
                        for (code, message) in notes {
                            progress.warn(code, message);
                        }
                        if let Some(job) = job.filter(|_| fetches_early) {
                            traffic.want(job, progress);
                        }
                        Ok(answer)
                    }
                    Err(fault) => {
                        let problem = sources::problem_of(&fault);
                        failures.insert(source.name.clone(), fault);
                        Err(problem)
                    }
                };
                progress.timed(Work::Resolve, &source.name, || resolver.answer_source(source.id, answer));
            }
            Some(Landing::Package(job, result)) => {
                let bundle = bundles.remove(&job.key);
                match (bundle, result) {
                    (_, Err(fault)) if !fault.is_of_a_package() => return Err(fault.into()),
                    (Some(bundle), Ok(_)) => {
                        resolver.answer_bundle(bundle.id, Ok(bundled_manifests(host, &job.key).await?));
                    }
                    (Some(bundle), Err(fault)) => {
                        traffic.failed(job.key, fault.clone());
                        answer_failed(&mut resolver, &mut failures, request.extent, bundle, fault);
                    }
                    // Fetched on a guess: whether anybody needs it is decided once the tree stands.
                    (None, Err(fault)) => traffic.failed(job.key, fault),
                    (None, Ok(_)) => {}
                }
            }
            None => {
                return Err(Fault::new("WORKER_LOST", "the resolver waits for answers that nobody is fetching").into());
            }
        }
    }
    let resolution =
        progress.timed(Work::Resolve, "finish", || resolver.finish()).map_err(|error| explain(error, &failures))?;
    Ok(Resolved { resolution, abbreviated })
}

/// Whether the lock would lack something of this version that nothing at hand says.
fn lacks_facts<H: Host>(host: &H, pick: &Pick, abbreviated: &FxHashSet<String>) -> bool {
    let integrity = pick.integrity.as_deref();
    let is_stored = || {
        let key =
            integrity.and_then(|text| Integrity::parse(text).ok()).map(|parsed| PackageKey::from_integrity(&parsed));
        key.is_some_and(|key| host.store().index(&key).is_some())
    };
    abbreviated.contains(pick.name.as_str())
        && !pick.manifest.is_complete()
        && host.registry().kept_facts(&pick.name, &pick.version, integrity).is_none()
        && !is_stored()
}

fn problem_with(error: &RegistryError) -> PackumentProblem {
    match error {
        RegistryError::NotFound { .. } => PackumentProblem::NotFound,
        other => PackumentProblem::Failed { code: other.code(), message: other.to_string() },
    }
}

/// The resolver knows who wanted what could not be fetched, the failure below what to do about it: both are told.
fn explain(error: ResolveError, failures: &FxHashMap<String, Fault>) -> EngineError {
    let cause = match &error {
        ResolveError::Fetch { package, .. } => failures.get(package),
        _ => None,
    };
    match cause {
        Some(cause) => Fault { message: error.to_string(), ..cause.clone() }.into(),
        None => error.into(),
    }
}

/// A package that cannot be looked into. Where the tree is to be made, what comes of that is decided once it stands, as with
/// any other package that fails: it may be optional. A lock alone would lack what it brings along, so there it is an error, as
/// it is npm's.
fn answer_failed(
    resolver: &mut Resolver,
    failures: &mut FxHashMap<String, Fault>,
    extent: Extent,
    bundle: BundleRequest,
    fault: Fault,
) {
    let contents = if extent == Extent::Tree { Ok(BundleContents::default()) } else { Err(problem_of(&fault)) };
    resolver.answer_bundle(bundle.id, contents);
    failures.insert(bundle.name.into(), fault);
}

fn problem_of(fault: &Fault) -> PackumentProblem {
    PackumentProblem::Failed { code: "REGISTRY_TARBALL", message: fault.message.clone() }
}

/// The manifests of all packages below a stored package's own `node_modules`, and its shrinkwrap.
async fn bundled_manifests<H: Host>(host: &H, key: &PackageKey) -> Result<BundleContents, Fault> {
    let Some(index) = host.store().index(key) else { return Ok(BundleContents::default()) };
    let shrinkwrap = match host.store().read_file(key, SHRINKWRAP).await? {
        // One that cannot be read is none, as for npm.
        Some(bytes) => Lockfile::parse(&bytes, SHRINKWRAP).ok(),
        None => None,
    };
    let mut found = Vec::new();
    for file in index.files.iter().filter(|file| is_bundled_manifest(&file.path)) {
        let bytes = host.store().read_file(key, &file.path).await?.unwrap_or_default();
        // npm too passes over what it cannot read there.
        if let Ok(manifest) = Manifest::parse_package_json(&bytes, &file.path) {
            let folder = file.path.strip_suffix("/package.json").unwrap_or(&file.path);
            found.push((folder.to_owned(), manifest));
        }
    }
    Ok(BundleContents { packages: found, shrinkwrap })
}

/// Whether `path` is the `package.json` of a package directly in some `node_modules` of the tarball.
fn is_bundled_manifest(path: &str) -> bool {
    let Some(folder) = path.strip_suffix("/package.json") else { return false };
    let mut rest = folder;
    loop {
        let Some(inside) = rest.strip_prefix("node_modules/") else { return false };
        let names = if inside.starts_with('@') { 2 } else { 1 };
        let length = inside.split('/').take(names).map(|part| part.len() + 1).sum::<usize>() - 1;
        match inside.get(length..) {
            Some("") => return inside.split('/').count() == names,
            Some(more) => rest = more.trim_start_matches('/'),
            None => return false,
        }
    }
}
