//! What the journal of a store says of it and of its projects, for a tab that another one writes for. Nothing is kept: it is
//! read each time, so that what was recorded a moment ago is in it. No pack is opened.

use crate::coordinator::install::InstalledProject;
use crate::coordinator::unknown_project;
use crate::error::thrown;
use crate::javascript::to_object;
use crate::project::{LockFile, OpenProject, ProjectOptions};
use crate::reader::find_catalog;
use gantry_engine::{EngineError, Fault};
use gantry_manifest::Lockfile;
use gantry_resolver::{Explanation, Project, ResolveOptions, explain};
use gantry_store::{Catalog, ProjectRecord};
use serde::Serialize;
use serde_json::Value;
use wasm_bindgen::prelude::*;

/// How much is stored.
#[derive(Debug, Serialize)]
pub(crate) struct StoreUsage {
    packages: u64,
    bytes: u64,
    files: u64,
}

impl StoreUsage {
    pub fn of(catalog: &Catalog) -> Self {
        let packages = catalog.packages();
        let indexes = packages.iter().filter_map(|(_, package)| package.index().ok());
        Self {
            packages: catalog.package_count() as u64,
            bytes: catalog.package_bytes(),
            files: indexes.map(|index| index.files.len() as u64).sum(),
        }
    }
}

/// Why the packages that `query` names are in the tree of the project `name`, as JSON.
pub(crate) fn explain_recorded(name: &str, record: &ProjectRecord, query: &str) -> Result<String, Fault> {
    let fault = |error: EngineError| error.to_fault();
    let options = ProjectOptions::decode(name, record)?;
    // What says most of what is installed: the lock file, unless that stayed behind.
    let is_current = options.lock_file == LockFile::Current;
    let text = if is_current { options.lockfile(&record.lock) } else { record.lock.clone() };
    let lock = Lockfile::parse(&text, "package-lock.json").map_err(|error| fault(error.into()))?;
    let found = explain(Project::of_lock(&lock), &lock, &ResolveOptions::default(), query)
        .map_err(|error| fault(error.into()))?;
    Ok(Value::from(found.iter().map(Explanation::to_json).collect::<Vec<_>>()).to_string())
}

/// A store as its journal describes it.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Records {
    catalog: Catalog,
}

#[wasm_bindgen]
impl Records {
    /// Reads those of a store. Where there is none nothing is recorded.
    pub async fn open(store: &str) -> Result<Records, JsValue> {
        let found = thrown(find_catalog(store).await)?;
        Ok(Self { catalog: found.map(|(_, catalog)| catalog).unwrap_or_default() })
    }

    /// The project as its last install left it, or `undefined`.
    pub fn project(&self, name: &str) -> Result<JsValue, JsValue> {
        if self.catalog.project(name).is_none() {
            return Ok(JsValue::UNDEFINED);
        }
        let project = thrown(OpenProject::in_catalog(name, &self.catalog))?;
        thrown(to_object(&InstalledProject::recorded(name, &project)))
    }

    /// Names of all projects, sorted.
    pub fn projects(&self) -> Vec<String> {
        self.catalog.projects().map(|(name, _)| name.to_owned()).collect()
    }

    /// What is stored.
    pub fn usage(&self) -> Result<JsValue, JsValue> {
        thrown(to_object(&StoreUsage::of(&self.catalog)))
    }

    /// Why the packages that `query` names are in the tree, as JSON.
    pub fn why(&self, project: &str, query: &str) -> Result<String, JsValue> {
        let record = self.catalog.project(project).ok_or_else(|| unknown_project(project));
        thrown(record.and_then(|record| explain_recorded(project, record, query)))
    }
}
