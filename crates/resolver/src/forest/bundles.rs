//! Who brings a node along in its own tarball.
//!
//! A bundler is the nearest ancestor that lists the node, or something only the node's dependants hang on, among its
//! `bundleDependencies`. Hardly any tree has one, so the question is first answered from the ancestors alone.

use super::Forest;
use crate::ids::NodeId;
use rustc_hash::FxHashSet;

/// One node on the way to an answer.
struct Visit {
    node: NodeId,
    parent: NodeId,
    /// 0: the parent's own bundler is asked for; then one more than the number of dependants asked.
    stage: usize,
}

impl Forest {
    /// The ancestor in whose tarball `node` is, if any.
    pub(crate) fn bundler(&self, node: NodeId) -> Option<NodeId> {
        let declares = |&above: &NodeId| !self.package_of(above).bundled.is_empty();
        if !self.ancestry(node).skip(1).any(|above| declares(&above)) {
            return None;
        }
        let mut seen: FxHashSet<NodeId> = FxHashSet::default();
        let mut visits: Vec<Visit> = Vec::new();
        let mut answer = self.enter(node, &mut seen, &mut visits);
        while let Some(visit) = visits.last_mut() {
            let (node, parent, stage) = (visit.node, visit.parent, visit.stage);
            visit.stage += 1;
            // What the question asked at the previous stage came to.
            let result = if stage == 1 { answer } else { answer.filter(|&bundler| stage > 1 && bundler == parent) };
            if stage == 0 {
                answer = self.enter(parent, &mut seen, &mut visits);
                continue;
            }
            if result.is_some() {
                answer = result;
                visits.pop();
                continue;
            }
            if stage == 1 && self.package_of(parent).bundled.contains(&self.node(node).name) {
                answer = Some(parent);
                visits.pop();
                continue;
            }
            match self.node(node).edges_in.get(stage - 1) {
                Some(&edge) => answer = self.enter(self.edge(edge).from, &mut seen, &mut visits),
                None => {
                    answer = None;
                    visits.pop();
                }
            }
        }
        answer
    }

    /// Starts a visit; a node that is at the top or was visited has no bundler.
    fn enter(&self, node: NodeId, seen: &mut FxHashSet<NodeId>, visits: &mut Vec<Visit>) -> Option<NodeId> {
        if seen.insert(node)
            && let Some(parent) = self.node(node).parent
        {
            visits.push(Visit { node, parent, stage: 0 });
        }
        None
    }

    /// Whether it is where the `npm-shrinkwrap.json` of a package above put it.
    pub(crate) fn in_shrinkwrap(&self, node: NodeId) -> bool {
        let above = || std::iter::successors(self.node(node).parent, |&above| self.node(above).parent);
        self.has_shrinkwraps && above().any(|above| self.package_of(above).manifest.has_shrinkwrap)
    }

    /// Whether it is in the tarball of a dependency, not merely listed by the project.
    pub(crate) fn in_dependency_bundle(&self, node: NodeId) -> bool {
        self.bundler(node).is_some_and(|bundler| bundler != self.node(node).root)
    }
}
