//! The ideal tree and the virtual trees beside it, in one arena.
//!
//! A node is a place for a package: a folder in a `node_modules`, or a folder of the user that a link leads to ([`tops`]). A
//! tree is a root and what hangs below it; the ideal tree is one, every virtual root with its peer set is another, and a
//! subtree taken out of a tree becomes one too. Edges never cross trees. Moving nodes ([`moves`]) re-resolves exactly the
//! edges that may have changed ([`edges`]); everything that only asks ([`relations`], [`bundles`], [`outside`]) takes
//! `&self`.

mod bundles;
mod edges;
mod moves;
mod outside;
mod relations;
mod tops;

pub(crate) use edges::EdgeError;
pub(crate) use outside::{Anchors, leads_out};
pub use outside::{path_between, path_from, path_in_project};

use crate::error::ResolveError;
use crate::ids::{EdgeId, FailureId, NameId, NodeId, PackageId, RuleId, SpecId};
use crate::names::{Names, Specs};
use crate::overrides::Rules;
use crate::package::{Dependency, Kind, Package};
use gantry_spec::GitSpec;
use rustc_hash::FxHashMap;
use std::cell::{Cell, RefCell};
use std::sync::Arc;

/// Why a node is in the lock, and whether it is to be installed; see [`crate::flags`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Flags {
    pub(crate) extraneous: bool,
    pub(crate) dev: bool,
    pub(crate) optional: bool,
    pub(crate) dev_optional: bool,
    pub(crate) peer: bool,
}

impl Flags {
    /// Where the calculation starts from.
    pub(crate) const ALL: Self = Self { extraneous: true, dev: true, optional: true, dev_optional: true, peer: true };
    /// The project itself.
    pub(crate) const NONE: Self =
        Self { extraneous: false, dev: false, optional: false, dev_optional: false, peer: false };
}

/// A place for a package.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    /// The folder's name.
    pub(crate) name: NameId,
    pub(crate) package: PackageId,
    pub(crate) parent: Option<NodeId>,
    /// For a folder of the user: the node whose folder it is in, which is where its dependencies are looked for next.
    pub(crate) fs_parent: Option<NodeId>,
    /// Where a root or a folder of the user is, relative to the project: empty for the project, `packages/a`, `../b`.
    pub(crate) place: Option<Arc<str>>,
    /// Of a root: the folders of the user in its tree, in order of arrival.
    pub(crate) tops: Vec<NodeId>,
    /// The top of the tree it is in; itself when it is in none.
    pub(crate) root: NodeId,
    /// For a virtual root: the node whose dependencies it stands for.
    pub(crate) source: Option<NodeId>,
    pub(crate) children: Children,
    /// By folded name, in order of declaration.
    pub(crate) edges_out: Vec<(NameId, EdgeId)>,
    pub(crate) edges_in: Vec<EdgeId>,
    pub(crate) overrides: Option<RuleId>,
    /// A link's target.
    pub(crate) link: Option<NodeId>,
    pub(crate) failure: Option<FailureId>,
    pub(crate) flags: Flags,
    /// In the lock, but not to be installed.
    pub(crate) inert: bool,
    /// Whether it came from the lock file.
    pub(crate) from_lock: bool,
    /// When it entered the ideal tree.
    pub(crate) sequence: u32,
}

/// A dependency of a node and what it resolves to.
#[derive(Debug, Clone)]
pub(crate) struct Edge {
    pub(crate) from: NodeId,
    pub(crate) to: Option<NodeId>,
    pub(crate) name: NameId,
    /// As declared, before overrides.
    pub(crate) spec: SpecId,
    pub(crate) accept: Option<SpecId>,
    pub(crate) kind: Kind,
    pub(crate) overrides: Option<RuleId>,
    /// A conflict that was accepted: never to be looked at again.
    pub(crate) peer_conflicted: bool,
    pub(crate) error: Cell<Option<EdgeError>>,
}

/// Children by folded name, in order of arrival.
#[derive(Debug, Clone, Default)]
pub(crate) struct Children {
    order: Vec<(NameId, NodeId)>,
    index: FxHashMap<NameId, NodeId>,
}

/// Up to so many children a scan is faster than a map.
const SCANNED_CHILDREN: usize = 8;

impl Children {
    pub(crate) fn get(&self, folded: NameId) -> Option<NodeId> {
        if self.order.len() <= SCANNED_CHILDREN {
            return self.order.iter().find(|(name, _)| *name == folded).map(|(_, node)| *node);
        }
        self.index.get(&folded).copied()
    }

    pub(crate) fn insert(&mut self, folded: NameId, node: NodeId) {
        self.remove(folded);
        self.order.push((folded, node));
        if self.order.len() > SCANNED_CHILDREN {
            if self.index.is_empty() {
                self.index.extend(self.order.iter().copied());
            }
            self.index.insert(folded, node);
        }
    }

    pub(crate) fn remove(&mut self, folded: NameId) {
        if self.get(folded).is_none() {
            return;
        }
        // From the end: whoever removes many begins with the last.
        if let Some(position) = self.order.iter().rposition(|(name, _)| *name == folded) {
            self.order.remove(position);
            self.index.remove(&folded);
            if self.order.len() <= SCANNED_CHILDREN {
                self.index.clear();
            }
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.order.iter().map(|(_, node)| *node)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.order.is_empty()
    }
}

/// All trees with everything they refer to.
#[derive(Debug)]
pub(crate) struct Forest {
    pub(crate) names: Names,
    pub(crate) specs: Specs,
    pub(crate) packages: Vec<Package>,
    pub(crate) rules: Rules,
    pub(crate) nodes: Vec<Node>,
    pub(crate) edges: Vec<Edge>,
    /// The project.
    pub(crate) root: NodeId,
    /// Names and folders of the project's workspaces, in npm's order.
    pub(crate) workspaces: Vec<(NameId, Arc<str>)>,
    /// What they are, by these names.
    pub(crate) workspace_packages: FxHashMap<NameId, PackageId>,
    /// Whether there is neither a lock nor a tree to start from: npm reads the workspaces from the disk then, under the
    /// project's rules (`useRootOverrides` in its arborist's `load-actual.js`).
    pub(crate) is_from_nothing: bool,
    /// See [`ResolveOptions::install_links`](crate::ResolveOptions::install_links).
    pub(crate) installs_links: bool,
    /// See [`ResolveOptions::global`](crate::ResolveOptions::global).
    pub(crate) is_global: bool,
    /// Whether any package has a `npm-shrinkwrap.json` of its own.
    has_shrinkwraps: bool,
    /// What the lock says was asked for where a dependency is a repository: by the dependant's place and the name.
    pub(crate) locked_git: FxHashMap<(String, String), GitSpec>,
    /// What absolute paths are made relative to.
    pub(crate) anchors: Anchors,
    /// Nodes of the ideal tree by folder name, in order of arrival.
    by_name: FxHashMap<NameId, Vec<NodeId>>,
    /// Edges of the ideal tree by folded name.
    edges_by_name: FxHashMap<NameId, Vec<EdgeId>>,
    verdicts: RefCell<FxHashMap<(SpecId, PackageId), bool>>,
    /// Nodes whose override rules are still to be handed on.
    postponed: Vec<NodeId>,
    propagation_depth: u32,
    catching_up: bool,
    propagations_left: u32,
    /// The first thing that makes the whole resolution impossible.
    pub(crate) fatal: RefCell<Option<ResolveError>>,
    next_sequence: u32,
}

/// Room for a project of usual size: what grows is copied, and what is not used costs nothing.
const LIKELY_NODES: usize = 2048;
/// Dependencies of a package.
const LIKELY_EDGES: usize = 4;

/// More override propagations than this in one resolution means that rules chase each other in a circle.
const PROPAGATION_LIMIT: u32 = 5_000_000;

impl Forest {
    pub(crate) fn new(names: Names, specs: Specs, rules: Rules, root: Package) -> Self {
        let mut forest = Self {
            names,
            specs,
            rules,
            packages: Vec::new(),
            nodes: Vec::with_capacity(LIKELY_NODES),
            edges: Vec::with_capacity(LIKELY_NODES * LIKELY_EDGES),
            root: NodeId::new(0),
            workspaces: Vec::new(),
            workspace_packages: FxHashMap::default(),
            is_from_nothing: false,
            installs_links: false,
            is_global: false,
            has_shrinkwraps: false,
            locked_git: FxHashMap::default(),
            anchors: Anchors::default(),
            by_name: FxHashMap::default(),
            edges_by_name: FxHashMap::default(),
            verdicts: RefCell::default(),
            postponed: Vec::new(),
            propagation_depth: 0,
            catching_up: false,
            propagations_left: PROPAGATION_LIMIT,
            fatal: RefCell::new(None),
            next_sequence: 0,
        };
        let name = root.name.unwrap_or_else(|| forest.names.intern("."));
        let package = forest.add_package(root);
        let overrides = forest.rules.root();
        let seed = Seed { name, package, overrides, failure: None, from_lock: false };
        forest.root = forest.push_node(&seed, None);
        forest.nodes[0].flags = Flags::NONE;
        forest.nodes[0].place = Some("".into());
        forest
    }

    /// Gives the project its edges, to its workspaces first: what it asks for under a workspace's name does not count.
    pub(crate) fn load_root(&mut self) {
        let mut list: Vec<Dependency> = Vec::new();
        for (name, place) in self.workspaces.clone() {
            let spec = self.specs.intern(&format!("file:{place}"));
            list.push(Dependency { name, spec, accept: None, kind: Kind::Workspace });
        }
        let own = self.package_of(self.root).top_dependencies.clone();
        let is_workspace = |name| self.workspaces.iter().any(|(workspace, _)| *workspace == name);
        list.extend(own.iter().filter(|dependency| !is_workspace(dependency.name)));
        self.load_edges(self.root, &list);
    }

    pub(crate) fn add_package(&mut self, package: Package) -> PackageId {
        let id = PackageId::new(self.packages.len());
        self.has_shrinkwraps |= package.manifest.has_shrinkwrap;
        self.packages.push(package);
        id
    }

    /// Makes a node, puts it below `parent` (displacing what is there) and gives it its edges.
    pub(crate) fn new_node(&mut self, seed: Seed, parent: Option<NodeId>) -> NodeId {
        let id = self.push_node(&seed, None);
        if let Some(parent) = parent {
            self.attach(id, parent);
        }
        let list = self.packages[seed.package.index()].dependencies.clone();
        self.load_edges(id, &list);
        id
    }

    /// Makes a root that has the dependencies of `source` and nothing below it.
    pub(crate) fn new_virtual_root(&mut self, source: NodeId) -> NodeId {
        let Node { name, package, overrides, .. } = self.nodes[source.index()];
        let seed = Seed { name, package, overrides, failure: None, from_lock: false };
        let id = self.push_node(&seed, Some(source));
        self.nodes[id.index()].place = Some(self.location(source).into());
        let package = &self.packages[package.index()];
        let is_top = self.node(source).parent.is_none();
        let list = if is_top { package.top_dependencies.clone() } else { package.dependencies.clone() };
        self.load_edges(id, &list);
        // The folders that the source's links lead to can be reached from here too.
        let links = self.node(source).children.iter().filter_map(|child| self.node(child).link);
        let folders: Vec<NodeId> = links.filter(|&target| self.node(target).parent.is_none()).collect();
        for target in folders {
            if let Some(place) = self.node(target).place.clone() {
                self.top_at(id, &place, self.node(target).package);
            }
        }
        id
    }

    fn push_node(&mut self, seed: &Seed, source: Option<NodeId>) -> NodeId {
        let id = NodeId::new(self.nodes.len());
        self.nodes.push(Node {
            name: seed.name,
            package: seed.package,
            parent: None,
            fs_parent: None,
            place: None,
            tops: Vec::new(),
            root: id,
            source,
            children: Children::default(),
            edges_out: Vec::new(),
            edges_in: Vec::new(),
            overrides: seed.overrides,
            link: None,
            failure: seed.failure,
            flags: Flags::ALL,
            inert: false,
            from_lock: seed.from_lock,
            sequence: 0,
        });
        id
    }

    pub(crate) fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    pub(crate) fn edge(&self, id: EdgeId) -> &Edge {
        &self.edges[id.index()]
    }

    pub(crate) fn package_of(&self, id: NodeId) -> &Package {
        &self.packages[self.nodes[id.index()].package.index()]
    }

    /// All nodes of the ideal tree, the root first, in the order in which they arrived.
    pub(crate) fn inventory(&self) -> Vec<NodeId> {
        let mut found = vec![self.root];
        found.extend(&self.node(self.root).tops);
        let mut next = 0;
        while let Some(&node) = found.get(next) {
            found.extend(self.node(node).children.iter());
            next += 1;
        }
        found[1..].sort_by_key(|&node| self.node(node).sequence);
        found
    }

    /// Nodes of the ideal tree whose folder has this name, in order of arrival.
    pub(crate) fn named(&self, name: NameId) -> &[NodeId] {
        self.by_name.get(&name).map_or(&[], Vec::as_slice)
    }

    /// `node_modules/a/node_modules/b`, `packages/a`; empty for the project.
    pub(crate) fn location(&self, node: NodeId) -> String {
        let mut names = Vec::new();
        let mut current = node;
        while let Some(parent) = self.node(current).parent {
            names.push(self.names.text(self.node(current).name));
            current = parent;
        }
        let mut text = self.node(current).place.as_deref().unwrap_or_default().to_owned();
        for name in names.into_iter().rev() {
            text.push_str(if text.is_empty() { "node_modules/" } else { "/node_modules/" });
            text.push_str(name);
        }
        text
    }

    /// How many folders deep; a root is 0, and so is a folder of the user.
    pub(crate) fn depth(&self, node: NodeId) -> u32 {
        std::iter::successors(Some(node), |&node| self.node(node).parent).count() as u32 - 1
    }

    /// The node and everything above it, from a folder of the user to what that folder is in.
    pub(crate) fn ancestry(&self, node: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        std::iter::successors(Some(node), |&node| self.resolve_parent(node))
    }

    /// Remembers `error` unless there is an earlier one.
    pub(crate) fn fail(&self, error: ResolveError) {
        self.fatal.borrow_mut().get_or_insert(error);
    }
}

/// What a node is made from.
#[derive(Debug, Clone)]
pub(crate) struct Seed {
    pub(crate) name: NameId,
    pub(crate) package: PackageId,
    pub(crate) overrides: Option<RuleId>,
    pub(crate) failure: Option<FailureId>,
    pub(crate) from_lock: bool,
}
