//! The browser as a platform of the pipeline.

use crate::clock::BrowserClock;
use crate::fetch::BrowserHttp;
use crate::project::BrowserProject;
use crate::store::BrowserStore;
use gantry_engine::{Host, Slots};
use gantry_registry::RegistryClient;
use std::rc::Rc;

/// What a browser runs to one host over HTTP/1.1 is six requests; over HTTP/2 it is a hundred or so, and the page itself
/// is the limit at about a thousand requests a second. Over HTTP/2 and 30 ms cra5 takes 0.94 of the time that it takes with 64.
const DOCUMENT_SLOTS: usize = 128;
/// The pool queues by itself; this bounds how far ahead of it the pipeline runs.
const PACKAGE_SLOTS: usize = 128;

/// One install's platform.
#[derive(Debug)]
pub(crate) struct BrowserHost {
    pub registry: Rc<RegistryClient<BrowserHttp, BrowserClock>>,
    pub store: Rc<BrowserStore>,
    pub project: BrowserProject,
}

impl Host for BrowserHost {
    type Http = BrowserHttp;
    type Clock = BrowserClock;
    type Store = BrowserStore;
    type Project = BrowserProject;

    fn registry(&self) -> &RegistryClient<BrowserHttp, BrowserClock> {
        &self.registry
    }

    fn store(&self) -> &BrowserStore {
        &self.store
    }

    fn project(&self) -> &BrowserProject {
        &self.project
    }

    fn slots(&self) -> Slots {
        Slots { documents: DOCUMENT_SLOTS, packages: PACKAGE_SLOTS, together: DOCUMENT_SLOTS }
    }
}
