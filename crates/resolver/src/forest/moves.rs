//! Putting nodes into trees and taking them out.
//!
//! Each move re-resolves the edges that crossed between trees and, below the place that changed, the edges of the name
//! that changed. Cost: the moved subtree plus the edges of one name.

use super::Forest;
use crate::ids::{EdgeId, NameId, NodeId};

/// So many nodes or edges are looked at one by one.
const FEW: usize = 32;

impl Forest {
    /// Puts `node` with all below it under `parent`, displacing what has its name there.
    pub(crate) fn attach(&mut self, node: NodeId, parent: NodeId) {
        let parent = self.node(parent).link.unwrap_or(parent);
        if node == parent || self.node(node).parent == Some(parent) {
            return;
        }
        let name = self.node(node).name;
        let folded = self.names.folded(name);
        if let Some(old) = self.node(node).parent {
            self.nodes[old.index()].children.remove(folded);
            self.nodes[node.index()].parent = None;
        }
        if let Some(current) = self.node(parent).children.get(folded) {
            self.remove(current);
        }
        let root = self.node(parent).root;
        let family = self.family(node);
        self.move_tops(&family, self.node(node).root, root);
        for &member in &family {
            self.set_root(member, root);
        }
        self.nodes[node.index()].parent = Some(parent);
        self.nodes[parent.index()].children.insert(folded, node);
        self.reload_named(parent, name);
        for &member in &family[1..] {
            for &edge in &self.node(member).edges_in {
                self.edge(edge).error.set(None);
            }
        }
        for &member in &family {
            self.reload_crossing(member, root);
        }
    }

    /// Takes `node` with all below it out of its tree; it becomes the root of one of its own.
    pub(crate) fn remove(&mut self, node: NodeId) {
        let old_root = self.node(node).root;
        if let Some(parent) = self.nodes[node.index()].parent.take() {
            let folded = self.names.folded(self.node(node).name);
            if self.node(parent).children.get(folded) == Some(node) {
                self.nodes[parent.index()].children.remove(folded);
            }
        }
        let family = self.family(node);
        self.move_tops(&family, old_root, node);
        for &member in &family {
            self.set_root(member, node);
        }
        for &member in &family {
            self.reload_crossing(member, node);
        }
    }

    /// Puts `node`, which is in no tree, where `old` is, and hands it what is below `old`.
    pub(crate) fn replace(&mut self, node: NodeId, old: NodeId) {
        if self.node(node).link.is_none() {
            let kids: Vec<NodeId> = self.node(old).children.iter().collect();
            for kid in kids {
                self.attach(kid, node);
            }
            if let Some(target) = self.node(old).link.filter(|&target| self.node(target).parent.is_none()) {
                self.remove_top(target);
            }
        }
        let parent = self.node(old).parent;
        self.remove(old);
        if let Some(parent) = parent {
            self.attach(node, parent);
        }
    }

    /// What `name` means to `node`: its own child or that of the nearest node above that has one.
    pub(crate) fn resolve(&self, node: NodeId, name: NameId) -> Option<NodeId> {
        let folded = self.names.folded(name);
        let mut current = Some(node);
        while let Some(node) = current {
            let node = self.node(node);
            if !node.children.is_empty()
                && let Some(child) = node.children.get(folded)
            {
                return Some(child);
            }
            current = node.parent.or(node.fs_parent);
        }
        None
    }

    /// The node and all below it, folders of the user in its folder too, a parent always before its children.
    pub(crate) fn family(&self, node: NodeId) -> Vec<NodeId> {
        let mut family = vec![node];
        let mut next = 0;
        while let Some(&member) = family.get(next) {
            family.extend(self.node(member).children.iter());
            family.extend(self.tops_in(member));
            next += 1;
        }
        family
    }

    /// What is in the `node_modules` of `node` and in those below, the nearest first.
    pub(crate) fn packages_below(&self, node: NodeId) -> Vec<NodeId> {
        let mut found: Vec<NodeId> = self.node(node).children.iter().collect();
        let mut next = 0;
        while let Some(&member) = found.get(next) {
            found.extend(self.node(member).children.iter());
            next += 1;
        }
        found
    }

    pub(super) fn set_root(&mut self, node: NodeId, root: NodeId) {
        let (name, old) = (self.node(node).name, self.node(node).root);
        self.nodes[node.index()].root = root;
        if old == self.root && node != self.root {
            if let Some(list) = self.by_name.get_mut(&name) {
                list.retain(|&other| other != node);
            }
            for (folded, edge) in &self.nodes[node.index()].edges_out {
                if let Some(list) = self.edges_by_name.get_mut(folded) {
                    list.retain(|other| other != edge);
                }
            }
        }
        if root == self.root && node != self.root {
            self.by_name.entry(name).or_default().push(node);
            for &(folded, edge) in &self.nodes[node.index()].edges_out {
                self.edges_by_name.entry(folded).or_default().push(edge);
            }
            self.next_sequence += 1;
            self.nodes[node.index()].sequence = self.next_sequence;
        }
    }

    /// Re-resolves every edge of this name at or below `top` that no longer means what it did.
    fn reload_named(&mut self, top: NodeId, name: NameId) {
        let folded = self.names.folded(name);
        let affected: Vec<EdgeId> = if self.node(top).root == self.root {
            let edges = self.edges_by_name.get(&folded).map_or(&[][..], Vec::as_slice);
            match self.only_edge_below(top, name).filter(|_| edges.len() > FEW) {
                Some(edge) => edge.into_iter().collect(),
                None => {
                    edges.iter().copied().filter(|&edge| self.is_descendant_of(self.edge(edge).from, top)).collect()
                }
            }
        } else {
            let family = self.family(top);
            let edges = family.iter().filter_map(|&node| self.out_edge(node, name));
            edges.collect()
        };
        for edge in affected {
            let (from, to, name) = (self.edge(edge).from, self.edge(edge).to, self.edge(edge).name);
            if self.resolve(from, name) != to {
                self.reload(edge, true);
            }
        }
    }

    /// The edge of this name at or below `top`, where there are few nodes and no more than one such edge: a lock with long
    /// chains has thousands of edges of one name, each time almost all of them elsewhere.
    fn only_edge_below(&self, top: NodeId, name: NameId) -> Option<Option<EdgeId>> {
        let (mut found, mut few, mut next) = (None, vec![top], 0);
        while let Some(&node) = few.get(next) {
            if let Some(edge) = self.out_edge(node, name)
                && found.replace(edge).is_some()
            {
                return None;
            }
            few.extend(self.node(node).children.iter().take(FEW));
            if few.len() >= FEW {
                return None;
            }
            next += 1;
        }
        Some(found)
    }

    /// Re-resolves the edges between `node` and other trees, and those that led nowhere.
    fn reload_crossing(&mut self, node: NodeId, root: NodeId) {
        let edges_in = self.node(node).edges_in.clone();
        for edge in edges_in {
            if self.node(self.edge(edge).from).root != root {
                self.reload(edge, false);
            }
        }
        for position in 0..self.node(node).edges_out.len() {
            let edge = self.node(node).edges_out[position].1;
            if self.edge(edge).to.is_none_or(|to| self.node(to).root != root) {
                self.reload(edge, false);
            }
        }
    }
}
