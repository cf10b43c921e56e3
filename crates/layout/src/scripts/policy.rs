//! npm's `allowScripts`: which packages the user lets run scripts, by what they are known to be (npm 12,
//! `arborist/lib/script-allowed.js` and `npm/lib/utils/resolve-allow-scripts.js`).

use super::overrides::Overrides;
use super::sources::{Entries, Identity};
use crate::is_git;
use gantry_manifest::{LockEntry, Lockfile};
use gantry_spec::{GitSpec, Spec, SpecKind, Version};
use serde_json::Value;
use std::cmp::Ordering;

/// What the user says of packages.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ScriptPolicy {
    rules: Vec<(Rule, bool)>,
    overrides: Overrides,
}

/// What comes of it for one package.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScriptVerdict {
    /// It may run scripts.
    Allowed,
    /// It must not, and nobody needs to be told.
    Denied,
    /// Nothing is said of it: it must not, either.
    Unreviewed,
}

/// Which packages an entry is about.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Rule {
    /// Of a registry, by name; of any version where there are none.
    Registry { name: String, versions: Vec<Version> },
    /// A repository, perhaps at a commit.
    Git(GitSpec),
    /// A tarball at an address, or a folder or tarball of the user: what the lock calls it.
    Place(String),
}

impl ScriptPolicy {
    /// Reads entries: what a package is specified by, as on a command line, and whether it may run scripts; `None` where what is
    /// said is neither. Those that mean nothing are left out; the second list tells of each why.
    pub fn read(entries: Vec<(String, Option<bool>)>) -> (Self, Vec<String>) {
        let mut policy = Self::default();
        let mut problems = Vec::new();
        for (key, is_allowed) in entries {
            match (rule(&key), is_allowed) {
                (Ok(rule), Some(is_allowed)) => policy.rules.push((rule, is_allowed)),
                (Ok(_), None) => problems.push(format!("{key}: say true or false of it")),
                (Err(problem), _) => problems.push(format!("{key}: {problem}")),
            }
        }
        (policy, problems)
    }

    /// The same for a project of this manifest, whose `overrides` have a say in what is asked for.
    #[must_use]
    pub fn for_project(mut self, package_json: &Value) -> Self {
        self.overrides = Overrides::of(package_json);
        self
    }

    /// Whether nothing is said.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// What is said of a package or a link. What tarballs of other packages carry is never allowed to: it is whatever they say.
    pub(super) fn verdict(&self, entry: &LockEntry, lock: &Lockfile, entries: &Entries<'_>) -> ScriptVerdict {
        if self.is_empty() || entry.in_bundle {
            return ScriptVerdict::Unreviewed;
        }
        let identity = Identity::of(entry, lock, entries, &self.overrides);
        self.verdict_where(|rule, is_allowed| rule.covers(entry, identity.as_ref(), is_allowed))
    }

    /// What is said of a repository, by what a lock calls its commit.
    pub(super) fn verdict_of_commit(&self, resolved: &str) -> ScriptVerdict {
        self.verdict_where(|rule, _| rule.covers_commit(resolved))
    }

    /// What is said of a folder or a tarball of the user, by what a lock calls it.
    pub(super) fn verdict_of_place(&self, resolved: &str) -> ScriptVerdict {
        self.verdict_where(|rule, _| rule.covers_place(resolved))
    }

    /// What the rules that cover something come to: a single one that refuses does.
    fn verdict_where(&self, covers: impl Fn(&Rule, bool) -> bool) -> ScriptVerdict {
        let mut verdict = ScriptVerdict::Unreviewed;
        for (rule, is_allowed) in &self.rules {
            match (covers(rule, *is_allowed), is_allowed) {
                (false, _) => {}
                (true, false) => return ScriptVerdict::Denied,
                (true, true) => verdict = ScriptVerdict::Allowed,
            }
        }
        verdict
    }
}

impl Rule {
    fn covers(&self, entry: &LockEntry, identity: Option<&Identity>, is_allowed: bool) -> bool {
        let resolved = entry.resolved.as_deref();
        match (self, identity) {
            (Self::Registry { name, versions }, Some(identity)) if identity.name == *name => match &identity.version {
                _ if versions.is_empty() => true,
                Some(version) => versions.iter().any(|other| other.precedence(version) == Ordering::Equal),
                // A version that nobody vouches for may be one that is refused, and not be taken for one that is allowed.
                None => !is_allowed,
            },
            (Self::Registry { .. }, _) => false,
            (Self::Git(_), _) => resolved.is_some_and(|resolved| self.covers_commit(resolved)),
            (Self::Place(_), _) => resolved.is_some_and(|resolved| self.covers_place(resolved)),
        }
    }

    fn covers_place(&self, resolved: &str) -> bool {
        matches!(self, Self::Place(place) if resolved.strip_prefix("file:").unwrap_or(resolved) == place)
    }

    fn covers_commit(&self, resolved: &str) -> bool {
        let Self::Git(wanted) = self else { return false };
        let commit = Spec::parse("", resolved).ok().filter(|_| is_git(resolved));
        matches!(commit, Some(Spec { kind: SpecKind::Git(git), .. }) if is_same(wanted, &git))
    }
}

/// Whether a repository of a lock is the one that is meant, at the commit whose beginning is named and in the folder, if one is.
fn is_same(wanted: &GitSpec, git: &GitSpec) -> bool {
    let is_repository = match (&wanted.hosted, &git.hosted) {
        (Some(wanted), Some(hosted)) => wanted.ssh_url(None) == hosted.ssh_url(None),
        _ => wanted.url == git.url,
    };
    let commit = git.committish.as_deref().unwrap_or_default();
    let is_folder = wanted.path.is_none() || wanted.path == git.path;
    is_repository && is_folder && wanted.committish.as_deref().is_none_or(|beginning| commit.starts_with(beginning))
}

fn rule(key: &str) -> Result<Rule, String> {
    let (name, spec) = Spec::parse_argument(key).map_err(|error| error.to_string())?;
    Ok(match spec.kind {
        SpecKind::Version(version) => Rule::Registry { name, versions: vec![version] },
        SpecKind::Range(_) if matches!(spec.raw.trim(), "" | "*") => Rule::Registry { name, versions: Vec::new() },
        SpecKind::Range(_) => {
            let versions = spec.raw.split("||").map(|part| Version::parse_strict(part.trim()));
            let versions = versions.collect::<Option<_>>().ok_or(
                "ranges would allow what nobody has seen yet; list exact versions, separated by ||, or the name alone",
            )?;
            Rule::Registry { name, versions }
        }
        SpecKind::Tag(_) => return Err("what a tag means changes; list exact versions, or the name alone".to_owned()),
        SpecKind::Alias { .. } => return Err("an alias is no package; list what it stands for".to_owned()),
        SpecKind::Git(git) if git.range.is_some() => {
            return Err(
                "ranges would allow what nobody has seen yet; name a commit, or the repository alone".to_owned()
            );
        }
        SpecKind::Git(git) => Rule::Git(git),
        SpecKind::Remote { url } => Rule::Place(url),
        SpecKind::File { path } | SpecKind::Directory { path } => Rule::Place(path),
    })
}
