//! May this dependency go here? Nothing in this file changes a tree.
//!
//! The answer takes the peers along: a place is only good when every peer the dependency brings can be at or above it.

use super::{Builder, PEER_DEPTH_LIMIT};
use crate::error::ResolveError;
use crate::forest::EdgeError;
use crate::ids::{EdgeId, NodeId};
use std::cmp::Ordering;

/// The answer for one place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Nothing of that name is there, and nobody minds.
    Free,
    /// What is there serves.
    Keep,
    /// What is there may, or must, make way.
    Replace,
    /// Not here.
    Conflict,
}

/// A question with its answer. Checks of peers point to the check they belong to.
#[derive(Debug)]
pub(super) struct Check {
    pub(super) dep: NodeId,
    pub(super) target: NodeId,
    pub(super) edge: EdgeId,
    parent: Option<usize>,
    prefer_dedupe: bool,
    explicit: bool,
    pub(super) current: Option<NodeId>,
    /// The dependency had to give way to another wish when its peer set was put together.
    edge_overridden: bool,
    /// With its peers.
    pub(super) verdict: Verdict,
    /// Without them.
    pub(super) own_verdict: Verdict,
    peers_verdict: Option<Verdict>,
    pub(super) children: Vec<usize>,
}

/// What is asked.
#[derive(Debug, Clone, Copy)]
pub(super) struct Question {
    pub(super) dep: NodeId,
    pub(super) target: NodeId,
    pub(super) edge: EdgeId,
    /// The check of the dependency whose peer this is.
    pub(super) parent: Option<usize>,
    pub(super) prefer_dedupe: bool,
    pub(super) explicit: bool,
}

impl Builder {
    /// Answers a question; the result is an index into the checks of the current placement.
    pub(super) fn check(&mut self, question: Question, peer_path: &mut Vec<NodeId>) -> usize {
        let Question { dep, target, edge, parent, prefer_dedupe, explicit } = question;
        let forest = &self.forest;
        let name = forest.edge(edge).name;
        let check = Check {
            dep,
            target,
            edge,
            parent,
            // Peers try a bit harder to be there only once.
            prefer_dedupe: prefer_dedupe || forest.edge(edge).kind.is_peer(),
            explicit,
            current: forest.node(target).children.get(forest.names.folded(name)),
            edge_overridden: !forest.satisfies(dep, edge),
            verdict: Verdict::Conflict,
            own_verdict: Verdict::Conflict,
            peers_verdict: None,
            children: Vec::new(),
        };
        let id = self.checks.len();
        self.checks.push(check);
        self.budget.checks = self.budget.checks.saturating_sub(1);
        if self.budget.checks == 0 || peer_path.len() > PEER_DEPTH_LIMIT {
            let what = "the combinations of these peer dependencies cannot be enumerated".to_owned();
            self.forest.fail(ResolveError::TooComplex { what });
            return id;
        }
        let mut own = None;
        let verdict = self.judge(id, &mut own, peer_path);
        self.checks[id].verdict = verdict;
        self.checks[id].own_verdict = own.unwrap_or(verdict);
        id
    }

    fn judge(&mut self, id: usize, own: &mut Option<Verdict>, peer_path: &mut Vec<NodeId>) -> Verdict {
        let forest = &self.forest;
        let Check { dep, target, edge, current, .. } = self.checks[id];
        if forest.node(dep).failure.is_some() {
            return if current.is_some() { Verdict::Replace } else { Verdict::Free };
        }
        let is_top = forest.is_top(target);
        if let Some(target_edge) = forest.out_edge(target, forest.edge(edge).name) {
            if forest.edge(target_edge).kind.is_peer() && !is_top {
                return Verdict::Conflict;
            }
            if current.is_none() && target_edge != edge && !forest.satisfies(dep, target_edge) {
                return Verdict::Conflict;
            }
        }
        match current {
            Some(current) => self.judge_occupied(id, current, own, peer_path),
            None => self.judge_empty(id, own, peer_path),
        }
    }

    /// Nothing of that name is in the target.
    fn judge_empty(&mut self, id: usize, own: &mut Option<Verdict>, peer_path: &mut Vec<NodeId>) -> Verdict {
        let forest = &self.forest;
        let Check { dep, target, .. } = self.checks[id];
        let top_edge = self.top_edge(id);
        if target != forest.edge(top_edge).from
            && let Some(shadowed) = forest.resolve(target, forest.edge(self.checks[id].edge).name)
        {
            // Whoever is below the target and finds this one further up would find the new one instead.
            for &edge in &forest.node(shadowed).edges_in {
                if forest.is_descendant_of(forest.edge(edge).from, target)
                    && forest.is_valid(edge)
                    && !forest.satisfies(dep, edge)
                {
                    return Verdict::Conflict;
                }
            }
        }
        self.with_peers(id, Verdict::Free, own, peer_path)
    }

    /// Something of that name is in the target.
    fn judge_occupied(
        &mut self,
        id: usize,
        current: NodeId,
        own: &mut Option<Verdict>,
        peer_path: &mut Vec<NodeId>,
    ) -> Verdict {
        let Check { dep, target, edge, prefer_dedupe, explicit, edge_overridden, parent, .. } = self.checks[id];
        let forest = &self.forest;
        if forest.matches(dep, current) && (forest.satisfies(current, edge) || edge_overridden) {
            return if explicit { Verdict::Replace } else { Verdict::Keep };
        }
        let try_replace = matches!(forest.compare_versions(dep, current), Some(Ordering::Greater | Ordering::Equal));
        if try_replace && forest.can_replace(dep, current, None) {
            let verdict = self.with_peers(id, Verdict::Replace, own, peer_path);
            if verdict != Verdict::Conflict {
                return verdict;
            }
        }
        if self.forest.satisfies(current, edge) && (!explicit || prefer_dedupe) {
            return Verdict::Keep;
        }
        if prefer_dedupe && !try_replace && self.forest.can_replace(dep, current, None) {
            let verdict = self.with_peers(id, Verdict::Replace, own, peer_path);
            if verdict != Verdict::Conflict {
                return verdict;
            }
        }
        // It may go deeper: leave the other alone.
        if target != self.deepest_for_check(id) {
            return Verdict::Conflict;
        }
        let (is_peer, from) = (self.forest.edge(edge).kind.is_peer(), self.forest.edge(edge).from);
        // It cannot go deeper and is wanted right here: the other has to.
        if !is_peer && target == from {
            return self.with_peers(id, Verdict::Replace, own, peer_path);
        }
        if parent.is_none() && !is_peer {
            return Verdict::Conflict;
        }
        if self.can_displace_set(id, current) {
            return self.with_peers(id, Verdict::Replace, own, peer_path);
        }
        Verdict::Conflict
    }

    /// Whether every peer set that `current` belongs to can be replaced by the new one or moved deeper.
    fn can_displace_set(&self, id: usize, current: NodeId) -> bool {
        let forest = &self.forest;
        let Check { dep, target, edge, .. } = self.checks[id];
        let Some(virtual_root) = forest.node(dep).parent else { return false };
        let replacement = |name| forest.node(virtual_root).children.get(forest.names.folded(name));
        let mut can_replace = true;
        for entry in self.peer_entries(current) {
            if entry.edge == edge || entry.edge == self.top_edge(id) {
                continue;
            }
            let Some(entered) = forest.edge(entry.edge).to else { continue };
            let can_clobber = match replacement(forest.node(entered).name) {
                Some(new) => forest.can_replace(new, entered, Some(virtual_root)),
                None => self.can_clobber(entered, virtual_root),
            };
            if can_clobber {
                continue;
            }
            for &peer in &entry.set {
                let deepest = forest.deepest_target(forest.edge(entry.edge).from, forest.node(peer).name);
                if deepest == target || forest.is_descendant_of(target, deepest) {
                    can_replace = false;
                    break;
                }
            }
        }
        can_replace
    }

    /// Whether the peers that `entered` needs are served by the new set or not touched by it.
    fn can_clobber(&self, entered: NodeId, virtual_root: NodeId) -> bool {
        let forest = &self.forest;
        let mut walk = vec![entered];
        let mut next = 0;
        while let Some(&peer) = walk.get(next) {
            next += 1;
            for &(folded, edge) in &forest.node(peer).edges_out {
                if !forest.edge(edge).kind.is_peer() || forest.edge_error(edge) != EdgeError::Fine {
                    continue;
                }
                match forest.node(virtual_root).children.get(folded) {
                    Some(new) if !forest.satisfies(new, edge) => return false,
                    Some(_) => {}
                    None => {
                        if let Some(to) = forest.edge(edge).to
                            && !walk.contains(&to)
                        {
                            walk.push(to);
                        }
                    }
                }
            }
        }
        true
    }

    /// `verdict`, unless a peer cannot be placed at or above the target. The first answer about the peers holds.
    fn with_peers(
        &mut self,
        id: usize,
        verdict: Verdict,
        own: &mut Option<Verdict>,
        peer_path: &mut Vec<NodeId>,
    ) -> Verdict {
        *own = Some(verdict);
        if let Some(known) = self.checks[id].peers_verdict {
            return known;
        }
        let Check { dep, target, .. } = self.checks[id];
        peer_path.push(dep);
        let mut result = verdict;
        for position in 0..self.forest.node(dep).edges_out.len() {
            let edge = self.forest.node(dep).edges_out[position].1;
            let Some(peer) = self.forest.edge(edge).to else { continue };
            if !self.forest.edge(edge).kind.is_peer() || peer_path.contains(&peer) {
                continue;
            }
            // A peer may have to be higher than what brings it, where the target has it as a peer itself.
            let target = self.forest.deepest_target(target, self.forest.node(peer).name);
            let question = Question { dep: peer, target, edge, parent: Some(id), prefer_dedupe: true, explicit: false };
            let child = self.check(question, peer_path);
            self.checks[id].children.push(child);
            if self.checks[child].verdict == Verdict::Conflict {
                result = Verdict::Conflict;
            }
        }
        peer_path.pop();
        self.checks[id].peers_verdict = Some(result);
        result
    }

    /// The edge at the start of the chain of peers.
    fn top_edge(&self, id: usize) -> EdgeId {
        let mut check = &self.checks[id];
        while let Some(parent) = check.parent {
            check = &self.checks[parent];
        }
        check.edge
    }

    /// The deepest place for the check's dependency, below which none of the chain of peers may go.
    fn deepest_for_check(&self, id: usize) -> NodeId {
        let mut chain = vec![id];
        let mut check = &self.checks[id];
        while let Some(parent) = check.parent {
            chain.push(parent);
            check = &self.checks[parent];
        }
        let start = self.forest.edge(check.edge).from;
        chain
            .iter()
            .rev()
            .fold(start, |start, &id| self.forest.deepest_target(start, self.forest.edge(self.checks[id].edge).name))
    }
}
