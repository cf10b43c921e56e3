//! The platform's suites on the in-memory files and the native clock and HTTP.

use gantry_conformance::{Exclusive, clock_suite, directory_suite, http_suite, mirror_suite, pack_store_suite};
use gantry_native::{HttpSettings, NativeClock, NativeDirectory, NativeHttp};
use gantry_platform::memory::MemoryDirectory;
use gantry_testkit::{Server, fixtures};
use tokio::runtime::Runtime;

#[test]
fn the_native_clock_conforms() {
    let report = Runtime::new().unwrap().block_on(clock_suite(&NativeClock::default()));
    assert!(report.holds(), "\n{report}");
}

#[test]
fn the_native_http_client_conforms() {
    let runtime = Runtime::new().unwrap();
    let report = runtime.block_on(async {
        let server = Server::start(fixtures::basic()).await.unwrap();
        let http = NativeHttp::new(runtime.handle().clone(), HttpSettings::default());
        http_suite(&http, server.url()).await
    });
    assert!(report.holds(), "\n{report}");
}

#[test]
fn files_in_memory_conform() {
    let runtime = Runtime::new().unwrap();
    let report = runtime.block_on(directory_suite(&MemoryDirectory::default(), Exclusive::NotNeeded));
    assert!(report.holds(), "\n{report}");
    let report = runtime.block_on(pack_store_suite(&MemoryDirectory::default()));
    assert!(report.holds(), "\n{report}");
}

#[test]
fn native_files_conform() {
    let folder = tempfile::tempdir().unwrap();
    let directory = NativeDirectory::new(folder.path().join("made/when/needed"));
    let runtime = Runtime::new().unwrap();
    let report = runtime.block_on(directory_suite(&directory, Exclusive::NotNeeded));
    assert!(report.holds(), "\n{report}");
    let report = runtime.block_on(pack_store_suite(&directory));
    assert!(report.holds(), "\n{report}");
}

#[test]
fn mirrors_in_memory_and_on_disk_conform() {
    let runtime = Runtime::new().unwrap();
    let clock = NativeClock::default();
    let report = runtime.block_on(mirror_suite(&MemoryDirectory::default(), &clock));
    assert!(report.holds(), "\n{report}");
    let folder = tempfile::tempdir().unwrap();
    let report = runtime.block_on(mirror_suite(&NativeDirectory::new(folder.path().join("mirror")), &clock));
    println!("{report}");
    assert!(report.holds(), "\n{report}");
}
