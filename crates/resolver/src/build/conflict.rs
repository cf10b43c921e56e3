//! Conflicts: whose they are, and how they are explained.

use super::Builder;
use super::can_place::Verdict;
use crate::error::{Requirement, ResolveError, ResolveWarning};
use crate::explain::{EdgeExplanation, NodeExplanation, PeerConflict};
use crate::forest::Edge;
use crate::ids::{EdgeId, NodeId, SpecId};

/// How much of the tree an explanation may hold; dependants beyond are left out.
const EXPLAINED_NODES: usize = 200;
/// How many accepted conflicts are explained so; of more, who is concerned is told, and not who depends on these.
const EXPLAINED_CONFLICTS: usize = 200;
/// How many dependants of a dependant are followed.
const EXPLAINED_DEPTH: usize = 24;

impl Builder {
    /// Whether a conflict of this placement concerns what the project itself asks for.
    pub(super) fn is_mine(&self, index: usize) -> bool {
        let forest = &self.forest;
        let mut top = index;
        while let Some(parent) = self.places[top].parent {
            top = parent;
        }
        let Edge { from, kind, .. } = *forest.edge(self.places[top].edge);
        if forest.is_mine(from) {
            return true;
        }
        if !kind.is_peer() {
            return false;
        }
        let mut has_peer_edges = false;
        for &edge in &forest.node(from).edges_in {
            let Edge { from, kind, .. } = *forest.edge(edge);
            if kind.is_peer() {
                has_peer_edges = true;
            } else if forest.is_mine(from) {
                return true;
            }
        }
        let entered_by_project =
            || self.peer_entries(from).iter().any(|entry| forest.is_mine(forest.edge(entry.edge).from));
        has_peer_edges && entered_by_project()
    }

    /// Accepts a conflict: the edge is never looked at again.
    pub(super) fn warn_peer_conflict(&mut self, index: usize, edge: EdgeId, dep: NodeId) {
        self.forest.edges[edge.index()].peer_conflicted = true;
        let extent = if self.warnings.len() < EXPLAINED_CONFLICTS { EXPLAINED_NODES } else { 1 };
        let conflict = self.explain_placement(index, edge, dep, extent);
        let message = format!("overriding peer dependency\n{conflict}");
        let conflict = Some(Box::new(conflict));
        self.warnings.push(ResolveWarning { code: "ERESOLVE", message, conflict });
    }

    pub(super) fn placement_conflict(&self, index: usize) -> ResolveError {
        let mut top = index;
        while let Some(parent) = self.places[top].parent {
            top = parent;
        }
        let (edge, dep) = (self.places[top].edge, self.places[top].dep);
        let mut conflict = self.explain_placement(index, edge, dep, EXPLAINED_NODES);
        let place = &self.places[index];
        let peer = match place.own_check.filter(|&own| self.checks[own].own_verdict != Verdict::Conflict) {
            Some(own) => self.first_conflicting_peer(own).map(|(_, peer)| peer),
            None => Some(place.edge),
        };
        if let Some(peer) = peer.filter(|&peer| self.forest.edge(peer).kind.is_peer()) {
            let found = self.forest.resolve(self.forest.edge(edge).from, self.forest.edge(peer).name);
            conflict.remedies = self.remedies(peer, found);
        }
        ResolveError::PeerConflict(Box::new(conflict))
    }

    /// Each part of the explanation has up to `extent` nodes.
    fn explain_placement(&self, index: usize, edge: EdgeId, dep: NodeId, extent: usize) -> PeerConflict {
        let place = &self.places[index];
        let explain = |node, edge| self.explain_within(node, edge, &mut Vec::new(), &mut { extent });
        let found = self.forest.resolve(self.forest.edge(edge).from, self.forest.edge(edge).name);
        let conflicting = match (place.parent, place.own_check) {
            (Some(_), _) => place.current.map(|current| explain(current, Some(place.edge))),
            (None, Some(own)) if self.checks[own].own_verdict != Verdict::Conflict => {
                self.first_conflicting_peer(own).map(|(peer, edge)| explain(peer, Some(edge)))
            }
            (None, _) => Some(explain(place.dep, Some(place.edge))),
        };
        PeerConflict {
            wanted: self.explain_edge_within(edge, &mut Vec::new(), &mut { extent }),
            candidate: Some(explain(dep, Some(edge))),
            found: found.map(|found| explain(found, None)),
            conflicting,
            is_mine: self.is_mine(index),
            remedies: Vec::new(),
        }
    }

    fn first_conflicting_peer(&self, check: usize) -> Option<(NodeId, EdgeId)> {
        let mut checks = self.checks[check].children.clone();
        let mut next = 0;
        while let Some(&child) = checks.get(next) {
            let child = &self.checks[child];
            if child.verdict == Verdict::Conflict && child.current.is_some() {
                return Some((child.dep, child.edge));
            }
            checks.extend(&child.children);
            next += 1;
        }
        None
    }

    /// A conflict within a peer set that concerns the project itself.
    pub(super) fn peer_set_conflict(&self, edge: EdgeId) -> ResolveError {
        let Edge { from, name, .. } = *self.forest.edge(edge);
        let found = self.forest.resolve(from, name);
        ResolveError::PeerConflict(Box::new(PeerConflict {
            wanted: self.explain_edge(edge),
            candidate: None,
            found: found.map(|found| self.explain_node(found, None)),
            conflicting: None,
            is_mine: true,
            remedies: self.remedies(edge, found),
        }))
    }

    /// Explains a node by all its dependants, or by the one edge given.
    fn explain_node(&self, node: NodeId, edge: Option<EdgeId>) -> NodeExplanation {
        let mut budget = EXPLAINED_NODES;
        self.explain_within(node, edge, &mut Vec::new(), &mut budget)
    }

    fn explain_edge(&self, edge: EdgeId) -> EdgeExplanation {
        let mut budget = EXPLAINED_NODES;
        self.explain_edge_within(edge, &mut Vec::new(), &mut budget)
    }

    fn explain_within(
        &self,
        node: NodeId,
        edge: Option<EdgeId>,
        seen: &mut Vec<NodeId>,
        budget: &mut usize,
    ) -> NodeExplanation {
        let forest = &self.forest;
        // A virtual root stands for somebody in the ideal tree.
        let mut node = node;
        while let Some(source) = forest.node(node).source {
            node = source;
        }
        let location = if forest.node(node).root == forest.root { forest.location(node) } else { String::new() };
        let mut explanation = NodeExplanation { package: self.label(node), location, dependents: Vec::new() };
        if node == forest.root || seen.contains(&node) || seen.len() > EXPLAINED_DEPTH || *budget == 0 {
            return explanation;
        }
        *budget -= 1;
        seen.push(node);
        let edges = match edge {
            Some(edge) => vec![edge],
            None => forest.edges_to(node),
        };
        for edge in edges {
            let from = forest.edge(edge).from;
            if *budget > 0 && (forest.is_valid(edge) || from == forest.root || explanation.dependents.is_empty()) {
                explanation.dependents.push(self.explain_edge_within(edge, seen, budget));
            }
        }
        seen.pop();
        explanation
    }

    fn explain_edge_within(&self, id: EdgeId, seen: &mut Vec<NodeId>, budget: &mut usize) -> EdgeExplanation {
        let forest = &self.forest;
        let edge = forest.edge(id);
        let spec = forest.effective_spec(id);
        let text = |spec: SpecId| forest.specs.get(spec).text.to_string();
        EdgeExplanation {
            kind: edge.kind.label(),
            name: forest.names.text(edge.name).to_string(),
            spec: text(spec),
            overridden: (spec != edge.spec).then(|| text(edge.spec)),
            error: forest.edge_error(id).label(),
            from: Box::new(self.explain_within(edge.from, None, seen, budget)),
        }
    }

    /// `name@version` of what is at a node.
    pub(crate) fn label(&self, node: NodeId) -> String {
        let package = self.forest.package_of(node);
        if node == self.forest.root {
            return "the root project".to_owned();
        }
        if self.forest.node(node).parent.is_none() {
            let folder = self.forest.names.text(self.forest.node(node).name);
            let name = package.name.map_or(folder, |name| self.forest.names.text(name));
            return format!("{name}@{}", package.version_text);
        }
        self.package_id(node)
    }

    /// Who wants a node, nearest first, one dependant at each step.
    pub(crate) fn wanted_by(&self, node: NodeId) -> Vec<Requirement> {
        let first = self.forest.edges_to(node).first().copied();
        first.map_or_else(Vec::new, |edge| self.wanted_through(edge))
    }

    /// The dependant of `edge`, its dependant, and so on up to the project.
    pub(crate) fn wanted_through(&self, edge: EdgeId) -> Vec<Requirement> {
        let forest = &self.forest;
        let mut chain = Vec::new();
        let mut seen = Vec::new();
        let mut next = Some(edge);
        while let Some(id) = next {
            let edge = forest.edge(id);
            let mut from = edge.from;
            while let Some(source) = forest.node(from).source {
                from = source;
            }
            if seen.contains(&from) || seen.len() > EXPLAINED_DEPTH {
                break;
            }
            seen.push(from);
            chain.push(Requirement {
                dependant: self.label(from),
                location: if forest.node(from).root == forest.root { forest.location(from) } else { String::new() },
                kind: edge.kind.label(),
                spec: forest.specs.get(edge.spec).text.to_string(),
            });
            next = forest.edges_to(from).first().copied();
        }
        chain
    }

    pub(super) fn invalid_spec(&self, edge: EdgeId, spec: SpecId) -> ResolveError {
        let spec = self.forest.specs.get(spec);
        let message = match &spec.parsed {
            Err(message) => message.clone(),
            Ok(_) => "no package can have this name".to_owned(),
        };
        ResolveError::InvalidSpec {
            name: self.forest.names.text(self.forest.edge(edge).name).to_string(),
            spec: spec.text.to_string(),
            message,
            wanted_by: self.wanted_through(edge),
        }
    }
}
