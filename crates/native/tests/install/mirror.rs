//! What is kept of the registry's documents, and what a second run makes of it.

use super::*;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

const DEPENDENCIES: &[(&str, &str)] = &[("@scope/middle", "^1.0.0"), ("left", "next"), ("with-optional", "1")];

impl Workshop {
    fn metadata(&self) -> PathBuf {
        self.folder.path().join("store/v1/metadata")
    }

    fn file(&self, prefix: &str) -> PathBuf {
        let names = fs::read_dir(self.metadata()).unwrap().map(|entry| entry.unwrap().path());
        let is_it = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().starts_with(prefix);
        names.into_iter().find(is_it).unwrap()
    }

    /// Resolves anew, without a lock; gives the lock, the requests and the codes of warnings.
    fn resolve(&self, mode: CacheMode) -> Result<(String, u64, Vec<String>), EngineError> {
        let _ = fs::remove_file(self.project().join("package-lock.json"));
        let request = InstallRequest { extent: Extent::LockOnly, ..self.request() };
        let host = self.host_with(mode);
        self.server.reset();
        let mut warnings = Vec::new();
        let mut listener = |event: Event| {
            if let Event::Warning { code, .. } = event {
                warnings.push(code);
            }
        };
        let outcome = self.runtime.block_on(install(&host, &request, &mut listener))?;
        // On a busy machine a request may be given up before the server has seen it.
        let (counted, seen) = (u64::from(outcome.requests), self.server.stats().requests);
        assert!(counted >= seen && (counted == 0) == (seen == 0), "{counted} requests counted, {seen} seen");
        Ok((self.read("package-lock.json"), self.server.stats().requests, warnings))
    }
}

#[test]
fn a_warm_resolve_asks_nobody_and_writes_the_same_lock() {
    let workshop = Workshop::new();
    let (lock, cold, _) = workshop.dependencies(DEPENDENCIES).resolve(CacheMode::Default).unwrap();
    assert!(cold > 5);
    assert!(lock.contains("\"license\": \"ISC\""), "completed from version documents");
    let (again, warm, warnings) = workshop.resolve(CacheMode::Default).unwrap();
    assert_eq!((again, warm, warnings), (lock, 0, vec![]));
}

#[test]
fn an_install_keeps_what_a_resolve_needs() {
    let workshop = Workshop::new();
    workshop.dependencies(DEPENDENCIES).install().unwrap();
    fs::remove_file(workshop.project().join("package-lock.json")).unwrap();
    fs::remove_dir_all(workshop.project().join("node_modules")).unwrap();
    workshop.server.reset();
    let outcome = workshop.install().unwrap();
    assert_eq!((outcome.requests, workshop.server.stats().requests), (0, 0));
}

#[test]
fn what_is_asked_again_is_asked_on_condition_and_never_sent_twice() {
    let workshop = Workshop::new();
    let (lock, _, _) = workshop.dependencies(DEPENDENCIES).resolve(CacheMode::Default).unwrap();
    let pack = fs::metadata(workshop.file("metadata-pack-")).unwrap().len();
    let (again, requests, warnings) = workshop.resolve(CacheMode::PreferOnline).unwrap();
    assert_eq!((again, warnings), (lock, vec![]));
    assert_eq!(requests, workshop.server.stats().not_modified);
    let log = workshop.server.log();
    let versions = log.iter().filter(|entry| entry.kind == RequestKind::Version).map(|entry| &*entry.path);
    // It stands for a packument, so it is asked again as one; what only completes a lock's fields is not.
    assert_eq!(versions.collect::<Vec<_>>(), ["/only-elsewhere/1.0.0"]);
    assert!(requests >= 3);
    assert_eq!(fs::metadata(workshop.file("metadata-pack-")).unwrap().len(), pack);
}

#[test]
fn offline_is_enough_where_everything_is_kept_and_an_error_where_not() {
    let workshop = Workshop::new();
    let code = workshop.dependencies(DEPENDENCIES).resolve(CacheMode::Offline).unwrap_err().to_fault();
    assert_eq!(code.code, "REGISTRY_NOT_CACHED");
    assert!(code.hint.is_some() && code.package.is_some());
    assert_eq!(workshop.server.stats().requests, 0);
    let (lock, _, _) = workshop.resolve(CacheMode::Default).unwrap();
    for mode in [CacheMode::Offline, CacheMode::PreferOffline] {
        assert_eq!(workshop.resolve(mode).unwrap(), (lock.clone(), 0, vec![]));
    }
    let tree = InstallRequest { lockfile: None, ..workshop.request() };
    let error = workshop.runtime.block_on(install(&workshop.host_with(CacheMode::Offline), &tree, &mut |_| {}));
    assert_eq!(error.unwrap_err().to_fault().code, "REGISTRY_NOT_CACHED", "the packages themselves are not there");
    assert!(!workshop.has("node_modules"));
}

#[test]
fn a_registry_that_is_gone_is_a_warning_where_its_documents_are_kept() {
    let workshop = Workshop::new();
    let (lock, _, _) = workshop.dependencies(DEPENDENCIES).resolve(CacheMode::Default).unwrap();
    let request = InstallRequest { extent: Extent::LockOnly, lockfile: None, ..workshop.request() };
    workshop.server.faults().add(FaultRule::always("*", Fault::HangBeforeHeaders));
    let mut warnings = Vec::new();
    let mut listener = |event: Event| {
        if let Event::Warning { code, .. } = event {
            warnings.push(code);
        }
    };
    let host = workshop.host_with(CacheMode::PreferOnline);
    let outcome = workshop.runtime.block_on(install(&host, &request, &mut listener)).unwrap();
    assert_eq!(String::from_utf8(outcome.lockfile).unwrap(), lock);
    assert_eq!(warnings, ["REGISTRY_STALE"]);
}

#[test]
fn any_damaged_byte_of_the_documents_costs_requests_and_nothing_else() {
    let workshop = Workshop::new();
    let (lock, cold, _) = workshop.dependencies(DEPENDENCIES).resolve(CacheMode::Default).unwrap();
    let (pack, journal) = (workshop.file("metadata-pack-"), workshop.file("metadata-journal-"));
    let whole = [(&pack, fs::read(&pack).unwrap()), (&journal, fs::read(&journal).unwrap())];
    let mut asked = 0;
    for (path, bytes) in &whole {
        for at in (0..bytes.len()).step_by(bytes.len() / 40) {
            for (path, bytes) in &whole {
                fs::write(path, bytes).unwrap();
            }
            let mut changed = bytes.clone();
            changed[at] ^= 0x20;
            fs::write(path, changed).unwrap();
            let (again, requests, warnings) = workshop.resolve(CacheMode::Default).unwrap();
            assert_eq!((&again, warnings), (&lock, vec![]), "{} at {at}", path.display());
            assert!(requests <= cold);
            asked += requests;
            // Compaction or a new generation may have renamed them.
            let _ = fs::remove_dir_all(workshop.metadata());
            fs::create_dir_all(workshop.metadata()).unwrap();
        }
    }
    assert!(asked > 40, "damage was noticed");
}

#[test]
fn while_another_process_writes_nothing_is_kept_and_nothing_fails() {
    let workshop = Workshop::new();
    fs::create_dir_all(workshop.metadata()).unwrap();
    let lock = fs::File::create(workshop.metadata().join("lock")).unwrap();
    lock.lock().unwrap();
    let (_, cold, warnings) = workshop.dependencies(DEPENDENCIES).resolve(CacheMode::Default).unwrap();
    assert_eq!(warnings, Vec::<String>::new());
    assert_eq!(workshop.resolve(CacheMode::Default).unwrap().1, cold);
    drop(lock);
    assert_eq!(workshop.resolve(CacheMode::Default).unwrap().1, cold);
    assert_eq!(workshop.resolve(CacheMode::Default).unwrap().1, 0);
}

#[test]
fn a_mirror_that_cannot_be_written_is_a_warning() {
    let workshop = Workshop::new();
    fs::create_dir_all(workshop.metadata().parent().unwrap()).unwrap();
    fs::write(workshop.metadata(), "in the way").unwrap();
    let (lock, _, warnings) = workshop.dependencies(DEPENDENCIES).resolve(CacheMode::Default).unwrap();
    assert_eq!(warnings, ["MIRROR_FAILED"]);
    assert!(lock.contains("node_modules/left"));
}

#[test]
fn a_store_that_may_only_be_read_is_read() {
    let workshop = Workshop::new();
    let (lock, _, _) = workshop.dependencies(DEPENDENCIES).resolve(CacheMode::Default).unwrap();
    let set = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    let files = [workshop.file("metadata-pack-"), workshop.file("metadata-journal-")];
    files.iter().for_each(|file| set(file, 0o444));
    set(&workshop.metadata(), 0o555);
    let result = workshop.resolve(CacheMode::Default);
    set(&workshop.metadata(), 0o755);
    assert_eq!(result.unwrap(), (lock, 0, vec![]));
}

#[test]
fn installs_at_once_leave_a_mirror_that_is_whole() {
    let workshop = Workshop::new();
    let (lock, _, _) = workshop.dependencies(DEPENDENCIES).resolve(CacheMode::Default).unwrap();
    fs::remove_dir_all(workshop.metadata()).unwrap();
    let request = InstallRequest { extent: Extent::LockOnly, lockfile: None, ..workshop.request() };
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..5 {
                    let host = workshop.host_with(CacheMode::PreferOnline);
                    let outcome = workshop.runtime.block_on(install(&host, &request, &mut |_| {})).unwrap();
                    assert_eq!(String::from_utf8(outcome.lockfile).unwrap(), lock);
                }
            });
        }
    });
    let (again, requests, _) = workshop.resolve(CacheMode::Default).unwrap();
    assert_eq!((again, requests), (lock, 0));
}
