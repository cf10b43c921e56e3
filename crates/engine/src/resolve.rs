//! Drives the resolver: its requests become packument flights, its picks become package flights.

use crate::carried::contents_of;
use crate::choice::WorkspaceChoice;
use crate::found::Found;
use crate::host::{Host, IngestJob, PackageStore};
use crate::jobs::{job_of, job_of_opened};
use crate::known_lock::style_of;
use crate::progress::Progress;
use crate::request::{Extent, InstallRequest, LockFields, LockUse, Update};
use crate::sources;
use crate::traffic::{Landing, Traffic, VersionId};
use crate::{EngineError, Fault};
use futures_util::FutureExt;
use gantry_archive::Integrity;
use gantry_layout::Omit;
use gantry_manifest::{Lockfile, Text};
use gantry_platform::Work;
use gantry_registry::RegistryError;
use gantry_resolver::{
    BundleContents, BundleRequest, PackumentProblem, Pick, Project, Resolution, ResolveError, Resolver, Step,
    installs_on,
};
use gantry_store::PackageKey;
use rustc_hash::{FxHashMap, FxHashSet};

/// A resolved tree, and what is needed to complete its lock.
pub(crate) struct Resolved {
    pub resolution: Resolution,
    /// Packages whose packument was abbreviated, so that the lock lacks what only full documents have.
    pub abbreviated: FxHashSet<String>,
}

/// Resolves, and fetches packages as their versions are picked. What is gone through at every wake is kept small (as in
/// [`install`](crate::install)).
pub(crate) async fn resolve<'a, H: Host>(
    host: &'a H,
    request: &InstallRequest,
    project: Project,
    lock: Option<&Lockfile>,
    traffic: &mut Traffic<'a, H>,
    progress: &Progress<'_, H::Clock>,
) -> Result<Resolved, EngineError> {
    traffic.settle(lock.into_iter().flat_map(|lock| &lock.packages).map(|entry| entry.package_name().to_owned()));
    let mut resolving = Resolving::begin(host, request, project, lock)?;
    while let Some(bundles) = resolving.go_on(traffic, progress)? {
        if !bundles.is_empty() && resolving.look_into(bundles, traffic, progress).boxed_local().await? {
            continue;
        }
        let Some(landing) = traffic.next(progress).await else {
            return Err(Fault::new("WORKER_LOST", "the resolver waits for answers that nobody is fetching").into());
        };
        if let Some((bundle, key)) = resolving.land(landing, traffic, progress)? {
            let contents = contents_of(host, &key).boxed_local().await?;
            resolving.resolver.answer_bundle(bundle.id, Ok(contents));
        }
    }
    traffic.end_packuments();
    resolving.finish(progress)
}

/// A resolution under way.
struct Resolving<'a, 'r, H: Host> {
    host: &'a H,
    request: &'r InstallRequest,
    resolver: Resolver,
    /// Packages on their way that have to be looked into.
    bundles: FxHashMap<PackageKey, BundleRequest>,
    /// How to unpack the tarballs that no registry has, by where they come from.
    source_jobs: FxHashMap<Text, IngestJob>,
    abbreviated: FxHashSet<String>,
    failures: FxHashMap<String, Fault>,
    /// Which picks will be left out is known once the tree stands: until then nothing is fetched that may be.
    fetches_early: bool,
}

impl<'a, 'r, H: Host> Resolving<'a, 'r, H> {
    fn begin(
        host: &'a H,
        request: &'r InstallRequest,
        project: Project,
        lock: Option<&Lockfile>,
    ) -> Result<Self, EngineError> {
        let mut options = request.resolve_options();
        options.style = style_of(request);
        Ok(Self {
            host,
            request,
            resolver: Resolver::new(project, lock, options)?.in_place_of_lock(is_in_place_of_lock(request, lock)),
            bundles: FxHashMap::default(),
            source_jobs: FxHashMap::default(),
            abbreviated: FxHashSet::default(),
            failures: FxHashMap::default(),
            fetches_early: request.extent == Extent::Tree
                && request.omit == Omit::default()
                && request.workspaces == WorkspaceChoice::Whole,
        })
    }

    /// As far as what is at hand allows; asks for what is missing. Gives the packages to look into, `None` once the tree
    /// stands.
    #[inline(never)]
    fn go_on(
        &mut self,
        traffic: &mut Traffic<'a, H>,
        progress: &Progress<'_, H::Clock>,
    ) -> Result<Option<Vec<BundleRequest>>, EngineError> {
        let resolver = &mut self.resolver;
        let step = progress.timed(Work::Resolve, "next", || resolver.next());
        let step = step.map_err(|error| explain(error, &self.failures))?;
        for pick in self.resolver.take_picks() {
            self.picked(pick, traffic, progress)?;
        }
        for source in self.resolver.take_source_requests() {
            traffic.want_source(source);
        }
        for warning in self.resolver.take_warnings() {
            progress.warn_resolving(&warning);
        }
        let Step::Need(requests) = step else { return Ok(None) };
        for need in requests {
            traffic.want_packument(need);
        }
        Ok(Some(self.resolver.take_bundle_requests()))
    }

    /// Fetches a package ahead, or what only its own document says where it will not be unpacked.
    fn picked(
        &mut self,
        pick: Pick,
        traffic: &mut Traffic<'a, H>,
        progress: &Progress<'_, H::Clock>,
    ) -> Result<(), EngineError> {
        let Self { host, request, .. } = *self;
        progress.count(|counters| counters.resolved += 1);
        // What brings others along is looked into before placement can end, wherever it is installed.
        let is_opened = !pick.manifest.bundle_dependencies.is_empty() || pick.manifest.has_shrinkwrap;
        let is_installed = request.extent == Extent::Tree && installs_on(&pick.manifest, &request.resolve.target);
        let is_unpacked = is_opened || is_installed;
        if is_opened || (is_installed && self.fetches_early) {
            if let Some(job) = job_of(host, &pick.name, &pick.manifest)? {
                traffic.want(job, progress);
            }
        } else if !is_unpacked && request.lock_fields == LockFields::Npm && lacks_facts(host, &pick, &self.abbreviated)
        {
            let version = VersionId { name: pick.name, version: pick.version };
            traffic.want_facts(version, pick.integrity);
        }
        Ok(())
    }

    /// Answers what can be answered of packages to look into, and has the others fetched. Gives whether there was an answer.
    async fn look_into(
        &mut self,
        bundles: Vec<BundleRequest>,
        traffic: &mut Traffic<'a, H>,
        progress: &Progress<'_, H::Clock>,
    ) -> Result<bool, EngineError> {
        let host = self.host;
        let mut answered = false;
        for bundle in bundles {
            let from_source = || self.source_jobs.get(bundle.resolved.as_ref()?).cloned();
            let Some(job) = job_of_opened(host, &bundle)?.or_else(from_source) else {
                // No tarball, nothing bundled.
                self.resolver.answer_bundle(bundle.id, Ok(BundleContents::default()));
                answered = true;
                continue;
            };
            if host.store().index(&job.key).is_some() {
                self.resolver.answer_bundle(bundle.id, Ok(contents_of(host, &job.key).await?));
                answered = true;
            } else if let Some(fault) = traffic.failure(&job.key).cloned() {
                // It was fetched on a guess, and is not fetched again.
                self.answer_failed(bundle, fault);
                answered = true;
            } else {
                self.bundles.insert(job.key.clone(), bundle);
                traffic.want(job, progress);
            }
        }
        Ok(answered)
    }

    /// Hands an answer on to the resolver. Gives the request of a package that is here to be looked into now.
    #[inline(never)]
    fn land(
        &mut self,
        landing: Landing,
        traffic: &mut Traffic<'a, H>,
        progress: &Progress<'_, H::Clock>,
    ) -> Result<Option<(BundleRequest, PackageKey)>, EngineError> {
        let resolver = &mut self.resolver;
        match landing {
            Landing::Packument(name, result) => {
                if result.as_ref().is_ok_and(|packument| packument.is_abbreviated()) {
                    self.abbreviated.insert(name.as_str().to_owned());
                }
                let answer = result.map_err(|error| {
                    let problem = problem_with(&error);
                    self.failures.insert(name.as_str().to_owned(), EngineError::from(error).to_fault());
                    problem
                });
                progress.timed(Work::Resolve, name.as_str(), || resolver.answer(&name, answer));
            }
            Landing::Version(name, version, packument) => {
                progress.timed(Work::Resolve, name.as_str(), || resolver.answer_version(&name, &version, packument));
            }
            Landing::Source(source, Err(fault)) if fault.is_of_this_machine() => {
                return Err(fault.with_package(source.name).into());
            }
            Landing::Source(source, result) => {
                let answer = match result {
                    Ok(found) => {
                        let Found { answer, job, notes } = *found;
                        for (code, message) in notes {
                            progress.warn(code, message);
                        }
                        if let (Some(job), Some(resolved)) = (&job, &answer.resolved) {
                            self.source_jobs.insert(resolved.clone(), job.clone());
                        }
                        if let Some(job) = job.filter(|_| self.fetches_early) {
                            traffic.want(job, progress);
                        }
                        Ok(answer)
                    }
                    Err(fault) => {
                        let problem = sources::problem_of(&fault);
                        self.failures.insert(source.name.clone(), fault);
                        Err(problem)
                    }
                };
                progress.timed(Work::Resolve, &source.name, || resolver.answer_source(source.id, answer));
            }
            Landing::Package(job, result) => match (self.bundles.remove(&job.key), result) {
                (_, Err(fault)) if !fault.is_of_a_package() => return Err(fault.into()),
                (Some(bundle), Ok(_)) => return Ok(Some((bundle, job.key))),
                (Some(bundle), Err(fault)) => {
                    traffic.failed(job.key, fault.clone());
                    self.answer_failed(bundle, fault);
                }
                // Fetched on a guess: whether anybody needs it is decided once the tree stands.
                (None, Err(fault)) => traffic.failed(job.key, fault),
                (None, Ok(_)) => {}
            },
        }
        Ok(None)
    }

    /// A package that cannot be looked into. Where the tree is to be made, what comes of that is decided once it stands, as
    /// with any other package that fails: it may be optional. A lock alone would lack what it brings along, so there it is an
    /// error, as it is npm's.
    fn answer_failed(&mut self, bundle: BundleRequest, fault: Fault) {
        let is_decided_later = self.request.extent == Extent::Tree;
        let contents = if is_decided_later { Ok(BundleContents::default()) } else { Err(problem_of(&fault)) };
        self.resolver.answer_bundle(bundle.id, contents);
        self.failures.insert(bundle.name.into(), fault);
    }

    fn finish(self, progress: &Progress<'_, H::Clock>) -> Result<Resolved, EngineError> {
        let Self { resolver, failures, abbreviated, .. } = self;
        let resolution = progress.timed(Work::Resolve, "finish", || resolver.finish());
        let resolution = resolution.map_err(|error| explain(error, &failures))?;
        let mut left_out: Vec<_> =
            failures.iter().filter(|(name, fault)| is_left_out(name, fault, &resolution.lockfile)).collect();
        left_out.sort_unstable_by_key(|(name, _)| *name);
        for (name, Fault { code, message, .. }) in left_out {
            progress.warn(code.to_string(), format!("optional {name} left out of the lock: {message}"));
        }
        Ok(Resolved { resolution, abbreviated })
    }
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

/// Whether what nobody asks for goes although the tree is started from none: a lock that is there is passed over, to be
/// replaced, or that is what was asked for.
fn is_in_place_of_lock(request: &InstallRequest, start: Option<&Lockfile>) -> bool {
    let is_passed_over = request.changes.update == Update::All || request.lock_use == LockUse::Ignore;
    request.changes.prune || start.is_none() && is_passed_over && request.lockfile.is_some()
}

/// Whether a package that could not be asked for is one that the tree could do without. What a registry does not have npm
/// leaves out without a word; but another time the others would be there.
fn is_left_out(name: &str, fault: &Fault, lockfile: &Lockfile) -> bool {
    let is_there = || lockfile.packages.iter().any(|entry| entry.package_name() == name);
    let is_wanted = || {
        lockfile
            .packages
            .iter()
            .any(|entry| entry.manifest.optional_dependencies.iter().any(|(wanted, _)| wanted == name))
    };
    fault.code.starts_with("REGISTRY_") && fault.code != "REGISTRY_NOT_FOUND" && is_wanted() && !is_there()
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

fn problem_of(fault: &Fault) -> PackumentProblem {
    PackumentProblem::Failed { code: "REGISTRY_TARBALL", message: fault.message.clone() }
}
