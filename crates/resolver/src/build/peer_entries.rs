//! Through which edges a peer set entered the tree.

use super::Builder;
use crate::ids::{EdgeId, NodeId};
use rustc_hash::FxHashSet;

/// An edge into a peer set and the part of the set that it brought in.
pub(super) struct PeerEntry {
    pub(super) edge: EdgeId,
    pub(super) set: Vec<NodeId>,
}

impl Builder {
    /// The entries of all peer sets that `node` belongs to: edges that are no peer edges themselves, or come from the
    /// project.
    pub(super) fn peer_entries(&self, node: NodeId) -> Vec<PeerEntry> {
        let forest = &self.forest;
        let is_valid_peer = |edge: EdgeId| forest.edge(edge).kind.is_peer() && forest.is_valid(edge);
        let peers_of = |node: NodeId| {
            let edges = forest.node(node).edges_out.iter();
            edges.filter(move |(_, edge)| is_valid_peer(*edge)).filter_map(|(_, edge)| forest.edge(*edge).to)
        };
        let union = grow(node, |node, found| {
            found.extend(peers_of(node));
            let edges = forest.node(node).edges_in.iter().copied();
            found.extend(edges.filter(|&edge| is_valid_peer(edge)).map(|edge| forest.edge(edge).from));
        });
        let mut entries = Vec::new();
        for peer in union {
            let mut set: Option<Vec<NodeId>> = None;
            for &edge in &forest.node(peer).edges_in {
                let from = forest.edge(edge).from;
                let is_entry = !forest.edge(edge).kind.is_peer() || forest.is_top(from);
                if !is_entry || !forest.is_valid(edge) {
                    continue;
                }
                let set = set.get_or_insert_with(|| grow(peer, |node, found| found.extend(peers_of(node))));
                if set.contains(&node) {
                    entries.push(PeerEntry { edge, set: set.clone() });
                }
            }
        }
        entries
    }
}

/// `start` and everything `next` leads to, in order of discovery.
fn grow(start: NodeId, mut next: impl FnMut(NodeId, &mut Vec<NodeId>)) -> Vec<NodeId> {
    let mut order = vec![start];
    let mut seen = FxHashSet::from_iter([start]);
    let mut position = 0;
    let mut found = Vec::new();
    while let Some(&node) = order.get(position) {
        next(node, &mut found);
        order.extend(found.drain(..).filter(|&node| seen.insert(node)));
        position += 1;
    }
    order
}
