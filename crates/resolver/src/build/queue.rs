//! The nodes whose dependencies are to be looked at: the shallowest first, then by path.

use crate::forest::Forest;
use crate::ids::NodeId;
use gantry_spec::compare_locale;
use rustc_hash::FxHashSet;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// A node with what decides its turn.
#[derive(Debug)]
struct Turn {
    depth: u32,
    location: String,
    sequence: u32,
    node: NodeId,
}

impl Ord for Turn {
    /// Reversed: the heap gives out its greatest.
    fn cmp(&self, other: &Self) -> Ordering {
        let by_depth = other.depth.cmp(&self.depth);
        let by_path = || compare_locale(&other.location, &self.location);
        by_depth.then_with(by_path).then_with(|| other.sequence.cmp(&self.sequence))
    }
}

impl PartialOrd for Turn {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Turn {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Turn {}

/// The queue; a node is in it at most once.
#[derive(Debug, Default)]
pub(super) struct Queue {
    turns: BinaryHeap<Turn>,
    waiting: FxHashSet<NodeId>,
    pushed: u32,
}

impl Queue {
    pub(super) fn push(&mut self, forest: &Forest, node: NodeId) {
        if self.waiting.insert(node) {
            self.pushed += 1;
            let (depth, location) = (forest.depth(node), forest.location(node));
            self.turns.push(Turn { depth, location, sequence: self.pushed, node });
        }
    }

    pub(super) fn pop(&mut self) -> Option<NodeId> {
        let node = self.turns.pop()?.node;
        self.waiting.remove(&node);
        Some(node)
    }
}
