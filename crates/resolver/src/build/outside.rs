//! Dependencies that no registry has: links to folders of the user, workspaces among them, and packages from tarballs and
//! repositories.

use super::{Builder, Stop};
use crate::PackumentProblem;
use crate::cause::Cause;
use crate::forest::{Edge, Seed, leads_out};
use crate::ids::{EdgeId, NameId, NodeId, PackageId, SpecId};
use crate::resolver::sources::{Found, Source};
use gantry_spec::SpecKind;

impl Builder {
    /// A node below a virtual root for what a specifier asks for outside of a registry; `None` where the registry is to be
    /// asked.
    pub(super) fn node_from_outside(
        &mut self,
        name: NameId,
        spec: SpecId,
        parent: NodeId,
        edge: EdgeId,
    ) -> Result<Option<NodeId>, Stop> {
        if let Some(message) = self.refusal(edge, spec) {
            let problem = PackumentProblem::Failed { code: "RESOLVE_NOT_ALLOWED", message };
            return Ok(Some(self.failed_source(name, spec, parent, problem)));
        }
        let local = self.folder_of(edge, spec, parent);
        if let Some(Source::Folder { path: place }) = &local {
            return match self.find_source(name, Source::Folder { path: place.clone() }) {
                Found::Package(package) => Ok(Some(self.link_below(parent, name, place, package))),
                Found::Problem(problem) => Ok(Some(self.failed_source(name, spec, parent, problem))),
                Found::NotYet => Err(Stop::Missing(Vec::new())),
            };
        }
        if let Some((place, package)) = self.serving_workspace(name, edge) {
            return Ok(Some(self.link_below(parent, name, &place, package)));
        }
        let source = local.or_else(|| self.source_of(edge, self.shelf.pinned(name, spec)));
        let Some(source) = source else { return Ok(None) };
        match self.find_source_of(name, spec, source) {
            Found::Package(package) => {
                let seed = Seed { name, package, overrides: None, failure: None, from_lock: false };
                Ok(Some(self.forest.new_node(seed, Some(parent))))
            }
            Found::Problem(problem) => Ok(Some(self.failed_source(name, spec, parent, problem))),
            Found::NotYet => Err(Stop::Missing(Vec::new())),
        }
    }

    /// Asks for what an edge needs from outside of a registry. Gives whether it is not here yet.
    pub(super) fn lacks_source(&mut self, edge: EdgeId) -> bool {
        let (name, spec) = (self.forest.edge(edge).name, self.forest.effective_spec(edge));
        if self.refusal(edge, spec).is_some() {
            return false;
        }
        let source = self
            .folder_of(edge, spec, self.forest.edge(edge).from)
            .or_else(|| self.source_of(edge, self.shelf.pinned(name, spec)));
        let Some(source) = source else { return false };
        matches!(self.find_source_of(name, spec, source), Found::NotYet)
    }

    /// As [`find_source`](Self::find_source), where something may be known of what is to be found.
    fn find_source_of(&mut self, name: NameId, spec: SpecId, source: Source) -> Found {
        let integrity = self.shelf.stated_integrity(name, spec);
        let name = self.forest.names.text(name).clone();
        self.sources.find_known(&name, source, integrity)
    }

    fn find_source(&mut self, name: NameId, source: Source) -> Found {
        let name = self.forest.names.text(name).clone();
        self.sources.find(&name, source)
    }

    /// The folder that a specifier names, and whether it is linked to; `parent` is where what is found is put.
    ///
    /// Under `install-links` npm links to workspaces and to what is inside of the project, but to the latter only where it is
    /// asked for by a path that begins with a dot, as a look at the text tells (`#nodeFromSpec` in arborist's
    /// `build-ideal-tree.js`).
    fn folder_of(&self, edge: EdgeId, spec: SpecId, parent: NodeId) -> Option<Source> {
        let forest = &self.forest;
        let SpecKind::Directory { path } = &forest.specs.get(spec).parsed.as_ref().ok()?.kind else { return None };
        let place = forest.path_of(edge, path);
        if !self.options.install_links {
            return Some(Source::Folder { path: place });
        }
        let Edge { name, spec: own, .. } = *forest.edge(edge);
        let from = forest.node(parent).source.unwrap_or(parent);
        // What a package asks for that was made of a folder is beside that folder. npm knows that only where it was made just now:
        // of one that a lock has it takes a link in place of what is missing, to where nothing is. Nor does it get along with
        // what an override says of such a package.
        if let Some(origin) = forest.origin_of(from) {
            let is_relative = spec == own && !path.starts_with(['/', '~']);
            let beside = || forest.anchors.relative(origin, path);
            return Some(Source::Copy { path: if is_relative { beside() } else { place } });
        }
        let is_workspace = || forest.workspaces.iter().any(|(workspace, _)| *workspace == name);
        let is_inside = || {
            let asked = forest.specs.get(own).text.strip_prefix("file:");
            let asked = asked.filter(|asked| asked.starts_with("./") || asked.starts_with("../"));
            asked.is_some_and(|asked| !leads_out(&forest.anchors.relative(&forest.location(from), asked)))
        };
        Some(if is_workspace() || is_inside() { Source::Folder { path: place } } else { Source::Copy { path: place } })
    }

    /// The tarball or repository that a specifier names.
    fn source_of(&self, edge: EdgeId, spec: SpecId) -> Option<Source> {
        match &self.forest.specs.get(spec).parsed.as_ref().ok()?.kind {
            SpecKind::File { path } => Some(Source::File { path: self.forest.path_of(edge, path) }),
            SpecKind::Remote { url } => Some(Source::Remote { url: url.clone() }),
            SpecKind::Git(git) => Some(Source::Git { spec: git.saved.clone() }),
            _ => None,
        }
    }

    /// The workspace of this name, where the project has linked to it and it is what the edge asks for.
    fn serving_workspace(&self, name: NameId, edge: EdgeId) -> Option<(String, PackageId)> {
        let forest = &self.forest;
        if !forest.workspaces.iter().any(|(workspace, _)| *workspace == name) {
            return None;
        }
        let to = forest.edge(forest.out_edge(forest.root, name)?).to?;
        let target = forest.node(to).link?;
        let serves = forest.is_workspace(to) && forest.satisfies(to, edge);
        serves.then(|| (forest.location(target), forest.node(target).package))
    }

    fn link_below(&mut self, parent: NodeId, name: NameId, place: &str, package: PackageId) -> NodeId {
        let root = self.forest.node(parent).root;
        let target = self.forest.top_at(root, place, package);
        let link = self.forest.new_link(name, target);
        self.forest.attach(link, parent);
        link
    }

    fn failed_source(&mut self, name: NameId, spec: SpecId, parent: NodeId, problem: PackumentProblem) -> NodeId {
        let cause = match problem {
            PackumentProblem::NotFound => Cause::Fetch { code: "NOT_FOUND", message: "it is not there".to_owned() },
            PackumentProblem::Failed { code, message } => Cause::Fetch { code, message },
        };
        let failure = self.shelf.fail(name, spec, cause);
        let package = self.failed_package();
        let seed = Seed { name, package, overrides: None, failure: Some(failure), from_lock: false };
        self.forest.new_node(seed, Some(parent))
    }

    /// Remembers the links that a node depends on, to go on where they lead once nothing else is to be done.
    pub(super) fn note_links(&mut self, node: NodeId) {
        for &(_, edge) in &self.forest.node(node).edges_out {
            if let Some(to) = self.forest.edge(edge).to
                && self.forest.node(to).link.is_some()
                && !self.links.contains(&to)
            {
                self.links.push(to);
            }
        }
    }

    /// Queues the folders of the project that links lead to and that were not looked at. What is outside of the project is
    /// somebody else's affair. Gives whether there were any.
    pub(super) fn queue_links(&mut self) -> bool {
        let mut queued = false;
        for link in std::mem::take(&mut self.links) {
            let forest = &self.forest;
            let Some(target) = forest.node(link).link.filter(|_| forest.node(link).root == forest.root) else {
                continue;
            };
            let is_placed = forest.resolve_parent(target).is_some() && forest.is_inside(target);
            if is_placed && !self.seen.contains(&target) {
                self.forest.follow_link(link);
                self.queue.push(&self.forest, target);
                queued = true;
            }
        }
        queued
    }
}
