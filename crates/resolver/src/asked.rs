//! What the packages of a tree ask registries for, and what is there for it: what `npm outdated` looks at (npm's outdated.js).

use crate::build::Builder;
use crate::error::ResolveError;
use crate::forest::EdgeError;
use crate::ids::{EdgeId, NodeId};
use crate::options::ResolveOptions;
use crate::package::Kind;
use crate::project::Project;
use crate::start::builder;
use gantry_manifest::Lockfile;
use gantry_spec::Spec;
use rustc_hash::FxHashSet;
use std::collections::BTreeSet;

/// Whose dependencies are looked at.
#[derive(Debug, Clone, Copy, Default)]
pub struct Asking<'q> {
    /// Only dependencies on packages of these names, whoever has them. Empty: those of the project and its workspaces.
    pub names: &'q [String],
    /// Those of every package, where there are no names.
    pub all: bool,
    /// Of these only who is at one of these paths; where there are none, everybody.
    pub within: Option<&'q BTreeSet<String>>,
}

/// A dependency that registries can answer: a version, a range, a tag, or one of these of another package.
#[derive(Debug, Clone, PartialEq)]
pub struct AskedDependency {
    /// The name that it is installed under.
    pub name: String,
    /// What is asked for, after overrides.
    pub spec: Spec,
    /// The field of `package.json` that it is in: `devDependencies`.
    pub field: &'static str,
    /// Version and path of what is there for it; the version is empty if it says none.
    pub installed: Option<(String, String)>,
    /// Whether only development needs it, as far as that is known of what is there; else whether that is how it is asked for.
    pub is_dev: bool,
    /// The same of what is optional.
    pub is_optional: bool,
    /// The same of peers.
    pub is_peer: bool,
    /// The name of who asks: the folder's, where it is a folder of the user's.
    pub dependent: String,
    /// The path of who asks; empty for the project.
    pub dependent_path: String,
    /// `name@version` of who asks, if that is a workspace.
    pub workspace: Option<String>,
}

/// The dependencies of a tree that `asking` chooses, each once. What is not there is among them only if `dependencies` asks for it.
pub fn asked_dependencies(
    project: Project,
    lock: &Lockfile,
    options: &ResolveOptions,
    asking: Asking<'_>,
) -> Result<Vec<AskedDependency>, ResolveError> {
    let options = ResolveOptions { save: false, ..options.clone() };
    let builder = builder(project, Some(lock), options)?;
    let edges = chosen(&builder, asking).into_iter();
    let asked = edges.filter_map(|edge| asked_by(&builder, edge)).collect();
    builder.check_fatal()?;
    Ok(asked)
}

/// The edges that are meant, each once, in the order of the tree.
fn chosen(builder: &Builder, asking: Asking<'_>) -> Vec<EdgeId> {
    let forest = &builder.forest;
    let out_of = |node: NodeId| forest.node(node).edges_out.iter().map(|&(_, edge)| edge);
    let mut edges: Vec<EdgeId> = Vec::new();
    if asking.names.is_empty() {
        if asking.all {
            edges.extend(forest.inventory().into_iter().flat_map(out_of));
        }
        edges.extend(out_of(forest.root));
        let tops = out_of(forest.root).filter(|&edge| forest.edge(edge).kind == Kind::Workspace);
        let workspaces = tops.filter_map(|edge| forest.edge(edge).to).map(|to| forest.node(to).link.unwrap_or(to));
        edges.extend(workspaces.flat_map(out_of));
    } else {
        let is_named = |&node: &NodeId| asking.names.iter().any(|name| name == builder.folder_name(node));
        let nodes = forest.inventory().into_iter().filter(is_named);
        edges.extend(nodes.flat_map(|node| forest.node(node).edges_in.iter().copied()));
    }
    let mut seen = FxHashSet::default();
    let is_within =
        |edge: EdgeId| asking.within.is_none_or(|within| within.contains(&forest.location(forest.edge(edge).from)));
    edges.retain(|&edge| seen.insert(edge) && is_within(edge));
    edges
}

/// `None` where no registry is asked, or where it is not there and need not be.
fn asked_by(builder: &Builder, id: EdgeId) -> Option<AskedDependency> {
    let forest = &builder.forest;
    let edge = forest.edge(id);
    let field = match edge.kind {
        Kind::Optional | Kind::PeerOptional => "optionalDependencies",
        Kind::Peer => "peerDependencies",
        Kind::Dev => "devDependencies",
        Kind::Prod | Kind::Workspace => "dependencies",
    };
    if matches!(forest.edge_error(id), EdgeError::Missing) && field != "dependencies" {
        return None;
    }
    let name = forest.names.text(edge.name).to_string();
    let spec = Spec::parse(&name, &forest.specs.get(forest.effective_spec(id)).text).ok()?;
    if !spec.is_registry() {
        return None;
    }
    let flags = edge.to.map(|to| forest.node(to).flags);
    let from = edge.from;
    let is_workspace = from != forest.root && forest.is_workspace(from);
    Some(AskedDependency {
        spec,
        field,
        installed: edge.to.map(|to| (forest.package_of(to).version_text.to_string(), forest.location(to))),
        is_dev: flags.map_or(edge.kind == Kind::Dev, |flags| flags.dev),
        is_optional: flags.map_or(field == "optionalDependencies", |flags| flags.optional),
        is_peer: flags.map_or(matches!(edge.kind, Kind::Peer | Kind::PeerOptional), |flags| flags.peer),
        dependent: builder.folder_name(from).to_owned(),
        dependent_path: forest.location(from),
        workspace: is_workspace.then(|| builder.package_id(from)),
        name,
    })
}
