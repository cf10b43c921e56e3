//! A walk over the dependency closure by best guess, so that packuments are asked for before placement needs them.
//!
//! The guess for each dependency is npm's pick for its own specifier, whatever placement will make of it: what is already
//! in the tree, overrides below the first level and peers' influence are not considered. A wrong guess costs a request;
//! it never changes the result, because placement does not look at guesses.
//!
//! Peers are the exception: `react@>=16` is nearly always met by the version that somebody else asks for, and its own best
//! pick would be fetched for nothing. They wait until everything else is guessed, and only those that no guess meets are
//! guessed themselves. Their packuments are asked for at once, since placement looks at them either way.

use crate::forest::Forest;
use crate::ids::{NameId, NodeId, PackageId, SpecId};
use crate::package::{Dependency, Kind};
use crate::shelf::{Lookup, Shelf};
use rustc_hash::{FxHashMap, FxHashSet};

/// The frontier of the walk.
#[derive(Debug, Default)]
pub(crate) struct Preload {
    /// Dependencies to look at.
    open: Vec<(NameId, SpecId)>,
    seen: FxHashSet<(NameId, SpecId)>,
    walked: FxHashSet<PackageId>,
    /// Dependencies that wait for a packument.
    parked: FxHashMap<NameId, Vec<(NameId, SpecId)>>,
    /// Packuments that have to be asked for.
    wanted: Vec<NameId>,
    /// Peers that may have to be guessed once nothing else is open.
    peers: Vec<(NameId, SpecId)>,
    /// What was guessed, by the name it would be found under.
    guesses: FxHashMap<NameId, Vec<PackageId>>,
}

impl Preload {
    /// Adds a dependency to the frontier.
    pub(crate) fn add(&mut self, name: NameId, spec: SpecId) {
        if self.seen.insert((name, spec)) {
            self.open.push((name, spec));
        }
    }

    /// Adds what a node of the ideal tree lacks.
    pub(crate) fn add_missing(&mut self, forest: &Forest, node: NodeId) {
        for &(_, id) in &forest.node(node).edges_out {
            let edge = forest.edge(id);
            if edge.kind != Kind::PeerOptional && (edge.to.is_none() || !forest.is_valid(id)) {
                self.add(edge.name, forest.effective_spec(id));
            }
        }
    }

    /// Goes on as far as the packuments at hand allow.
    pub(crate) fn advance(&mut self, forest: &mut Forest, shelf: &mut Shelf) {
        loop {
            while !self.open.is_empty() {
                for (name, spec) in std::mem::take(&mut self.open) {
                    match shelf.look_up(forest, name, spec) {
                        Lookup::Found(package) => {
                            self.guesses.entry(name).or_default().push(package);
                            self.walk(forest, shelf, package);
                        }
                        Lookup::Missing(fetched) => self.wait_for(fetched).push((name, spec)),
                        Lookup::Failed(_) | Lookup::NotRegistry | Lookup::Invalid => {}
                    }
                }
            }
            if !self.parked.is_empty() {
                return;
            }
            let Some((name, spec)) = self.unmet_peer(forest) else { return };
            self.add(name, spec);
        }
    }

    fn walk(&mut self, forest: &mut Forest, shelf: &Shelf, package: PackageId) {
        if !self.walked.insert(package) {
            return;
        }
        let package = &forest.packages[package.index()];
        let (dependencies, bundled) = (package.dependencies.clone(), package.bundled.clone());
        for &Dependency { name, spec, kind, .. } in dependencies.iter() {
            if kind == Kind::PeerOptional || bundled.contains(&name) {
                continue;
            }
            let spec = forest.rules.root().map_or(spec, |root| overridden(forest, root, name, spec));
            if in_tree(forest, name, spec) {
                continue;
            }
            if kind == Kind::Peer {
                if let Some(fetched) = shelf.fetch_name(forest, name, spec).filter(|&fetched| !shelf.has(fetched)) {
                    self.wait_for(fetched);
                }
                self.peers.push((name, spec));
            } else {
                self.add(name, spec);
            }
        }
    }

    /// The dependencies that wait for a packument, which is asked for with the first of them.
    fn wait_for(&mut self, fetched: NameId) -> &mut Vec<(NameId, SpecId)> {
        let wanted = &mut self.wanted;
        self.parked.entry(fetched).or_insert_with(|| {
            wanted.push(fetched);
            Vec::new()
        })
    }

    /// The next peer that nothing guessed so far would meet.
    fn unmet_peer(&mut self, forest: &Forest) -> Option<(NameId, SpecId)> {
        while let Some((name, spec)) = self.peers.pop() {
            let guesses = self.guesses.get(&name).map_or(&[][..], Vec::as_slice);
            if !guesses.iter().any(|&guess| forest.accepts_package(spec, guess)) {
                return Some((name, spec));
            }
        }
        None
    }

    /// Takes note that an answer is here.
    pub(crate) fn answered(&mut self, fetched: NameId) {
        if let Some(waiting) = self.parked.remove(&fetched) {
            self.open.extend(waiting);
        }
    }

    /// Packuments to ask for, each once.
    pub(crate) fn take_wanted(&mut self) -> Vec<NameId> {
        std::mem::take(&mut self.wanted)
    }

    /// Whether nothing more is expected.
    pub(crate) fn is_idle(&self) -> bool {
        self.open.is_empty() && self.parked.is_empty() && self.peers.is_empty()
    }
}

fn overridden(forest: &Forest, root: crate::ids::RuleId, name: NameId, spec: SpecId) -> SpecId {
    match forest.rules.for_edge(root, name, || &forest.specs.get(spec).parsed) {
        Ok(rule) => {
            let rule = forest.rules.get(rule);
            let replaces = rule.name == Some(name) && &*rule.value != "*" && !rule.value.starts_with('$');
            if replaces { rule.value_spec } else { spec }
        }
        Err(_) => spec,
    }
}

/// Whether the project's own `node_modules` already holds something that fits, as after loading a lock.
fn in_tree(forest: &Forest, name: NameId, spec: SpecId) -> bool {
    let child = forest.node(forest.root).children.get(forest.names.folded(name));
    child.is_some_and(|child| forest.accepts_package(spec, forest.node(child).package))
}
