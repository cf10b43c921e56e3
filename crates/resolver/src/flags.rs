//! Why each node is in the lock: development only, optional, peer, or for no reason that counts.
//!
//! Every flag starts out true and is taken back along the edges: what a node that is not for development needs outside
//! its devDependencies is not for development either, and so on, until nothing changes.

use crate::forest::{Flags, Forest, Node};
use crate::ids::NodeId;
use crate::package::Kind;
use rustc_hash::FxHashSet;

impl Forest {
    /// Sets all flags of all nodes but the project.
    pub(crate) fn reset_flags(&mut self) {
        for node in self.inventory() {
            self.nodes[node.index()].flags = Flags::ALL;
        }
    }

    /// Takes back every flag that does not hold.
    pub(crate) fn calculate_flags(&mut self) {
        self.nodes[self.root.index()].flags = Flags::NONE;
        self.calculate_flags_from(self.root);
    }

    /// Takes back every flag that does not hold for what `top` leads to, whose own flags are right.
    pub(crate) fn calculate_flags_from(&mut self, top: NodeId) {
        let mut seen: FxHashSet<NodeId> = FxHashSet::default();
        let mut order: Vec<NodeId> = Vec::new();
        let mut stack = vec![top];
        while let Some(id) = stack.pop() {
            if seen.insert(id) {
                order.push(id);
            }
            let Node { flags, link, .. } = *self.node(id);
            if !flags.extraneous {
                let mut above = self.resolve_parent(id);
                while let Some(node) = above
                    && self.node(node).flags.extraneous
                {
                    self.nodes[node.index()].flags.extraneous = false;
                    above = self.resolve_parent(node);
                }
            }
            if let Some(target) = link {
                if self.pass_on(target, flags, None) || !seen.contains(&target) {
                    stack.push(target);
                }
                continue;
            }
            for position in 0..self.node(id).edges_out.len() {
                let edge = self.edge(self.node(id).edges_out[position].1);
                let (kind, to) = (edge.kind, edge.to);
                if let Some(to) = to
                    && self.pass_on(to, self.node(id).flags, Some(kind))
                {
                    stack.push(to);
                }
            }
        }
        for id in order.into_iter().filter(|&id| id != top) {
            let flags = &mut self.nodes[id.index()].flags;
            flags.dev_optional &= !(flags.dev || flags.optional);
        }
    }

    /// Takes back from `to` what `from` is not, over an edge of this kind or a link. Says whether anything changed.
    fn pass_on(&mut self, to: NodeId, from: Flags, kind: Option<Kind>) -> bool {
        let flags = &mut self.nodes[to.index()].flags;
        let before = *flags;
        let is = |test: fn(Kind) -> bool| kind.is_some_and(test);
        let (dev, optional, peer) = (kind == Some(Kind::Dev), is(Kind::is_optional), is(Kind::is_peer));
        flags.extraneous &= from.extraneous || (peer && optional);
        flags.dev &= from.dev || dev;
        flags.optional &= from.optional || optional;
        flags.peer &= from.peer || peer;
        let either_path = kind.is_some() && (from.dev || from.optional);
        flags.dev_optional &= from.dev_optional || either_path || dev || optional;
        *flags != before
    }

    /// The nodes that go when the optional `node` cannot be installed: its dependants up to an optional edge, and what
    /// only they need.
    pub(crate) fn optional_set(&self, node: NodeId) -> Vec<NodeId> {
        let mut set = vec![node];
        let mut members: FxHashSet<NodeId> = FxHashSet::from_iter([node]);
        let mut next = 0;
        while let Some(&node) = set.get(next) {
            for &edge in &self.node(node).edges_in {
                let edge = self.edge(edge);
                if !edge.kind.is_optional() && members.insert(edge.from) {
                    set.push(edge.from);
                }
            }
            next += 1;
        }
        self.gather(&set, |edge| {
            let edge = self.edge(edge);
            edge.to.is_none_or(|to| !members.contains(&to)) && !self.node(edge.from).inert
        })
    }
}
