//! What may come from somewhere else than a registry: npm's `allow-git`, `allow-remote`, `allow-file`, `allow-directory`.

use super::Builder;
use crate::error::ResolveError;
use crate::ids::{EdgeId, SpecId};

impl Builder {
    /// Why what an edge asks for may not be had; `None` where it may.
    pub(super) fn refusal(&self, edge: EdgeId, spec: SpecId) -> Option<String> {
        if self.options.allowed.is_everything() {
            return None;
        }
        let kind = &self.forest.specs.get(spec).parsed.as_ref().ok()?.kind;
        let from = self.forest.edge(edge).from;
        self.options.allowed.refusal(kind, from == self.forest.root || self.forest.is_workspace(from))
    }

    /// Refuses what a lock brought along. A package that the project asks for itself is its own, whoever else asks for it;
    /// folders that are linked to are looked at only when they are linked to anew, as by npm.
    pub(crate) fn check_allowed(&self) -> Result<(), ResolveError> {
        if self.options.allowed.is_everything() {
            return Ok(());
        }
        for id in self.forest.inventory() {
            let node = self.forest.node(id);
            if node.link.is_some() || node.failure.is_some() {
                continue;
            }
            let refusals = node.edges_in.iter().map(|&edge| self.refusal(edge, self.forest.effective_spec(edge)));
            let refusals: Vec<_> = refusals.collect();
            if let Some(Some(message)) = refusals.iter().find(|refusal| refusal.is_some())
                && refusals.iter().all(Option::is_some)
            {
                let package = self.forest.package_of(id);
                let spec = package.resolved.as_deref().unwrap_or(&package.version_text).to_owned();
                let package = self.forest.location(id);
                return Err(ResolveError::NotAllowed { package, spec, message: message.clone() });
            }
        }
        Ok(())
    }
}
