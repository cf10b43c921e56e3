//! What the journal of a store says of it and of its projects, for a tab that another one writes for. Nothing is kept: it is
//! read each time, so that what was recorded a moment ago is in it. No pack is opened.

use crate::catalog::find_catalog;
use crate::error::thrown;
use crate::installed::InstalledProject;
use crate::javascript::to_object;
use crate::project::{OpenProject, unknown_project};
use crate::store::StoreUsage;
use crate::why::explain_recorded;
use gantry_store::Catalog;
use wasm_bindgen::prelude::*;

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
