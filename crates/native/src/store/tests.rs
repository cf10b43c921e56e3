use super::PackageDirectories;
use crate::temporary::unique_name;
use crate::{HttpSettings, NativeClock, NativeHttp};
use std::fs;
use tokio::runtime::Runtime;

#[test]
fn what_a_thread_has_in_hand_is_nobodys_that_died_when_its_store_is_gone() {
    let runtime = Runtime::new().expect("a runtime");
    let folder = tempfile::tempdir().expect("a folder");
    let open = || {
        let http = NativeHttp::new(runtime.handle().clone(), HttpSettings::default());
        PackageDirectories::new(folder.path(), http, NativeClock::default(), 1)
    };
    let temporary = folder.path().join("v1/temporary");
    fs::create_dir_all(&temporary).expect("made");
    let store = open();
    let in_hand = temporary.join(unique_name("package-"));
    fs::create_dir(&in_hand).expect("made");
    let held = store.held();
    drop(store);
    drop(open());
    assert!(in_hand.exists());
    drop(held);
    drop(open());
    assert!(!in_hand.exists());
}
