//! The coordinator worker's face of the module: one open store, its projects, and installs.

mod options;
mod reading;
mod upkeep;

use crate::changes::{Changes, Contents};
use crate::clock::BrowserClock;
use crate::error::to_javascript;
use crate::fetch::BrowserHttp;
use crate::host::BrowserHost;
use crate::javascript::{from_object, scope, to_object, until_aborted};
use crate::mirror::BrowserMirror;
use crate::pool::PoolPort;
use crate::project::{BrowserProject, OpenProject, ProjectOptions};
use crate::store::{BrowserStore, cleared};
use bytes::Bytes;
use gantry_engine::{EngineError, Event, Fault, InstallMode, Outcome, PackageStore, Phase};
use gantry_manifest::Lockfile;
use gantry_registry::RegistryClient;
use gantry_resolver::{Explanation, Project, ResolveOptions, explain};
use gantry_store::ProjectRecord;
use js_sys::{Function, Reflect};
use options::{CoordinatorOptions, InstallOptions};
use rustc_hash::FxHashMap;
use serde::Serialize;
use serde_json::Value;
use std::cell::RefCell;
use std::rc::Rc;
use wasm_bindgen::prelude::*;
use web_sys::AbortSignal;

/// One open store and the projects in it.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Coordinator {
    registry: Rc<RegistryClient<BrowserHttp, BrowserClock>>,
    mirror: BrowserMirror,
    store: Rc<BrowserStore>,
    projects: RefCell<FxHashMap<String, Rc<OpenProject>>>,
}

/// What an install left behind.
#[derive(Debug, Serialize)]
struct InstalledProject {
    name: String,
    lockfile: String,
    packages: u32,
    files: u64,
    bytes: u64,
    reused: u32,
    requests: u32,
    elapsed: f64,
    /// Packages with install scripts, which cannot run in a page.
    scripts: Vec<String>,
    /// What is different from before the install.
    changes: Changes,
}

/// Nothing of that name is installed.
pub(crate) fn unknown_project(name: &str) -> Fault {
    Fault::new("PROJECT_UNKNOWN", format!("no project called {name} is installed here")).with_hint("Install it first.")
}

/// Hands an event to a listener. One that throws is the page's affair; the install goes on.
fn tell(on_event: &Function, event: &Event) {
    let Ok(object) = to_object(event) else { return };
    if let Event::Timing(report) = event {
        // As text, which a page saves as it is.
        let trace = JsValue::from_str(&report.trace.to_string());
        let _ = Reflect::set(&object, &JsValue::from_str("trace"), &trace);
    }
    let _ = on_event.call1(&JsValue::UNDEFINED, &object);
}

fn thrown<T>(result: Result<T, Fault>) -> Result<T, JsValue> {
    result.map_err(|fault| to_javascript(&fault))
}

#[wasm_bindgen]
impl Coordinator {
    /// Opens the store that `options` name, or makes it.
    pub async fn open(options: JsValue, pool: PoolPort) -> Result<Coordinator, JsValue> {
        thrown(Self::open_store(options, pool).await)
    }

    /// Installs a project. It is there, and the one before under its name is gone, when the promise resolves; on any
    /// failure the one before stays. `on_event` is missing where nobody listens.
    pub async fn install(
        &self,
        request: JsValue,
        on_event: Option<Function>,
        signal: AbortSignal,
    ) -> Result<JsValue, JsValue> {
        thrown(self.run(request, on_event.as_ref(), &signal).await)
    }

    /// The project as an earlier install left it, or `undefined`.
    pub async fn project(&self, name: &str) -> Result<JsValue, JsValue> {
        thrown(match self.opened(name) {
            Ok(project) => to_object(&InstalledProject {
                name: name.to_owned(),
                lockfile: String::from_utf8_lossy(&project.lockfile).into_owned(),
                packages: project.packages,
                files: project.files,
                bytes: 0,
                reused: project.packages,
                requests: 0,
                elapsed: 0.0,
                scripts: Vec::new(),
                changes: Changes::default(),
            }),
            Err(fault) if fault.code == "PROJECT_UNKNOWN" => Ok(JsValue::UNDEFINED),
            Err(fault) => Err(fault),
        })
    }

    /// The digest of the whole tree, equal on every platform for the same tree.
    #[wasm_bindgen(js_name = treeDigest)]
    pub async fn tree_digest(&self, project: &str) -> Result<String, JsValue> {
        let digest = async {
            let project = self.opened(project)?;
            let store = self.current_store();
            project.digest(&store).await
        };
        thrown(digest.await)
    }

    /// Why the packages that `query` names are in the tree, as JSON.
    pub fn why(&self, project: &str, query: &str) -> Result<String, JsValue> {
        thrown(self.explain(project, query))
    }

    /// Lets go of the store.
    pub async fn close(self) -> Result<(), JsValue> {
        drop(self);
        Ok(())
    }
}

impl Coordinator {
    async fn open_store(options: JsValue, pool: PoolPort) -> Result<Self, Fault> {
        let options: CoordinatorOptions = from_object(options, "the options of open")?;
        let store = BrowserStore::open(&options.store, pool).await?;
        let settings = options.registry_settings(&scope().location().origin())?;
        let mirror = BrowserMirror::open(store.directory().clone()).await;
        let registry = RegistryClient::new(BrowserHttp, BrowserClock, settings).with_mirror(Box::new(mirror.clone()));
        Ok(Self { registry: Rc::new(registry), mirror, store, projects: RefCell::default() })
    }

    fn current_store(&self) -> Rc<BrowserStore> {
        Rc::clone(&self.store)
    }

    fn opened(&self, name: &str) -> Result<Rc<OpenProject>, Fault> {
        if let Some(project) = self.projects.borrow().get(name) {
            return Ok(Rc::clone(project));
        }
        let store = self.current_store();
        let record = store.project(name).ok_or_else(|| unknown_project(name))?;
        let project = Rc::new(OpenProject::reopen(name, &record, &|key| store.index(key))?);
        self.projects.borrow_mut().insert(name.to_owned(), Rc::clone(&project));
        Ok(project)
    }

    async fn run(&self, request: JsValue, on_event: Option<&Function>, signal: &AbortSignal) -> Result<JsValue, Fault> {
        let options: InstallOptions = from_object(request, "the options of install")?;
        let result = self.run_in_store(options, on_event, signal).await;
        // What is recorded in files that the browser has removed is nowhere.
        if result.is_ok() && !self.store.is_there().await? {
            return Err(cleared());
        }
        result
    }

    async fn run_in_store(
        &self,
        mut options: InstallOptions,
        on_event: Option<&Function>,
        signal: &AbortSignal,
    ) -> Result<JsValue, Fault> {
        let files = options.take_files();
        let store = self.current_store();
        let name = options.project.clone();
        let recorded = store.project(&name);
        let previous_lock = match &recorded {
            Some(record) => Some(ProjectOptions::decode(&name, record)?.lockfile(&record.lock)),
            None => None,
        };
        let mut project_options = options.project_options();
        self.registry.set_cache_mode(options.cache_mode());
        let request = options.into_request(&project_options, previous_lock)?;
        let mode = request.mode;
        store.set_timed(request.timing);

        store.retire_short_packs().await?;
        if recorded.is_none() {
            // Hardly all of it is stored.
            let _ = store.begin_lending();
        }
        let host = BrowserHost {
            registry: Rc::clone(&self.registry),
            store: Rc::clone(&store),
            project: BrowserProject::new(Rc::clone(&store), files),
        };
        let mut listener = |event: Event| {
            if matches!(event, Event::Phase { phase: Phase::Resolve }) {
                // Something has changed: the workers start while documents are fetched.
                let _ = store.begin_lending();
            }
            if let Some(on_event) = on_event {
                tell(on_event, &event);
            }
        };
        let install =
            async { gantry_engine::install(&host, &request, &mut listener).await.map_err(|error| error.to_fault()) };
        let outcome = until_aborted(signal, install).await;
        // Before files are closed, which must not be done to those that were removed under their handles.
        if store.is_lending() && !store.is_there().await? {
            return Err(cleared());
        }
        if outcome.as_ref().is_err_and(|fault| fault.code == "STORE_FULL") {
            // What was unpacked would leave no room for anything smaller, and documents can be asked for again.
            let _ = store.discard_packs().await;
            let _ = self.mirror.clear().await;
        }
        // Also after a failure: what was unpacked is of use to the next install.
        let collected = store.collect_packs().await;
        if outcome.is_err() {
            // So are the documents; why they could not be kept is nothing beside why the install failed.
            let _ = self.registry.settle().await;
        }
        let outcome: Outcome = outcome?;
        collected?;

        let built = host.project.take_built();
        let mut project = built.ok_or_else(|| Fault::new("STORE_LOST", "the install made no tree"))?;
        project_options.left_out.clone_from(&outcome.left_out);
        // Of the tree, so that it can be made again.
        let lock = Bytes::from(outcome.complete_lockfile);
        let file = match (mode, request.lockfile) {
            (InstallMode::Ci, Some(given)) => given,
            _ => outcome.lockfile,
        };
        project_options.given_lock = (file != lock).then(|| String::from_utf8_lossy(&file).into_owned());
        project.lockfile = project_options.lockfile(&lock);
        let options = project_options.encode();
        let unchanged = recorded.as_ref().is_some_and(|record| record.lock == lock && record.options == options);
        let mut changes = Changes::default();
        if !unchanged {
            changes = project.contents.changes_since(&self.contents_before(&name, recorded.as_ref()));
            store.record_project(&name, lock, options)?;
        }
        let installed = InstalledProject {
            name: name.clone(),
            lockfile: String::from_utf8_lossy(&project.lockfile).into_owned(),
            packages: outcome.packages,
            files: project.files,
            bytes: outcome.bytes,
            reused: outcome.reused,
            requests: outcome.requests,
            elapsed: outcome.elapsed,
            scripts: outcome.scripts,
            changes,
        };
        self.projects.borrow_mut().insert(name, Rc::new(project));
        to_object(&installed)
    }

    /// What a project had installed; nothing, where nothing is known of it.
    fn contents_before(&self, name: &str, recorded: Option<&ProjectRecord>) -> Contents {
        if let Some(open) = self.projects.borrow().get(name) {
            return open.contents.clone();
        }
        recorded.and_then(|record| Contents::of_record(name, record).ok()).unwrap_or_default()
    }

    fn explain(&self, project: &str, query: &str) -> Result<String, Fault> {
        let project = self.opened(project)?;
        let fault = |error: EngineError| error.to_fault();
        let lock = Lockfile::parse(&project.lockfile, "package-lock.json").map_err(|error| fault(error.into()))?;
        let found = explain(Project::of_lock(&lock), &lock, &ResolveOptions::default(), query)
            .map_err(|error| fault(error.into()))?;
        Ok(Value::from(found.iter().map(Explanation::to_json).collect::<Vec<_>>()).to_string())
    }
}
