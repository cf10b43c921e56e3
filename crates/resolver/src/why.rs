//! Why packages are where they are, as `npm explain` tells it (npm's explain-dep.js).
//!
//! An explanation is a graph: who depends on a package, who depends on those, up to the project. Nodes are shared, so that
//! it is no larger than the tree; written out, the same branch may come many times, and what is written is bounded.

use crate::build::Builder;
use crate::error::ResolveError;
use crate::forest::Flags;
use crate::ids::{EdgeId, NodeId};
use crate::options::ResolveOptions;
use crate::package::Kind;
use crate::project::Project;
use crate::start::builder;
use gantry_manifest::Lockfile;
use gantry_spec::{PackageName, Spec, SpecKind};
use rustc_hash::FxHashMap;
use serde_json::{Map, Value, json};
use std::fmt::{self, Write as _};
use std::rc::Rc;

/// Lines, or members of the JSON form, after which an explanation is cut off.
const LARGEST: usize = 20_000;
/// Dependants of dependants beyond this are not followed.
const DEEPEST: usize = 300;

/// One package of a tree and why it is there.
#[derive(Debug, Clone)]
pub struct Explanation {
    why: Rc<Why>,
    flags: Flags,
    bundled: bool,
}

impl Explanation {
    /// Where the package is, relative to the project.
    pub fn location(&self) -> &str {
        &self.why.location
    }
}

#[derive(Debug)]
struct Why {
    /// `None` for the project.
    name: Option<String>,
    version: String,
    location: String,
    is_workspace: bool,
    dependents: Vec<Rc<Wish>>,
    links: Vec<Rc<Why>>,
}

#[derive(Debug)]
struct Wish {
    kind: Kind,
    name: String,
    spec: String,
    /// What was asked for before an override took its place.
    original: Option<String>,
    bundled: bool,
    error: Option<&'static str>,
    from: Rc<Why>,
}

/// Explains every package of a project's lock that `query` names: by name, by name and range (`left@^1`), or by where it is
/// (`node_modules/left`). None is no error here. Where nothing but the lock is at hand, [`Project::of_lock`] is the project.
pub fn explain(
    project: Project,
    lock: &Lockfile,
    options: &ResolveOptions,
    query: &str,
) -> Result<Vec<Explanation>, ResolveError> {
    let options = ResolveOptions { save: false, ..options.clone() };
    let builder = builder(project, Some(lock), options)?;
    let place = query.trim_end_matches('/');
    let wanted = |node: NodeId| {
        let package = builder.forest.package_of(node);
        let name = package.name.map(|name| builder.forest.names.text(name).to_string());
        if PackageName::try_from(query).is_ok() {
            return name.as_deref() == Some(query);
        }
        if builder.forest.location(node) == place {
            return true;
        }
        // A scope starts with the same character.
        let Some((at, _)) = query.char_indices().skip(1).find(|(_, character)| *character == '@') else { return false };
        let (asked, range) = (&query[..at], &query[at + 1..]);
        let Ok(Spec { kind, .. }) = Spec::parse(asked, range) else { return false };
        let version = package.version.as_ref();
        let fits = match kind {
            SpecKind::Range(range) => version.is_some_and(|version| range.satisfied_by(version)),
            SpecKind::Version(wanted) => version.is_some_and(|version| *version == wanted),
            _ => false,
        };
        fits && name.as_deref() == Some(asked)
    };
    if query.is_empty() {
        return Ok(Vec::new());
    }
    let nodes: Vec<NodeId> = builder.forest.inventory().into_iter().filter(|&node| wanted(node)).collect();
    let mut teller = Teller { builder: &builder, nodes: FxHashMap::default(), wishes: FxHashMap::default() };
    let explained = |node| {
        let flags = builder.forest.node(node).flags;
        Explanation { why: teller.why(node, &mut Vec::new()), flags, bundled: builder.forest.bundler(node).is_some() }
    };
    Ok(nodes.into_iter().map(explained).collect())
}

/// Builds explanations; what was explained once is told again in the same words.
struct Teller<'a> {
    builder: &'a Builder,
    nodes: FxHashMap<NodeId, Rc<Why>>,
    wishes: FxHashMap<EdgeId, Rc<Wish>>,
}

impl Teller<'_> {
    fn why(&mut self, id: NodeId, seen: &mut Vec<NodeId>) -> Rc<Why> {
        if let Some(known) = self.nodes.get(&id) {
            return Rc::clone(known);
        }
        let forest = &self.builder.forest;
        let (node, package) = (forest.node(id), forest.package_of(id));
        let is_root = id == forest.root;
        let own = package.name.filter(|_| node.parent.is_none()).unwrap_or(node.name);
        let mut why = Why {
            name: (!is_root).then(|| forest.names.text(own).to_string()),
            version: package.version_text.to_string(),
            location: forest.location(id),
            is_workspace: forest.is_workspace(id),
            dependents: Vec::new(),
            links: Vec::new(),
        };
        if !is_root && !seen.contains(&id) && seen.len() < DEEPEST {
            seen.push(id);
            let counts = |&edge: &EdgeId| forest.is_valid(edge) || forest.edge(edge).from == forest.root;
            let edges: Vec<EdgeId> = node.edges_in.iter().copied().filter(counts).collect();
            let links = if node.parent.is_none() { forest.links_to(id) } else { Vec::new() };
            why.dependents = edges.into_iter().map(|edge| self.wish(edge, seen)).collect();
            why.links = links.into_iter().map(|link| self.why(link, seen)).collect();
            seen.pop();
        }
        let why = Rc::new(why);
        self.nodes.insert(id, Rc::clone(&why));
        why
    }

    fn wish(&mut self, id: EdgeId, seen: &mut Vec<NodeId>) -> Rc<Wish> {
        if let Some(known) = self.wishes.get(&id) {
            return Rc::clone(known);
        }
        let forest = &self.builder.forest;
        let (edge, spec) = (forest.edge(id), forest.effective_spec(id));
        let text = |spec| forest.specs.get(spec).text.to_string();
        let wish = Rc::new(Wish {
            kind: edge.kind,
            name: forest.names.text(edge.name).to_string(),
            spec: text(spec),
            original: (spec != edge.spec).then(|| text(edge.spec)),
            bundled: forest.package_of(edge.from).bundled.contains(&edge.name),
            error: forest.edge_error(id).label(),
            from: self.why(edge.from, seen),
        });
        self.wishes.insert(id, Rc::clone(&wish));
        wish
    }
}

impl Explanation {
    /// The explanation as npm's JSON: `name`, `version`, `location`, `dependents` with `type`, `name`, `spec` and `from`,
    /// and why it counts. Where it would be larger than 20,000 parts, `"truncated": true` stands for the rest.
    pub fn to_json(&self) -> Value {
        let mut left = LARGEST;
        let mut value = json_of(&self.why, &mut Vec::new(), &mut left);
        let flags = self.flags;
        if flags.extraneous {
            value["extraneous"] = true.into();
        } else {
            for (name, on) in [
                ("dev", flags.dev),
                ("optional", flags.optional),
                ("devOptional", flags.dev_optional),
                ("peer", flags.peer),
                ("bundled", self.bundled),
            ] {
                value[name] = on.into();
            }
        }
        value
    }
}

fn json_of(why: &Rc<Why>, above: &mut Vec<*const Why>, left: &mut usize) -> Value {
    let Some(name) = &why.name else { return json!({ "location": why.location }) };
    let mut value = Map::new();
    value.insert("name".to_owned(), name.as_str().into());
    value.insert("version".to_owned(), why.version.as_str().into());
    value.insert("location".to_owned(), why.location.as_str().into());
    value.insert("isWorkspace".to_owned(), why.is_workspace.into());
    if *left == 0 {
        value.insert("truncated".to_owned(), true.into());
        return Value::Object(value);
    }
    *left -= 1;
    let mut dependents = Vec::new();
    // What is being explained already is only named.
    if !above.contains(&Rc::as_ptr(why)) {
        above.push(Rc::as_ptr(why));
        for wish in &why.dependents {
            let mut dependent = json!({ "type": wish.kind.label(), "name": wish.name, "spec": wish.spec });
            if let Some(original) = &wish.original {
                dependent["rawSpec"] = original.as_str().into();
                dependent["overridden"] = true.into();
            }
            if wish.bundled {
                dependent["bundled"] = true.into();
            }
            if let Some(error) = wish.error {
                dependent["error"] = error.into();
            }
            dependent["from"] = json_of(&wish.from, above, left);
            dependents.push(dependent);
        }
        let links: Vec<Value> = why.links.iter().map(|link| json_of(link, above, left)).collect();
        if !links.is_empty() {
            value.insert("linksIn".to_owned(), links.into());
        }
        above.pop();
    }
    value.insert("dependents".to_owned(), dependents.into());
    Value::Object(value)
}

impl fmt::Display for Explanation {
    /// npm's text, without colours.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let flags = self.flags;
        let mut words = String::new();
        for (word, on) in [
            (" extraneous", flags.extraneous),
            (" dev", flags.dev && !flags.extraneous),
            (" optional", flags.optional && !flags.extraneous),
            (" peer", flags.peer && !flags.extraneous),
            (" bundled", self.bundled && !flags.extraneous),
        ] {
            words.push_str(if on { word } else { "" });
        }
        let mut writer = Writer { text: String::new(), left: LARGEST, above: Vec::new() };
        writer.node(&self.why, 0, &words);
        writer.reasons(&self.why, 0);
        if writer.left == 0 {
            writer.text.push_str("\n…");
        }
        formatter.write_str(&writer.text)
    }
}

struct Writer {
    text: String,
    left: usize,
    /// What is being explained, to break circles.
    above: Vec<*const Why>,
}

impl Writer {
    fn line(&mut self, level: usize) {
        self.left = self.left.saturating_sub(1);
        let _ = write!(self.text, "\n{:1$}", "", level * 2);
    }

    fn node(&mut self, why: &Why, level: usize, words: &str) {
        let _ = write!(self.text, "{}@{}{words}", why.name.as_deref().unwrap_or_default(), why.version);
        if !why.location.is_empty() {
            self.line(level);
            self.text.push_str(&why.location);
        }
    }

    fn reasons(&mut self, why: &Why, level: usize) {
        for wish in &why.dependents {
            if self.left == 0 {
                return;
            }
            self.line(level + 1);
            self.wish(wish, level + 1);
        }
        for link in &why.links {
            if self.left == 0 {
                return;
            }
            self.line(level + 1);
            self.node(link, level + 1, "");
            self.reasons(link, level + 1);
        }
    }

    fn wish(&mut self, wish: &Wish, level: usize) {
        if wish.kind != Kind::Prod {
            let _ = write!(self.text, "{} ", wish.kind.label());
        }
        if wish.bundled {
            self.text.push_str("bundled ");
        }
        let _ = match (wish.kind, &wish.original) {
            (Kind::Workspace, _) => write!(self.text, "{}", wish.spec.trim_start_matches("file:")),
            (_, Some(original)) => {
                write!(self.text, "overridden {}@\"{}\" (was \"{original}\")", wish.name, wish.spec)
            }
            (_, None) => write!(self.text, "{}@\"{}\"", wish.name, wish.spec),
        };
        self.text.push_str(" from ");
        let from = &wish.from;
        if from.name.is_none() {
            self.text.push_str("the root project");
            return;
        }
        self.node(from, level, "");
        let this = Rc::as_ptr(from);
        if !self.above.contains(&this) {
            self.above.push(this);
            self.reasons(from, level);
            self.above.pop();
        }
    }
}
