//! What becomes of a tree once packages are unpacked that bring others along, or list them in a shrinkwrap of their own.
//!
//! npm builds a tree that is to be made without looking into them: whatever they ask for under the names of what they bring along
//! is what lies above them by then, and what it is there for is calculated from that. Only as it unpacks them it sees what they
//! have. From there it takes back further flags, gives none back, and removes what is not needed any more
//! (`pruneBundledMetadeps` in arborist's `reify.js`). Of a package for development that is also what another one brings along,
//! its lock therefore does not say so: not until the next install, which has all of it in the lock that it starts from.

use crate::build::Builder;
use crate::error::ResolveError;
use crate::forest::Flags;
use crate::ids::NodeId;
use crate::options::Opening;
use rustc_hash::FxHashSet;

impl Builder {
    /// Whether the contents of a package of the finished tree are missing. They are asked for then.
    pub(crate) fn lacks_contents(&mut self) -> bool {
        let packed = if self.options.opening == Opening::Unpacked { self.packed.clone() } else { Vec::new() };
        let mut is_missing = false;
        for node in packed {
            is_missing |= self.is_in_tree(node) && matches!(self.contents(node), Ok(None));
        }
        is_missing
    }

    /// Shows what is in packages, where they are unpacked; the flags and what is left out must be settled.
    pub(crate) fn unpack_all(&mut self) -> Result<(), ResolveError> {
        let mut packed = std::mem::take(&mut self.packed);
        if self.options.opening != Opening::Unpacked {
            return Ok(());
        }
        packed.retain(|&node| self.is_in_tree(node) && !self.is_omitted(node));
        packed.sort_by_key(|&node| self.forest.depth(node));
        for &node in &packed {
            if let Some(contents) = self.contents(node)? {
                self.unpack_bundle(node, &contents.with_identity());
            }
        }
        packed.retain(|&node| !self.forest.package_of(node).bundled.is_empty());
        self.remove_shadowed(&packed);
        Ok(())
    }

    pub(crate) fn is_in_tree(&self, node: NodeId) -> bool {
        self.forest.node(node).root == self.forest.root
    }

    /// Whether a package is not to be installed, or something that it is in.
    fn is_omitted(&self, node: NodeId) -> bool {
        let is_mine = self.forest.is_mine(self.forest.top_of(node));
        let places = std::iter::successors(Some(node), |&node| self.forest.node(node).parent);
        places.into_iter().any(|place| {
            let Flags { dev, optional, dev_optional, peer, .. } = self.forest.node(place).flags;
            let options = &self.options;
            let is_omitted = (peer && options.omit_peer)
                || (dev && options.omit_dev)
                || (optional && options.omit_optional)
                || (dev_optional && options.omit_dev && options.omit_optional);
            self.forest.node(place).inert || (is_mine && is_omitted)
        })
    }

    /// Removes what these packages would have found under the names of what they bring along, with what it needs, as far as
    /// nobody else needs it.
    fn remove_shadowed(&mut self, bundlers: &[NodeId]) {
        let mut shadowed: Vec<NodeId> = Vec::new();
        for &bundler in bundlers {
            let Some(parent) = self.forest.node(bundler).parent else { continue };
            let names = self.forest.node(bundler).children.iter().map(|child| self.forest.node(child).name);
            shadowed.extend(names.filter_map(|name| self.forest.resolve(parent, name)));
        }
        let mut members: FxHashSet<NodeId> = FxHashSet::default();
        let mut next = 0;
        while let Some(&node) = shadowed.get(next) {
            next += 1;
            if members.insert(node) {
                let needed = self.forest.node(node).edges_out.iter().filter_map(|&(_, edge)| self.forest.edge(edge).to);
                shadowed.extend(needed);
            }
        }
        shadowed.retain({
            let mut first = FxHashSet::default();
            move |&node| first.insert(node)
        });
        loop {
            let before = shadowed.len();
            let needed: Vec<NodeId> =
                shadowed.iter().copied().filter(|&node| self.is_needed_outside(node, &members)).collect();
            for node in needed {
                members.remove(&node);
                self.forest.nodes[node.index()].flags.extraneous = false;
            }
            shadowed.retain(|node| members.contains(node));
            if shadowed.len() == before {
                break;
            }
        }
        for node in shadowed {
            self.forest.remove(node);
        }
    }

    fn is_needed_outside(&self, node: NodeId, members: &FxHashSet<NodeId>) -> bool {
        self.forest.node(node).edges_in.iter().any(|&edge| !members.contains(&self.forest.edge(edge).from))
    }
}
