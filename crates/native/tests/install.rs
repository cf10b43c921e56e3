//! Installs on real files against the replay registry's fixtures: the pipeline from end to end, natively.
#![expect(clippy::unwrap_used, clippy::disallowed_methods, clippy::disallowed_types, reason = "tests on real files")]

use gantry_engine::{EngineError, Event, Extent, InstallMode, InstallRequest, Outcome, Phase, Slots, install};
use gantry_manifest::Config;
use gantry_native::{
    HttpSettings, Interrupt, NativeHost, NativeHostSettings, ProjectDirectory, ProjectLock, ScriptSettings,
    machine_target, tree_digest,
};
use gantry_registry::{CacheMode, RegistrySettings, ReplaceHost, RetryPolicy};
use gantry_resolver::ResolveOptions;
use gantry_testkit::fixtures::{Registry, basic};
use gantry_testkit::{Fault, FaultRule, RequestKind, Server};
use std::fs;
use std::path::PathBuf;
use tempfile::TempDir;
use tokio::runtime::Runtime;

#[path = "install/arriving.rs"]
mod arriving;
#[path = "install/commits.rs"]
mod commits;
#[path = "install/mirror.rs"]
mod mirror;
#[path = "install/rules.rs"]
mod rules;
#[path = "install/storms.rs"]
mod storms;

/// A project folder, a store and a registry of their own.
struct Workshop {
    runtime: Runtime,
    server: Server,
    folder: TempDir,
}

impl Workshop {
    fn new() -> Self {
        Self::with(Registry::new())
    }

    /// With a few more packages than the basic ones.
    fn with(packages: Registry) -> Self {
        let runtime = Runtime::new().unwrap();
        let server = runtime.block_on(Server::start(basic().merge(packages))).unwrap();
        let folder = TempDir::new().unwrap();
        fs::create_dir(folder.path().join("project")).unwrap();
        Self { runtime, server, folder }
    }

    fn project(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    fn manifest(&self, members: &str) -> &Self {
        fs::write(self.project().join("package.json"), format!("{{ \"name\": \"project\", {members} }}\n")).unwrap();
        self
    }

    fn dependencies(&self, dependencies: &[(&str, &str)]) -> &Self {
        let pairs: Vec<String> = dependencies.iter().map(|(name, spec)| format!("{name:?}: {spec:?}")).collect();
        let text = format!("{{ \"name\": \"project\", \"dependencies\": {{ {} }} }}\n", pairs.join(", "));
        fs::write(self.project().join("package.json"), text).unwrap();
        self
    }

    fn host(&self) -> NativeHost {
        self.host_with(CacheMode::Default)
    }

    fn host_with(&self, cache_mode: CacheMode) -> NativeHost {
        let retry = RetryPolicy {
            retries: 2,
            min_wait_milliseconds: 1.0,
            max_wait_milliseconds: 10.0,
            timeout_milliseconds: 1500,
            ..RetryPolicy::default()
        };
        self.host_that_is(cache_mode, retry)
    }

    fn host_that_is(&self, cache_mode: CacheMode, retry: RetryPolicy) -> NativeHost {
        let settings = NativeHostSettings {
            project: self.project(),
            store: self.folder.path().join("store"),
            http: HttpSettings::default(),
            registry: RegistrySettings {
                config: Config::new(),
                default_registry: self.server.url().to_owned(),
                replace_host: ReplaceHost::Never,
                retry,
                cache_mode,
            },
            slots: Slots { documents: 8, packages: 8, together: 16 },
            global: None,
            scripts: ScriptSettings::default(),
        };
        NativeHost::new(self.runtime.handle().clone(), settings)
    }

    fn request(&self) -> InstallRequest {
        let files = ProjectDirectory::read(&self.project()).unwrap();
        let mut resolve = ResolveOptions::default();
        resolve.target = machine_target(Some("20.20.2".to_owned()));
        InstallRequest {
            package_json: files.package_json.unwrap(),
            package_json_path: "package.json".to_owned(),
            lockfile: files.lockfile,
            lockfile_path: files.lockfile_name.to_owned(),
            resolve,
            ..InstallRequest::default()
        }
    }

    fn install(&self) -> Result<Outcome, EngineError> {
        self.install_with(&self.request(), &mut |_| {})
    }

    fn install_with(&self, request: &InstallRequest, listener: &mut dyn FnMut(Event)) -> Result<Outcome, EngineError> {
        let host = self.host();
        self.runtime.block_on(install(&host, request, listener))
    }

    /// The codes of all warnings of an install, after its outcome.
    fn warnings(&self, request: &InstallRequest) -> Result<Vec<String>, EngineError> {
        let mut codes = Vec::new();
        self.install_with(request, &mut |event| {
            if let Event::Warning { code, .. } = event {
                codes.push(code);
            }
        })?;
        Ok(codes)
    }

    fn code(&self) -> String {
        self.install().unwrap_err().to_fault().code.into_owned()
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.project().join(path)).unwrap()
    }

    fn has(&self, path: &str) -> bool {
        self.project().join(path).symlink_metadata().is_ok()
    }

    fn has_nothing_half_done(&self) -> bool {
        let names = fs::read_dir(self.project()).unwrap().map(|entry| entry.unwrap().file_name());
        names.into_iter().all(|name| !name.to_string_lossy().starts_with(".gantry-"))
    }
}

#[test]
fn a_first_install_makes_the_tree_its_bins_and_the_lock() {
    let workshop = Workshop::new();
    let outcome = workshop.dependencies(&[("@scope/middle", "^1.0.0"), ("left", "next")]).install().unwrap();
    assert_eq!(outcome.packages, 5, "left three times: at the top, and older ones for middle and right");
    assert_eq!(workshop.read("node_modules/left/index.js"), "module.exports = \"left 2\"\n");
    assert!(workshop.has("node_modules/@scope/middle/bin/middle.js"));
    assert_eq!(
        fs::read_link(workshop.project().join("node_modules/.bin/middle")).unwrap(),
        PathBuf::from("../@scope/middle/bin/middle.js")
    );
    assert!(workshop.read("package-lock.json").contains("\"lockfileVersion\": 3"));
    assert!(workshop.read("package-lock.json").contains("\"license\": \"ISC\""), "completed from the unpacked package");
    assert!(workshop.has("node_modules/.package-lock.json"));
    assert!(workshop.has_nothing_half_done());
}

#[test]
fn a_second_install_asks_nobody_and_changes_nothing() {
    let workshop = Workshop::new();
    workshop.dependencies(&[("right", "1")]).install().unwrap();
    let digest = tree_digest(&workshop.project()).unwrap();
    workshop.server.reset();
    let outcome = workshop.install().unwrap();
    assert_eq!((outcome.requests, outcome.lock_changed, outcome.link.linked), (0, false, 0));
    assert_eq!(workshop.server.stats().requests, 0);
    assert_eq!(tree_digest(&workshop.project()).unwrap(), digest);
}

#[test]
fn an_install_from_a_lock_asks_for_no_packument() {
    let workshop = Workshop::new();
    workshop.dependencies(&[("right", "1")]).install().unwrap();
    let digest = tree_digest(&workshop.project()).unwrap();
    fs::remove_dir_all(workshop.project().join("node_modules")).unwrap();
    fs::remove_dir_all(workshop.folder.path().join("store")).unwrap();
    workshop.server.reset();
    let request = InstallRequest { mode: InstallMode::Ci, ..workshop.request() };
    let outcome = workshop.install_with(&request, &mut |_| {}).unwrap();
    assert_eq!(outcome.requests, 2, "one for each tarball");
    assert_eq!(tree_digest(&workshop.project()).unwrap(), digest);
}

#[test]
fn changing_one_dependency_leaves_the_others_in_place() {
    let workshop = Workshop::new();
    workshop.dependencies(&[("right", "1"), ("executable", "1")]).install().unwrap();
    let outcome = workshop.dependencies(&[("right", "1"), ("peer-host", "2")]).install().unwrap();
    assert_eq!((outcome.link.linked, outcome.link.kept), (1, 2));
    assert!(!workshop.has("node_modules/executable"));
    assert!(workshop.has("node_modules/peer-host/package.json"));
    let fresh = Workshop::new();
    fresh.dependencies(&[("right", "1"), ("peer-host", "2")]).install().unwrap();
    let without_port = |workshop: &Workshop| {
        let hidden =
            workshop.read("node_modules/.package-lock.json").replace(workshop.server.url(), "http://registry/");
        fs::write(workshop.project().join("node_modules/.package-lock.json"), hidden).unwrap();
        tree_digest(&workshop.project()).unwrap()
    };
    assert_eq!(without_port(&workshop), without_port(&fresh));
    assert!(workshop.has_nothing_half_done());
}

#[test]
fn what_a_user_put_into_node_modules_survives() {
    let workshop = Workshop::new();
    workshop.dependencies(&[("left", "1.0.0")]).install().unwrap();
    fs::create_dir(workshop.project().join("node_modules/.cache")).unwrap();
    fs::write(workshop.project().join("node_modules/.cache/mine"), "x").unwrap();
    workshop.dependencies(&[("left", "1.1.0")]).install().unwrap();
    assert!(workshop.has("node_modules/.cache/mine"));
    assert!(workshop.read("node_modules/left/index.js").contains("1.1.0"));
}

#[test]
fn a_package_that_was_damaged_in_node_modules_comes_back() {
    let workshop = Workshop::new();
    workshop.dependencies(&[("right", "1")]).install().unwrap();
    fs::remove_file(workshop.project().join("node_modules/left/package.json")).unwrap();
    workshop.install().unwrap();
    assert!(workshop.has("node_modules/left/package.json"));
}

#[test]
fn bundled_packages_come_with_their_bundler() {
    let workshop = Workshop::new();
    workshop.dependencies(&[("with-bundle", "1")]).install().unwrap();
    assert!(workshop.has("node_modules/with-bundle/node_modules/inside/package.json"));
    assert!(workshop.read("package-lock.json").contains("\"inBundle\": true"));
}

#[test]
fn optional_packages_of_other_platforms_are_locked_and_not_installed() {
    let workshop = Workshop::new();
    workshop.dependencies(&[("with-optional", "1")]).install().unwrap();
    assert!(!workshop.has("node_modules/only-elsewhere"));
    assert!(workshop.read("package-lock.json").contains("node_modules/only-elsewhere"));
    assert!(!workshop.read("node_modules/.package-lock.json").contains("node_modules/only-elsewhere"));
}

#[test]
fn a_lock_alone_can_be_made() {
    let workshop = Workshop::new();
    workshop.dependencies(&[("right", "1")]);
    let request = InstallRequest { extent: Extent::LockOnly, ..workshop.request() };
    workshop.install_with(&request, &mut |_| {}).unwrap();
    assert!(workshop.has("package-lock.json") && !workshop.has("node_modules"));
    let alone = workshop.read("package-lock.json");
    fs::remove_file(workshop.project().join("package-lock.json")).unwrap();
    workshop.install().unwrap();
    assert_eq!(workshop.read("package-lock.json"), alone, "completed from version documents instead of packages");
}

#[test]
fn every_bad_package_fails_with_its_code_and_leaves_nothing() {
    let cases = [
        ("bad-integrity", "ARCHIVE_INTEGRITY"),
        ("truncated", "ARCHIVE_INTEGRITY"),
        ("broken-archive", "ARCHIVE_TRUNCATED"),
        ("not-an-archive", "ARCHIVE_FORMAT"),
        ("missing-tarball", "REGISTRY_NOT_FOUND"),
        ("corrupt-tarball", "ARCHIVE_INTEGRITY"),
        ("html-packument", "REGISTRY_PACKUMENT"),
        ("garbled-packument", "REGISTRY_UNREACHABLE"),
        ("deep-packument", "REGISTRY_PACKUMENT"),
        ("hang", "REGISTRY_TIMEOUT"),
        ("hang-tarball", "REGISTRY_TIMEOUT"),
        ("reset-tarball", "REGISTRY_UNREACHABLE"),
        ("always-busy", "REGISTRY_STATUS"),
        ("redirect-loop", "REGISTRY_UNREACHABLE"),
        ("never-published", "RESOLVE_PACKAGE_NOT_FOUND"),
    ];
    for (name, code) in cases {
        let workshop = Workshop::new();
        workshop.dependencies(&[(name, "1"), ("right", "1")]);
        let error = workshop.install().unwrap_err();
        let fault = error.to_fault();
        assert_eq!(fault.code, code, "{name}: {fault:?}");
        assert!(fault.message.contains(name), "{name} is named in: {}", fault.message);
        assert!(!workshop.has("node_modules") && !workshop.has("package-lock.json"), "{name}");
        assert!(workshop.has_nothing_half_done(), "{name}");
        workshop.dependencies(&[("right", "1")]).install().unwrap();
        assert!(workshop.has("node_modules/right/cli.js"), "the next install works after {name}");
    }
}

#[test]
fn what_is_transient_is_tried_again() {
    for name in ["reset-once", "busy-twice"] {
        let workshop = Workshop::new();
        workshop.dependencies(&[(name, "1")]).install().unwrap();
        assert!(workshop.has(&format!("node_modules/{name}/index.js")));
    }
}

#[test]
fn a_tarball_damaged_once_is_fetched_once_more() {
    let workshop = Workshop::new();
    workshop.server.faults().add(FaultRule::times("/left/-/", 1, Fault::Corrupt { at: None }));
    workshop.dependencies(&[("left", "1.1.0")]).install().unwrap();
    assert!(workshop.has("node_modules/left/lib/deep/part.js"));
}

#[test]
fn a_registry_that_is_down_is_named() {
    let workshop = Workshop::new();
    workshop.dependencies(&[("left", "1")]);
    let host = workshop.host();
    let Workshop { runtime, server, folder } = workshop;
    drop(server);
    let files = ProjectDirectory::read(&folder.path().join("project")).unwrap();
    let request = InstallRequest { package_json: files.package_json.unwrap(), ..InstallRequest::default() };
    let fault = runtime.block_on(install(&host, &request, &mut |_| {})).unwrap_err().to_fault();
    assert_eq!(fault.code, "REGISTRY_UNREACHABLE");
    assert!(fault.hint.is_some());
}

#[test]
fn a_cancelled_install_leaves_a_store_that_the_next_one_uses() {
    let workshop = Workshop::new();
    workshop.dependencies(&[("right", "1"), ("hang-tarball", "1")]);
    let (host, request) = (workshop.host(), workshop.request());
    let both_arrived = tokio::sync::Notify::new();
    let mut arrived = 0;
    let mut listener = |event: Event| {
        arrived += u32::from(matches!(event, Event::Package { .. }));
        if arrived == 2 {
            both_arrived.notify_one();
        }
    };
    workshop.runtime.block_on(async {
        tokio::select! {
            outcome = install(&host, &request, &mut listener) => panic!("the hanging tarball holds the install up: {outcome:?}"),
            () = both_arrived.notified() => {}
        }
    });
    assert!(!workshop.has("node_modules") && workshop.has_nothing_half_done());
    workshop.server.reset();
    let outcome = workshop.dependencies(&[("right", "1")]).install().unwrap();
    assert_eq!(outcome.reused, 2, "what had arrived is used");
}

#[test]
fn ci_refuses_a_lock_that_does_not_fit_and_touches_nothing() {
    let workshop = Workshop::new();
    workshop.dependencies(&[("right", "1")]).install().unwrap();
    workshop.dependencies(&[("right", "1"), ("executable", "1")]);
    let request = InstallRequest { mode: InstallMode::Ci, ..workshop.request() };
    let fault = workshop.install_with(&request, &mut |_| {}).unwrap_err().to_fault();
    assert_eq!(fault.code, "LOCK_OUT_OF_SYNC");
    assert!(fault.message.contains("executable"), "{}", fault.message);
    assert!(workshop.has("node_modules/right/cli.js"));
    let request = InstallRequest { lockfile: None, ..request };
    assert_eq!(workshop.install_with(&request, &mut |_| {}).unwrap_err().to_fault().code, "LOCK_MISSING");
}

#[test]
fn a_malformed_package_json_is_named() {
    let workshop = Workshop::new();
    fs::write(workshop.project().join("package.json"), "{ \"dependencies\": ").unwrap();
    assert_eq!(workshop.code(), "MANIFEST_JSON");
}

#[test]
fn events_tell_the_whole_story_in_order() {
    let workshop = Workshop::new();
    workshop.dependencies(&[("right", "1")]);
    let mut events = Vec::new();
    workshop.install_with(&workshop.request(), &mut |event| events.push(event)).unwrap();
    let phases: Vec<String> = events
        .iter()
        .filter_map(|event| match event {
            Event::Phase { phase } => Some(format!("{phase:?}")),
            _ => None,
        })
        .collect();
    assert_eq!(phases, ["Resolve", "Fetch", "Link", "Lock"]);
    assert!(matches!(events.last(), Some(Event::Done { packages: 2, .. })));
    let packages = events.iter().filter(|event| matches!(event, Event::Package { reused: false, .. })).count();
    assert_eq!(packages, 2);
}

#[test]
fn a_damaged_lock_is_made_anew_and_one_of_a_kind_not_read_yet_is_kept() {
    let workshop = Workshop::new();
    workshop.dependencies(&[("left", "1.0.0")]);
    let lock = workshop.project().join("package-lock.json");
    fs::write(&lock, "{ \"lockfileVersion\": 3, ").unwrap();
    let mut warnings = Vec::new();
    workshop
        .install_with(&workshop.request(), &mut |event| {
            if let Event::Warning { code, .. } = event {
                warnings.push(code);
            }
        })
        .unwrap();
    assert_eq!(warnings, ["LOCK_JSON"]);
    fs::write(&lock, "{ \"lockfileVersion\": 3, \"packages\": { \"../evil\": {} } }").unwrap();
    assert_eq!(workshop.code(), "LOCK_PATH");
}

#[test]
fn a_lock_of_version_1_is_brought_up_to_date_once() {
    let workshop = Workshop::new();
    workshop.dependencies(&[("left", "^1.0.0")]);
    let lock = workshop.project().join("package-lock.json");
    let old =
        "{ \"lockfileVersion\": 1, \"requires\": true, \"dependencies\": { \"left\": { \"version\": \"1.0.0\" } } }";
    fs::write(&lock, old).unwrap();
    assert_eq!(workshop.warnings(&workshop.request()).unwrap(), ["LOCK_OLD"]);
    let text = fs::read_to_string(&lock).unwrap();
    assert!(text.contains("\"lockfileVersion\": 3") && text.contains("\"version\": \"1.0.0\""), "{text}");
    assert_eq!(workshop.warnings(&workshop.request()).unwrap(), Vec::<String>::new());
}

#[test]
fn what_package_json_no_longer_asks_for_leaves_the_lock_and_the_tree() {
    let workshop = Workshop::new();
    workshop.dependencies(&[("right", "1"), ("executable", "1")]).install().unwrap();
    workshop.dependencies(&[("right", "1")]);
    workshop.server.reset();
    let request = InstallRequest { mode: InstallMode::Ci, ..workshop.request() };
    workshop.install_with(&request, &mut |_| {}).unwrap();
    assert!(!workshop.has("node_modules/executable"), "ci leaves it out");
    assert!(workshop.read("package-lock.json").contains("node_modules/executable"), "and leaves the lock alone");
    workshop.install().unwrap();
    assert!(!workshop.read("package-lock.json").contains("executable"));
    assert_eq!(workshop.server.stats().requests, 0);
}

#[test]
fn an_install_that_is_interrupted_while_it_links_leaves_what_was_there() {
    let workshop = Workshop::new();
    workshop.dependencies(&[("left", "1.0.0")]).install().unwrap();
    let before = tree_digest(&workshop.project()).unwrap();
    workshop.dependencies(&[("left", "1.1.0"), ("right", "1")]);
    let interrupt = Interrupt::default();
    let host = workshop.host().with_interrupt(interrupt.clone());
    let mut stop_at_linking = |event: Event| {
        if let Event::Phase { phase: Phase::Link } = event {
            interrupt.raise();
        }
    };
    let outcome = workshop.runtime.block_on(install(&host, &workshop.request(), &mut stop_at_linking));
    assert_eq!(outcome.unwrap_err().to_fault().code, "CANCELLED");
    assert_eq!(tree_digest(&workshop.project()).unwrap(), before);
    assert!(workshop.has_nothing_half_done());
    workshop.install().unwrap();
    assert!(workshop.read("node_modules/left/index.js").contains("1.1.0"));
}

#[test]
fn a_project_is_changed_by_one_install_at_a_time() {
    let workshop = Workshop::new();
    workshop.dependencies(&[("left", "1.0.0")]);
    let lock = ProjectLock::take(&workshop.project()).unwrap().unwrap();
    assert_eq!(ProjectLock::take(&workshop.project()).unwrap_err().code(), "PROJECT_BUSY");
    assert_eq!(workshop.code(), "PROJECT_BUSY", "who has no lock needs one");
    let host = workshop.host().with_lock(lock);
    workshop.runtime.block_on(install(&host, &workshop.request(), &mut |_| {})).unwrap();
    drop(host);
    workshop.install().unwrap();
    assert!(ProjectLock::take(&workshop.folder.path().join("nowhere")).unwrap().is_none());
}

#[test]
fn what_a_killed_install_left_is_put_right_by_the_next_lock() {
    let workshop = Workshop::new();
    workshop.dependencies(&[("left", "1.0.0")]).install().unwrap();
    let project = workshop.project();
    let before = tree_digest(&project).unwrap();
    // Killed between its two renames: the old tree is set aside, the new one not in place yet.
    let workspace = ".gantry-1-18d3a5b6c7d8e9f0-0";
    fs::create_dir_all(project.join(workspace).join("old")).unwrap();
    fs::create_dir_all(project.join(workspace).join("new/node_modules/left")).unwrap();
    fs::rename(project.join("node_modules"), project.join(workspace).join("old/node_modules")).unwrap();
    drop(ProjectLock::take(&project).unwrap());
    assert_eq!(tree_digest(&project).unwrap(), before);
    assert!(workshop.has_nothing_half_done());
    // Killed after the exchange: what it had not carried over is with the old tree.
    fs::create_dir_all(project.join(workspace).join("new/node_modules/.cache")).unwrap();
    fs::write(project.join(workspace).join("hidden-lock"), "{").unwrap();
    fs::create_dir_all(project.join("node_modules").join(workspace).join("old")).unwrap();
    fs::write(project.join(".gantry-package-lock.json-4-18d3a5b6c7d8e9f0-0"), "{").unwrap();
    drop(ProjectLock::take(&project).unwrap());
    assert!(workshop.has("node_modules/.cache") && !workshop.has(&format!("node_modules/{workspace}")));
    assert!(workshop.has_nothing_half_done());
}
