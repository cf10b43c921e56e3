//! Putting a found dependency and its peers into the ideal tree.
//!
//! From the deepest allowed place upwards, the highest one before the first conflict is taken. What is displaced, what
//! becomes redundant and what nobody needs any more goes at once; whoever is affected is queued again.

use super::Builder;
use super::can_place::{Question, Verdict};
use super::failures::LoadFailure;
use crate::error::ResolveError;
use crate::forest::{Edge, Node, Seed};
use crate::ids::{EdgeId, NodeId};
use crate::options::InstallStrategy;
use gantry_spec::compare_locale;

/// A placement under way or done. Placements of peers point to the one they belong to.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) edge: EdgeId,
    pub(super) dep: NodeId,
    pub(super) parent: Option<usize>,
    /// What the edge resolved to before.
    pub(super) current: Option<NodeId>,
    /// The check of the place taken.
    pub(super) check: Option<usize>,
    /// The last check that was no conflict in itself.
    pub(super) own_check: Option<usize>,
    pub(super) placed: Option<NodeId>,
    need_evaluation: Vec<NodeId>,
}

impl Builder {
    /// Places what was found for an edge of the ideal tree, and queues what has to be looked at again.
    pub(super) fn place_top(&mut self, edge: EdgeId, dep: NodeId) -> Result<(), ResolveError> {
        self.checks.clear();
        self.places.clear();
        self.budget.checks = super::CHECK_LIMIT;
        self.place(None, edge, dep, 0)?;
        for index in 0..self.places.len() {
            self.requeue(index);
        }
        Ok(())
    }

    fn place(&mut self, parent: Option<usize>, edge: EdgeId, dep: NodeId, depth: usize) -> Result<(), ResolveError> {
        if depth > super::PEER_DEPTH_LIMIT {
            return Err(ResolveError::TooComplex { what: "peers of peers go on without end".to_owned() });
        }
        let index = self.places.len();
        let current = self.forest.edge(edge).to;
        let empty = Place {
            edge,
            dep,
            parent,
            current,
            check: None,
            own_check: None,
            placed: None,
            need_evaluation: Vec::new(),
        };
        self.places.push(empty);
        let top = self.top_place(index);
        let explicit = self.is_explicit(self.places[top].edge);
        let name = self.forest.edge(edge).name;
        if current.is_some() && self.forest.is_valid(edge) && !explicit && !self.is_to_update(name) {
            return Ok(());
        }
        self.choose_target(index, explicit);
        self.check_fatal()?;
        let (check, own_check) = (self.places[index].check, self.places[index].own_check);
        let check = match check.or(own_check) {
            Some(check) if self.places[index].check.is_some() => check,
            alternative => {
                if !self.options.force && (self.is_mine(index) || self.options.strict_peer_deps) {
                    return Err(self.placement_conflict(index));
                }
                let Some(check) = alternative else {
                    self.warn_peer_conflict(index, edge, dep);
                    return Ok(());
                };
                self.places[index].check = Some(check);
                check
            }
        };
        let target = self.checks[check].target;
        let verdict = match self.checks[check].verdict {
            Verdict::Conflict => self.checks[check].own_verdict,
            verdict => verdict,
        };
        if verdict == Verdict::Keep {
            if self.forest.edge(edge).kind.is_peer() && !self.forest.is_valid(edge) {
                self.warn_peer_conflict(index, edge, dep);
            }
            self.prune_redundant(target, true, explicit);
            return Ok(());
        }
        if let Some(above) = self.looped(target, dep) {
            let link = self.forest.new_link(self.forest.node(above).name, above);
            self.forest.attach(link, target);
            self.places[index].placed = Some(link);
            return Ok(());
        }
        let placed = self.insert(index, target);
        self.prune_after(index, placed, target, explicit);
        self.place_peers(index, placed, depth)
    }

    fn top_place(&self, index: usize) -> usize {
        let mut index = index;
        while let Some(parent) = self.places[index].parent {
            index = parent;
        }
        index
    }

    /// Walks up from the deepest place and remembers the last two good checks.
    fn choose_target(&mut self, index: usize, explicit: bool) {
        let Place { edge, dep, parent, .. } = self.places[index];
        let name = self.forest.edge(edge).name;
        let start = self.start_node(index);
        let ancestry: Vec<NodeId> = self.forest.ancestry(start).collect();
        for target in ancestry {
            let is_top = self.forest.is_top(target);
            let target_edge = self.forest.out_edge(target, name);
            if !is_top && target_edge.is_some_and(|edge| self.forest.edge(edge).kind.is_peer()) {
                continue;
            }
            let parent_check = parent.and_then(|parent| self.places[parent].check);
            let prefer_dedupe = self.options.prefer_dedupe;
            let question = Question { dep, target, edge, parent: parent_check, prefer_dedupe, explicit };
            let check = self.check(question, &mut Vec::new());
            if self.checks[check].own_verdict != Verdict::Conflict {
                self.places[index].own_check = Some(check);
            }
            if self.checks[check].verdict == Verdict::Conflict {
                break;
            }
            self.places[index].check = Some(check);
            // What could not be loaded goes to the first place tried: it will be removed or end the resolution.
            if self.forest.node(dep).failure.is_some() {
                break;
            }
            let below_project = self.forest.resolve_parent(target) == Some(self.forest.root);
            match self.options.strategy {
                InstallStrategy::Nested => break,
                InstallStrategy::Shallow if below_project => break,
                _ => {}
            }
        }
    }

    fn start_node(&self, index: usize) -> NodeId {
        let mut chain = vec![index];
        let mut top = index;
        while let Some(parent) = self.places[top].parent {
            chain.push(parent);
            top = parent;
        }
        let start = self.forest.edge(self.places[top].edge).from;
        chain.iter().rev().fold(start, |start, &place| {
            self.forest.deepest_target(start, self.forest.edge(self.places[place].edge).name)
        })
    }

    /// The node above `target` that holds the same thing, where nesting would go on for ever.
    fn looped(&self, target: NodeId, dep: NodeId) -> Option<NodeId> {
        let forest = &self.forest;
        forest.ancestry(target).find(|&above| !forest.is_top(above) && forest.matches(above, dep))
    }

    /// Makes the node and puts it below the target, in the place of what is there.
    fn insert(&mut self, index: usize, target: NodeId) -> NodeId {
        let Place { edge, dep, .. } = self.places[index];
        let Node { name, package, overrides, failure, link, .. } = *self.forest.node(dep);
        let placed = match link {
            Some(folder) => {
                let place = self.forest.location(folder);
                let folder = self.forest.top_at(self.forest.root, &place, package);
                let placed = self.forest.new_link(name, folder);
                self.forest.nodes[placed.index()].overrides = overrides;
                placed
            }
            None => self.forest.new_node(Seed { name, package, overrides, failure, from_lock: false }, None),
        };
        if failure.is_none() && link.is_none() {
            self.picks.push(package);
        }
        self.places[index].placed = Some(placed);
        let folded = self.forest.names.folded(self.forest.edge(edge).name);
        match self.forest.node(target).children.get(folded) {
            Some(old) => self.replace_old(index, placed, old, target),
            None => self.forest.attach(placed, target),
        }
        if self.forest.edge(edge).kind.is_peer() && !self.forest.satisfies(placed, edge) {
            self.warn_peer_conflict(index, edge, dep);
        }
        placed
    }

    fn prune_after(&mut self, index: usize, placed: NodeId, target: NodeId, explicit: bool) {
        let edge = self.places[index].edge;
        if let Some(to) = self.forest.edge(edge).to
            && to != placed
            && self.forest.is_valid(edge)
        {
            self.prune_redundant(to, false, explicit);
        }
        let root = self.forest.root;
        let same_name: Vec<NodeId> = self.forest.named(self.forest.edge(edge).name).to_vec();
        for node in same_name {
            if self.forest.node(node).root != root
                || self.forest.is_top(node)
                || !self.forest.is_descendant_of(node, target)
            {
                continue;
            }
            self.prune_redundant(node, false, explicit);
            if self.forest.node(node).root == root {
                let kids: Vec<NodeId> = self.forest.node(node).children.iter().collect();
                for kid in kids {
                    if self.forest.node(kid).root == root {
                        self.prune_redundant(kid, false, explicit);
                    }
                }
            }
        }
    }

    fn place_peers(&mut self, index: usize, placed: NodeId, depth: usize) -> Result<(), ResolveError> {
        let virtual_root = self.forest.node(self.places[index].dep).parent;
        for position in 0..self.forest.node(placed).edges_out.len() {
            let (folded, edge) = self.forest.node(placed).edges_out[position];
            let Edge { kind, peer_conflicted, .. } = *self.forest.edge(edge);
            if !kind.is_peer() || peer_conflicted || self.forest.is_valid(edge) {
                continue;
            }
            // Where the virtual root has none, the peer is optional; one that does not satisfy was a conflict that was
            // accepted there.
            let peer = virtual_root.and_then(|root| self.forest.node(root).children.get(folded));
            if let Some(peer) = peer
                && self.forest.satisfies(peer, edge)
            {
                self.place(Some(index), edge, peer, depth + 1)?;
            }
        }
        Ok(())
    }

    /// Puts `placed` in the place of `old` and removes what only `old` needed and what can no longer stay at this level.
    fn replace_old(&mut self, index: usize, placed: NodeId, old: NodeId, target: NodeId) {
        let dep = self.places[index].dep;
        let mut old_deps = Vec::new();
        for &(folded, edge) in &self.forest.node(old).edges_out {
            let kept = self.forest.node(placed).edges_out.iter().any(|(name, _)| *name == folded);
            if let Some(to) = self.forest.edge(edge).to
                && !kept
            {
                old_deps.extend(self.forest.gather(&[to], |other| self.forest.edge(other).to != Some(to)));
            }
        }
        let mut pruned_sets = Vec::new();
        for edge in self.forest.node(old).edges_in.clone() {
            let Edge { from, kind, peer_conflicted, .. } = *self.forest.edge(edge);
            let at_this_level = self.forest.node(from).parent == Some(target);
            if !kind.is_peer() || !at_this_level || peer_conflicted || self.forest.satisfies(placed, edge) {
                continue;
            }
            for entry in self.peer_entries(from) {
                let Some(entered) = self.forest.edge(entry.edge).to else { continue };
                // What the project itself asked for stays, and whoever minds has been warned.
                let from_project = self.forest.is_mine(self.forest.edge(entry.edge).from);
                if entered != target && !from_project {
                    let set = self.forest.gather(&[entered], |other| {
                        let other = self.forest.edge(other);
                        other.to != Some(entered) && !other.peer_conflicted
                    });
                    pruned_sets.extend(set);
                } else {
                    self.warn_peer_conflict(index, edge, dep);
                }
            }
        }
        self.forest.replace(placed, old);
        self.prune_for_replacement(placed, &old_deps);
        for node in pruned_sets {
            let dependants = self.forest.node(node).edges_in.iter().map(|&edge| self.forest.edge(edge).from);
            let dependants: Vec<NodeId> = dependants.collect();
            self.places[index].need_evaluation.extend(dependants);
            self.forest.remove(node);
        }
    }

    fn prune_for_replacement(&mut self, node: NodeId, old_deps: &[NodeId]) {
        let forest = &self.forest;
        let mut invalid: Vec<NodeId> = Vec::new();
        for &(_, edge) in &forest.node(node).edges_out {
            if let Some(to) = forest.edge(edge).to
                && !forest.is_valid(edge)
            {
                invalid.push(to);
            }
        }
        for &dep in old_deps {
            let counts = |edge: EdgeId| forest.edge(edge).to != Some(dep) && forest.is_valid(edge);
            invalid.extend(forest.gather(&[dep], counts));
        }
        let junk = forest.gather(&invalid, |edge| {
            let Edge { from, to, .. } = *forest.edge(edge);
            from != node && to != Some(node) && forest.is_valid(edge)
        });
        for node in junk {
            self.forest.remove(node);
        }
    }

    /// Removes what can be removed at `node`, or below it where it stays itself.
    fn prune_redundant(&mut self, node: NodeId, descend: bool, explicit: bool) {
        let mut stack = vec![node];
        while let Some(node) = stack.pop() {
            if self.forest.can_dedupe(node, self.options.prefer_dedupe, explicit) {
                let counts = |edge: EdgeId| self.forest.edge(edge).to != Some(node) && self.forest.is_valid(edge);
                for node in self.forest.gather(&[node], counts) {
                    self.forest.remove(node);
                }
                continue;
            }
            if descend {
                // What is on top of the stack comes first: folders of the user after packages.
                let location = |node: &NodeId| self.forest.location(*node);
                let mut folders: Vec<NodeId> = self.forest.tops_in(node).collect();
                folders.sort_by(|a, b| compare_locale(&location(b), &location(a)));
                let name = |node: NodeId| self.forest.names.text(self.forest.node(node).name);
                for above in folders.into_iter().chain([node]) {
                    let mut kids: Vec<NodeId> = self.forest.node(above).children.iter().collect();
                    kids.sort_by(|&a, &b| compare_locale(name(b), name(a)));
                    stack.extend(kids);
                }
            }
        }
    }

    /// Queues what a placement may have put out of order.
    fn requeue(&mut self, index: usize) {
        let Some(placed) = self.places[index].placed else { return };
        if self.forest.node(placed).failure.is_some() && !self.is_load_failure(placed) {
            self.load_failures.push(LoadFailure { node: placed, edge: self.places[index].edge });
        }
        self.mutated = true;
        let own = self.places[index].check.map(|check| self.checks[check].own_verdict);
        for edge in self.forest.node(placed).edges_in.clone() {
            let Edge { from, peer_conflicted, .. } = *self.forest.edge(edge);
            if edge == self.places[index].edge || peer_conflicted || self.forest.is_valid(edge) {
                continue;
            }
            // Unless the lock is to be kept as it is, somebody already looked at is looked at again.
            let again = match own {
                Some(Verdict::Free) => self.options.save || self.options.requested,
                _ => true,
            };
            if again {
                self.seen.remove(&from);
            }
            if !self.seen.contains(&from) {
                self.queue.push(&self.forest, from);
            }
        }
        self.queue.push(&self.forest, placed);
        for node in std::mem::take(&mut self.places[index].need_evaluation) {
            self.seen.remove(&node);
            self.queue.push(&self.forest, node);
        }
    }
}
