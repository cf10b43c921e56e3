//! What approving and refusing change in `allowScripts`: npm's table of what becomes of the entries that are there already.

use super::{ScriptReview, ScriptSubject};
use gantry_spec::{Spec, SpecKind};
use serde_json::{Map, Value};
use std::fmt;

/// What became of the entries for one package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Approval {
    /// The key that means it in all versions.
    pub name: String,
    /// The keys that came or went, with npm's word for it.
    pub changes: Vec<(String, ApprovalChange)>,
    /// What is to be said of it.
    pub problem: Option<ApprovalProblem>,
}

/// What happened to a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApprovalChange {
    /// It was written.
    Added,
    /// It allowed a version that is not installed any more.
    Stale,
    /// It said less exactly what others now say.
    Replaced,
    /// It is contained in what is said now.
    Contained,
}

/// What kept a package from being approved as asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ApprovalProblem {
    /// An entry refuses it, which outweighs all that allow.
    Denied {
        /// The entry.
        key: String,
        /// The key that means the package in all versions.
        name: String,
    },
    /// It was approved in all versions, as nothing tells which one is installed.
    Unpinned {
        /// The key that was written.
        name: String,
    },
}

impl ApprovalChange {
    /// npm's word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Stale => "removed-stale",
            Self::Replaced => "replaced-by-pin",
            Self::Contained => "removed-pinned-allow",
        }
    }
}

impl ApprovalProblem {
    /// The stable code of the warning.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Denied { .. } => "SCRIPTS_DENIED",
            Self::Unpinned { .. } => "SCRIPTS_UNPINNED",
        }
    }
}

impl fmt::Display for ApprovalProblem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Denied { key, name } if key == name => {
                write!(formatter, "{name} is not approved: allowScripts refuses it. Remove that entry to approve it")
            }
            Self::Denied { key, name } => write!(
                formatter,
                "{name} is not approved: allowScripts refuses {key}. Remove that entry to approve what is installed, or have \
                 `gantry deny-scripts` refuse all versions"
            ),
            Self::Unpinned { name } => write!(
                formatter,
                "{name} is approved in all versions, as nothing but the package itself tells which one is installed: the lock has \
                 no address of it that says so"
            ),
        }
    }
}

impl<'t> ScriptReview<'t> {
    /// Puts together what is about one package, in the order in which they come.
    pub fn grouped(subjects: Vec<ScriptSubject<'t>>) -> Vec<Vec<ScriptSubject<'t>>> {
        let mut groups: Vec<Vec<ScriptSubject<'t>>> = Vec::new();
        for subject in subjects {
            match groups.iter_mut().find(|group| group.iter().any(|other| other.every == subject.every)) {
                Some(group) if group.contains(&subject) => {}
                Some(group) => group.push(subject),
                None => groups.push(vec![subject]),
            }
        }
        groups
    }

    /// Approves what is installed of one package: each version of it, or with `pins` off all that there are and will be.
    pub fn approve(&self, entries: &mut Map<String, Value>, group: &[ScriptSubject<'t>], pins: bool) -> Approval {
        let Some(first) = group.first() else { return Approval::of("") };
        let name = &first.every;
        let mut approval = Approval::of(name);
        let refusal = entries.iter().find(|(key, value)| {
            **value == Value::Bool(false) && group.iter().any(|subject| self.is_about(key, subject))
        });
        if let Some((key, _)) = refusal {
            approval.problem = Some(ApprovalProblem::Denied { key: key.clone(), name: name.clone() });
            return approval;
        }
        let pinned = keys(entries, |key, value| {
            key != name && *value == Value::Bool(true) && is_one_version(key) && self.is_about(key, first)
        });
        let exact: Option<Vec<&String>> = group.iter().map(|subject| subject.exact.as_ref()).collect();
        match exact.filter(|_| pins) {
            Some(exact) => {
                for key in pinned.into_iter().filter(|key| !exact.contains(&key)) {
                    approval.remove(entries, key, ApprovalChange::Stale);
                }
                for key in &exact {
                    approval.say(entries, key, true);
                }
                if !exact.contains(&name) && entries.get(name) == Some(&Value::Bool(true)) {
                    approval.remove(entries, name.clone(), ApprovalChange::Replaced);
                }
            }
            None => {
                for key in pinned {
                    approval.remove(entries, key, ApprovalChange::Contained);
                }
                approval.say(entries, name, true);
                if pins && !approval.changes.is_empty() {
                    approval.problem = Some(ApprovalProblem::Unpinned { name: name.clone() });
                }
            }
        }
        approval
    }

    /// Refuses one package in all versions.
    pub fn deny(&self, entries: &mut Map<String, Value>, group: &[ScriptSubject<'t>]) -> Approval {
        let Some(first) = group.first() else { return Approval::of("") };
        let name = &first.every;
        let mut approval = Approval::of(name);
        for key in keys(entries, |key, _| key != name && self.is_about(key, first)) {
            approval.remove(entries, key, ApprovalChange::Contained);
        }
        approval.say(entries, name, false);
        approval
    }
}

impl Approval {
    fn of(name: &str) -> Self {
        Self { name: name.to_owned(), changes: Vec::new(), problem: None }
    }

    fn say(&mut self, entries: &mut Map<String, Value>, key: &str, is_allowed: bool) {
        if entries.insert(key.to_owned(), is_allowed.into()) != Some(is_allowed.into()) {
            self.changes.push((key.to_owned(), ApprovalChange::Added));
        }
    }

    fn remove(&mut self, entries: &mut Map<String, Value>, key: String, change: ApprovalChange) {
        entries.shift_remove(&key);
        self.changes.push((key, change));
    }
}

fn keys(entries: &Map<String, Value>, is_wanted: impl Fn(&String, &Value) -> bool) -> Vec<String> {
    entries.iter().filter(|(key, value)| is_wanted(key, value)).map(|(key, _)| key.clone()).collect()
}

fn is_one_version(key: &str) -> bool {
    matches!(Spec::parse_argument(key), Ok((_, Spec { kind: SpecKind::Version(_), .. })))
}
