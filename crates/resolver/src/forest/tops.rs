//! Folders of the user: workspaces and what `file:` specifiers name.
//!
//! Such a folder is a node without a parent: it is in no `node_modules`. A link in one leads to it. It belongs to a tree all
//! the same, and where its folder is inside the project or inside another node's folder, its dependencies are looked for
//! there too, as Node looks for them.

use super::{Forest, Seed};
use crate::ids::{EdgeId, NameId, NodeId, PackageId};
use crate::package::Kind;
use std::sync::Arc;

impl Forest {
    /// Where a node's dependencies are looked for after its own `node_modules`.
    pub(crate) fn resolve_parent(&self, node: NodeId) -> Option<NodeId> {
        let node = self.node(node);
        node.parent.or(node.fs_parent)
    }

    /// The node at `place` (relative to the project) in the tree of `root`, if there is one. A link is what it leads to.
    pub(crate) fn at(&self, root: NodeId, place: &str) -> Option<NodeId> {
        let tops = || std::iter::once(root).chain(self.node(root).tops.iter().copied());
        if let Some(top) = tops().find(|&top| self.node(top).place.as_deref() == Some(place)) {
            return Some(top);
        }
        tops().find_map(|top| {
            let folder = self.node(top).place.as_deref()?;
            let inside = if folder.is_empty() { place } else { place.strip_prefix(folder)?.strip_prefix('/')? };
            let mut segments = inside.strip_prefix("node_modules/")?.split("/node_modules/");
            segments.try_fold(top, |node, segment| {
                let child = self.node(node).children.get(self.names.folded(self.names.find(segment)?))?;
                Some(self.node(child).link.unwrap_or(child))
            })
        })
    }

    /// The node at `place` in the tree of `root`; where there is none, one is made for the user's folder there.
    pub(crate) fn top_at(&mut self, root: NodeId, place: &str, package: PackageId) -> NodeId {
        if let Some(node) = self.at(root, place) {
            return node;
        }
        let name = self.names.intern(folder_name(place));
        let is_read = root == self.root && self.is_from_nothing;
        let is_read = is_read && self.workspaces.iter().any(|(_, workspace)| **workspace == *place);
        let overrides = self.rules.root().filter(|_| is_read).map(|rule| {
            let package = &self.packages[package.index()];
            package.name.map_or(rule, |name| self.rules.for_package(rule, name, &package.version_text))
        });
        let top = self.push_node(&Seed { name, package, overrides, failure: None, from_lock: false }, None);
        self.nodes[top.index()].place = Some(place.into());
        let above = std::iter::successors(parent_of(place), |&above| parent_of(above));
        let fs_parent = above.filter_map(|above| self.at(root, above)).find(|&node| node != top);
        self.nodes[top.index()].fs_parent = fs_parent;
        // Folders inside this one have belonged to one further up.
        for other in self.node(root).tops.clone() {
            let is_inside =
                |outer: &str, inner: &str| inner.strip_prefix(outer).is_some_and(|rest| rest.starts_with('/'));
            let (inner, now) = (self.place_of(other), self.node(other).fs_parent);
            if is_inside(place, &inner) && now.is_none_or(|now| now == root || is_inside(&self.place_of(now), place)) {
                self.nodes[other.index()].fs_parent = Some(top);
            }
        }
        self.nodes[root.index()].tops.push(top);
        self.set_root(top, root);
        let list = self.packages[package.index()].top_dependencies.clone();
        self.load_edges(top, &list);
        top
    }

    /// Makes a link to `target` that is in no tree yet.
    pub(crate) fn new_link(&mut self, name: NameId, target: NodeId) -> NodeId {
        let package = self.node(target).package;
        let seed = Seed { name, package, overrides: None, failure: None, from_lock: false };
        let link = self.push_node(&seed, None);
        self.nodes[link.index()].link = Some(target);
        link
    }

    /// Everything in the tree of `root`.
    pub(crate) fn whole_tree(&self, root: NodeId) -> Vec<NodeId> {
        let outside = self.node(root).tops.iter().filter(|&&top| self.node(top).fs_parent.is_none());
        let mut tree = self.family(root);
        outside.for_each(|&top| tree.extend(self.family(top)));
        tree
    }

    /// The folder of a root or of a folder of the user.
    pub(crate) fn place_of(&self, top: NodeId) -> Arc<str> {
        self.node(top).place.clone().unwrap_or_else(|| "".into())
    }

    /// The folders of the user directly in the folder of `node`.
    pub(crate) fn tops_in(&self, node: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        let tops = &self.node(self.node(node).root).tops;
        tops.iter().copied().filter(move |&top| self.node(top).fs_parent == Some(node))
    }

    /// Takes a folder of the user out of its tree, with all below it.
    pub(crate) fn remove_top(&mut self, top: NodeId) {
        let root = self.node(top).root;
        self.nodes[root.index()].tops.retain(|&other| other != top);
        self.nodes[top.index()].fs_parent = None;
        self.remove(top);
    }

    /// Notes the folders of the user in a family that leaves the tree of `from` for that of `to`.
    pub(super) fn move_tops(&mut self, family: &[NodeId], from: NodeId, to: NodeId) {
        if from == to || self.node(from).tops.is_empty() {
            return;
        }
        let moves = |top: &NodeId| *top != to && family.contains(top);
        let moved: Vec<NodeId> = self.node(from).tops.iter().copied().filter(moves).collect();
        self.nodes[from.index()].tops.retain(|top| !family.contains(top));
        self.nodes[to.index()].tops.extend(moved);
    }

    /// The edges that lead to a node: those to its links for a folder of the user.
    pub(crate) fn edges_to(&self, node: NodeId) -> Vec<EdgeId> {
        if self.node(node).place.is_none() || node == self.root {
            return self.node(node).edges_in.clone();
        }
        self.links_to(node).into_iter().flat_map(|link| self.node(link).edges_in.iter().copied()).collect()
    }

    /// The links of its tree that lead to a node.
    pub(crate) fn links_to(&self, node: NodeId) -> Vec<NodeId> {
        let links = (0..self.nodes.len()).map(NodeId::new);
        links
            .filter(|&link| self.node(link).link == Some(node) && self.node(link).root == self.node(node).root)
            .collect()
    }

    /// Whether the node is one of the project's workspaces, or a link to one from the project.
    pub(crate) fn is_workspace(&self, node: NodeId) -> bool {
        if self.workspaces.is_empty() || node == self.root {
            return false;
        }
        let Some(name) = self.package_of(node).name else { return false };
        let Some(edge) = self.out_edge(self.root, name).map(|edge| self.edge(edge)) else { return false };
        let leads_here = |to: NodeId| to == node || self.node(to).link == Some(node);
        edge.kind == Kind::Workspace && edge.to.is_some_and(leads_here)
    }

    /// The root or the folder of the user in whose `node_modules` a node is, however deep.
    pub(crate) fn top_of(&self, node: NodeId) -> NodeId {
        let parents = std::iter::successors(Some(node), |&node| self.node(node).parent);
        parents.last().unwrap_or(node)
    }

    /// Whether nothing above the node is its affair: a root, a folder of the user, and a package that is installed for the whole
    /// machine (`isTop` of arborist's `Node`).
    pub(crate) fn is_top(&self, node: NodeId) -> bool {
        match self.node(node).parent {
            None => true,
            Some(parent) => self.is_global && parent == self.root,
        }
    }

    /// Whether the node is the project or one of its workspaces: what it asks for, the user asks for.
    pub(crate) fn is_mine(&self, node: NodeId) -> bool {
        self.is_project_root(node) || self.is_workspace(node)
    }

    /// Whether the node is the project or a folder inside of it, as opposed to one that is somebody else's affair.
    pub(crate) fn is_inside(&self, node: NodeId) -> bool {
        self.is_descendant_of(node, self.root)
    }
}

/// The name that the folder at `place` would have in a `node_modules`: the last component, with a scope before it.
pub(crate) fn folder_name(place: &str) -> &str {
    let mut slashes = place.rmatch_indices('/').map(|(at, _)| at);
    let Some(last) = slashes.next() else { return place };
    let parent = slashes.next().map_or(0, |at| at + 1);
    if place[parent..].starts_with('@') { &place[parent..] } else { &place[last + 1..] }
}

/// The folder that `place` is in; `None` for the project and for what is directly outside of it.
fn parent_of(place: &str) -> Option<&str> {
    match place.rsplit_once('/') {
        Some((parent, _)) => Some(parent),
        None if place.is_empty() || place == ".." => None,
        None => Some(""),
    }
}
