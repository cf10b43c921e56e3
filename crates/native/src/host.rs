//! The native platform, put together.

use crate::git::{NativeBuilder, NativeGit};
use crate::{
    GlobalFolder, HttpSettings, Interrupt, NativeClock, NativeHttp, NativeMirror, PackageDirectories, ProjectDirectory,
    ProjectLock, ScriptSettings,
};
use gantry_engine::{Builder, Fault, Git, Host, Slots};
use gantry_forecast::{POPULAR, Table};
use gantry_registry::{RegistryClient, RegistrySettings};
use std::cell::OnceCell;
use std::path::PathBuf;
use std::rc::Rc;
use tokio::runtime::Handle;

/// Where things are and how to reach the network.
#[derive(Debug)]
pub struct NativeHostSettings {
    /// The project's folder.
    pub project: PathBuf,
    /// The store's folder.
    pub store: PathBuf,
    /// Transport.
    pub http: HttpSettings,
    /// Registries.
    pub registry: RegistrySettings,
    /// Requests of one kind under way at once.
    pub slots: Slots,
    /// How scripts are run.
    pub scripts: ScriptSettings,
    /// Where what is installed is for the whole machine, if it is: its project is the host's.
    pub global: Option<GlobalFolder>,
}

/// Linux or macOS.
#[derive(Debug)]
pub struct NativeHost {
    registry: RegistryClient<NativeHttp, NativeClock>,
    store: Rc<PackageDirectories>,
    project: ProjectDirectory,
    slots: Slots,
    runtime: Handle,
    git: OnceCell<Option<NativeGit>>,
    builder: Rc<NativeBuilder>,
}

impl NativeHost {
    /// A host whose network and unpacking run on `runtime`.
    pub fn new(runtime: Handle, settings: NativeHostSettings) -> Self {
        let http = NativeHttp::new(runtime.clone(), settings.http);
        let clock = NativeClock::default();
        let fetches = settings.slots.together.saturating_sub(settings.slots.documents).max(1);
        let store = Rc::new(PackageDirectories::new(&settings.store, http.clone(), clock.clone(), fetches));
        let mirror = NativeMirror::new(&settings.store, clock.clone());
        let temporary = store.temporary().to_owned();
        let builder = NativeBuilder::new(runtime.clone(), settings.store, temporary, settings.scripts.clone());
        let project = ProjectDirectory::new(settings.project, Rc::clone(&store)).with_scripts(settings.scripts);
        let project = match settings.global {
            Some(folder) => project.with_global(folder),
            None => project,
        };
        Self {
            registry: RegistryClient::new(http, clock, settings.registry).with_mirror(Box::new(mirror)),
            project,
            store,
            slots: settings.slots,
            runtime,
            git: OnceCell::new(),
            builder: Rc::new(builder),
        }
    }

    /// With the right to change the project, taken before it was read. Without it, it is taken when the tree is made.
    #[must_use]
    pub fn with_lock(mut self, lock: ProjectLock) -> Self {
        self.project = self.project.with_lock(lock);
        self
    }

    /// Runs the project's own scripts, which are seen, when it is installed: without the right to change it, which they may want to
    /// take. Gives labels of packages that they have changed for everybody who shares their files, which are this project's own
    /// then. `has_new`: whether packages were put in place just now.
    pub fn run_project_scripts(&mut self, has_new: bool) -> Result<Vec<String>, Fault> {
        self.project.release();
        Ok(self.project.run_own_scripts(has_new)?)
    }

    /// Labels of packages whose files scripts have changed that projects share, by installs which died before they could look after that.
    /// The store has them no more.
    pub fn left_changed(&self) -> &[String] {
        self.store.left_changed()
    }

    /// Changes nothing in the project.
    #[must_use]
    pub fn leaving_project_alone(mut self) -> Self {
        self.project = self.project.left_alone();
        self
    }

    /// Stops making the tree when `interrupt` is raised.
    #[must_use]
    pub fn with_interrupt(mut self, interrupt: Interrupt) -> Self {
        self.project = self.project.with_interrupt(interrupt);
        self
    }
}

impl Host for NativeHost {
    type Http = NativeHttp;
    type Clock = NativeClock;
    type Store = PackageDirectories;
    type Project = ProjectDirectory;

    fn registry(&self) -> &RegistryClient<NativeHttp, NativeClock> {
        &self.registry
    }

    fn store(&self) -> &PackageDirectories {
        &self.store
    }

    fn project(&self) -> &ProjectDirectory {
        &self.project
    }

    fn slots(&self) -> Slots {
        self.slots
    }

    fn forecast(&self) -> Option<Table<'static>> {
        // It is part of the program; a test reads all of it.
        Table::new(POPULAR).ok()
    }

    fn git(&self) -> Option<&dyn Git> {
        let git = self.git.get_or_init(|| {
            // What it fetches is kept there from others before any package is. If that fails git says so.
            let _ = self.store.prepare();
            NativeGit::find(&self.runtime, self.store.temporary(), &self.builder)
        });
        git.as_ref().map(|git| git as &dyn Git)
    }

    fn builder(&self) -> Option<&dyn Builder> {
        // As for git.
        let _ = self.store.prepare();
        Some(&*self.builder)
    }
}
