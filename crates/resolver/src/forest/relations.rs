//! Questions about nodes that placement asks: same thing? replaceable? redundant? who else needs it?

use super::Forest;
use crate::ids::{EdgeId, NodeId};
use rustc_hash::FxHashSet;
use std::cmp::Ordering;

/// How many dependants are looked at for one from outside.
const LOOKED_UP: usize = 24;

/// What is known of who is outside of a set that is being gathered.
struct Outside {
    /// What it began with.
    set: FxHashSet<NodeId>,
    known: FxHashSet<NodeId>,
}

impl Forest {
    /// Whether `edge` would be content with `node`.
    pub(crate) fn satisfies(&self, node: NodeId, edge: EdgeId) -> bool {
        self.node(node).name == self.edge(edge).name && self.satisfied_by(edge, node)
    }

    /// Whether both hold the same contents under the same name.
    pub(crate) fn matches(&self, one: NodeId, other: NodeId) -> bool {
        if one == other {
            return true;
        }
        let (a, b) = (self.node(one), self.node(other));
        if a.name != b.name {
            return false;
        }
        if let Some(target) = a.link {
            return b.link.is_some_and(|other| self.matches(target, other));
        }
        let is_link = b.link.is_some();
        let (a, b) = (self.package_of(one), self.package_of(other));
        if let (Some(a), Some(b)) = (&a.integrity, &b.integrity) {
            return a == b;
        }
        // A link is from nowhere else than where it leads.
        if is_link && a.resolved.is_some() {
            return false;
        }
        if let (Some(a), Some(b)) = (&a.resolved, &b.resolved) {
            return a == b;
        }
        a.name.is_some() && a.name == b.name && !a.version_text.is_empty() && a.version_text == b.version_text
    }

    /// Compares versions; `None` where one of them is none.
    pub(crate) fn compare_versions(&self, one: NodeId, other: NodeId) -> Option<Ordering> {
        let (a, b) = (&self.package_of(one).version, &self.package_of(other).version);
        Some(a.as_ref()?.precedence(b.as_ref()?))
    }

    /// Whether everybody who uses `current` would be content with `new` in its place. Dependants that are peers named in
    /// `ignored_peers` are replaced together with it and do not count.
    pub(crate) fn can_replace(&self, new: NodeId, current: NodeId, ignored_peers: Option<NodeId>) -> bool {
        let (replacement, old) = (self.node(new), self.node(current));
        if replacement.name != old.name || self.package_of(new).name != self.package_of(current).name {
            return false;
        }
        if !old.edges_out.is_empty() && replacement.overrides != old.overrides {
            return false;
        }
        // Only needed when somebody objects, and expensive: what only `current` and its own dependencies use.
        let mut own: Option<FxHashSet<NodeId>> = None;
        for &edge in &old.edges_in {
            let from = self.edge(edge).from;
            if !self.is_top(current)
                && self.node(from).parent == old.parent
                && self.edge(edge).kind.is_peer()
                && ignored_peers.is_some_and(|peers| self.has_child_named(peers, self.node(from).name))
            {
                continue;
            }
            if self.satisfied_by(edge, new) {
                continue;
            }
            if self.is_needed_besides(from, current) {
                return false;
            }
            let own = own.get_or_insert_with(|| {
                let set = self.gather(&[current], |edge| self.edge(edge).to != Some(current) && self.is_valid(edge));
                set.into_iter().collect()
            });
            if !own.contains(&from) {
                return false;
            }
        }
        true
    }

    /// Whether something other than `current` leads to `node`, told by going up one dependant after the other: true is
    /// certain, and nearly always found within a few steps; false says that all of `current`'s own dependencies have to be
    /// looked at.
    fn is_needed_besides(&self, node: NodeId, current: NodeId) -> bool {
        let counted = |edge: &&EdgeId| self.edge(**edge).to != Some(current) && self.is_valid(**edge);
        let dependants =
            |node: NodeId| self.node(node).edges_in.iter().filter(counted).map(|&edge| self.edge(edge).from);
        // The first dependant is mostly the one nearest to the project.
        let mut first = node;
        for _ in 0..LOOKED_UP {
            match dependants(first).next() {
                _ if first == current => break,
                Some(above) => first = above,
                None => return true,
            }
        }
        let mut seen: FxHashSet<NodeId> = FxHashSet::from_iter([node]);
        let mut stack = vec![node];
        while let Some(node) = stack.pop() {
            if node == current {
                continue;
            }
            let mut dependants = dependants(node).peekable();
            if dependants.peek().is_none() {
                return true;
            }
            stack.extend(dependants.filter(|&dependant| seen.insert(dependant)));
        }
        false
    }

    fn has_child_named(&self, parent: NodeId, name: crate::ids::NameId) -> bool {
        let child = self.node(parent).children.get(self.names.folded(name));
        child.is_some_and(|child| self.node(child).name == name)
    }

    /// Whether `node` may go because what its dependants would then find serves them as well.
    pub(crate) fn can_dedupe(&self, node: NodeId, prefer_dedupe: bool, explicit: bool) -> bool {
        if self.in_dependency_bundle(node) || self.in_shrinkwrap(node) {
            return false;
        }
        let Some(above) = self.resolve_parent(node).and_then(|parent| self.resolve_parent(parent)) else {
            return false;
        };
        if self.node(node).edges_in.is_empty() {
            return true;
        }
        let Some(other) = self.resolve(above, self.node(node).name) else { return false };
        if self.matches(other, node) {
            return true;
        }
        if !self.can_replace(other, node, None) {
            return false;
        }
        let order = self.compare_versions(other, node);
        if prefer_dedupe || order == Some(Ordering::Equal) {
            return true;
        }
        explicit || (order == Some(Ordering::Greater) && !self.is_overridden(node))
    }

    fn is_overridden(&self, node: NodeId) -> bool {
        let Some(rule) = self.node(node).overrides else { return false };
        let name = self.node(node).name;
        if self.rules.get(rule).name != Some(name) {
            return false;
        }
        self.node(node).edges_in.iter().any(|&edge| {
            let edge = self.edge(edge);
            edge.overrides.is_some_and(|rule| {
                let text = &self.rules.get(rule);
                text.name == Some(name)
                    && *text.value == *self.package_of(node).version_text
                    && self.node(edge.from).overrides != Some(rule)
            })
        })
    }

    pub(crate) fn is_descendant_of(&self, node: NodeId, ancestor: NodeId) -> bool {
        self.ancestry(node).any(|above| above == ancestor)
    }

    /// Whether this is the root of a tree. In the ideal tree, that is the project.
    pub(crate) fn is_project_root(&self, node: NodeId) -> bool {
        self.node(node).root == node
    }

    /// The set with everything it reaches over edges that pass `counts`, less what somebody outside reaches over such an
    /// edge.
    pub(crate) fn gather(&self, set: &[NodeId], counts: impl Fn(EdgeId) -> bool) -> Vec<NodeId> {
        let mut order: Vec<NodeId> = Vec::new();
        let mut members: FxHashSet<NodeId> = FxHashSet::default();
        for &node in set {
            if members.insert(node) {
                order.push(node);
            }
        }
        let mut outside = Outside { set: members.clone(), known: FxHashSet::default() };
        let mut next = 0;
        while let Some(&node) = order.get(next) {
            for &(_, edge) in &self.node(node).edges_out {
                if let Some(to) = self.edge(edge).to
                    && counts(edge)
                    && !members.contains(&to)
                    && !self.is_surely_outside(to, &counts, &mut outside)
                {
                    members.insert(to);
                    order.push(to);
                }
            }
            next += 1;
        }
        let mut suspects = order.clone();
        while let Some(node) = suspects.pop() {
            if !members.contains(&node) {
                continue;
            }
            let outside = |edge: &&EdgeId| !members.contains(&self.edge(**edge).from) && counts(**edge);
            if self.node(node).edges_in.iter().any(|edge| outside(&edge)) {
                members.remove(&node);
                suspects.extend(self.node(node).edges_out.iter().filter_map(|&(_, edge)| self.edge(edge).to));
            }
        }
        order.retain(|node| members.contains(node));
        order
    }

    /// Whether somebody outside of a set reaches `node`, told by going up a few dependants. What is only reached through such
    /// a node need not be looked at: it does not stay either.
    fn is_surely_outside(&self, node: NodeId, counts: &impl Fn(EdgeId) -> bool, outside: &mut Outside) -> bool {
        if outside.known.contains(&node) {
            return true;
        }
        let mut seen = vec![node];
        let mut next = 0;
        while let Some(&above) = seen.get(next) {
            let mut is_reached = false;
            for &edge in self.node(above).edges_in.iter().filter(|edge| counts(**edge)) {
                let from = self.edge(edge).from;
                is_reached = true;
                if outside.known.contains(&from) {
                    outside.known.insert(node);
                    return true;
                }
                if seen.len() < LOOKED_UP && !seen.contains(&from) {
                    seen.push(from);
                }
            }
            if !is_reached && !outside.set.contains(&above) {
                outside.known.extend([node, above]);
                return true;
            }
            next += 1;
        }
        false
    }

    /// How deep a package of this name may go when `start` depends on it: at `start`, or above it while it is a peer
    /// there.
    pub(crate) fn deepest_target(&self, start: NodeId, name: crate::ids::NameId) -> NodeId {
        let mut current = start;
        while let Some(parent) = self.resolve_parent(current).filter(|_| !self.is_global || !self.is_top(current)) {
            match self.out_edge(current, name) {
                Some(edge) if self.edge(edge).kind.is_peer() => current = parent,
                _ => break,
            }
        }
        current
    }
}
