//! Looking after the store: what is in it, whether it is whole, and giving back what nobody needs.

use super::{Coordinator, thrown};
use crate::changes::{Changes, Contents};
use crate::error::file_fault;
use crate::javascript::{to_object, until_aborted};
use crate::project::OpenProject;
use crate::store::Verified;
use gantry_engine::{Fault, PackageStore};
use gantry_store::{PackageKey, Pruned};
use rustc_hash::FxHashSet;
use serde::Serialize;
use wasm_bindgen::prelude::*;
use web_sys::AbortSignal;

#[derive(Debug, Serialize)]
struct Pruning {
    packages: u64,
    bytes: u64,
    damaged: u64,
}

#[derive(Debug, Serialize)]
struct Verification {
    packages: usize,
    bytes: u64,
    damaged: Vec<String>,
    /// Names of projects that cannot be opened as they are.
    projects: Vec<String>,
}

/// A project, and what removing it changes.
#[derive(Debug, Serialize)]
struct Removal {
    name: String,
    changes: Changes,
}

#[wasm_bindgen]
impl Coordinator {
    /// What is stored.
    pub fn usage(&self) -> Result<JsValue, JsValue> {
        thrown(self.store.usage().and_then(|usage| to_object(&usage)))
    }

    /// Reads everything that is stored and drops what is damaged. Must not run beside an install.
    pub async fn verify(&self, signal: AbortSignal) -> Result<JsValue, JsValue> {
        thrown(until_aborted(&signal, self.check()).await)
    }

    /// Names of all projects, sorted.
    pub fn projects(&self) -> Result<Vec<String>, JsValue> {
        thrown(self.store.project_names())
    }

    /// Forgets a project; what was installed of it, or `undefined` where there is none of that name. Must not run beside an
    /// install.
    #[wasm_bindgen(js_name = removeProject)]
    pub fn remove_project(&self, name: &str) -> Result<JsValue, JsValue> {
        thrown(self.forget(name))
    }

    /// Removes what no project needs. Must not run beside an install, nor beside a read.
    pub async fn prune(&self) -> Result<JsValue, JsValue> {
        thrown(self.give_back().await)
    }

    /// Whether it would pay to [forget](Self::forget_past) the journal's past.
    #[wasm_bindgen(js_name = hasLongPast)]
    pub fn has_long_past(&self) -> bool {
        self.store.has_long_past()
    }

    /// Writes the journal anew, without what has been replaced or removed since. Must not run beside an install, nor beside a
    /// read.
    #[wasm_bindgen(js_name = forgetPast)]
    pub async fn forget_past(&self) -> Result<(), JsValue> {
        thrown(self.current_store().forget_past().await)
    }

    /// What removing every project would change: those who watch them are told when the store is cleared.
    pub fn removals(&self) -> Result<JsValue, JsValue> {
        thrown(self.all_removals())
    }

    /// Name of a file that this store has, and no other one.
    pub fn mark(&self) -> String {
        self.store.mark().to_owned()
    }

    /// Whether the store's files are there, and not removed by the browser or its user.
    #[wasm_bindgen(js_name = isThere)]
    pub async fn is_there(&self) -> Result<bool, JsValue> {
        thrown(self.store.is_there().await)
    }

    /// Removes everything of this store. Must not run beside an install.
    pub async fn clear(&self) -> Result<(), JsValue> {
        thrown(self.remove_all().await)
    }
}

impl Coordinator {
    async fn check(&self) -> Result<JsValue, Fault> {
        let store = self.current_store();
        let Verified { packages, bytes, damaged } = store.verify().await?;
        let mut projects = Vec::new();
        for name in store.project_names()? {
            let Some(record) = store.project(&name) else { continue };
            if OpenProject::reopen(&name, &record, &|key| store.index(key)).is_err() {
                // What it was opened with is there no more.
                self.projects.borrow_mut().remove(&name);
                projects.push(name);
            }
        }
        to_object(&Verification { packages, bytes, damaged, projects })
    }

    fn forget(&self, name: &str) -> Result<JsValue, Fault> {
        let Some(record) = self.store.project(name) else { return Ok(JsValue::UNDEFINED) };
        let before = self.contents_before(name, Some(&record));
        self.store.forget_project(name)?;
        self.projects.borrow_mut().remove(name);
        to_object(&Contents::default().changes_since(&before))
    }

    async fn give_back(&self) -> Result<JsValue, Fault> {
        let mut needed: FxHashSet<PackageKey> = FxHashSet::default();
        for name in self.store.project_names()? {
            let Some(record) = self.store.project(&name) else { continue };
            needed.extend(Contents::of_record(&name, &record)?.keys());
        }
        let Pruned { packages, freed_bytes, damaged } = self.store.prune(&needed).await?;
        to_object(&Pruning { packages, bytes: freed_bytes, damaged })
    }

    fn all_removals(&self) -> Result<JsValue, Fault> {
        let removal = |name: String| {
            let before = self.contents_before(&name, self.store.project(&name).as_ref());
            Removal { changes: Contents::default().changes_since(&before), name }
        };
        // None where the store could not be opened again: then there is nothing that could be removed.
        let names = self.store.project_names().unwrap_or_default();
        let removals: Vec<Removal> = names.into_iter().map(removal).collect();
        to_object(&removals)
    }

    async fn remove_all(&self) -> Result<(), Fault> {
        self.projects.borrow_mut().clear();
        self.current_store().clear().await?;
        self.mirror.clear().await.map_err(|error| file_fault(&error))
    }
}
