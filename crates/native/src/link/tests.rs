use super::*;
use tempfile::TempDir;

fn linker(method: LinkMethod) -> Linker {
    Linker { method, reason: None, refused: Mutex::default() }
}

#[test]
fn a_file_that_the_method_is_refused_for_is_copied_and_counted() {
    let place = TempDir::new().unwrap();
    let (source, target) = (place.path().join("source"), place.path().join("target"));
    for errno in [Errno::MLINK, Errno::PERM, Errno::ACCESS, Errno::XDEV] {
        let linker = linker(LinkMethod::HardLink);
        assert_eq!(linker.reason(), None);
        fs::write(&source, errno.to_string()).unwrap();
        linker.copy_instead(&source, &target, errno.into()).unwrap();
        assert_eq!(fs::read_to_string(&target).unwrap(), errno.to_string());
        let reason = linker.reason().unwrap();
        assert!(reason.starts_with("1 files copied, for which hard link was refused: "), "{reason}");
    }
}

#[test]
fn other_failures_and_those_of_copying_are_told() {
    let place = TempDir::new().unwrap();
    let (source, target) = (place.path().join("source"), place.path().join("target"));
    fs::write(&source, "1").unwrap();
    for (method, errno) in [(LinkMethod::HardLink, Errno::NOSPC), (LinkMethod::Copy, Errno::ACCESS)] {
        let linker = linker(method);
        let error = linker.copy_instead(&source, &target, errno.into()).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(errno.raw_os_error()));
        assert!(fs::symlink_metadata(&target).is_err());
        assert_eq!(linker.reason(), None);
    }
}

#[test]
fn a_source_that_is_gone_is_a_damaged_package() {
    let place = TempDir::new().unwrap();
    let missing = || io::Error::from(io::ErrorKind::NotFound);
    let error = failure("link", &place.path().join("gone"), place.path(), missing());
    assert_eq!(error.code(), "STORE_CORRUPT");
    let error = failure("link", place.path(), &place.path().join("gone"), missing());
    assert_eq!(error.code(), "DISK_IO");
}
