//! What is made of a tree where only some of a project's workspaces, or only the project itself, are installed.
//!
//! npm's rule (`_diffTrees` of arborist's `reify.js`, `calculate` of its `diff.js`): from what was chosen, the dependencies are
//! followed in the tree that is wanted and in the one that is there, in both from every place that either leads to. What is
//! reached becomes what is wanted, or goes; everything else stays as it is. Costs one walk over both trees.

use crate::build::Builder;
use crate::error::ResolveError;
use crate::forest::{Flags, Forest};
use crate::from_lock::take_flags;
use crate::ids::NodeId;
use crate::options::ResolveOptions;
use crate::package::Kind;
use crate::project::Project;
use crate::start::builder;
use gantry_manifest::Lockfile;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};

/// A part of a project.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scope {
    /// Names of workspaces.
    pub workspaces: Vec<String>,
    /// Whether what the project itself depends on belongs to it, except for workspaces.
    pub with_project: bool,
}

/// The tree that an install of a part of a project comes to.
#[derive(Debug, Clone, Default)]
pub struct PartTree {
    /// Everything that is there in the end, each entry with the flags that npm notes for it.
    pub lockfile: Lockfile,
    /// Paths of what nobody touches.
    pub untouched: BTreeSet<String>,
}

/// Works out the tree that an install of a part of a project comes to.
///
/// `wanted` is the lock of the whole project, of which `installed` are the paths of what is not left out; `present` is what is
/// there, if anything is, of the project as its files say `before` anything is saved. `None` where the part depends on nothing, in
/// `wanted` or in `present`: then npm installs the whole project.
pub fn part_to_install(
    project: &Project,
    (wanted, installed): (&Lockfile, &BTreeSet<String>),
    (before, present): (&Project, Option<&Lockfile>),
    scope: &Scope,
    options: &ResolveOptions,
) -> Result<Option<PartTree>, ResolveError> {
    let options = ResolveOptions { save: false, from_tree: false, ..options.clone() };
    let nothing = Lockfile::default();
    let wanted = Side::new(project, wanted, &options)?.with_flags_of(wanted);
    let present = present.unwrap_or(&nothing);
    let present = Side::new(before, present, &ResolveOptions { from_tree: true, ..options.clone() })?;
    let mut walk = Walk { sides: [&wanted, &present], reached: Default::default(), open: Vec::new() };
    walk.start(scope);
    if walk.open.is_empty() {
        return Ok(None);
    }
    walk.follow();
    let reached = walk.reached_paths();
    let chosen = choose(&wanted, &present, &reached, installed);
    let packages = chosen.iter().map(|(path, from)| from.side(&wanted, &present).entry(path)).collect();
    let merged = Lockfile { packages, ..Lockfile::default() };
    let mut merged = Side::new(project, &merged, &options)?.builder;
    for node in merged.forest.inventory() {
        let path = merged.forest.location(node);
        let Some(from) = chosen.get(path.as_str()) else { continue };
        // What only the tree that was there leads to, npm notes as it was there.
        let is_as_it_was = *from == From::Wanted
            && !walk.reached[WANTED].contains(&wanted.places[&path])
            && wanted.identity(&path) == present.identity(&path);
        let from = if is_as_it_was { From::Present } else { *from };
        merged.forest.nodes[node.index()].flags = from.side(&wanted, &present).flags(&path);
    }
    // npm only takes back flags that do not hold any more.
    merged.forest.calculate_flags();
    let untouched = chosen.iter().filter(|(_, from)| **from == From::Present).map(|(path, _)| (*path).to_owned());
    Ok(Some(PartTree { untouched: untouched.collect(), lockfile: merged.to_lock() }))
}

/// Paths of workspaces, which are in `folders`, and of all that they need, as npm's commands that only look at a tree have it
/// (`workspaceDependencySet` of arborist).
pub fn paths_of_workspaces(
    project: &Project,
    lock: &Lockfile,
    folders: &[String],
    options: &ResolveOptions,
) -> Result<BTreeSet<String>, ResolveError> {
    let Side { builder, places } = Side::new(project, lock, &ResolveOptions { save: false, ..options.clone() })?;
    let forest = &builder.forest;
    let mut found: FxHashSet<NodeId> = FxHashSet::default();
    let mut open: Vec<NodeId> = folders.iter().filter_map(|folder| places.get(folder).copied()).collect();
    while let Some(node) = open.pop() {
        if found.insert(node) {
            open.extend(forest.node(node).link);
            open.extend(dependencies(forest, node));
        }
    }
    Ok(found.into_iter().map(|node| forest.location(node)).collect())
}

/// Paths of what the project itself needs, as the same commands have it where they are told to leave workspaces out
/// (`excludeWorkspacesDependencySet`): neither workspaces nor what links lead to.
pub fn paths_without_workspaces(
    project: &Project,
    lock: &Lockfile,
    options: &ResolveOptions,
) -> Result<BTreeSet<String>, ResolveError> {
    let Side { builder, .. } = Side::new(project, lock, &ResolveOptions { save: false, ..options.clone() })?;
    let forest = &builder.forest;
    let edges = forest.node(forest.root).edges_out.iter().map(|&(_, edge)| forest.edge(edge));
    let workspaces: FxHashSet<NodeId> =
        edges.filter(|edge| edge.kind == Kind::Workspace).filter_map(|edge| edge.to).collect();
    let mut found: FxHashSet<NodeId> = FxHashSet::default();
    let mut open: Vec<NodeId> = dependencies(forest, forest.root).collect();
    while let Some(node) = open.pop() {
        if !workspaces.contains(&node) && found.insert(node) {
            open.extend(dependencies(forest, node));
        }
    }
    Ok(found.into_iter().map(|node| forest.location(node)).collect())
}

/// What the dependencies of a package lead to.
fn dependencies(forest: &Forest, node: NodeId) -> impl Iterator<Item = NodeId> {
    forest.node(node).edges_out.iter().filter_map(|&(_, edge)| forest.edge(edge).to)
}

/// A tree and where its nodes are.
struct Side {
    builder: Builder,
    places: FxHashMap<String, NodeId>,
}

impl Side {
    fn new(project: &Project, lock: &Lockfile, options: &ResolveOptions) -> Result<Self, ResolveError> {
        let builder = builder(project.clone(), Some(lock), options.clone())?;
        let nodes = builder.forest.inventory().into_iter();
        let places = nodes.map(|node| (builder.forest.location(node), node)).collect();
        Ok(Self { builder, places })
    }

    /// With what a lock says that packages are there for: it need not be [what follows from it](crate::unpacked).
    fn with_flags_of(mut self, lock: &Lockfile) -> Self {
        take_flags(&mut self.builder.forest, lock);
        self
    }

    fn entry(&self, path: &str) -> gantry_manifest::LockEntry {
        self.builder.entry(path.to_owned(), self.places[path])
    }

    fn flags(&self, path: &str) -> Flags {
        self.builder.forest.node(self.places[path]).flags
    }

    /// Version, integrity and address of what is at a path.
    fn identity(&self, path: &str) -> Option<(&str, Option<&str>)> {
        let package = self.builder.forest.package_of(*self.places.get(path)?);
        Some((&package.version_text, package.integrity.as_deref().or(package.resolved.as_deref())))
    }

    /// Where the link at a path leads.
    fn target(&self, path: &str) -> Option<String> {
        let forest = &self.builder.forest;
        Some(forest.location(forest.node(*self.places.get(path)?).link?))
    }
}

const WANTED: usize = 0;
const PRESENT: usize = 1;

/// The way through both trees.
struct Walk<'a> {
    /// What is wanted and what is there.
    sides: [&'a Side; 2],
    reached: [FxHashSet<NodeId>; 2],
    open: Vec<(usize, NodeId)>,
}

impl Walk<'_> {
    fn start(&mut self, scope: &Scope) {
        for (side, Side { builder, .. }) in self.sides.into_iter().enumerate() {
            let forest = &builder.forest;
            for name in &scope.workspaces {
                let folded = forest.names.find(name).map(|name| forest.names.folded(name));
                let link = folded.and_then(|name| forest.node(forest.root).children.get(name));
                self.open.extend(link.map(|link| (side, link)));
            }
            if scope.with_project {
                let edges = forest.node(forest.root).edges_out.iter().map(|&(_, edge)| forest.edge(edge));
                let own = edges.filter(|edge| edge.kind != Kind::Workspace).filter_map(|edge| edge.to);
                self.open.extend(own.map(|to| (side, to)));
            }
        }
    }

    fn follow(&mut self) {
        let mut extraneous = Vec::new();
        while let Some((side, node)) = self.open.pop() {
            if !self.reached[side].insert(node) {
                continue;
            }
            let forest = &self.sides[side].builder.forest;
            let target = forest.node(node).link;
            self.open.extend(target.map(|target| (side, target)));
            let place = forest.location(target.unwrap_or(node));
            for (other, Side { builder, places }) in self.sides.into_iter().enumerate() {
                let Some(&here) = places.get(&place) else { continue };
                let forest = &builder.forest;
                let edges = forest.node(here).edges_out.iter();
                self.open.extend(edges.filter_map(|&(_, edge)| Some((other, forest.edge(edge).to?))));
                if other == PRESENT {
                    let children = forest.node(here).children.iter();
                    extraneous.extend(children.filter(|&child| forest.node(child).flags.extraneous));
                }
            }
        }
        // They go, but nothing of what they depend on.
        self.reached[PRESENT].extend(extraneous);
    }

    fn reached_paths(&self) -> FxHashSet<String> {
        let sides = [WANTED, PRESENT].into_iter();
        let nodes = sides.flat_map(|side| self.reached[side].iter().map(move |&node| (side, node)));
        nodes.map(|(side, node)| self.sides[side].builder.forest.location(node)).collect()
    }
}

/// Where an entry of the result comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum From {
    Wanted,
    Present,
}

impl From {
    fn side<'a>(self, wanted: &'a Side, present: &'a Side) -> &'a Side {
        match self {
            Self::Wanted => wanted,
            Self::Present => present,
        }
    }
}

/// What is at each path in the end.
fn choose<'a>(
    wanted: &'a Side,
    present: &'a Side,
    reached: &FxHashSet<String>,
    installed: &BTreeSet<String>,
) -> BTreeMap<&'a str, From> {
    let paths: BTreeSet<&str> = wanted.places.keys().chain(present.places.keys()).map(String::as_str).collect();
    let mut chosen = BTreeMap::new();
    // Sorted, so that what is above has been decided.
    for &path in paths.iter().filter(|path| is_in_modules(path)) {
        if reached.contains(path) {
            if wanted.places.contains_key(path) && installed.contains(path) {
                chosen.insert(path, From::Wanted);
            }
        } else if present.places.contains_key(path) && stays(path, &chosen, wanted, present) {
            chosen.insert(path, From::Present);
        }
    }
    let tops = linked(&chosen, wanted, present);
    chosen.retain(|path, _| top_of(path).is_empty() || tops.contains(top_of(path)));
    for &path in paths.iter().filter(|path| tops.contains(**path)) {
        let is_wanted = reached.contains(path) || !present.places.contains_key(path);
        chosen.insert(path, if is_wanted { From::Wanted } else { From::Present });
    }
    chosen.retain(|path, from| from.side(wanted, present).places.contains_key(*path));
    chosen
}

/// Whether what nobody touches is still there in the end: not if the package goes that it is nested in.
fn stays(path: &str, chosen: &BTreeMap<&str, From>, wanted: &Side, present: &Side) -> bool {
    let Some((above, _)) = path.rsplit_once("/node_modules/").filter(|(above, _)| is_in_modules(above)) else {
        return true;
    };
    match chosen.get(above) {
        Some(From::Present) => true,
        Some(From::Wanted) => wanted.identity(above) == present.identity(above),
        None => false,
    }
}

/// The folders of the user that links lead to, from the project on.
fn linked(chosen: &BTreeMap<&str, From>, wanted: &Side, present: &Side) -> FxHashSet<String> {
    let mut tops = FxHashSet::from_iter([String::new()]);
    loop {
        let links = chosen.iter().filter(|(path, _)| tops.contains(top_of(path)));
        let found: Vec<String> = links.filter_map(|(path, from)| from.side(wanted, present).target(path)).collect();
        let before = tops.len();
        tops.extend(found);
        if tops.len() == before {
            tops.remove("");
            return tops;
        }
    }
}

fn is_in_modules(path: &str) -> bool {
    !path.starts_with("../") && (path.starts_with("node_modules/") || path.contains("/node_modules/"))
}

/// The folder of the user that a path is below; empty for the project.
fn top_of(path: &str) -> &str {
    match path.split_once("/node_modules/") {
        Some((top, _)) if !top.starts_with("node_modules/") && top != "node_modules" => top,
        _ => "",
    }
}
