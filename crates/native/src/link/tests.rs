use super::*;
use std::os::unix::fs::PermissionsExt;
use tempfile::TempDir;

fn linker(method: LinkMethod) -> Linker {
    Linker::new(method, None)
}

#[test]
fn a_file_that_the_method_is_refused_for_is_copied_and_counted() {
    let place = TempDir::new().unwrap();
    let (source, target) = (place.path().join("source"), place.path().join("target"));
    for errno in [Errno::MLINK, Errno::PERM, Errno::ACCESS, Errno::XDEV, Errno::INVAL, Errno::OPNOTSUPP] {
        let linker = linker(LinkMethod::HardLink);
        assert_eq!(linker.reason(), None);
        fs::write(&source, errno.to_string()).unwrap();
        linker.copy_instead(&source, &target, false, errno.into()).unwrap();
        assert_eq!(fs::read_to_string(&target).unwrap(), errno.to_string());
        fs::remove_file(&target).unwrap();
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
        let error = linker.copy_instead(&source, &target, false, errno.into()).unwrap_err();
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

#[test]
fn without_a_file_of_its_own_linking_is_tried_with_one_that_is_kept() {
    let place = TempDir::new().unwrap();
    let kept = Sample { directory: place.path().join("kept"), file: "package.json".to_owned() };
    fs::create_dir(&kept.directory).unwrap();
    fs::write(kept.path(), "{}").unwrap();
    let project = place.path().join("project");
    fs::create_dir(&project).unwrap();
    let linker = Linker::probe_with(LinkMethod::HardLink, Some(kept), &project).unwrap();
    assert_eq!((linker.method, linker.reason()), (LinkMethod::HardLink, None));
    assert_eq!(fs::read_dir(&project).unwrap().count(), 0);
    assert_eq!(fs::read_dir(place.path().join("kept")).unwrap().count(), 1);
    let linker = Linker::probe_with(LinkMethod::HardLink, None, &project).unwrap();
    assert_eq!((linker.method, linker.reason()), (LinkMethod::Copy, None));
}

/// As a file system sees it that takes two names of a package for one: there is something already.
#[test]
fn what_is_in_a_files_place_stays_and_is_not_written_to() {
    let place = TempDir::new().unwrap();
    let (source, stored, target) =
        (place.path().join("source"), place.path().join("stored"), place.path().join("target"));
    fs::write(&source, "of the second name").unwrap();
    fs::write(&stored, "of the first name").unwrap();
    fs::hard_link(&stored, &target).unwrap();
    for errno in [Errno::EXIST, Errno::MLINK, Errno::PERM, Errno::ACCESS, Errno::XDEV] {
        let linker = linker(LinkMethod::HardLink);
        linker.settle(&source, &target, false, errno.into()).unwrap();
        assert_eq!(fs::read_to_string(&stored).unwrap(), "of the first name");
        assert_eq!(linker.reason(), None);
    }
    assert_eq!(copy(&source, &target, false).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
    assert_eq!(fs::read_to_string(&stored).unwrap(), "of the first name");
    let error = linker(LinkMethod::HardLink).settle(&source, &target, false, Errno::NOSPC.into()).unwrap_err();
    assert_eq!(error.raw_os_error(), Some(Errno::NOSPC.raw_os_error()));
}

/// As in a store on exFAT or NTFS, where all files may be run, or none.
#[test]
fn a_copy_may_be_run_if_the_package_says_so_and_not_if_the_stores_file_may() {
    let place = TempDir::new().unwrap();
    for (stored, executable) in [(0o777, false), (0o644, true)] {
        let (source, target) = (place.path().join("source"), place.path().join(format!("target-{executable}")));
        fs::write(&source, "text").unwrap();
        fs::set_permissions(&source, fs::Permissions::from_mode(stored)).unwrap();
        copy(&source, &target, executable).unwrap();
        assert_eq!(fs::read_to_string(&target).unwrap(), "text");
        assert_eq!(fs::metadata(&target).unwrap().permissions().mode() & 0o100 != 0, executable);
    }
}
