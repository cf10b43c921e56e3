//! A walk over the dependency closure by best guess, so that packuments are asked for before placement needs them.
//!
//! The guess for each dependency is npm's pick for its own specifier, whatever placement will make of it: what is already
//! in the tree, overrides below the first level and peers' influence are not considered. A wrong guess costs a request;
//! it never changes the result, because placement does not look at guesses.

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
        while !self.open.is_empty() {
            for (name, spec) in std::mem::take(&mut self.open) {
                match shelf.look_up(forest, name, spec) {
                    Lookup::Found(package) => self.walk(forest, package),
                    Lookup::Missing(fetched) => {
                        let waiting = self.parked.entry(fetched).or_default();
                        if waiting.is_empty() {
                            self.wanted.push(fetched);
                        }
                        waiting.push((name, spec));
                    }
                    Lookup::Failed(_) | Lookup::NotRegistry | Lookup::Invalid => {}
                }
            }
        }
    }

    fn walk(&mut self, forest: &Forest, package: PackageId) {
        if !self.walked.insert(package) {
            return;
        }
        let package = &forest.packages[package.index()];
        for &Dependency { name, spec, kind, .. } in package.dependencies.iter() {
            if kind == Kind::PeerOptional || package.bundled.contains(&name) {
                continue;
            }
            let spec = forest.rules.root().map_or(spec, |root| overridden(forest, root, name, spec));
            if !in_tree(forest, name, spec) {
                self.add(name, spec);
            }
        }
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
        self.open.is_empty() && self.parked.is_empty()
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
