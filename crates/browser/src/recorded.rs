//! How a project was installed, as the store's journal keeps it.

use bytes::Bytes;
use gantry_engine::{EngineError, Fault, Outcome};
use gantry_layout::{Omit, installed};
use gantry_manifest::Lockfile;
use gantry_resolver::{ResolveOptions, Target, check_machine};
use gantry_store::ProjectRecord;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// How a project was installed: with its lock, all that its tree is made from again after a reload.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ProjectOptions {
    pub os: String,
    pub cpu: String,
    pub libc: Option<String>,
    #[serde(default)]
    pub omit: Vec<String>,
    /// Optional packages that could not be had.
    #[serde(default)]
    pub left_out: Vec<String>,
    /// The project's lock file, where it is not the lock that the tree was made from: `ci` keeps it as it was given, and
    /// installs of it only what is asked for; settings of npm have it stay as it is; version 1 of the format says too little to make a tree from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub given_lock: Option<String>,
    /// Whether the lock that the tree is made from is that of a part of the project: then the tree has all that it names, what
    /// an earlier install for another machine has left included.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_part: bool,
    /// What has become of the lock file.
    #[serde(default, skip_serializing_if = "LockFile::is_default")]
    pub lock_file: LockFile,
    /// Whether packages for other machines are there all the same: npm's `force`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub force: bool,
    /// Whether peers count for nothing: npm's `legacy-peer-deps`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub legacy_peer_deps: bool,
    /// npm's `node-version`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_version: Option<String>,
}

/// What has become of a project's lock file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum LockFile {
    /// It was written, or `ci` has read it.
    #[default]
    Current,
    /// It is as it was given, whatever was installed: npm's `save=false` and `package-lock=false`.
    Kept,
    /// There is none: by the same settings.
    Missing,
}

impl LockFile {
    fn is_default(&self) -> bool {
        *self == Self::Current
    }
}

impl ProjectOptions {
    /// The machine that it is for.
    pub fn target(&self) -> Target {
        let mut target =
            Target { os: self.os.clone(), cpu: self.cpu.clone(), libc: self.libc.clone(), ..Target::default() };
        if let Some(version) = &self.node_version {
            target.node_version.clone_from(version);
        }
        target
    }

    /// Target and rules by which packages are chosen from the lock.
    fn rules(&self) -> Result<ResolveOptions, Fault> {
        let omit = self.omit()?;
        let mut rules = ResolveOptions::default();
        rules.target = self.target();
        rules.omit_dev = omit.dev;
        rules.omit_optional = omit.optional;
        rules.omit_peer = omit.peer;
        rules.force = self.force;
        rules.legacy_peer_deps = self.legacy_peer_deps;
        Ok(rules)
    }

    pub fn omit(&self) -> Result<Omit, Fault> {
        Omit::from_names(self.omit.iter().map(String::as_str))
            .map_err(|other| Fault::new("INVALID_OPTION", format!("omit: {other} is none of dev, optional, peer")))
    }

    pub fn encode(&self) -> Bytes {
        Bytes::from(serde_json::to_vec(self).expect("strings are always JSON"))
    }

    /// The options in the record of the project `name`.
    pub fn decode(name: &str, record: &ProjectRecord) -> Result<Self, Fault> {
        serde_json::from_slice(&record.options).map_err(|error| {
            Fault::new("STORE_CORRUPT", format!("the record of project {name}: {error}"))
                .with_hint("Install under another name, or clear the store.")
        })
    }

    /// These options after an install.
    pub fn concluded(mut self, outcome: &Outcome) -> Self {
        self.left_out.clone_from(&outcome.left_out);
        self.is_part = outcome.is_part;
        if self.is_part {
            self.omit.clear();
        }
        self
    }

    /// What of the recorded lock is installed: the lock, paths of what is not, and the kinds that are left out.
    pub fn selection(&self, record: &ProjectRecord) -> Result<(Lockfile, BTreeSet<String>, Omit), Fault> {
        let fault = |error: EngineError| error.to_fault();
        let lock = Lockfile::parse(&record.lock, "package-lock.json").map_err(|error| fault(error.into()))?;
        let mut inert = BTreeSet::from_iter(self.left_out.iter().cloned());
        if !self.is_part {
            inert.extend(check_machine(&lock, &self.rules()?).map_err(|error| fault(error.into()))?.inert);
        }
        Ok((lock, inert, self.omit()?))
    }

    /// All that is installed.
    pub fn installed(&self, record: &ProjectRecord) -> Result<Lockfile, Fault> {
        let (mut lock, inert, omit) = self.selection(record)?;
        let installed = installed(&lock, &inert, &omit).map_err(|error| EngineError::from(error).to_fault())?;
        lock.packages.retain(|entry| !entry.path.is_empty() && installed.contains(&entry.path));
        Ok(lock)
    }

    /// Text of the project's lock file; `lock` is the one that its tree was made from.
    pub fn lockfile(&self, lock: &Bytes) -> Bytes {
        self.given_lock.as_ref().map_or_else(|| lock.clone(), |given| Bytes::from(given.clone()))
    }
}
