//! Large packages, which are unpacked while they come.

use super::*;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::fs::symlink;
use std::thread::sleep;
use std::time::{Duration, Instant};

const PATH: &str = "/large/-/large-1.0.0.tgz";

/// Bytes that no compressor makes fewer.
fn noise(length: u32) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[4]
    };
    (0..length).map(|_| next()).collect()
}

fn large() -> Registry {
    Registry::new().package("large", "1.0.0", |package| {
        let package = package.bin("large", "run.js").file("run.js", "#!/usr/bin/env node\r\nrun();\r\n");
        package.file("data.bin", noise(3 << 20)).file("lib/a.js", "a")
    })
}

impl Workshop {
    fn large(faults: Vec<FaultRule>) -> Self {
        let workshop = Self::with(large());
        for rule in faults {
            workshop.server.faults().add(rule);
        }
        workshop.dependencies(&[("large", "1")]);
        workshop
    }

    fn temporary(&self) -> usize {
        fs::read_dir(self.folder.path().join("store/v1/temporary")).map_or(0, Iterator::count)
    }

    fn tarballs(&self) -> usize {
        self.server.log().iter().filter(|entry| entry.path == PATH).count()
    }

    fn has_all_of_large(&self) {
        let place = self.project().join("node_modules/large");
        assert_eq!(fs::read(place.join("data.bin")).unwrap(), noise(3 << 20));
        assert_eq!(fs::read(place.join("lib/a.js")).unwrap(), b"a");
        assert_eq!(fs::read(place.join("run.js")).unwrap(), b"#!/usr/bin/env node\nrun();\r\n");
        assert_eq!(fs::metadata(place.join("run.js")).unwrap().permissions().mode() & 0o111, 0o111);
        // What was given up half-way is removed by a thread of its own, which this process waits for only when it ends.
        let given_up = Instant::now() + Duration::from_secs(10);
        while self.temporary() > 0 && Instant::now() < given_up {
            sleep(Duration::from_millis(5));
        }
        assert_eq!(self.temporary(), 0);
    }
}

#[test]
fn a_package_is_the_same_whole_and_as_it_comes() {
    for faults in [vec![], vec![FaultRule::always(PATH, Fault::NoLength)]] {
        let workshop = Workshop::large(faults);
        workshop.install().unwrap();
        workshop.has_all_of_large();
        assert_eq!(fs::read_dir(workshop.project().join("node_modules/large")).unwrap().count(), 4);
        assert_eq!(workshop.tarballs(), 1);
    }
}

#[test]
fn a_body_that_breaks_off_or_is_another_one_is_asked_for_again() {
    let faults = [
        Fault::Corrupt { at: None },
        Fault::Corrupt { at: Some(0) },
        Fault::Reset { after: 2 << 20 },
        Fault::Close { after: 2 << 20 },
        Fault::Truncate { after: 2 << 20 },
        Fault::WrongLength { by: 7 },
        Fault::HangInBody { after: 2 << 20 },
    ];
    for fault in faults {
        let workshop = Workshop::large(vec![FaultRule::times(PATH, 1, fault.clone())]);
        workshop.install().unwrap();
        workshop.has_all_of_large();
        assert_eq!(workshop.tarballs(), 2, "{fault:?}");
    }
}

#[test]
fn what_never_is_what_was_promised_leaves_nothing() {
    let workshop = Workshop::large(vec![FaultRule::always(PATH, Fault::Corrupt { at: Some(2 << 20) })]);
    let fault = workshop.install().unwrap_err().to_fault();
    assert_eq!(fault.code, "ARCHIVE_INTEGRITY");
    assert!(fault.message.contains("large@1.0.0"), "{}", fault.message);
    assert_eq!((workshop.tarballs(), workshop.temporary()), (2, 0));
    assert!(!workshop.has("node_modules/large"));
}

#[test]
fn what_is_what_was_promised_and_no_archive_is_not_asked_for_twice() {
    let registry = Registry::new().package("large", "1.0.0", |package| package.tarball(noise(3 << 20)));
    let workshop = Workshop::with(registry);
    let fault = workshop.dependencies(&[("large", "1")]).install().unwrap_err().to_fault();
    assert!(fault.code.starts_with("ARCHIVE_") && fault.code != "ARCHIVE_INTEGRITY", "{}", fault.code);
    assert_eq!((workshop.tarballs(), workshop.temporary()), (1, 0));
}

#[test]
fn a_place_that_cannot_be_written_to_is_an_error_and_not_a_wait() {
    let workshop = Workshop::large(Vec::new());
    fs::create_dir_all(workshop.folder.path().join("store/v1")).unwrap();
    // A file there would make way, a link may be the user's own.
    symlink("nowhere", workshop.folder.path().join("store/v1/temporary")).unwrap();
    let fault = workshop.install().unwrap_err().to_fault();
    assert!(fault.message.contains("v1/temporary"), "{}", fault.message);
    assert_eq!(workshop.tarballs(), 1);
}
