//! Why a package is where it is: the chains of dependants, and the report of a peer conflict built from them.

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
