//! The coordinator worker's face of the module: one open store, its projects, and installs.

mod install;
mod options;
mod reading;
mod upkeep;

use crate::archive_stream::Source;
use crate::clock::BrowserClock;
use crate::error::thrown;
use crate::fetch::{BrowserHttp, keep_in_browser};
use crate::installed::InstalledProject;
use crate::javascript::{from_object, scope, to_object};
use crate::mirror::BrowserMirror;
use crate::pool::PoolPort;
use crate::project::{OpenProject, unknown_project};
use crate::store::BrowserStore;
use crate::why::explain_recorded;
use gantry_engine::{Fault, OutdatedQuery, PackageStore};
use gantry_registry::{RegistryClient, RegistrySettings};
use js_sys::Function;
use options::CoordinatorOptions;
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::rc::Rc;
use wasm_bindgen::prelude::*;
use web_sys::{AbortSignal, FileSystemDirectoryHandle};

type Client = RegistryClient<BrowserHttp, BrowserClock>;

/// One open store and the projects in it.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Coordinator {
    registry: Rc<Client>,
    mirror: BrowserMirror,
    store: Rc<BrowserStore>,
    projects: RefCell<FxHashMap<String, Rc<OpenProject>>>,
}

fn client(settings: RegistrySettings, mirror: &BrowserMirror) -> Client {
    RegistryClient::new(BrowserHttp, BrowserClock, settings).with_mirror(Box::new(mirror.clone()))
}

#[wasm_bindgen]
impl Coordinator {
    /// Opens the store in `folder`, or makes it.
    pub async fn open(
        options: JsValue,
        pool: PoolPort,
        folder: FileSystemDirectoryHandle,
    ) -> Result<Coordinator, JsValue> {
        thrown(Self::open_store(options, pool, folder).await)
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

    /// The peer conflicts that an install has, as JSON.
    pub async fn conflicts(&self, request: JsValue, signal: AbortSignal) -> Result<String, JsValue> {
        thrown(self.find_conflicts(request, &signal).await)
    }

    /// Of which packages of a project's tree registries have newer versions, as JSON: of those named, or else of what the project
    /// and its workspaces ask for, or of `all`.
    pub async fn outdated(
        &self,
        request: JsValue,
        packages: Vec<String>,
        all: bool,
        signal: AbortSignal,
    ) -> Result<String, JsValue> {
        let query = OutdatedQuery { packages: &packages, all, with_homepage: false };
        thrown(self.find_outdated(request, query, &signal).await)
    }

    /// The project as an earlier install left it, or `undefined`.
    pub async fn project(&self, name: &str) -> Result<JsValue, JsValue> {
        thrown(match self.opened(name) {
            Ok(project) => to_object(&InstalledProject::recorded(name, &project)),
            Err(fault) if fault.code == "PROJECT_UNKNOWN" => Ok(JsValue::UNDEFINED),
            Err(fault) => Err(fault),
        })
    }

    /// The digest of the whole tree, equal on every platform for the same tree.
    #[wasm_bindgen(js_name = treeDigest)]
    pub async fn tree_digest(&self, project: &str) -> Result<String, JsValue> {
        let digest = async {
            let project = self.opened(project)?;
            project.digest(&Source::Store(self.current_store())).await
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
    async fn open_store(options: JsValue, pool: PoolPort, folder: FileSystemDirectoryHandle) -> Result<Self, Fault> {
        let options: CoordinatorOptions = from_object(options, "the options of open")?;
        let store = BrowserStore::open(folder.into(), pool, options.pack_bytes).await?;
        if options.in_memory {
            keep_in_browser();
        }
        let settings = options.registry_settings(&scope().location().origin())?;
        let mirror = BrowserMirror::open(store.directory().clone()).await;
        let registry = Rc::new(client(settings, &mirror));
        Ok(Self { registry, mirror, store, projects: RefCell::default() })
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

    fn explain(&self, project: &str, query: &str) -> Result<String, Fault> {
        let record = self.store.project(project).ok_or_else(|| unknown_project(project))?;
        explain_recorded(project, &record, query)
    }
}
