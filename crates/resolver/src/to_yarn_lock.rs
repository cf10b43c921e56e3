//! The `yarn.lock` of a tree, as npm writes it anew with every lock (`YarnLock.fromTree` of arborist).

use crate::build::Builder;
use crate::error::ResolveError;
use crate::forest::Forest;
use crate::ids::{EdgeId, NodeId};
use crate::options::ResolveOptions;
use crate::package::Kind;
use crate::project::Project;
use crate::start::builder;
use gantry_manifest::{Lockfile, Text, YarnEntry, YarnWriter};
use gantry_spec::compare_locale;
use std::collections::VecDeque;

/// The `yarn.lock` of a finished lock; `None` where npm would write none. `project` is what the lock was made for.
///
/// # Errors
/// A lock that is no tree, see [`Resolver::new`](crate::Resolver::new).
pub fn yarn_text(project: &Project, lock: &Lockfile, options: &ResolveOptions) -> Result<Option<String>, ResolveError> {
    Ok(text_of(&builder(project.clone(), Some(lock), options.clone())?))
}

/// The `yarn.lock` of the tree as it stands.
pub(crate) fn text_of(builder: &Builder) -> Option<String> {
    let forest = &builder.forest;
    let mut writer = YarnWriter::default();
    let mut queue = VecDeque::from([forest.root]);
    while let Some(node) = queue.pop_front() {
        writer.add(requests_for(forest, node), entry_of(forest, node));
        let mut below: Vec<NodeId> = forest.node(node).children.iter().chain(forest.tops_in(node)).collect();
        let name = |id: NodeId| forest.names.text(forest.node(id).name);
        below.sort_by(|&a, &b| forest.depth(a).cmp(&forest.depth(b)).then_with(|| compare_locale(name(a), name(b))));
        queue.extend(below);
    }
    writer.to_text()
}

/// What asks for a node, as npm names it: workspaces by their absolute folders.
fn requests_for(forest: &Forest, node: NodeId) -> Vec<String> {
    let name = forest.names.text(forest.node(node).name);
    let spec = |&edge: &EdgeId| {
        let text = forest.specs.get(forest.effective_spec(edge)).text.clone();
        match text.strip_prefix("file:") {
            Some(place) if forest.edge(edge).kind == Kind::Workspace => {
                format!("{name}@file:{}/{place}", forest.anchors.project)
            }
            _ => format!("{name}@{text}"),
        }
    };
    forest.node(node).edges_in.iter().map(spec).collect()
}

fn entry_of(forest: &Forest, node: NodeId) -> YarnEntry {
    let package = forest.package_of(node);
    let some = |text: &Text| Some(text.clone()).filter(|text| !text.is_empty());
    let link = forest.node(node).link.map(|target| Text::from(format!("file:{}", forest.location(target))));
    YarnEntry {
        version: some(&package.version_text),
        resolved: link.or_else(|| package.resolved.clone()),
        integrity: package.integrity.clone(),
        dependencies: package.manifest.dependencies.clone(),
        optional_dependencies: package.manifest.optional_dependencies.clone(),
    }
}
