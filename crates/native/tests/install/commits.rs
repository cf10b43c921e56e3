//! A store that commits what several packages have brought in the flight of one of them.

use super::*;
use gantry_engine::{Fault as EngineFault, Host, IngestJob, IngestReport, PackageStore};
use gantry_native::{NativeClock, NativeHttp, PackageDirectories};
use gantry_registry::RegistryClient;
use gantry_store::{PackageIndex, PackageKey};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::time::{sleep, timeout};

/// How long a commit takes.
const COMMIT: Duration = Duration::from_secs(2);

/// A host with such a store, as a page's is.
struct Grouping<'h> {
    host: &'h NativeHost,
    store: GroupingStore<'h>,
}

/// Whoever brings `right` commits for all.
struct GroupingStore<'h> {
    packages: &'h PackageDirectories,
    /// Held during a commit.
    committing: Mutex<()>,
}

impl PackageStore for GroupingStore<'_> {
    fn index(&self, key: &PackageKey) -> Option<Arc<PackageIndex>> {
        self.packages.index(key)
    }

    async fn ingest(&self, job: IngestJob) -> Result<IngestReport, EngineFault> {
        let commits = job.name == "right";
        let report = self.packages.ingest(job).await?;
        if commits {
            self.commit().await?;
        }
        Ok(report)
    }

    async fn commit(&self) -> Result<(), EngineFault> {
        let _guard = self.committing.lock().await;
        sleep(COMMIT).await;
        self.packages.commit().await
    }

    async fn read_file(&self, key: &PackageKey, path: &str) -> Result<Option<Vec<u8>>, EngineFault> {
        self.packages.read_file(key, path).await
    }
}

impl<'h> Host for Grouping<'h> {
    type Http = NativeHttp;
    type Clock = NativeClock;
    type Store = GroupingStore<'h>;
    type Project = ProjectDirectory;

    fn registry(&self) -> &RegistryClient<NativeHttp, NativeClock> {
        self.host.registry()
    }

    fn store(&self) -> &GroupingStore<'h> {
        &self.store
    }

    fn project(&self) -> &ProjectDirectory {
        self.host.project()
    }

    fn slots(&self) -> Slots {
        self.host.slots()
    }
}

#[test]
fn an_install_does_not_wait_for_a_commit_that_nobody_drives() {
    let workshop = Workshop::new();
    workshop.dependencies(&[("right", "1"), ("peer-host", "1")]);
    // `right` is in the store, and its flight committing, when the last document comes and after it the last package.
    workshop.server.faults().add(FaultRule::always("/peer-host$", Fault::Delay { ms: 500 }));
    let host = workshop.host();
    let store = GroupingStore { packages: host.store(), committing: Mutex::new(()) };
    let host = Grouping { host: &host, store };
    let outcome = workshop.runtime.block_on(async {
        let (request, mut deaf) = (workshop.request(), |_| {});
        timeout(10 * COMMIT, install(&host, &request, &mut deaf)).await
    });
    assert_eq!(outcome.expect("it stands still").unwrap().packages, 3);
}
