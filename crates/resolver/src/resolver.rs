//! The machine that callers drive.

pub(crate) mod bundles;
mod inflate;
pub(crate) mod sources;

use crate::build::{Builder, Progress};
use crate::forest::{Node, leads_out};
use crate::from_lock::{self};
use crate::ids::{NameId, PackageId};
use crate::options::{InstallStrategy, ResolveOptions};
use crate::package::{Dependency, Kind};
use crate::preload::Preload;
use crate::project::Project;
use crate::questions::{BundleRequest, PackumentProblem, PackumentRequest, Pick, Priority, Step};
use crate::shelf::Wanted;
use crate::start::builder;
use crate::{ResolveError, ResolveWarning};
use bundles::BundleContents;
use gantry_manifest::{LockEntry, Lockfile, Manifest, Packument};
use gantry_spec::PackageName;
use inflate::Inflation;
use rustc_hash::FxHashSet;
use sources::{SourceAnswer, SourceRequest};
use std::collections::BTreeSet;
use std::sync::Arc;

/// A finished tree.
#[derive(Debug, Clone)]
pub struct Resolution {
    /// Complete, flags calculated; its version is npm's default, whatever the one that was started from.
    pub lockfile: Lockfile,
    /// What should be shown to the user.
    pub warnings: Vec<ResolveWarning>,
    /// Optional dependencies that could not be had and are not in the lock, by name.
    pub left_out: Vec<String>,
    /// Paths of the packages that are in the lock but not to be installed: optional ones for other machines, and those of which
    /// something that they need could not be had, with everything only they need.
    pub inert: BTreeSet<String>,
    /// Paths of the packages that are taken from the shrinkwrap of a package above: the lock says of them what that does.
    pub listed: BTreeSet<String>,
}

/// Builds npm's ideal tree from packuments handed to it.
#[derive(Debug)]
pub struct Resolver {
    builder: Builder,
    preload: Preload,
    /// What was asked for: names, and versions alone.
    asked: FxHashSet<(NameId, Option<String>)>,
    /// Packages that were given out as picks.
    picked: FxHashSet<PackageId>,
    from_lock: bool,
    /// What the lock says of folders outside of the project.
    outside: Vec<LockEntry>,
    /// Whether it takes the place of a lock that nothing is taken from.
    replaces_lock: bool,
    /// A lock of version 1 whose packages are being looked up before anything else.
    inflation: Option<Inflation>,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Growing,
    Done,
}

impl Resolver {
    /// Starts from a project and, if there is one, the lock file to keep to.
    pub fn new(
        project: impl Into<Project>,
        lock: Option<&Lockfile>,
        options: ResolveOptions,
    ) -> Result<Self, ResolveError> {
        let project = project.into();
        let mut options = options;
        assert_supported(&project.root, &options)?;
        if options.style.is_none() {
            options.style = lock.map(|lock| lock.style.clone());
        }
        let hints = options.yarn.clone().filter(|_| lock.is_none());
        let old = lock.filter(|lock| lock.is_old()).map(|lock| (project.clone(), lock.clone(), options.clone()));
        let mut resolver = Self {
            builder: builder(project, lock, options)?,
            preload: Preload::default(),
            asked: FxHashSet::default(),
            picked: FxHashSet::default(),
            from_lock: lock.is_some(),
            outside: lock.map(|lock| lock.outside.clone()).unwrap_or_default(),
            replaces_lock: false,
            inflation: None,
            state: State::Growing,
        };
        if let Some(hints) = hints {
            resolver.builder.shelf.pin(&mut resolver.builder.forest, &hints);
        }
        match old {
            Some((project, lock, options)) => {
                resolver.inflation = Some(Inflation::new(project, lock, options, &mut resolver.builder));
            }
            None => {
                resolver.builder.start()?;
                resolver.preload_missing();
            }
        }
        resolver.builder.check_fatal()?;
        Ok(resolver)
    }

    /// For a tree from nothing that replaces a lock: npm takes out of that what nobody asks for, too. Without any lock it leaves
    /// what its way of building leaves.
    #[must_use]
    pub fn in_place_of_lock(mut self, is_one: bool) -> Self {
        self.replaces_lock = is_one;
        self
    }

    /// Has everything looked for that is lacked by nodes which placement looks at: those that lead there from the project, and
    /// folders of the project that are linked to. Of what only these lead to it looks at nothing, as npm.
    fn preload_missing(&mut self) {
        for (path, package) in self.builder.known_folders.clone() {
            // What is in the tree has what it needs there, or lacks it.
            if !leads_out(&path) && self.builder.forest.at(self.builder.forest.root, &path).is_none() {
                preload_folder(&mut self.builder, &mut self.preload, package);
            }
        }
        let mut nodes = self.builder.troubled();
        let Builder { forest, shelf, .. } = &mut self.builder;
        let folders = forest.node(forest.root).tops.iter().copied();
        nodes.extend(folders.filter(|&folder| forest.is_inside(folder)));
        for node in nodes {
            self.preload.add_missing(forest, shelf, node);
        }
    }

    /// Asks for the manifests of an old lock's packages; `None` once they are in the tree.
    fn inflate(&mut self) -> Result<Option<Step>, ResolveError> {
        let Some(mut inflation) = self.inflation.take() else { return Ok(None) };
        let wanted = inflation.take_wanted(&self.builder);
        if !inflation.is_ready() {
            self.inflation = Some(inflation);
            let request = |name| PackumentRequest {
                name,
                version: None,
                range: String::new(),
                for_peers: false,
                priority: Priority::Demand,
            };
            return Ok(Some(Step::Need(wanted.into_iter().map(request).collect())));
        }
        let empty = builder(Project::default(), None, ResolveOptions::default())?;
        self.builder = inflation.finish(std::mem::replace(&mut self.builder, empty))?;
        self.builder.check_fatal()?;
        self.preload_missing();
        Ok(None)
    }

    /// What is needed now.
    #[expect(clippy::should_implement_trait, reason = "it is no iterator: what it gives depends on answers in between")]
    pub fn next(&mut self) -> Result<Step, ResolveError> {
        if self.state == State::Done {
            return Ok(Step::Done);
        }
        if let Some(step) = self.inflate()? {
            return Ok(step);
        }
        self.preload.advance(&mut self.builder.forest, &mut self.builder.shelf);
        let wanted = self.preload.take_wanted();
        let mut requests = self.requests(wanted, Priority::Prefetch);
        // Placement waits until the closure is here: it would only ask for the same packuments one by one.
        if !self.preload.is_idle() {
            return Ok(Step::Need(requests));
        }
        match self.builder.advance()? {
            Progress::Done if self.builder.lacks_contents() => Ok(Step::Need(requests)),
            Progress::Done => {
                self.state = State::Done;
                Ok(Step::Done)
            }
            Progress::Bundle => Ok(Step::Need(requests)),
            Progress::Packuments { node, missing } => {
                requests.extend(self.requests(missing, Priority::Demand));
                self.preload.add_missing(&self.builder.forest, &mut self.builder.shelf, node);
                Ok(Step::Need(requests))
            }
        }
    }

    fn requests(&mut self, wanted: Vec<Wanted>, priority: Priority) -> Vec<PackumentRequest> {
        let Builder { forest, shelf, .. } = &self.builder;
        let mut requests = Vec::new();
        for wanted in wanted {
            // Whoever waits for one version is content with the packument that somebody else has asked for.
            if let Some(name) = forest.names.package_name(wanted.name)
                && !shelf.has(wanted.name)
                && !self.asked.contains(&(wanted.name, None))
            {
                let version = wanted.is_single.then(|| shelf.exact_version(forest, wanted.spec)).flatten();
                if self.asked.insert((wanted.name, version.clone())) {
                    let parsed = forest.specs.get(wanted.spec).parsed.as_ref();
                    let range = parsed.map_or_else(|_| String::new(), |spec| spec.registry_target().raw.clone());
                    requests.push(PackumentRequest {
                        name: name.clone(),
                        version,
                        range,
                        for_peers: wanted.for_peers,
                        priority,
                    });
                }
            }
        }
        requests
    }

    /// Takes the answer to a [`PackumentRequest`]. A second answer for a name is ignored.
    pub fn answer(&mut self, name: &PackageName, result: Result<Arc<Packument>, PackumentProblem>) {
        if let Some(inflation) = &mut self.inflation {
            return inflation.answer(name, result);
        }
        let id = self.builder.forest.names.intern(name.as_str());
        self.builder.shelf.put(id, name.as_str(), result);
        self.preload.answered(id);
    }

    /// Takes the answer to a [`PackumentRequest`] that asks for a version: a packument that has this version and, it may be, no
    /// other. A second answer is ignored.
    pub fn answer_version(&mut self, name: &PackageName, version: &str, packument: Arc<Packument>) {
        let id = self.builder.forest.names.intern(name.as_str());
        self.builder.shelf.put_version(id, version, packument);
        self.preload.answered(id);
    }

    /// Packages whose files are needed before placement can go on; each is given out once. To be asked after every
    /// [`next`](Self::next).
    pub fn take_bundle_requests(&mut self) -> Vec<BundleRequest> {
        std::mem::take(&mut self.builder.bundles.requests)
    }

    /// Takes the answer to a [`BundleRequest`].
    pub fn answer_bundle(&mut self, id: u32, contents: Result<BundleContents, PackumentProblem>) {
        self.builder.bundles.answer(id, contents);
    }

    /// Folders, tarballs and repositories whose manifests are needed before placement can go on; each is given out once. To
    /// be asked after every [`next`](Self::next).
    pub fn take_source_requests(&mut self) -> Vec<SourceRequest> {
        std::mem::take(&mut self.builder.sources.requests)
    }

    /// Takes the answer to a [`SourceRequest`]. A second answer is ignored.
    pub fn answer_source(&mut self, id: u32, result: Result<SourceAnswer, PackumentProblem>) {
        let Builder { forest, sources, options, .. } = &mut self.builder;
        if let Some(package) = sources.answer(forest, from_lock::peers(options), id, result) {
            preload_folder(&mut self.builder, &mut self.preload, package);
        }
    }

    /// Packages guessed or placed since the last call. What is only tried in a virtual tree is not among them.
    pub fn take_picks(&mut self) -> Vec<Pick> {
        let mut picks = self.preload.take_picks();
        picks.append(&mut self.builder.picks);
        picks.retain(|&id| self.picked.insert(id));
        let pick = |id: PackageId| {
            let package = &self.builder.forest.packages[id.index()];
            Pick {
                name: package.manifest.name.clone().unwrap_or_default(),
                version: package.version_text.clone(),
                manifest: package.manifest.clone(),
                integrity: package.integrity.clone(),
            }
        };
        picks.into_iter().map(pick).collect()
    }

    /// Warnings since the last call.
    pub fn take_warnings(&mut self) -> Vec<ResolveWarning> {
        std::mem::take(&mut self.builder.warnings)
    }

    /// The result, after [`Step::Done`].
    pub fn finish(mut self) -> Result<Resolution, ResolveError> {
        if self.state != State::Done {
            return Err(ResolveError::Unfinished);
        }
        self.settle_flags();
        self.builder.drop_failures()?;
        self.builder.check_allowed()?;
        self.builder.check_machine()?;
        self.builder.unpack_all()?;
        self.builder.check_fatal()?;
        let (left_out, inert, listed) = (self.builder.left_out(), self.builder.inert(), self.builder.listed());
        let lockfile = Lockfile { outside: self.outside, ..self.builder.to_lock() };
        Ok(Resolution { lockfile, warnings: self.builder.warnings, left_out, inert, listed })
    }

    /// Calculates why everything is there, and removes what was in the lock for no reason.
    fn settle_flags(&mut self) {
        let forest = &mut self.builder.forest;
        if self.from_lock && self.builder.mutated {
            forest.reset_flags();
        }
        if !self.from_lock || self.builder.mutated {
            forest.calculate_flags();
        }
        if self.from_lock || self.replaces_lock {
            for node in forest.inventory().into_iter().rev() {
                // Folders of the user are in no `node_modules` that they could leave.
                let Node { flags, parent, .. } = *forest.node(node);
                if flags.extraneous && parent.is_some() {
                    forest.remove(node);
                }
            }
        }
    }
}

/// Whether the project's overrides leave its own dependencies what they are.
pub fn check_overrides(project: &Project, options: &ResolveOptions) -> Result<(), ResolveError> {
    match project.root.overrides {
        Some(_) => builder(project.clone(), None, options.clone())?.assert_root_overrides(),
        None => Ok(()),
    }
}

/// Asks ahead for what a folder of the user needs, as far as the project does not have it.
fn preload_folder(builder: &mut Builder, preload: &mut Preload, package: PackageId) {
    let Builder { forest, shelf, .. } = builder;
    for &Dependency { name, spec, kind, .. } in forest.packages[package.index()].top_dependencies.iter() {
        if kind != Kind::PeerOptional && !crate::preload::in_tree(forest, name, spec) {
            preload.add(forest, shelf, (name, spec, kind));
        }
    }
}

fn assert_supported(root: &Manifest, options: &ResolveOptions) -> Result<(), ResolveError> {
    let unsupported = |missing: &str| {
        let dependency = root.name.as_deref().unwrap_or("the root project").to_owned();
        Err(ResolveError::Unsupported { dependency, missing: missing.to_owned(), wanted_by: Vec::new() })
    };
    match options.strategy {
        InstallStrategy::Hoisted | InstallStrategy::Nested | InstallStrategy::Shallow => Ok(()),
        InstallStrategy::Linked => unsupported("the install strategy linked is"),
    }
}
