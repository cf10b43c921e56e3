//! Virtual trees: what a dependency would bring along, tried out beside the ideal tree.
//!
//! A virtual root has the dependencies of the dependant, so that what the dependant itself asks for limits which peers are
//! taken. The dependency and all peers it needs, and theirs, become children of that root before any of them is placed.

use super::{Builder, PEER_DEPTH_LIMIT, Stop};
use crate::error::ResolveError;
use crate::forest::{Edge, Node};
use crate::ids::{EdgeId, NodeId};
use crate::package::Kind;
use gantry_spec::compare_locale;
use rustc_hash::FxHashSet;

/// What is needed to forget an attempt.
pub(super) struct Savepoint {
    node: NodeId,
    virtual_root: Option<NodeId>,
    nodes: usize,
    edges: usize,
    /// The virtual tree of an earlier step on the same node, which the attempt may change.
    old_nodes: Vec<(NodeId, Node)>,
    old_edges: Vec<(EdgeId, Edge)>,
}

impl Builder {
    /// A fresh virtual root for `source`.
    pub(super) fn virtual_root(&mut self, source: NodeId) -> NodeId {
        let root = self.forest.new_virtual_root(source);
        self.virtual_roots.insert(source, root);
        root
    }

    pub(super) fn savepoint(&self, node: NodeId) -> Savepoint {
        let virtual_root = self.virtual_roots.get(&node).copied();
        let old: Vec<NodeId> = virtual_root.map_or_else(Vec::new, |root| self.forest.whole_tree(root));
        let edges = old.iter().flat_map(|&node| self.forest.node(node).edges_out.iter());
        Savepoint {
            node,
            virtual_root,
            nodes: self.forest.nodes.len(),
            edges: self.forest.edges.len(),
            old_edges: edges.map(|&(_, edge)| (edge, self.forest.edge(edge).clone())).collect(),
            old_nodes: old.iter().map(|&node| (node, self.forest.node(node).clone())).collect(),
        }
    }

    /// Makes everything as it was at the savepoint.
    pub(super) fn roll_back(&mut self, savepoint: Savepoint) {
        self.forest.nodes.truncate(savepoint.nodes);
        self.forest.edges.truncate(savepoint.edges);
        for (id, node) in savepoint.old_nodes {
            self.forest.nodes[id.index()] = node;
        }
        for (id, edge) in savepoint.old_edges {
            self.forest.edges[id.index()] = edge;
        }
        self.virtual_roots.retain(|source, root| source.index() < savepoint.nodes && root.index() < savepoint.nodes);
        if let Some(root) = savepoint.virtual_root {
            self.virtual_roots.insert(savepoint.node, root);
        }
    }

    /// Makes a node for `edge` below a virtual root and loads its peers. `second` is another wish for the same name: where
    /// what it picks serves `edge` too, it is taken.
    pub(super) fn node_from_edge(
        &mut self,
        edge: EdgeId,
        parent: Option<NodeId>,
        second: Option<EdgeId>,
        required: &mut FxHashSet<NodeId>,
        depth: usize,
    ) -> Result<NodeId, Stop> {
        self.budget.trials = self.budget.trials.saturating_sub(1);
        if depth > PEER_DEPTH_LIMIT || self.budget.trials == 0 {
            return Err(ResolveError::TooComplex { what: "peers of peers go on without end".to_owned() }.into());
        }
        let Edge { name, from, kind, .. } = *self.forest.edge(edge);
        let parent = parent.unwrap_or_else(|| self.virtual_root(from));
        let spec = self.forest.effective_spec(edge);
        let first = self.node_from_spec(name, spec, parent, edge)?;
        let mut node = first;
        if let Some(second) = second
            && !self.forest.is_valid(second)
        {
            let spec = self.forest.effective_spec(second);
            let other = self.node_from_spec(name, spec, parent, second)?;
            if self.forest.is_valid(edge) {
                node = other;
            }
        }
        self.forest.attach(node, parent);
        let wants = |required: &FxHashSet<NodeId>, from: NodeId, kind: Kind| {
            required.contains(&from) && kind != Kind::PeerOptional
        };
        let second_wants = second.is_some_and(|second| {
            let Edge { from, kind, .. } = *self.forest.edge(second);
            wants(required, from, kind)
        });
        if wants(required, from, kind) || second_wants {
            required.insert(node);
        }
        // What is installed for the whole machine is placed without its peers, which are looked for when it has its place.
        if !(self.options.global && self.forest.is_project_root(from)) {
            self.load_peer_set(node, required, depth)?;
        }
        Ok(node)
    }

    /// Loads the peers of `node`, and theirs, beside it.
    fn load_peer_set(&mut self, node: NodeId, required: &mut FxHashSet<NodeId>, depth: usize) -> Result<(), Stop> {
        let forest = &self.forest;
        let open = |edge: &EdgeId| {
            let Edge { kind, to, .. } = *forest.edge(*edge);
            kind.is_peer() && (to.is_none() || !forest.is_valid(*edge))
        };
        let mut edges: Vec<EdgeId> = forest.node(node).edges_out.iter().map(|&(_, edge)| edge).filter(open).collect();
        edges.sort_by(|&a, &b| {
            compare_locale(forest.names.text(forest.edge(a).name), forest.names.text(forest.edge(b).name))
        });
        for edge in edges {
            // Loading one peer may have displaced the node itself by another that serves as well.
            let Some(parent) = self.forest.node(node).parent else { break };
            let Edge { to, name, .. } = *self.forest.edge(edge);
            if to.is_some() && self.forest.is_valid(edge) {
                continue;
            }
            let parent_edge = self.forest.out_edge(parent, name);
            let source = self.forest.node(parent).source.unwrap_or(parent);
            let is_mine = self.forest.is_mine(source);
            let conflict_is_fine = self.options.force || (!is_mine && !self.options.strict_peer_deps);
            let Some(current) = to else {
                let Some(parent_edge) = parent_edge else {
                    self.node_from_edge(edge, Some(parent), None, required, depth + 1)?;
                    continue;
                };
                // What the dependant itself asks for comes first; the peer's wish only narrows it.
                let dep = self.node_from_edge(parent_edge, Some(parent), Some(edge), required, depth + 1)?;
                if self.forest.is_valid(edge) {
                    continue;
                }
                if conflict_is_fine || !required.contains(&dep) {
                    self.forest.edges[edge.index()].peer_conflicted = true;
                    continue;
                }
                if self.forest.node(node).parent.is_none() {
                    break;
                }
                return Err(self.peer_set_conflict(edge).into());
            };
            let dep = self.node_from_edge(edge, None, None, required, depth + 1)?;
            if self.forest.can_replace(dep, current, None) {
                let parent = self.forest.node(node).parent;
                self.node_from_edge(edge, parent, None, required, depth + 1)?;
                continue;
            }
            if conflict_is_fine || !required.contains(&self.forest.edge(edge).from) {
                continue;
            }
            return Err(self.peer_set_conflict(edge).into());
        }
        Ok(())
    }
}
