//! Installs: from what the page asks for to a recorded project.
//!
//! While one runs it is woken for every part of every answer, and each time the browser goes through all functions from the
//! outermost to the one that waits. Those are kept small, and what happens once is behind a box: what is run often is compiled
//! a second time, which for one function with all of it took a tenth of an install's time.

use super::options::{InstallConfig, InstallOptions};
use super::{Client, Coordinator, client};
use crate::changes::{Changes, Contents};
use crate::clock::BrowserClock;
use crate::host::BrowserHost;
use crate::installed::{InstalledProject, text_of};
use crate::javascript::{from_object, to_object, until_aborted};
use crate::project::BrowserProject;
use crate::recorded::{LockFile, ProjectOptions};
use crate::store::{BrowserStore, cleared};
use bytes::Bytes;
use futures_util::{FutureExt, TryFutureExt};
use gantry_engine::{Deprecated, Event, Fault, InstallMode, InstallRequest, LockUse, Outcome, OutdatedQuery, Phase};
use gantry_platform::Clock;
use gantry_registry::CacheMode;
use gantry_store::ProjectRecord;
use js_sys::{Function, Reflect};
use serde_json::json;
use std::rc::Rc;
use wasm_bindgen::prelude::*;
use web_sys::AbortSignal;

/// An install that can begin.
struct Prepared {
    name: String,
    /// How the project was installed before.
    recorded: Option<ProjectRecord>,
    options: ProjectOptions,
    request: InstallRequest,
    /// Whether its lock is none of the project's.
    is_anew: bool,
    host: BrowserHost,
    /// Settings that make no sense, and whose defaults are used.
    unclear: Vec<String>,
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

/// Path and text of the manifest of a workspace.
fn manifest_of((folder, bytes): &(String, Vec<u8>)) -> (String, String) {
    (format!("{folder}/package.json"), text_of(bytes))
}

/// Whether a project has another lock than before: the one that its tree is made from, or the file.
fn has_other_lock(name: &str, before: Option<&ProjectRecord>, (lock, file): (&Bytes, &Bytes)) -> bool {
    let file_before = |record| ProjectOptions::decode(name, record).map(|options| options.lockfile(&record.lock));
    before.is_none_or(|record| record.lock != lock || file_before(record).is_ok_and(|before| before != file))
}

/// To be asked before packs are closed, which must not be done to files that were removed under their handles.
async fn before_closing(store: &BrowserStore) -> Result<(), Fault> {
    if store.is_lending() && !store.is_there().await? {
        return Err(cleared());
    }
    Ok(())
}

/// Takes the packs back from the workers.
async fn collect_packs(store: &BrowserStore) -> Result<(), Fault> {
    let collected = store.collect_packs().await;
    if collected.is_err() {
        // One in memory goes with its worker, and with it what is recorded of it.
        let _ = store.look_at_packs().await;
    }
    collected
}

impl Coordinator {
    pub(super) async fn run(
        &self,
        request: JsValue,
        on_event: Option<&Function>,
        signal: &AbortSignal,
    ) -> Result<JsValue, Fault> {
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
        options: InstallOptions,
        on_event: Option<&Function>,
        signal: &AbortSignal,
    ) -> Result<JsValue, Fault> {
        let prepared = self.prepare(options).boxed_local().await?;
        let store = &prepared.host.store;
        let tell = |event: &Event| {
            if let Some(on_event) = on_event {
                tell(on_event, event);
            }
        };
        // It is not done before it is recorded.
        let mut last = Vec::new();
        let mut listener = |event: Event| match event {
            Event::Timing(_) | Event::Done { .. } => last.push(event),
            event => {
                if matches!(event, Event::Phase { phase: Phase::Resolve }) {
                    // Something has changed: the workers start while documents are fetched.
                    let _ = store.begin_lending();
                }
                tell(&event);
            }
        };
        for message in &prepared.unclear {
            listener(Event::Warning { code: "CONFIG_INVALID".into(), message: message.clone() });
        }
        let install = gantry_engine::install(&prepared.host, &prepared.request, &mut listener).boxed_local();
        let outcome = until_aborted(signal, install.map_err(|error| error.to_fault())).await;
        let concluded = self.conclude(prepared, outcome).boxed_local().await;
        if let Ok((_, warnings)) = &concluded {
            warnings.iter().for_each(tell);
        }
        // An install that could not be recorded is not done.
        last.iter().filter(|event| concluded.is_ok() || matches!(event, Event::Timing(_))).for_each(tell);
        concluded.map(|(installed, _)| installed)
    }

    /// The peer conflicts of a project, as JSON. Nothing is recorded of it, but packages that a resolution has to look into
    /// are kept.
    pub(super) async fn find_conflicts(&self, request: JsValue, signal: &AbortSignal) -> Result<String, Fault> {
        let Prepared { request, host, .. } = self.understand(from_object(request, "the options of explain")?)?;
        let mut deaf = |_| {};
        let work = gantry_engine::conflicts(&host, &request, &mut deaf).boxed_local();
        let found = until_aborted(signal, work.map_err(|error| error.to_fault())).await;
        before_closing(&host.store).await?;
        let collected = collect_packs(&host.store).await;
        let found = found?;
        collected?;
        Ok(found.to_json().to_string())
    }

    /// Of which packages registries have newer versions, as JSON. Nothing but documents is kept of it.
    pub(super) async fn find_outdated(
        &self,
        request: JsValue,
        query: OutdatedQuery<'_>,
        signal: &AbortSignal,
    ) -> Result<String, Fault> {
        let Prepared { request, host, .. } = self.understand(from_object(request, "the options of outdated")?)?;
        let mut deaf = |_| {};
        let work = gantry_engine::outdated(&host, &request, query, &mut deaf).boxed_local();
        let found = until_aborted(signal, work.map_err(|error| error.to_fault())).await?;
        Ok(json!(found).to_string())
    }

    async fn prepare(&self, options: InstallOptions) -> Result<Prepared, Fault> {
        let prepared = self.understand(options)?;
        let store = &prepared.host.store;
        store.begin_install()?;
        store.look_at_packs().await?;
        if prepared.recorded.is_none() {
            // Hardly all of it is stored. The workers open their packs while this one reads lock and manifest.
            let _ = store.begin_lending();
            BrowserClock.sleep(0.0).await;
        }
        Ok(prepared)
    }

    fn understand(&self, mut options: InstallOptions) -> Result<Prepared, Fault> {
        let files = options.take_files();
        let store = self.current_store();
        let name = options.project.clone();
        let recorded = store.project(&name);
        let previous_lock = match &recorded {
            Some(record) => {
                let options = ProjectOptions::decode(&name, record)?;
                (options.lock_file != LockFile::Missing).then(|| options.lockfile(&record.lock))
            }
            None => None,
        };
        let config = options.take_config()?;
        let project_options = config.project_options()?;
        let (registry, unclear) = self.registry_for(&config);
        let is_anew = options.anew;
        let request =
            options.into_request(&config.config, &project_options, previous_lock, BrowserClock.unix_milliseconds())?;
        store.set_timed(request.timing);
        let mut project = BrowserProject::new(&name, Rc::clone(&store), files);
        if let Some(record) = &recorded {
            project = project.with_record(record.clone());
        }
        let host = BrowserHost { registry, project, store };
        Ok(Prepared { name, recorded, options: project_options, request, is_anew, host, unclear })
    }

    /// The client that an install asks, and what is wrong with what the project's `.npmrc` says of registries.
    fn registry_for(&self, config: &InstallConfig) -> (Rc<Client>, Vec<String>) {
        let (registry, unclear) = match config.registry_settings(self.registry.settings()) {
            Some((settings, unclear)) => (Rc::new(client(settings, &self.mirror)), unclear),
            None => (Rc::clone(&self.registry), Vec::new()),
        };
        registry.set_cache_mode(CacheMode::of_config(&config.config));
        (registry, unclear)
    }

    /// Records what an install has made, and keeps what one that failed has got. Gives what the page is answered, and warnings
    /// of what is new in the tree.
    async fn conclude(
        &self,
        prepared: Prepared,
        outcome: Result<Outcome, Fault>,
    ) -> Result<(JsValue, Vec<Event>), Fault> {
        let Prepared { name, recorded, options: project_options, request, is_anew, host, .. } = prepared;
        let store: &BrowserStore = &host.store;
        before_closing(store).await?;
        if outcome.as_ref().is_err_and(|fault| fault.code == "STORE_FULL") {
            // What was unpacked would leave no room for anything smaller, and documents can be asked for again.
            let _ = store.discard_packs().await;
            let _ = self.mirror.clear().await;
            let _ = store.forget_added().await;
        }
        // Also after a failure: what was unpacked is of use to the next install.
        let collected = collect_packs(store).await;
        if outcome.is_err() {
            // So are the documents; why they could not be kept is nothing beside why the install failed.
            let _ = host.registry.settle().await;
        }
        let outcome: Outcome = outcome?;
        collected?;

        let built = host.project.take_built();
        let mut project = built.ok_or_else(|| Fault::new("STORE_LOST", "the install made no tree"))?;
        let mut project_options = project_options.concluded(&outcome);
        // Of the tree, so that it can be made again.
        let lock = Bytes::from(outcome.tree_lockfile);
        let is_written = request.mode == InstallMode::Ci || request.lock_use == LockUse::ReadAndWrite;
        let given = request.lockfile.filter(|_| !is_anew);
        let file;
        (project_options.lock_file, file) = match (request.mode, given) {
            (InstallMode::Ci, Some(given)) => (LockFile::Current, given),
            _ if is_written => (LockFile::Current, outcome.lockfile),
            (_, Some(given)) => (LockFile::Kept, given),
            (_, None) => (LockFile::Missing, outcome.lockfile),
        };
        project_options.given_lock = (file != lock).then(|| String::from_utf8_lossy(&file).into_owned());
        project.lockfile = project_options.lockfile(&lock);
        let options = project_options.encode();
        let has_other_lock = has_other_lock(&name, recorded.as_ref(), (&lock, &project.lockfile));
        let unchanged = recorded.as_ref().is_some_and(|record| record.lock == lock && record.options == options);
        let mut changes = Changes::default();
        if !unchanged {
            changes = project.contents.changes_since(&self.contents_before(&name, recorded.as_ref()));
            self.record(store, &name, (lock, options)).await?;
        }
        let warnings = Deprecated::warnings(&outcome.deprecated, |folder| changes.is_new(folder));
        let installed = InstalledProject {
            name: name.clone(),
            package_json: outcome.package_json.as_deref().map(text_of),
            workspace_manifests: outcome.workspace_manifests.iter().map(manifest_of).collect(),
            lockfile: text_of(&project.lockfile),
            packages: outcome.packages,
            files: project.files,
            bytes: outcome.bytes,
            reused: outcome.reused,
            requests: outcome.requests,
            elapsed: outcome.elapsed,
            scripts: outcome.scripts,
            has_changed: has_other_lock || changes.are_any(),
            changes,
        };
        self.projects.borrow_mut().insert(name, Rc::new(project));
        Ok((to_object(&installed)?, warnings))
    }

    /// Records a project. Documents take no room from it: they can be asked for again, and what is recorded of packages alone is
    /// of use to nobody who has to begin anew each time.
    async fn record(&self, store: &BrowserStore, name: &str, (lock, options): (Bytes, Bytes)) -> Result<(), Fault> {
        let recorded = store.record_project(name, lock.clone(), options.clone());
        if !recorded.as_ref().is_err_and(|fault| fault.code == "STORE_FULL") {
            return recorded;
        }
        let _ = self.mirror.clear().await;
        let recorded = store.record_project(name, lock, options);
        if recorded.is_err() {
            let _ = store.forget_added().await;
        }
        recorded
    }

    /// What a project had installed; nothing, where nothing is known of it.
    pub(super) fn contents_before(&self, name: &str, recorded: Option<&ProjectRecord>) -> Contents {
        if let Some(open) = self.projects.borrow().get(name) {
            return open.contents.clone();
        }
        recorded.and_then(|record| Contents::of_record(name, record).ok()).unwrap_or_default()
    }
}
