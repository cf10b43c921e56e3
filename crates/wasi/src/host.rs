//! WASI as a platform of the pipeline.

use crate::clock::WasiClock;
use crate::http::NoNetwork;
use crate::project::WasiProject;
use crate::store::WasiStore;
use gantry_engine::{Host, Slots};
use gantry_registry::{RegistryClient, RegistrySettings};
use std::rc::Rc;

/// One at a time: a tarball is read, unpacked and let go of before the next one takes memory.
const SLOTS: Slots = Slots { documents: 1, packages: 1, together: 1 };

/// One install's platform.
#[derive(Debug)]
pub(crate) struct WasiHost {
    registry: RegistryClient<NoNetwork, WasiClock>,
    store: Rc<WasiStore>,
    project: WasiProject,
}

impl WasiHost {
    pub fn new(project: WasiProject, store: Rc<WasiStore>, registry: RegistrySettings) -> Self {
        Self { registry: RegistryClient::new(NoNetwork, WasiClock::default(), registry), store, project }
    }
}

impl Host for WasiHost {
    type Http = NoNetwork;
    type Clock = WasiClock;
    type Store = WasiStore;
    type Project = WasiProject;

    fn registry(&self) -> &RegistryClient<NoNetwork, WasiClock> {
        &self.registry
    }

    fn store(&self) -> &WasiStore {
        &self.store
    }

    fn project(&self) -> &WasiProject {
        &self.project
    }

    fn slots(&self) -> Slots {
        SLOTS
    }
}
