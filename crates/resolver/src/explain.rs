//! Why a package is where it is: the chains of dependants, and the report of a peer conflict built from them.

use serde_json::{Map, Value, json};
use std::fmt;

/// A package in the tree and who wants it there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeExplanation {
    /// `name@version`, or `the root project`.
    pub package: String,
    /// Where it is; empty for the root and for what is only being tried out.
    pub location: String,
    /// Who wants it; left out where the chain would repeat itself.
    pub dependents: Vec<EdgeExplanation>,
}

/// A dependency and whose it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EdgeExplanation {
    /// `prod`, `dev`, `optional`, `peer` or `peerOptional`.
    pub kind: &'static str,
    /// The dependency's name.
    pub name: String,
    /// What is asked for.
    pub spec: String,
    /// What was asked for before an override took its place.
    pub overridden: Option<String>,
    /// `MISSING`, `INVALID` or `PEER LOCAL`.
    pub error: Option<&'static str>,
    /// Who asks.
    pub from: Box<NodeExplanation>,
}

/// Two wishes for one place that no version fulfils.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PeerConflict {
    /// The wish that could not be fulfilled.
    pub wanted: EdgeExplanation,
    /// What would have fulfilled it.
    pub candidate: Option<NodeExplanation>,
    /// What is there instead, or what the conflict comes down to.
    pub found: Option<NodeExplanation>,
    /// The peer dependency at the bottom of it.
    pub conflicting: Option<NodeExplanation>,
    /// Whether it concerns the project's own dependencies.
    pub is_mine: bool,
    /// Changes that would each end it, as one would tell somebody to do them. Only of conflicts that stop a resolution.
    pub remedies: Vec<String>,
}

impl PeerConflict {
    /// Members `message` (the text that [`Display`](fmt::Display) gives), `wanted`, `candidate`, `found`, `conflicting`,
    /// `concernsProject` and `remedies`. A dependency has the members that npm's explanations have, a package `package`,
    /// `location` and `dependents`; what is not there is left out.
    pub fn to_json(&self) -> Value {
        let mut object = Map::new();
        object.insert("message".to_owned(), self.to_string().into());
        object.insert("wanted".to_owned(), edge_to_json(&self.wanted));
        let nodes = [("candidate", &self.candidate), ("found", &self.found), ("conflicting", &self.conflicting)];
        for (key, node) in nodes {
            if let Some(node) = node {
                object.insert(key.to_owned(), node_to_json(node));
            }
        }
        object.insert("concernsProject".to_owned(), self.is_mine.into());
        object.insert("remedies".to_owned(), self.remedies.clone().into());
        object.into()
    }
}

fn node_to_json(node: &NodeExplanation) -> Value {
    let NodeExplanation { package, location, dependents } = node;
    let dependents: Vec<Value> = dependents.iter().map(edge_to_json).collect();
    json!({ "package": package, "location": location, "dependents": dependents })
}

fn edge_to_json(edge: &EdgeExplanation) -> Value {
    let EdgeExplanation { kind, name, spec, overridden, error, from } = edge;
    let mut object = json!({ "type": kind, "name": name, "spec": spec, "from": node_to_json(from) });
    if let Some(original) = overridden {
        object["rawSpec"] = original.as_str().into();
        object["overridden"] = true.into();
    }
    if let Some(error) = error {
        object["error"] = (*error).into();
    }
    object
}

impl fmt::Display for PeerConflict {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("peer dependencies contradict each other")?;
        let from = &self.wanted.from;
        write!(formatter, "\nwhile resolving: {}", from.package)?;
        if let Some(found) = &self.found {
            write!(formatter, "\nfound: {}", found.package)?;
            chain(formatter, found, 1)?;
        }
        formatter.write_str("\ncould not resolve: ")?;
        edge(formatter, &self.wanted)?;
        chain(formatter, from, 1)?;
        if let Some(peer) = &self.conflicting {
            write!(formatter, "\nconflicting peer dependency: {}", peer.package)?;
            chain(formatter, peer, 1)?;
        }
        Ok(())
    }
}

fn edge(formatter: &mut fmt::Formatter<'_>, edge: &EdgeExplanation) -> fmt::Result {
    let EdgeExplanation { kind, name, spec, from, .. } = edge;
    let kind = if *kind == "prod" { String::new() } else { format!("{kind} ") };
    write!(formatter, "{kind}{name}@{spec:?} from {}", from.package)?;
    if let Some(original) = &edge.overridden {
        write!(formatter, " (overridden, was {original:?})")?;
    }
    Ok(())
}

/// How many levels, and dependants on each, are printed.
const SHOWN: usize = 4;

fn chain(formatter: &mut fmt::Formatter<'_>, node: &NodeExplanation, level: usize) -> fmt::Result {
    if level > SHOWN {
        return Ok(());
    }
    for dependent in node.dependents.iter().take(SHOWN) {
        write!(formatter, "\n{}", "  ".repeat(level))?;
        edge(formatter, dependent)?;
        chain(formatter, &dependent.from, level + 1)?;
    }
    if node.dependents.len() > SHOWN {
        write!(formatter, "\n{}and {} more", "  ".repeat(level), node.dependents.len() - SHOWN)?;
    }
    Ok(())
}
