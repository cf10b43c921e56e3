//! What would end a peer conflict: another wish of the user, or another version of the dependant.

use super::Builder;
use crate::forest::Edge;
use crate::ids::{EdgeId, NodeId};
use gantry_manifest::Manifest;
use gantry_spec::Range;

impl Builder {
    /// Changes that would each end the conflict over `peer`, a peer dependency, which would find `found`. Of those that
    /// ask for another version of the dependant, the highest that accepts what is there is named.
    pub(super) fn remedies(&self, peer: EdgeId, found: Option<NodeId>) -> Vec<String> {
        let forest = &self.forest;
        let Edge { from, name, .. } = *forest.edge(peer);
        let wanted = &forest.specs.get(forest.effective_spec(peer)).text;
        let peer_name = forest.names.text(name);
        let mut remedies = Vec::new();
        if let Some((edge, asker)) = self.wish_of_the_user(name, peer) {
            let asks = &forest.specs.get(edge.spec).text;
            remedies.push(format!("ask for {peer_name}@{wanted:?} in place of {asks:?} in {asker}"));
        }
        let there = found.map(|found| forest.package_of(found));
        let dependant = forest.package_of(from).name;
        if let (Some(there), Some(dependant)) = (there, dependant)
            && let Some(there) = &there.version
        {
            let accepts = |manifest: &Manifest| {
                let mut peers = manifest.peer_dependencies.iter();
                let range = peers.find(|(other, _)| **other == **peer_name).map(|(_, range)| Range::parse(range));
                range.is_none_or(|range| range.is_some_and(|range| range.satisfied_by(there)))
            };
            if let Some(version) = self.shelf.highest_that(dependant, accepts) {
                let dependant = forest.names.text(dependant);
                remedies.push(format!("use {dependant}@{version}, which accepts {peer_name}@{there}"));
            }
        }
        remedies
    }

    /// What the project, or one of its workspaces, itself asks for under a name, and who asks.
    fn wish_of_the_user(&self, name: crate::ids::NameId, but: EdgeId) -> Option<(&Edge, String)> {
        let forest = &self.forest;
        let tops = std::iter::once(forest.root).chain(forest.node(forest.root).tops.iter().copied());
        let mut wishes =
            tops.filter(|&top| forest.is_mine(top)).filter_map(|top| Some((top, forest.out_edge(top, name)?)));
        let (top, edge) = wishes.find(|(_, edge)| *edge != but)?;
        Some((forest.edge(edge), self.label(top)))
    }
}
