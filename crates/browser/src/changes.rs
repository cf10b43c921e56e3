//! What an install changed: which folders of packages are new, gone, or hold something else than before.

use crate::recorded::ProjectOptions;
use gantry_engine::{EngineError, Fault};
use gantry_layout::{LinkKind, PackageKeys, Plan, PlannedLink, PlannedPackage, linked_folders, wanted};
use gantry_store::{PackageKey, ProjectRecord};
use serde::Serialize;
use std::collections::BTreeMap;

/// What is installed where: each package's folder with what names its content. A folder of the user that is linked to
/// counts as a package, and is the same as long as the link leads to the same place.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Contents(BTreeMap<String, String>);

/// Folders of packages, each list sorted by path (byte order).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Changes {
    added: Vec<String>,
    removed: Vec<String>,
    replaced: Vec<String>,
}

impl Changes {
    /// Whether there are any.
    pub fn are_any(&self) -> bool {
        [&self.added, &self.removed, &self.replaced].iter().any(|folders| !folders.is_empty())
    }

    /// Whether there is another package in a folder than before, or one where was none.
    pub fn is_new(&self, folder: &str) -> bool {
        let is_in = |folders: &[String]| folders.binary_search_by(|one| one.as_str().cmp(folder)).is_ok();
        is_in(&self.added) || is_in(&self.replaced)
    }
}

impl Contents {
    pub fn of_plan(plan: &Plan) -> Self {
        Self::new(&plan.packages, plan.links.iter().filter(|link| link.kind == LinkKind::Folder))
    }

    /// Of a project as it is recorded. Also where some of its packages are not in the store any more.
    pub fn of_record(name: &str, record: &ProjectRecord) -> Result<Self, Fault> {
        let (lock, inert, omit) = ProjectOptions::decode(name, record)?.selection(record)?;
        let fault = |error| EngineError::from(error).to_fault();
        let packages = wanted(&lock, &inert, &omit, PackageKeys::without_scripts(name)).map_err(fault)?;
        let links = linked_folders(&lock, &inert, &omit).map_err(fault)?;
        Ok(Self::new(&packages, links.iter()))
    }

    fn new<'a>(packages: &[PlannedPackage], links: impl Iterator<Item = &'a PlannedLink>) -> Self {
        let packages = packages.iter().map(|package| (package.path.clone(), package.key.to_string()));
        // No key begins so.
        let links = links.map(|link| (link.path.clone(), format!("link:{}", link.target)));
        Self(packages.chain(links).collect())
    }

    /// Keys of the packages.
    pub fn keys(&self) -> impl Iterator<Item = PackageKey> {
        self.0.values().filter_map(|content| PackageKey::parse(content))
    }

    /// What is different in `self` from what was there `before`.
    pub fn changes_since(&self, before: &Self) -> Changes {
        let mut changes = Changes::default();
        for (path, content) in &self.0 {
            match before.0.get(path) {
                None => changes.added.push(path.clone()),
                Some(was) if was != content => changes.replaced.push(path.clone()),
                Some(_) => {}
            }
        }
        changes.removed.extend(before.0.keys().filter(|path| !self.0.contains_key(*path)).cloned());
        changes
    }
}
