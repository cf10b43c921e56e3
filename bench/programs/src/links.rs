//! Putting packages in place by the product's own code, and by the plain loop over files that it is compared with.
use std::collections::BTreeSet;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use gantry_engine::{InstallMode, InstallRequest, PackageStore as _, ProjectTree as _, Slots, install};
use gantry_layout::{Omit, PackageKeys, Plan, plan};
use gantry_manifest::{Config, Lockfile};
use gantry_native::{
    HttpSettings, LinkMethod, NativeClock, NativeHost, NativeHostSettings, NativeHttp, PackageDirectories,
    ProjectDirectory, ScriptSettings,
};
use gantry_registry::{CacheMode, RegistrySettings, ReplaceHost, RetryPolicy};
use gantry_testkit::ServerOptions;
use tokio::runtime::Runtime;

use crate::shapes::Shape;

/// Anything that ends a measurement.
pub type Failure = Box<dyn Error + Send + Sync>;

/// A shape whose packages are in a store.
#[derive(Debug)]
pub struct Stored {
    store: Rc<PackageDirectories>,
    plan: Plan,
    /// Files that are put in place.
    pub files: usize,
    /// Their bytes.
    pub bytes: u64,
}

/// What putting a shape in place came to.
#[derive(Clone, Debug)]
pub struct Placed {
    /// How long it took.
    pub took: Duration,
    /// By which method, in the product's words.
    pub method: String,
    /// Why not by a better one.
    pub reason: Option<String>,
}

/// Installs a shape's packages once, from a registry in this process, so that `folder` has a store with them.
pub fn prepare(shape: &Shape, folder: &Path, runtime: &Runtime) -> Result<Stored, Failure> {
    let lock = folder.join(format!("{}.lock.json", shape.name));
    if !fs::exists(&lock)? {
        let server = ServerOptions::new(shape.registry()).start()?;
        let project = folder.join(format!("{}-first", shape.name));
        fs::create_dir_all(&project)?;
        let settings = NativeHostSettings {
            project,
            store: folder.join("store"),
            http: HttpSettings::default(),
            registry: RegistrySettings {
                config: Config::new(),
                default_registry: server.url().to_owned(),
                replace_host: ReplaceHost::Never,
                retry: RetryPolicy::default(),
                cache_mode: CacheMode::default(),
            },
            slots: Slots { documents: 32, packages: 32, together: 64 },
            global: None,
            scripts: ScriptSettings::default(),
        };
        let request = InstallRequest {
            package_json: serde_json::to_vec(&shape.manifest())?,
            package_json_path: "package.json".to_owned(),
            lockfile_path: "package-lock.json".to_owned(),
            ..InstallRequest::default()
        };
        let host = NativeHost::new(runtime.handle().clone(), settings);
        let outcome = runtime
            .block_on(install(&host, &request, &mut |_| {}))
            .map_err(|error| format!("shape {}: {error}", shape.name))?;
        fs::write(&lock, outcome.lockfile)?;
    }
    open(&fs::read(&lock)?, &folder.join("store"), runtime)
}

fn open(lock: &[u8], store: &Path, runtime: &Runtime) -> Result<Stored, Failure> {
    let http = NativeHttp::new(runtime.handle().clone(), HttpSettings::default());
    let store = Rc::new(PackageDirectories::new(store, http, NativeClock::default(), 1));
    let lock = Lockfile::parse(lock, "package-lock.json")?;
    // Everything in these locks has an integrity, so it matters to nothing whose it is.
    let plan = plan(&lock.to_text(), &BTreeSet::new(), &Omit::default(), PackageKeys::without_scripts(""), &|key| {
        store.index(key)
    })?;
    let indexes: Vec<_> = plan.packages.iter().filter_map(|package| store.index(&package.key)).collect();
    let files = indexes.iter().map(|index| index.files.len()).sum();
    let bytes = indexes.iter().flat_map(|index| &index.files).map(|file| file.size).sum();
    Ok(Stored { store, plan, files, bytes })
}

impl Stored {
    /// Makes `node_modules` in `project`, which is made too, as an install does: by `method` or, where that cannot be, the
    /// next lesser one.
    pub fn link(&self, project: &Path, method: LinkMethod, runtime: &Runtime) -> Result<Placed, Failure> {
        fs::create_dir_all(project)?;
        let directory = ProjectDirectory::new(project.to_owned(), Rc::clone(&self.store)).with_best_method(method);
        let begin = Instant::now();
        let report = runtime.block_on(directory.link(&self.plan, InstallMode::Install, &*self.store));
        let report = report.map_err(|fault| fault.message)?;
        Ok(Placed { took: begin.elapsed(), method: report.method, reason: report.reason })
    }

    /// The same tree by the simplest loop: for each file its folder, if the one before was in another, then the file, each
    /// by its whole path; one thread, one package after the other.
    pub fn loop_over_files(&self, project: &Path, method: LinkMethod) -> Result<Placed, Failure> {
        let jobs: Vec<(PathBuf, PathBuf, Arc<_>)> = self
            .plan
            .packages
            .iter()
            .filter_map(|package| {
                let index = self.store.index(&package.key)?;
                Some((self.store.files(&package.key), project.join(&package.path), index))
            })
            .collect();
        fs::create_dir_all(project)?;
        let begin = Instant::now();
        for (source, target, index) in &jobs {
            let mut made = PathBuf::new();
            for file in &index.files {
                let (from, to) = (source.join(&file.path), target.join(&file.path));
                if let Some(parent) = to.parent().filter(|parent| *parent != made) {
                    fs::create_dir_all(parent)?;
                    parent.clone_into(&mut made);
                }
                match method {
                    LinkMethod::HardLink => fs::hard_link(&from, &to)?,
                    LinkMethod::CloneDirectory | LinkMethod::Reflink => reflink_copy::reflink(&from, &to)?,
                    LinkMethod::Copy => drop(fs::copy(&from, &to)?),
                }
            }
        }
        Ok(Placed { took: begin.elapsed(), method: method.describe().to_owned(), reason: None })
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt as _;

    use super::*;

    #[test]
    fn a_shape_is_placed_by_the_method_that_was_asked_for() {
        let folder = tempfile::TempDir::new().expect("there is room for temporary files");
        let runtime = Runtime::new().expect("there are threads");
        let shape = Shape::named("64").expect("there is such a shape");
        let stored = prepare(shape, folder.path(), &runtime).expect("the shape installs");
        assert_eq!(stored.files, 64);
        let file = "node_modules/shape-64-0/lib/1/file-40.js";
        let read = |tree: &Path| fs::read(tree.join(file)).expect("the file is there");
        for (method, links) in [(LinkMethod::HardLink, true), (LinkMethod::Copy, false)] {
            let tree = folder.path().join(method.describe());
            let placed = stored.link(&tree, method, &runtime).expect("it can be linked");
            assert_eq!(placed.method, method.describe());
            let plain = folder.path().join(format!("{}-loop", method.describe()));
            stored.loop_over_files(&plain, method).expect("it can be linked");
            assert_eq!(read(&tree), read(&plain));
            for tree in [&tree, &plain] {
                let shared = fs::metadata(tree.join(file)).expect("the file is there").nlink() > 1;
                assert_eq!(shared, links, "{method:?}");
            }
        }
        // A second time nothing is installed again: the registry is gone.
        assert_eq!(prepare(shape, folder.path(), &runtime).expect("it is stored").bytes, stored.bytes);
    }
}
