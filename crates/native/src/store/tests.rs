use super::{Layout, PackageDirectories, STALE_SECONDS, sweep};
use crate::temporary::unique_name;
use crate::{HttpSettings, NativeClock, NativeHttp};
use std::fs::{self, File};
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
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

/// As on a server whose clock is not this machine's, and on file systems that know no times.
#[test]
fn only_what_is_old_by_its_time_and_by_its_name_is_swept() {
    let folder = tempfile::tempdir().unwrap();
    let long_ago = SystemTime::now() - Duration::from_secs(2 * STALE_SECONDS);
    let of_then = format!("package-1-{:016x}-0", long_ago.duration_since(UNIX_EPOCH).unwrap().as_nanos());
    let of_now = unique_name("package-");
    for (name, is_old, stays) in
        [(&*of_now, true, true), (&*of_then, false, true), (&*of_then, true, false), ("of-no-such-name", true, false)]
    {
        let path = folder.path().join(name);
        fs::create_dir_all(&path).unwrap();
        if is_old {
            File::open(&path).unwrap().set_modified(long_ago).unwrap();
        }
        sweep(folder.path());
        assert_eq!(path.exists(), stays, "{name}");
    }
}

#[test]
fn modes_are_kept_here() {
    let folder = tempfile::tempdir().unwrap();
    let layout = Layout::below(folder.path());
    assert!(layout.keeps_modes());
    assert_eq!(layout.temporaries(), Vec::<PathBuf>::new());
}
