//! What could not be loaded, and what becomes of who wants it.

use super::Builder;
use crate::cause::Cause;
use crate::error::ResolveError;
use crate::forest::{Edge, Node};
use crate::ids::{EdgeId, FailureId, NodeId, PackageId};
use crate::package::{Package, Peers, Top};

/// A node that stands for a failure, and the dependency that it was placed for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LoadFailure {
    pub node: NodeId,
    pub edge: EdgeId,
}

impl Builder {
    /// The empty package of everything that could not be loaded.
    pub(crate) fn failed_package(&mut self) -> PackageId {
        *self.failed_package.get_or_insert_with(|| {
            let empty = Package::new(
                Default::default(),
                (None, None),
                (Peers::Load, Top::No),
                (&mut self.forest.names, &mut self.forest.specs),
            );
            self.forest.add_package(empty)
        })
    }

    /// Whether a node of the tree stands for a failure.
    pub(super) fn is_load_failure(&self, node: NodeId) -> bool {
        self.load_failures.iter().any(|failed| failed.node == node)
    }

    /// What could not be loaded is fatal where it is required, and else goes with all that hangs on it.
    pub(crate) fn drop_failures(&mut self) -> Result<(), ResolveError> {
        for failed in std::mem::take(&mut self.load_failures) {
            let Some(failure) = self.forest.node(failed.node).failure else { continue };
            if self.is_required(failed, failure) {
                return Err(self.failure_error(failed, failure));
            }
            self.make_inert(failed.node);
        }
        Ok(())
    }

    /// Whether what could not be loaded has to be there.
    ///
    /// One that is in the tree no more, as where it had taken the place of something that it is in a cycle with, has no flags, and
    /// npm takes it for optional: it ends well, and what was asked for is missing. So it is here where the registry has
    /// said what it has. Where it has failed, who wants it is asked: else a lock would be spoilt because of the network.
    fn is_required(&self, LoadFailure { node, edge }: LoadFailure, failure: FailureId) -> bool {
        let Node { flags, .. } = self.forest.node(node);
        let Edge { from, to, kind, .. } = *self.forest.edge(edge);
        let is_of_the_network = matches!(self.shelf.failure(failure).cause, Cause::Fetch { .. });
        if self.is_in_tree(node) || !is_of_the_network {
            return !flags.optional;
        }
        self.is_in_tree(from) && to.is_none() && !kind.is_optional() && !self.forest.node(from).flags.optional
    }

    /// The error a failed node stands for.
    fn failure_error(&self, LoadFailure { node, edge }: LoadFailure, failure: FailureId) -> ResolveError {
        let failure = self.shelf.failure(failure);
        let package = self.forest.names.text(failure.package).to_string();
        let spec = self.forest.specs.get(failure.spec);
        let spec = match &spec.parsed {
            Ok(parsed) => parsed.registry_target().raw.clone(),
            Err(_) => spec.text.to_string(),
        };
        let wanted_by = if self.is_in_tree(node) { self.wanted_by(node) } else { self.wanted_through(edge) };
        match failure.cause.clone() {
            Cause::NotFound => ResolveError::PackageNotFound { package, spec, wanted_by },
            Cause::NoMatch { latest } => ResolveError::NoMatchingVersion { package, spec, latest, wanted_by },
            Cause::Incomplete => ResolveError::IncompleteManifest { package, spec, wanted_by },
            Cause::Fetch { code, message } => ResolveError::Fetch { package, spec, cause: code, message, wanted_by },
        }
    }
}
