//! The tree of `dependencies` that lock files of versions 1 and 2 hold for npm 6 and before.
//!
//! It follows from the packages and the project's manifest alone, so it is made of a finished lock: each package below the
//! one whose `node_modules` it is in, with what it needs under `requires`. Its `version` is npm 6's: what has to be asked
//! for to get the package again, which for most is a version, and for others an alias, an address or a folder. The rules
//! are those of arborist's `#buildLegacyLockfile`.

use crate::error::ResolveError;
use crate::forest::{Forest, Node};
use crate::from_lock::take_flags;
use crate::ids::NodeId;
use crate::options::ResolveOptions;
use crate::package::Package;
use crate::project::Project;
use crate::start::builder;
use gantry_manifest::Lockfile;
use gantry_spec::{Spec, SpecKind, compare_locale};
use serde_json::{Map, Value};

/// A tree nested deeper than this is refused: a lock can name such folders, no file system can hold them.
const NESTING_LIMIT: usize = 400;

/// The `dependencies` of a lock, for [`Lockfile::dependencies`]; `None` where there are no packages. `project` is
/// what the lock was made for.
///
/// # Errors
/// A lock that is no tree, see [`Resolver::new`](crate::Resolver::new), or one that is nested without end.
pub fn legacy_dependencies(
    project: &Project,
    lock: &Lockfile,
    options: &ResolveOptions,
) -> Result<Option<Value>, ResolveError> {
    let mut forest = builder(project.clone(), Some(lock), options.clone())?.forest;
    take_flags(&mut forest, lock);
    children_of(&forest, forest.root, &mut Vec::new())
}

/// The packages below a node. `above` are the nodes on the way to it: a link to one of them is not followed again.
fn children_of(forest: &Forest, node: NodeId, above: &mut Vec<NodeId>) -> Result<Option<Value>, ResolveError> {
    if above.len() > NESTING_LIMIT {
        let what = format!("{} is nested too deep for a lock of version 1 or 2", forest.location(node));
        return Err(ResolveError::TooComplex { what });
    }
    let real = |node: NodeId| forest.node(node).link.unwrap_or(node);
    let mut members = Map::new();
    for child in forest.node(node).children.iter() {
        if above.contains(&real(child)) {
            continue;
        }
        let mut entry = entry_of(forest, child);
        above.push(node);
        let nested = children_of(forest, real(child), above);
        above.pop();
        if let Some(nested) = nested? {
            entry.insert("dependencies".to_owned(), nested);
        }
        members.insert(forest.names.text(forest.node(child).name).to_string(), Value::Object(entry));
    }
    Ok((!members.is_empty()).then_some(Value::Object(members)))
}

/// One package, without what is below it.
fn entry_of(forest: &Forest, id: NodeId) -> Map<String, Value> {
    let Node { link, flags, .. } = *forest.node(id);
    let package = forest.package_of(id);
    let mut entry = Map::new();
    let mut set = |member: &str, value: Value| {
        entry.insert(member.to_owned(), value);
    };
    if let Some(target) = link {
        set("version", format!("file:{}", forest.location(target)).into());
    } else {
        let asked = Asked::of(forest, id, package);
        if let Some(version) = asked.version(forest, id, package) {
            set("version", version.into());
        }
        if let Some(from) = asked.from() {
            set("from", from.into());
        }
        if let Some(resolved) = package.resolved.as_deref().filter(|_| asked.says_where_from()) {
            set("resolved", resolved.into());
        }
        // What a tarball brings along has none of its own: where a lock was brought up to date it is that of the registry.
        if let Some(integrity) = package.integrity.as_deref().filter(|_| !forest.in_dependency_bundle(id)) {
            set("integrity", integrity.into());
        }
    }
    if forest.in_dependency_bundle(id) {
        set("bundled", true.into());
    }
    let named = [
        ("extraneous", flags.extraneous),
        ("peer", flags.peer),
        ("dev", flags.dev),
        ("optional", flags.optional),
        ("devOptional", flags.dev_optional && !flags.dev && !flags.optional),
    ];
    for (name, is_set) in named {
        let counts = name == "extraneous" || !flags.extraneous && link.is_none();
        if is_set && counts {
            set(name, true.into());
        }
    }
    if let Some(requires) = requires_of(forest, link.unwrap_or(id)) {
        set("requires", Value::Object(requires));
    }
    entry
}

/// What a package needs, without peers, which npm 6 could not deal with; `None` if it declares nothing at all.
fn requires_of(forest: &Forest, id: NodeId) -> Option<Map<String, Value>> {
    let edges = &forest.node(id).edges_out;
    if edges.is_empty() {
        return None;
    }
    let mut requires = Map::new();
    for &(_, edge) in edges {
        if forest.edge(edge).kind.is_peer() {
            continue;
        }
        let spec = forest.specs.get(forest.effective_spec(edge));
        let text = match spec.parsed.as_ref().map(|spec| &spec.kind) {
            Ok(SpecKind::File { path } | SpecKind::Directory { path })
                if spec.text.starts_with("file:") && !path.starts_with(['/', '~']) =>
            {
                let path = if path == "." { "" } else { path };
                format!("file:{path}")
            }
            _ => spec.text.to_string(),
        };
        requires.insert(forest.names.text(forest.edge(edge).name).to_string(), text.into());
    }
    Some(requires)
}

/// What a package was asked for with, as far as it can be told from the tree, and what its address says.
struct Asked {
    /// As npm names the request: `name@spec`, or the address.
    raw: Option<String>,
    request: Option<SpecKind>,
    source: Option<SpecKind>,
}

impl Asked {
    fn of(forest: &Forest, id: NodeId, package: &Package) -> Self {
        let source = package.resolved.as_deref();
        let parsed = source.and_then(|source| Spec::parse("", source).ok()).map(|spec| spec.kind);
        // Of all requests the one that comes from highest up: npm 6 keeps one, and any that is right will do.
        let requests = forest.node(id).edges_in.iter().copied().filter(|&edge| forest.is_valid(edge));
        let place = |edge| {
            let location = forest.location(forest.edge(edge).from);
            let depth = location.matches("node_modules").count();
            let last = location.rsplit("node_modules").next().unwrap_or_default().to_owned();
            (depth, last)
        };
        let mut requests: Vec<_> = requests.map(|edge| (place(edge), edge)).collect();
        requests.sort_by(|((depth, last), _), ((other_depth, other_last), _)| {
            depth.cmp(other_depth).then_with(|| compare_locale(last, other_last))
        });
        match requests.first() {
            Some(&(_, edge)) => {
                let spec = forest.specs.get(forest.effective_spec(edge));
                Self {
                    raw: Some(format!("{}@{}", forest.names.text(forest.node(id).name), spec.text)),
                    request: spec.parsed.as_ref().ok().map(|spec| spec.kind.clone()),
                    source: parsed,
                }
            }
            None => Self { raw: source.map(str::to_owned), request: parsed.clone(), source: parsed },
        }
    }

    fn is_git(&self) -> bool {
        let is_file = matches!(self.request, Some(SpecKind::File { .. } | SpecKind::Remote { .. }));
        !is_file && [&self.request, &self.source].iter().any(|kind| matches!(kind, Some(SpecKind::Git(_))))
    }

    fn version(&self, forest: &Forest, id: NodeId, package: &Package) -> Option<String> {
        match &self.request {
            Some(SpecKind::File { path }) => return Some(format!("file:{path}")),
            Some(SpecKind::Remote { url }) => return Some(url.clone()),
            _ if self.is_git() => return package.resolved.as_deref().map(str::to_owned),
            _ => {}
        }
        let version = Some(&*package.version_text).filter(|version| !version.is_empty());
        match package.name.filter(|&name| name != forest.node(id).name) {
            Some(name) => Some(format!("npm:{}@{}", forest.names.text(name), version.unwrap_or("undefined"))),
            None => version.map(str::to_owned),
        }
    }

    fn from(&self) -> Option<&str> {
        self.raw.as_deref().filter(|_| self.is_git())
    }

    /// Whether the address has to be written beside the version: not where the version is the address.
    fn says_where_from(&self) -> bool {
        use SpecKind::{Directory, File, Git, Remote};
        !matches!(self.source, Some(Git(_) | File { .. } | Directory { .. }))
            && !matches!(self.request, Some(Git(_) | File { .. } | Directory { .. } | Remote { .. }))
    }
}
