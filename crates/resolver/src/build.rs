//! The loop that builds the ideal tree: take the shallowest node whose dependencies are not in order, find what each of
//! them should be together with its peers, and put it as high as it will go.
//!
//! A step is either done whole or not at all. Everything a node's problem edges and their peer sets need is found in
//! virtual trees first ([`peer_sets`]); when a packument is missing there, the virtual trees of that attempt are thrown
//! away and the step starts again once the answer is here. Only then is the ideal tree changed ([`place`]), which needs
//! nothing from outside.

mod allowed;
mod bundles;
mod can_place;
mod conflict;
mod failures;
mod outside;
mod peer_entries;
mod peer_sets;
mod place;
mod queue;
mod remedy;

use crate::error::{ResolveError, ResolveWarning};
use crate::forest::{Edge, EdgeError, Forest, Node, Seed};
use crate::from_lock::Orphan;
use crate::ids::{EdgeId, NameId, NodeId, PackageId, SpecId};
use crate::options::{Opening, ResolveOptions};
use crate::package::Kind;
use crate::resolver::bundles::Bundles;
use crate::resolver::sources::Sources;
use crate::shelf::{Shelf, Wanted};
use gantry_spec::compare_locale;
use queue::Queue;
use rustc_hash::{FxHashMap, FxHashSet};

/// Why a step could not be done.
#[derive(Debug)]
pub(crate) enum Stop {
    /// These packuments are missing, or something that was asked for elsewhere.
    Missing(Vec<Wanted>),
    Error(ResolveError),
}

impl From<ResolveError> for Stop {
    fn from(error: ResolveError) -> Self {
        Self::Error(error)
    }
}

/// How far a call got.
#[derive(Debug)]
pub(crate) enum Progress {
    Done,
    /// These packuments are needed for a node's dependencies, whose closures will be needed next.
    Packuments {
        node: NodeId,
        missing: Vec<Wanted>,
    },
    /// The contents of a package are needed.
    Bundle,
}

/// The state of the loop.
#[derive(Debug)]
pub(crate) struct Builder {
    pub(crate) forest: Forest,
    pub(crate) shelf: Shelf,
    pub(crate) options: ResolveOptions,
    pub(crate) bundles: Bundles,
    pub(crate) warnings: Vec<ResolveWarning>,
    /// Packages placed since they were last taken.
    pub(crate) picks: Vec<PackageId>,
    pub(crate) sources: Sources,
    queue: Queue,
    /// Links that are still to be followed.
    links: Vec<NodeId>,
    seen: FxHashSet<NodeId>,
    /// The node whose step was interrupted.
    current: Option<NodeId>,
    /// The virtual root last made for a node.
    virtual_roots: FxHashMap<NodeId, NodeId>,
    /// Nodes that could not be loaded, in order.
    pub(crate) load_failures: Vec<failures::LoadFailure>,
    /// Folders of the user whose manifests were known from the start.
    pub(crate) known_folders: Vec<(String, PackageId)>,
    /// Entries of the lock that are below nothing.
    pub(crate) orphans: Vec<Orphan>,
    /// Whether the tree was changed.
    pub(crate) mutated: bool,
    /// What was found in packages, by the package and the path in it.
    unpacked: FxHashMap<(PackageId, bundles::Found, String), PackageId>,
    /// Packages that are to be looked into once the tree stands.
    pub(crate) packed: Vec<NodeId>,
    checks: Vec<can_place::Check>,
    budget: Budget,
    places: Vec<place::Place>,
    failed_package: Option<PackageId>,
}

/// How near something is to being taken to go on for ever. npm would; no real project comes near any of these.
#[derive(Debug)]
struct Budget {
    /// Steps of the loop so far: dependencies that displace each other in turns.
    steps: usize,
    /// Checks of places left for one dependency: peers whose combinations cannot be enumerated.
    checks: u32,
    /// Nodes that may still be tried out for one node's dependencies.
    trials: u32,
}

impl Default for Budget {
    fn default() -> Self {
        Self { steps: 0, checks: CHECK_LIMIT, trials: TRIAL_LIMIT }
    }
}

const STEPS_LIMIT: usize = 2_000;
const STEPS_PER_PACKAGE: usize = 50;
const CHECK_LIMIT: u32 = 500_000;
const TRIAL_LIMIT: u32 = 100_000;
/// Peers of peers deeper than this are refused, before they exhaust the stack.
const PEER_DEPTH_LIMIT: usize = 200;
/// Folders nested deeper than this have no end.
const NESTING_LIMIT: u32 = 400;

impl Builder {
    pub(crate) fn new(forest: Forest, shelf: Shelf, options: ResolveOptions) -> Self {
        let options_requested = options.requested;
        Self {
            forest,
            shelf,
            options,
            bundles: Bundles::default(),
            warnings: Vec::new(),
            picks: Vec::new(),
            sources: Sources::default(),
            queue: Queue::default(),
            links: Vec::new(),
            seen: FxHashSet::default(),
            current: None,
            virtual_roots: FxHashMap::default(),
            load_failures: Vec::new(),
            known_folders: Vec::new(),
            orphans: Vec::new(),
            mutated: options_requested,
            unpacked: FxHashMap::default(),
            packed: Vec::new(),
            checks: Vec::new(),
            budget: Budget::default(),
            places: Vec::new(),
            failed_package: None,
        }
    }

    /// Puts every reachable node with a missing or wrong dependency into the queue, and the project.
    pub(crate) fn start(&mut self) -> Result<(), ResolveError> {
        let mut nodes = self.troubled();
        nodes.extend(self.dependants_of_updated());
        self.start_at(nodes)
    }

    /// Puts these nodes into the queue, and the project.
    pub(crate) fn start_at(&mut self, nodes: Vec<NodeId>) -> Result<(), ResolveError> {
        for node in nodes {
            self.queue.push(&self.forest, node);
        }
        self.queue.push(&self.forest, self.forest.root);
        self.queue_chosen_workspaces();
        self.assert_root_overrides()
    }

    /// Puts the workspaces into the queue that the user asks for something, where the tree has them.
    fn queue_chosen_workspaces(&mut self) {
        for place in self.options.explicit_in.iter().filter(|place| !place.is_empty()) {
            if let Some(node) = self.forest.at(self.forest.root, place) {
                self.queue.push(&self.forest, node);
            }
        }
    }

    /// Every reachable node with a missing or wrong dependency.
    pub(crate) fn troubled(&self) -> Vec<NodeId> {
        let mut troubled = Vec::new();
        let mut reached = FxHashSet::from_iter([self.forest.root]);
        let mut stack = vec![self.forest.root];
        while let Some(node) = stack.pop() {
            let mut trouble = false;
            for &(_, edge) in &self.forest.node(node).edges_out {
                let Edge { to, kind, .. } = *self.forest.edge(edge);
                let ignored = kind == Kind::PeerOptional && !self.options.save && !self.options.requested;
                trouble |= !ignored && (to.is_none() || !self.forest.is_valid(edge));
                if let Some(to) = to
                    && reached.insert(to)
                {
                    stack.push(to);
                }
            }
            if trouble {
                troubled.push(node);
            }
        }
        troubled
    }

    /// Everything that depends on a package that is to be looked up again.
    pub(crate) fn dependants_of_updated(&self) -> Vec<NodeId> {
        let mut dependants = Vec::new();
        if self.options.update.is_empty() {
            return dependants;
        }
        for node in self.forest.inventory() {
            let is_named = self.is_to_update(self.forest.node(node).name);
            let is_free = self.forest.node(node).parent.is_some()
                && !self.forest.in_dependency_bundle(node)
                && !self.forest.in_shrinkwrap(node);
            if is_named && is_free {
                dependants.extend(self.forest.node(node).edges_in.iter().map(|&edge| self.forest.edge(edge).from));
            }
        }
        dependants
    }

    pub(crate) fn assert_root_overrides(&self) -> Result<(), ResolveError> {
        let forest = &self.forest;
        for &(_, id) in &forest.node(forest.root).edges_out {
            let (edge, spec) = (forest.edge(id), forest.effective_spec(id));
            let text = &forest.specs.get(spec).text;
            if spec != edge.spec && !text.starts_with('$') {
                let name = forest.names.text(edge.name).to_string();
                return Err(ResolveError::OverrideConflict {
                    name,
                    spec: forest.specs.get(edge.spec).text.to_string(),
                });
            }
        }
        self.check_fatal()
    }

    pub(crate) fn check_fatal(&self) -> Result<(), ResolveError> {
        self.forest.fatal.borrow().clone().map_or(Ok(()), Err)
    }

    /// Goes on until something is missing or the tree stands. Not inlined, as the preload's.
    #[inline(never)]
    pub(crate) fn advance(&mut self) -> Result<Progress, ResolveError> {
        loop {
            let Some(node) = self.current.take().or_else(|| self.next_node()) else { return Ok(Progress::Done) };
            if !self.open_bundle(node)? {
                self.current = Some(node);
                return Ok(Progress::Bundle);
            }
            // What such a package has was settled when the lock was made, or is by what it lists itself.
            let is_settled = self.forest.node(node).from_lock || self.options.opening != Opening::Placed;
            if is_settled && self.forest.package_of(node).manifest.has_shrinkwrap {
                continue;
            }
            self.budget.steps += 1;
            let steps_limit = STEPS_LIMIT + STEPS_PER_PACKAGE * self.forest.packages.len();
            if self.budget.steps > steps_limit || self.forest.depth(node) > NESTING_LIMIT {
                let what = format!("{} is nested or displaced without end", self.label(node));
                return Err(ResolveError::TooComplex { what });
            }
            match self.gather(node) {
                Ok(tasks) => {
                    for (edge, dep) in tasks {
                        self.place_top(edge, dep)?;
                    }
                }
                Err(Stop::Missing(missing)) => {
                    self.current = Some(node);
                    return Ok(Progress::Packuments { node, missing });
                }
                Err(Stop::Error(error)) => return Err(error),
            }
            self.note_links(node);
            self.check_fatal()?;
        }
    }

    fn next_node(&mut self) -> Option<NodeId> {
        loop {
            while let Some(node) = self.queue.pop() {
                if self.forest.node(node).root == self.forest.root && self.seen.insert(node) {
                    return Some(node);
                }
            }
            if !self.queue_links() {
                return None;
            }
        }
    }

    /// The edges of `node` that need something done about them.
    pub(crate) fn problem_edges(&self, node: NodeId) -> Vec<EdgeId> {
        let forest = &self.forest;
        let bundled: &[NameId] = if forest.is_mine(node) { &[] } else { &forest.package_of(node).bundled };
        let is_problem = |edge: &EdgeId| {
            let Edge { name, to, kind, .. } = *forest.edge(*edge);
            if bundled.contains(&name) {
                return false;
            }
            let Some(to) = to else { return kind != Kind::PeerOptional || self.is_explicit(*edge) };
            if self.is_load_failure(to) || forest.in_shrinkwrap(to) {
                return false;
            }
            if !forest.is_valid(*edge) {
                return kind != Kind::PeerOptional || self.options.save || self.options.requested;
            }
            if forest.is_workspace(to) {
                return false;
            }
            self.is_to_update(name) || self.is_explicit(*edge)
        };
        forest.node(node).edges_out.iter().map(|&(_, edge)| edge).filter(is_problem).collect()
    }

    /// Whether the user asked for this dependency of the project or of a workspace by name.
    fn is_explicit(&self, edge: EdgeId) -> bool {
        let edge = self.forest.edge(edge);
        if self.options.explicit.is_empty() {
            return false;
        }
        let place = self.forest.node(edge.from).place.as_deref();
        let is_asked = place.is_some_and(|place| self.options.explicit_in.iter().any(|asked| asked == place));
        let is_in_tree = self.forest.node(edge.from).root == self.forest.root;
        is_asked && is_in_tree && self.lists(&self.options.explicit, edge.name)
    }

    /// Whether the user asked for this package to be looked up again wherever it is.
    fn is_to_update(&self, name: NameId) -> bool {
        self.lists(&self.options.update, name)
    }

    fn lists(&self, list: &[String], name: NameId) -> bool {
        !list.is_empty() && list.iter().any(|listed| **listed == **self.forest.names.text(name))
    }

    /// Finds what every problem edge of `node` should resolve to, each in a virtual tree with its peers.
    fn gather(&mut self, node: NodeId) -> Result<Vec<(EdgeId, NodeId)>, Stop> {
        let problems: Vec<EdgeId> = self.problem_edges(node);
        let problems: Vec<EdgeId> =
            problems.into_iter().filter(|&edge| !self.forest.edge(edge).peer_conflicted).collect();
        self.assert_at_hand(&problems)?;
        let savepoint = self.savepoint(node);
        self.budget.trials = TRIAL_LIMIT;
        let mut tasks = Vec::with_capacity(problems.len());
        for edge in problems {
            match self.find(node, edge) {
                Ok(dep) => tasks.push((edge, dep)),
                Err(stop) => {
                    self.roll_back(savepoint);
                    return Err(stop);
                }
            }
        }
        let name = |edge: &EdgeId| self.forest.names.text(self.forest.edge(*edge).name);
        tasks.sort_by(|(a, _), (b, _)| compare_locale(name(a), name(b)));
        Ok(tasks)
    }

    /// Asks for all of a node's packuments at once instead of for one after the other.
    fn assert_at_hand(&mut self, problems: &[EdgeId]) -> Result<(), Stop> {
        let mut missing = Vec::new();
        let mut lacks_sources = false;
        for &edge in problems {
            lacks_sources |= self.lacks_source(edge);
            let (name, spec) = (self.forest.edge(edge).name, self.forest.effective_spec(edge));
            if let Some(wanted) = self.shelf.missing(&mut self.forest, name, spec)
                && !missing.contains(&wanted)
            {
                missing.push(wanted);
            }
        }
        if missing.is_empty() && !lacks_sources { Ok(()) } else { Err(Stop::Missing(missing)) }
    }

    fn find(&mut self, node: NodeId, edge: EdgeId) -> Result<NodeId, Stop> {
        let Edge { name, kind, from, to, .. } = *self.forest.edge(edge);
        let reused = self.virtual_roots.get(&node).copied();
        if let Some(root) = reused
            && let Some(known) = self.forest.out_edge(root, name)
            && self.forest.edge_error(known) == EdgeError::Fine
            && let Some(dep) = self.forest.edge(known).to
            && self.forest.satisfies(dep, edge)
        {
            return Ok(dep);
        }
        if kind == Kind::PeerOptional && to.is_some() && !self.is_to_update(name) && !self.is_explicit(edge) {
            let top = self.forest.resolve_parent(from).unwrap_or(from);
            if let Some(dep) = self.find_hoistable(top, edge) {
                return Ok(dep);
            }
        }
        let parent = if kind.is_peer() { Some(reused.unwrap_or_else(|| self.virtual_root(node))) } else { None };
        let mut required = FxHashSet::from_iter([from]);
        self.node_from_edge(edge, parent, None, &mut required, 0)
    }

    /// Something below `top`, the nearest first, that the optional peer `edge` is content with.
    fn find_hoistable(&self, top: NodeId, edge: EdgeId) -> Option<NodeId> {
        let name = self.forest.edge(edge).name;
        self.forest.packages_below(top).into_iter().find(|&node| {
            self.forest.node(node).name == name
                && self.forest.satisfies(node, edge)
                && !self.forest.in_dependency_bundle(node)
        })
    }

    /// Whether a package has something in its own tarball that counts.
    pub(crate) fn is_packed(&self, node: NodeId) -> bool {
        let Node { link, failure, from_lock, .. } = *self.forest.node(node);
        let package = self.forest.package_of(node);
        let lists = package.manifest.has_shrinkwrap && !from_lock;
        let is_had = node != self.forest.root && link.is_none() && failure.is_none() && package.resolved.is_some();
        is_had && (lists || !package.bundled.is_empty())
    }

    /// Brings in what a package carries in its own tarball. Gives false while its contents are not here.
    fn open_bundle(&mut self, node: NodeId) -> Result<bool, ResolveError> {
        if !self.is_packed(node) {
            return Ok(true);
        }
        if self.options.opening != Opening::Placed {
            self.packed.push(node);
            return Ok(true);
        }
        let contents = self.contents(node)?;
        if let Some(contents) = &contents {
            self.unpack_bundle(node, contents);
        }
        Ok(contents.is_some())
    }

    /// A node for `name` in a virtual tree, or one that stands for the failure to get it.
    fn node_from_spec(&mut self, name: NameId, spec: SpecId, parent: NodeId, edge: EdgeId) -> Result<NodeId, Stop> {
        use crate::shelf::Lookup;
        if self.forest.names.package_name(name).is_some()
            && let Some(node) = self.node_from_outside(name, spec, parent, edge)?
        {
            return Ok(node);
        }
        let seed = |package, failure| Seed { name, package, overrides: None, failure, from_lock: false };
        match self.shelf.look_up(&mut self.forest, name, spec) {
            Lookup::Found(package) => Ok(self.forest.new_node(seed(package, None), Some(parent))),
            Lookup::Failed(failure) => {
                let package = self.failed_package();
                let node = self.forest.new_node(seed(package, Some(failure)), Some(parent));
                Ok(node)
            }
            Lookup::Missing(wanted) => Err(Stop::Missing(vec![wanted])),
            Lookup::NotRegistry | Lookup::Invalid => Err(self.invalid_spec(edge, spec).into()),
        }
    }
}
