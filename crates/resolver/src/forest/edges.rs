//! Edges: what they resolve to, whether that is right, and how override rules travel along them.
//!
//! Whether an edge is right is worked out when asked for and remembered until something that matters changes, at the
//! same moments as in npm; a stale answer is part of npm's behaviour.

use super::{Edge, Forest, Node};
use crate::error::ResolveError;
use crate::ids::{EdgeId, NodeId, PackageId, RuleId, SpecId};
use crate::package::Dependency;
use gantry_manifest::Manifest;
use gantry_spec::SpecKind;
use rustc_hash::FxHashSet;
use std::cell::Cell;
use std::cmp::Ordering;

/// What is wrong with an edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EdgeError {
    /// Nothing.
    Fine,
    /// Nothing there, and it is wanted.
    Missing,
    /// A peer inside its own dependant.
    PeerLocal,
    /// The wrong thing.
    Invalid,
}

impl EdgeError {
    pub(crate) fn label(self) -> Option<&'static str> {
        match self {
            Self::Fine => None,
            Self::Missing => Some("MISSING"),
            Self::PeerLocal => Some("PEER LOCAL"),
            Self::Invalid => Some("INVALID"),
        }
    }
}

/// Chains longer than this are handed on from the start again, so that they cannot exhaust the stack.
const PROPAGATION_DEPTH: u32 = 400;

impl Forest {
    pub(super) fn load_edges(&mut self, from: NodeId, dependencies: &[Dependency]) {
        self.nodes[from.index()].edges_out.reserve_exact(dependencies.len());
        for dependency in dependencies {
            let id = EdgeId::new(self.edges.len());
            let Dependency { name, spec, accept, kind } = *dependency;
            let folded = self.names.folded(name);
            let node = &mut self.nodes[from.index()];
            node.edges_out.push((folded, id));
            let overrides = node.overrides;
            if node.root == self.root {
                self.edges_by_name.entry(folded).or_default().push(id);
            }
            self.edges.push(Edge {
                from,
                to: None,
                name,
                spec,
                accept,
                kind,
                overrides: None,
                peer_conflicted: false,
                error: Cell::new(None),
            });
            if let Some(rule) = overrides {
                self.edges[id.index()].overrides = Some(self.edge_rule(rule, id));
            }
            self.reload(id, true);
        }
    }

    /// The edge of `from` with this name, whatever its case.
    pub(crate) fn out_edge(&self, from: NodeId, name: crate::ids::NameId) -> Option<EdgeId> {
        let folded = self.names.folded(name);
        self.node(from).edges_out.iter().find(|(key, _)| *key == folded).map(|(_, edge)| *edge)
    }

    /// Looks again at what the edge resolves to. `hard` also forgets whether it was right when nothing changed.
    pub(crate) fn reload(&mut self, id: EdgeId, hard: bool) {
        let Edge { from, name, to, overrides, .. } = *self.edge(id);
        let mut replaced_rule = None;
        match self.node(from).overrides {
            Some(rule) => {
                let rule = self.edge_rule(rule, id);
                if overrides != Some(rule) {
                    replaced_rule = Some((overrides, rule));
                    self.edges[id.index()].overrides = Some(rule);
                }
            }
            None => self.edges[id.index()].overrides = None,
        }
        let new_to = self.resolve(from, name);
        if new_to != to {
            if let Some(to) = to {
                self.remove_edge_in(to, id);
            }
            let edge = &mut self.edges[id.index()];
            edge.to = new_to;
            edge.error.set(None);
            if let Some(to) = new_to {
                self.add_edge_in(to, id);
            }
        } else if hard {
            self.edges[id.index()].error.set(None);
        } else if let (Some((old, new)), Some(to)) = (replaced_rule, to) {
            self.overrides_removed(to, old);
            self.overrides_added(to, Some(new));
        }
    }

    fn remove_edge_in(&mut self, node: NodeId, edge: EdgeId) {
        let edges = &mut self.nodes[node.index()].edges_in;
        if let Some(position) = edges.iter().rposition(|&other| other == edge) {
            edges.remove(position);
        }
        if let Some(rule) = self.edge(edge).overrides {
            self.overrides_removed(node, Some(rule));
        }
    }

    fn add_edge_in(&mut self, node: NodeId, edge: EdgeId) {
        let rule = self.edge(edge).overrides;
        let current = self.node(node).overrides;
        if current.is_none() || current != rule {
            self.overrides_added(node, rule);
        }
        // Handing rules on may lead back here and have the edge noted already.
        let edges = &mut self.nodes[node.index()].edges_in;
        if self.rules.root().is_none() || !edges.contains(&edge) {
            edges.push(edge);
        }
    }

    fn overrides_removed(&mut self, node: NodeId, rule: Option<RuleId>) {
        let Some(current) = self.node(node).overrides else { return };
        if Some(current) != rule {
            return;
        }
        let mut remaining: Option<RuleId> = None;
        for &edge in &self.node(node).edges_in {
            let incoming = self.edge(edge).overrides;
            remaining = match (remaining, incoming) {
                (Some(known), Some(incoming)) => self.rules.more_specific(incoming, known, &self.specs),
                _ => incoming,
            };
        }
        if Some(current) == remaining {
            return;
        }
        self.nodes[node.index()].overrides = remaining;
        if remaining.is_some() {
            self.hand_on(node);
        }
    }

    fn overrides_added(&mut self, node: NodeId, rule: Option<RuleId>) {
        let Some(rule) = rule else { return };
        let new = match self.node(node).overrides {
            None => rule,
            Some(current) if current == rule => return,
            Some(current) => match self.rules.more_specific(current, rule, &self.specs) {
                Some(new) if new != current => new,
                _ => return,
            },
        };
        self.nodes[node.index()].overrides = Some(new);
        self.hand_on(node);
    }

    /// Hands a node's new rules on. A link's go to where it leads, if one of them names something that is needed there.
    fn hand_on(&mut self, node: NodeId) {
        let Node { link, overrides, .. } = *self.node(node);
        match (link, overrides) {
            (None, _) => self.propagate(node),
            (Some(target), Some(rule)) if self.matters_below(rule, target) => self.overrides_added(target, overrides),
            _ => {}
        }
    }

    /// Takes over a link's rules where it leads, before what is there is looked at.
    pub(crate) fn follow_link(&mut self, link: NodeId) {
        if let Node { link: Some(target), overrides: rule @ Some(_), .. } = *self.node(link) {
            self.overrides_added(target, rule);
        }
    }

    /// Whether a rule names a dependency of `top` or of anything that `top` reaches.
    fn matters_below(&self, rule: RuleId, top: NodeId) -> bool {
        let mut seen = FxHashSet::default();
        let mut stack = vec![top];
        while let Some(node) = stack.pop() {
            let node = self.node(node).link.unwrap_or(node);
            if !seen.insert(node) {
                continue;
            }
            for &(_, id) in &self.node(node).edges_out {
                let edge = self.edge(id);
                if self.rules.get(self.edge_rule(rule, id)).name == Some(edge.name) {
                    return true;
                }
                stack.extend(edge.to);
            }
        }
        false
    }

    /// Hands a node's new rules on to everything it depends on, one dependency after the other and each to its end: which
    /// of two rules arrives first can make a difference.
    fn propagate(&mut self, node: NodeId) {
        if self.propagation_depth >= PROPAGATION_DEPTH {
            self.postponed.push(node);
            return;
        }
        self.propagation_depth += 1;
        let edges: Vec<EdgeId> = self.node(node).edges_out.iter().map(|(_, edge)| *edge).collect();
        for edge in edges {
            let Some(left) = self.propagations_left.checked_sub(1) else {
                self.fail(ResolveError::TooComplex { what: "override rules keep changing each other".to_owned() });
                break;
            };
            self.propagations_left = left;
            self.reload(edge, true);
            let Edge { to, overrides, .. } = *self.edge(edge);
            if let Some(to) = to {
                self.overrides_added(to, overrides);
            }
        }
        self.propagation_depth -= 1;
        if self.propagation_depth == 0 && !self.catching_up {
            self.catching_up = true;
            while let Some(node) = self.postponed.pop() {
                self.propagate(node);
            }
            self.catching_up = false;
        }
    }

    /// The rule that holds for an edge of a node that `rule` holds for.
    fn edge_rule(&self, rule: RuleId, id: EdgeId) -> RuleId {
        let edge = self.edge(id);
        // An empty specifier is judged by what the rule so far made of it.
        let empty = self.specs.get(edge.spec).text.is_empty();
        let asked = || &self.specs.get(if empty { self.effective_spec(id) } else { edge.spec }).parsed;
        match self.rules.for_edge(rule, edge.name, asked) {
            Ok(rule) => rule,
            Err(error) => {
                self.fail(error);
                rule
            }
        }
    }

    /// What the edge asks for, after overrides.
    pub(crate) fn effective_spec(&self, id: EdgeId) -> SpecId {
        let edge = self.edge(id);
        let Some(rule) = edge.overrides else { return edge.spec };
        let rule = self.rules.get(rule);
        if rule.name != Some(edge.name) || rule.value.is_empty() || &*rule.value == "*" {
            return edge.spec;
        }
        let Some(reference) = rule.value.strip_prefix('$') else { return rule.value_spec };
        let from = self.node(edge.from);
        let top = from.source.map_or(from.root, |source| self.node(source).root);
        let found = [top, edge.from].into_iter().find_map(|node| referred(&self.package_of(node).manifest, reference));
        match found.and_then(|text| self.specs.find(text)) {
            Some(spec) => spec,
            None => {
                self.fail(ResolveError::OverrideReference { reference: rule.value.to_string() });
                edge.spec
            }
        }
    }

    pub(crate) fn is_valid(&self, id: EdgeId) -> bool {
        matches!(self.edge_error(id), EdgeError::Fine)
    }

    /// What is wrong with the edge.
    pub(crate) fn edge_error(&self, id: EdgeId) -> EdgeError {
        let edge = self.edge(id);
        if let Some(error) = edge.error.get() {
            return error;
        }
        let error = match edge.to {
            None if edge.kind.is_optional() => return EdgeError::Fine,
            None => EdgeError::Missing,
            Some(to) => self.judge(id, to),
        };
        edge.error.set(Some(error));
        error
    }

    fn judge(&self, id: EdgeId, to: NodeId) -> EdgeError {
        let edge = self.edge(id);
        let target = self.node(to);
        if edge.kind.is_peer() && target.parent == Some(edge.from) && !self.is_top(edge.from) {
            return EdgeError::PeerLocal;
        }
        if !self.satisfied_by(id, to) {
            return EdgeError::Invalid;
        }
        if let (Some(ours), Some(theirs)) = (edge.overrides, target.overrides)
            && !target.edges_out.is_empty()
            && self.rules.conflict(ours, theirs, &self.specs)
        {
            return EdgeError::Invalid;
        }
        EdgeError::Fine
    }

    /// Whether `node` would do for the edge.
    pub(crate) fn satisfied_by(&self, id: EdgeId, node: NodeId) -> bool {
        let edge = self.edge(id);
        if self.node(node).name != edge.name {
            return false;
        }
        let Some(rule) = edge.overrides else { return self.accepts(id, edge.spec, node) };
        // What a package brings along itself, or lists, is not subject to overrides.
        let lists = self.package_of(node).manifest.has_shrinkwrap || self.in_shrinkwrap(node);
        if lists || self.bundler(node).is_some() {
            return self.accepts(id, edge.spec, node);
        }
        let spec = self.effective_spec(id);
        if self.accepts(id, spec, node) {
            return true;
        }
        let rule = self.rules.get(rule);
        match rule.key_spec {
            None => false,
            Some(key) => self.accepts(id, edge.spec, node) && !self.accepts(id, key, node),
        }
    }

    fn accepts(&self, id: EdgeId, spec: SpecId, node: NodeId) -> bool {
        let is_it = |spec| match &self.specs.get(spec).parsed {
            Ok(parsed) if !parsed.is_registry() => self.is_from(id, parsed, node),
            _ => self.accepts_package(spec, self.node(node).package),
        };
        is_it(spec) || self.edge(id).accept.is_some_and(is_it)
    }

    /// Whether a package is what the specifier asks for, apart from its name.
    pub(crate) fn accepts_package(&self, spec: SpecId, package: PackageId) -> bool {
        if self.specs.get(spec).any {
            return true;
        }
        *self.verdicts.borrow_mut().entry((spec, package)).or_insert_with(|| {
            let Ok(parsed) = &self.specs.get(spec).parsed else { return false };
            let package = &self.packages[package.index()];
            match &parsed.registry_target().kind {
                SpecKind::Range(range) => package.version.as_ref().is_some_and(|version| range.satisfied_by(version)),
                SpecKind::Version(wanted) => {
                    package.version.as_ref().is_some_and(|version| version.precedence(wanted) == Ordering::Equal)
                }
                // A tag moves; that it once came from a registry is all that can be checked.
                SpecKind::Tag(_) => package.resolved.as_deref().is_some_and(is_address),
                _ => false,
            }
        })
    }
}

fn is_address(resolved: &str) -> bool {
    resolved.starts_with("http://") || resolved.starts_with("https://")
}

fn referred<'a>(manifest: &'a Manifest, name: &str) -> Option<&'a str> {
    let maps = [
        &manifest.dev_dependencies,
        &manifest.optional_dependencies,
        &manifest.dependencies,
        &manifest.peer_dependencies,
    ];
    maps.into_iter()
        .find_map(|map| map.iter().find(|(key, text)| key == name && !text.is_empty()))
        .map(|(_, text)| text.as_str())
}
