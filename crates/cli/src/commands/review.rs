//! `gantry approve-scripts`, `deny-scripts` and `install-scripts`

mod told;

use crate::failure::{exit_status, print_failure};
use crate::options::{Review, ReviewArguments, Which};
use crate::prefix::{InWorkspace, Place};
use crate::report::Reporter;
use crate::scripts::{MEMBER, value_of};
use crate::settings::{LoadedReview, load_review};
use gantry_engine::{EngineError, Event, Fault};
use gantry_layout::{ScriptOwner, ScriptReview, ScriptSubject, Unused};
use gantry_manifest::with_member;
use gantry_native::{
    InstalledTree, ProjectDirectory, ProjectLock, scripts_of_folder, scripts_of_package, scripts_of_repository,
};
use gantry_spec::without_secrets;
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::path::PathBuf;
use told::Pending;

/// Says or tells which packages may run scripts; returns the exit status.
pub fn run(arguments: &ReviewArguments, task: Review<'_>) -> u8 {
    match perform(arguments, task) {
        Ok(()) => 0,
        Err(fault) => {
            print_failure(&fault, arguments.json);
            exit_status(&fault)
        }
    }
}

fn perform(arguments: &ReviewArguments, task: Review<'_>) -> Result<(), Fault> {
    let place = Place::find(arguments.prefix.as_deref(), InWorkspace::Belongs)?;
    let _lock = ProjectLock::take(&place.project)?;
    let loaded = load_review(&place, arguments)?;
    let reporter = Reporter::new(arguments.json);
    let tell = |code: &str, message: String| reporter.event(&Event::Warning { code: code.to_owned(), message });
    for (code, message) in loaded.warnings.iter().cloned().chain(place.warning()) {
        tell(code, message);
    }
    let InstalledTree { lock, workspaces } = InstalledTree::read(&loaded.project, loaded.root.clone())?;
    let package_json = value_of(&loaded.package_json);
    let reviewer = Reviewer {
        review: ScriptReview::new(&lock, &package_json, &workspaces),
        json: arguments.json,
        loaded: &loaded,
        entries: package_json[MEMBER].as_object().cloned().unwrap_or_default(),
        tell: &tell,
    };
    match task {
        Review::List => {
            reviewer.list();
            Ok(())
        }
        Review::Prune => reviewer.prune(),
        Review::Approve { which, all_versions } => {
            reviewer.write(which, Verb::Approve { pins: loaded.pins && !all_versions })
        }
        Review::Deny(which) => reviewer.write(which, Verb::Deny),
    }
}

/// What is said of packages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verb {
    /// `pins`: only in the versions that are installed.
    Approve {
        pins: bool,
    },
    Deny,
}

/// What the scripts of packages can be run by, now that they may.
#[derive(Debug, Default)]
struct Due<'t> {
    /// Names for `gantry rebuild`.
    rebuild: BTreeSet<&'t str>,
    /// Names of packages that are built in their repositories, which `gantry ci` does.
    build: BTreeSet<&'t str>,
}

impl<'t> Due<'t> {
    fn add(&mut self, owner: ScriptOwner<'t>) {
        let list = if owner.is_repository() { &mut self.build } else { &mut self.rebuild };
        list.insert(owner.folder_name());
    }
}

impl Verb {
    fn is_deny(self) -> bool {
        self == Self::Deny
    }
}

struct Reviewer<'r> {
    review: ScriptReview<'r>,
    json: bool,
    loaded: &'r LoadedReview,
    /// What `package.json` says.
    entries: Map<String, Value>,
    tell: &'r dyn Fn(&str, String),
}

impl<'r> Reviewer<'r> {
    fn scripts(&self, owner: ScriptOwner<'_>) -> Vec<(&'static str, String)> {
        let folder: PathBuf = self.loaded.project.join(owner.folder());
        match owner {
            _ if owner.is_link() => scripts_of_folder(&folder),
            _ if owner.is_repository() => scripts_of_repository(&folder),
            _ => scripts_of_package(&folder),
        }
    }

    fn has_scripts(&self, owner: ScriptOwner<'_>) -> bool {
        !self.scripts(owner).is_empty()
    }

    /// What has scripts of which nothing is said.
    fn unreviewed(&self) -> Vec<ScriptOwner<'r>> {
        let owners: Vec<ScriptOwner<'r>> =
            self.review.owners().into_iter().filter(|owner| self.has_scripts(*owner)).collect();
        self.review.unreviewed(&owners, &self.loaded.scripts)
    }

    fn list(&self) {
        let pending = |owner: ScriptOwner<'r>| Pending {
            name: self.review.subject(owner).map_or(owner.folder_name(), |subject| subject.name),
            version: owner.version(),
            scripts: self.scripts(owner),
        };
        let packages: Vec<Pending<'r>> = self.unreviewed().into_iter().map(pending).collect();
        if packages.is_empty() {
            told::none(self.json);
        } else {
            told::pending(self.json, &packages);
        }
    }

    fn write(mut self, which: Which<'_>, verb: Verb) -> Result<(), Fault> {
        let subjects = match which {
            Which::Named(names) => self.named(names, verb)?,
            Which::Unreviewed => {
                let unreviewed = self.unreviewed();
                if unreviewed.is_empty() {
                    told::none(self.json);
                    return Ok(());
                }
                self.identified(unreviewed)
            }
        };
        let had_entries = !self.entries.is_empty();
        let mut approvals = Vec::new();
        let mut due = Due::default();
        for group in ScriptReview::grouped(subjects) {
            let approval = match verb {
                Verb::Approve { pins } => self.review.approve(&mut self.entries, &group, pins),
                Verb::Deny => self.review.deny(&mut self.entries, &group),
            };
            if let Some(problem) = &approval.problem {
                (self.tell)(problem.code(), without_secrets(&problem.to_string()).into_owned());
            }
            if !verb.is_deny() && !self.loaded.ignores_scripts && !approval.changes.is_empty() {
                let owners = group.iter().map(|subject| subject.owner).filter(|owner| self.has_scripts(*owner));
                owners.for_each(|owner| due.add(owner));
            }
            approvals.push(approval);
        }
        self.save()?;
        if self.loaded.is_listed_elsewhere && !had_entries && !self.entries.is_empty() && !self.loaded.dry_run {
            let message =
                format!("allow-scripts in .npmrc: package.json has its own {MEMBER} now, and that alone counts");
            (self.tell)("CONFIG_IGNORED", message);
        }
        let due = if self.loaded.dry_run { Due::default() } else { due };
        told::written(self.json, verb, self.loaded.dry_run, &approvals, &due);
        Ok(())
    }

    /// What these are known to be; the others are named.
    fn identified(&self, owners: Vec<ScriptOwner<'r>>) -> Vec<ScriptSubject<'r>> {
        let mut subjects = Vec::new();
        for owner in owners {
            match self.review.subject(owner) {
                Some(subject) => subjects.push(subject),
                None => (self.tell)(
                    "PACKAGE_UNIDENTIFIED",
                    format!("{}, left out: nothing but the package itself tells what it is", owner.path()),
                ),
            }
        }
        subjects
    }

    /// What is meant by names, all of which must mean something.
    fn named(&self, names: &[String], verb: Verb) -> Result<Vec<ScriptSubject<'r>>, Fault> {
        let mut subjects = Vec::new();
        let mut unknown: Vec<&str> = Vec::new();
        for name in names {
            let found = self.review.find(name);
            if found.is_empty() {
                unknown.push(name);
            }
            subjects.extend(found);
        }
        let Some(first) = unknown.first() else { return Ok(subjects) };
        let command = if verb.is_deny() { "deny-scripts" } else { "approve-scripts" };
        let message =
            format!("{command} {}: nothing of that name is installed that could run scripts", unknown.join(", "));
        let owner = self.review.owners().into_iter().find(|owner| owner.folder_name() == *first);
        let subject = owner.and_then(|owner| self.review.subject(owner)).filter(|subject| subject.name != *first);
        Err(Fault::new("PACKAGE_UNKNOWN", message).with_hint(match subject {
            Some(subject) => format!("What is installed as {first} is {}: name that.", subject.name),
            None => "Give a package's name, or name@range, as `gantry install-scripts ls` has it. Nothing is written."
                .to_owned(),
        }))
    }

    fn prune(mut self) -> Result<(), Fault> {
        let unused = self.review.unused(&self.entries, &|owner| self.has_scripts(owner));
        let removed: Vec<(String, Value, Unused)> = unused
            .into_iter()
            .filter_map(|(key, why)| Some((key.clone(), self.entries.shift_remove(&key)?, why)))
            .collect();
        self.save()?;
        told::pruned(self.json, self.loaded.dry_run, &removed);
        Ok(())
    }

    /// Writes the entries into `package.json`, which is left alone where they are what is there.
    fn save(&self) -> Result<(), Fault> {
        let LoadedReview { project, package_json, package_json_path, dry_run, .. } = self.loaded;
        let before = value_of(package_json);
        if *dry_run || before[MEMBER].as_object().into_iter().flatten().eq(self.entries.iter()) {
            return Ok(());
        }
        let entries = Some(Value::Object(self.entries.clone())).filter(|_| !self.entries.is_empty());
        let written = with_member(package_json, MEMBER, entries, package_json_path);
        match written.map_err(|error| EngineError::from(error).to_fault())? {
            Some(text) => Ok(ProjectDirectory::write_manifest(project, &text)?),
            None => Ok(()),
        }
    }
}
