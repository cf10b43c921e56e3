//! What is in a tree, as `npm ls` goes through it (npm's ls.js): from the project down, each package under who asks for it first.

use crate::build::Builder;
use crate::error::ResolveError;
use crate::forest::{EdgeError, path_between};
use crate::ids::{EdgeId, NodeId};
use crate::options::ResolveOptions;
use crate::package::Kind;
use crate::project::Project;
use crate::start::builder;
use gantry_manifest::Lockfile;
use gantry_spec::{Spec, SpecKind, compare_locale};
use rustc_hash::FxHashMap;
use std::collections::{BTreeSet, VecDeque};

/// What is listed.
#[derive(Debug, Clone, Copy, Default)]
pub struct ListingQuery<'q> {
    /// Packages by name and what is asked of them; only these and what leads to them are listed. Empty: everything.
    pub packages: &'q [(String, Spec)],
    /// How many levels below the project or a workspace are listed, the first being 0; `None` for all.
    pub depth: Option<usize>,
    /// Whether what the project and its workspaces ask for in development is passed over.
    pub without_dev: bool,
    /// The same of what is optional.
    pub without_optional: bool,
    /// The same of peers.
    pub without_peers: bool,
    /// Of what the project and its workspaces ask for only links.
    pub links: bool,
    /// Folders of the workspaces that are listed; `None` for all of them and the project.
    pub workspaces: Option<&'q BTreeSet<String>>,
    /// Whether with these also what the project asks for is.
    pub with_project: bool,
    /// Whether workspaces are passed over.
    pub without_workspaces: bool,
}

/// A line of a list: a package where it is asked for, or what is not there.
#[derive(Debug, Clone, Default)]
pub struct Listed {
    /// Which line it is below; `None` for the project.
    pub parent: Option<usize>,
    /// What it is called where it is.
    pub name: String,
    /// The name with the version, or with what is asked for where nothing is there; of an alias with both names.
    pub label: String,
    /// Its version; empty if it has none.
    pub version: String,
    /// Where it is; `None` where nothing is there.
    pub location: Option<String>,
    /// Where it came from, if that is known; not told where it was listed before.
    pub resolved: Option<String>,
    /// The folder that a link leads to.
    pub target: Option<String>,
    /// Where nothing is there: what is asked for, and whether it need not be.
    pub required: (String, bool),
    /// Who asks for what is not there.
    pub missing_for: Option<String>,
    /// What asks for something else than is there: `"^1" from the root project`.
    pub invalid: String,
    /// Whether nobody asks for it.
    pub is_extraneous: bool,
    /// Whether an override decided on it; `None` where it was listed before.
    pub is_overridden: Option<bool>,
    /// Whether it was listed before, with what it asks for; of what is not there whether anything was not before.
    pub is_repeated: bool,
    /// Whether it is asked for by the query.
    pub is_chosen: bool,
    /// Whether it, or anything below it, is.
    pub is_listed: bool,
}

impl Listed {
    /// What is wrong with it, in npm's words; `absolute` gives the path of a location.
    pub fn problems(&self, absolute: impl Fn(&str) -> String) -> Vec<String> {
        let place = self.location.as_deref().map(absolute).unwrap_or_default();
        let mut problems = Vec::new();
        if let Some(who) = self.missing_for.as_ref().filter(|_| !self.required.1) {
            problems.push(format!("missing: {}, required by {who}", self.label));
        }
        if !self.invalid.is_empty() {
            problems.push(format!("invalid: {} {place}", self.label));
        }
        if self.is_extraneous {
            problems.push(format!("extraneous: {} {place}", self.label));
        }
        problems
    }
}

/// Lists a tree: the project first, and each line after the one that it is below.
pub fn listing(
    project: Project,
    lock: &Lockfile,
    options: &ResolveOptions,
    query: ListingQuery<'_>,
) -> Result<Vec<Listed>, ResolveError> {
    let options = ResolveOptions { save: false, legacy_peer_deps: false, ..options.clone() };
    let builder = builder(project, Some(lock), options)?;
    let mut walk = Walk { builder: &builder, query, invalid: FxHashMap::default(), lines: Vec::new() };
    walk.walk();
    let lines = walk.lines;
    builder.check_fatal()?;
    Ok(lines)
}

/// What is still to be looked at.
struct Open {
    line: Listed,
    /// What it asks for is still to be listed.
    node: Option<NodeId>,
    depth: usize,
}

struct Walk<'a> {
    builder: &'a Builder,
    query: ListingQuery<'a>,
    /// Who has asked for something else so far, of packages that were met.
    invalid: FxHashMap<NodeId, String>,
    lines: Vec<Listed>,
}

impl Walk<'_> {
    fn walk(&mut self) {
        let root = self.builder.forest.root;
        let mut line = self.line_of(root);
        line.is_chosen = self.query.packages.is_empty();
        let mut met = FxHashMap::from_iter([(root, line.is_chosen)]);
        let mut is_first_missing = true;
        let mut open = VecDeque::from([Open { line, node: Some(root), depth: 0 }]);
        while let Some(Open { mut line, node, depth }) = open.pop_front() {
            if let Some(node) = node {
                // Who was listed meanwhile may have asked for it, too.
                line.invalid = self.invalid.get(&node).cloned().unwrap_or_default();
            }
            let index = self.add(line);
            let Some(node) = node else { continue };
            let depth = if self.builder.forest.is_workspace(node) { 0 } else { depth };
            if self.query.depth.is_some_and(|most| depth > most) {
                continue;
            }
            for mut child in self.below(node, depth) {
                child.line.parent = Some(index);
                child.depth = depth + 1;
                if child.node.is_none() {
                    child.line.is_repeated = !std::mem::take(&mut is_first_missing);
                }
                open.push_back(self.met(child, &mut met));
            }
        }
    }

    /// Adds a line; if it is asked for, what it is below is listed, too.
    fn add(&mut self, line: Listed) -> usize {
        let index = self.lines.len();
        let mut above = Some(index).filter(|_| line.is_chosen);
        self.lines.push(line);
        while let Some(line) = above.and_then(|above| self.lines.get_mut(above)) {
            line.is_listed = true;
            above = line.parent;
        }
        index
    }

    /// A line as it is where its package was listed before, if it was.
    fn met(&self, mut open: Open, met: &mut FxHashMap<NodeId, bool>) -> Open {
        let Some(node) = open.node else {
            open.line.is_chosen = self.query.packages.is_empty();
            return open;
        };
        let is_new = !met.contains_key(&node);
        open.line.is_chosen = *met.entry(node).or_insert_with(|| self.is_meant(node));
        if !is_new {
            let line = &mut open.line;
            (line.invalid, line.is_repeated) = (self.invalid.get(&node).cloned().unwrap_or_default(), true);
            (line.resolved, line.is_overridden, line.is_extraneous) = (None, None, false);
            open.node = None;
        }
        open
    }

    fn is_meant(&self, node: NodeId) -> bool {
        let forest = &self.builder.forest;
        let name = forest.names.text(forest.node(node).name);
        let version = forest.package_of(node).version.as_ref();
        self.query.packages.is_empty()
            || self.query.packages.iter().any(|(asked, spec)| {
                let fits = match &spec.kind {
                    SpecKind::Range(range) if range.is_any() => true,
                    SpecKind::Range(range) => version.is_some_and(|version| range.satisfied_by(version)),
                    SpecKind::Version(wanted) => version == Some(wanted),
                    _ => false,
                };
                fits && **asked == **name
            })
    }

    /// What a node asks for, and what is in it that nobody does, sorted by their labels.
    fn below(&mut self, node: NodeId, depth: usize) -> Vec<Open> {
        let builder = self.builder;
        let forest = &builder.forest;
        let asking = forest.node(node).link.unwrap_or(node);
        let mut below = Vec::new();
        let mut seen = Vec::new();
        for &(_, id) in &forest.node(asking).edges_out {
            if !self.is_listed(id, asking, depth) {
                continue;
            }
            let edge = forest.edge(id);
            let required = forest.specs.get(forest.effective_spec(id)).text.to_string();
            let required = (required, edge.kind.is_optional());
            let Some(to) = edge.to else {
                let name = forest.names.text(edge.name).to_string();
                let label = format!("{name}@{}", required.0);
                let missing_for = Some(builder.package_id(asking));
                let line = Listed { name, label, required, missing_for, ..Listed::default() };
                below.push(Open { line, node: None, depth });
                continue;
            };
            seen.push(to);
            if matches!(forest.edge_error(id), EdgeError::Invalid) {
                let spec = if required.0.is_empty() { "*" } else { &required.0 };
                let place = forest.location(asking);
                let from = if place.is_empty() { "the root project" } else { &place };
                let told = self.invalid.entry(to).or_default();
                let comma = if told.is_empty() { "" } else { ", " };
                told.push_str(&format!("{comma}{} from {from}", serde_json::Value::from(spec)));
            }
            below.push(Open { line: self.line_of(to), node: Some(to), depth });
        }
        let extraneous = forest.node(node).children.iter().filter(|child| !seen.contains(child));
        for child in extraneous.filter(|&child| forest.node(child).flags.extraneous) {
            below.push(Open { line: self.line_of(child), node: Some(child), depth });
        }
        below.sort_by(|one, other| compare_locale(&one.line.label, &other.line.label));
        below
    }

    /// Whether a dependency is of the part that is listed.
    fn is_listed(&self, id: EdgeId, from: NodeId, depth: usize) -> bool {
        let forest = &self.builder.forest;
        let query = &self.query;
        let edge = forest.edge(id);
        let workspace = edge.to.filter(|&to| forest.is_workspace(to));
        if from == forest.root {
            let is_chosen = match query.workspaces.filter(|chosen| !chosen.is_empty()) {
                None => !query.without_workspaces || workspace.is_none(),
                Some(chosen) => match workspace {
                    Some(to) => chosen.contains(&forest.location(forest.node(to).link.unwrap_or(to))),
                    None => query.with_project && edge.to.is_some(),
                },
            };
            if !is_chosen {
                return false;
            }
        }
        let is_omitted = query.without_dev && edge.kind == Kind::Dev
            || query.without_optional && edge.kind.is_optional()
            || query.without_peers && edge.kind.is_peer();
        let is_link = || edge.to.is_some_and(|to| forest.node(to).link.is_some());
        depth > 0 || !is_omitted && (!query.links || is_link())
    }

    fn line_of(&self, id: NodeId) -> Listed {
        let forest = &self.builder.forest;
        let (node, package) = (forest.node(id), forest.package_of(id));
        let location = forest.location(id);
        let target = node.link.map(|target| forest.location(target));
        let resolved = match &target {
            Some(target) => {
                let above = location.rsplit_once('/').map_or("", |(above, _)| above);
                Some(format!("file:{}", path_between(above, target)))
            }
            None => package.resolved.as_deref().filter(|_| forest.bundler(id).is_none()).map(str::to_owned),
        };
        let own = package.name.filter(|_| id == forest.root).map(|name| &**forest.names.text(name));
        Listed {
            name: own.unwrap_or_else(|| self.builder.folder_name(id)).to_owned(),
            label: self.builder.package_id(id),
            version: package.version_text.to_string(),
            resolved,
            target,
            is_extraneous: node.flags.extraneous && id != forest.root,
            is_overridden: Some(self.is_overridden(id)),
            location: Some(location),
            ..Listed::default()
        }
    }

    /// Whether a rule of its very version was applied to an edge that leads to it.
    fn is_overridden(&self, id: NodeId) -> bool {
        let forest = &self.builder.forest;
        let (node, version) = (forest.node(id), &forest.package_of(id).version_text);
        let is_of_it = |rule| {
            let rule = forest.rules.get(rule);
            rule.name == Some(node.name) && !rule.value.is_empty()
        };
        node.overrides.is_some_and(is_of_it)
            && node.edges_in.iter().map(|&edge| forest.edge(edge)).any(|edge| {
                let decided = edge.overrides.filter(|&rule| {
                    let rule = forest.rules.get(rule);
                    rule.name == Some(node.name) && *rule.value == **version
                });
                decided.is_some() && decided != forest.node(edge.from).overrides
            })
    }
}
