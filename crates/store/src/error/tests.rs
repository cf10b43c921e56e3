use super::{CODES, StoreError};
use gantry_platform::{FileError, FileErrorKind};

fn failed(kind: FileErrorKind) -> FileError {
    FileError { kind, path: "pack-0".into(), message: "the platform's words".into() }
}

#[test]
fn every_error_has_a_code_of_the_list_and_advice() {
    let file = || "journal".to_owned();
    let source = || failed(FileErrorKind::Failed);
    let errors = [
        StoreError::Format { file: file(), problem: "x" },
        StoreError::Corrupt { file: file(), problem: "x" },
        StoreError::Missing { key: "x".into() },
        StoreError::TooLarge,
        StoreError::Full { source: source() },
        StoreError::Locked { source: source() },
        StoreError::Io { source: source() },
    ];
    assert_eq!(errors.iter().map(StoreError::code).collect::<Vec<_>>(), CODES);
    assert!(errors.iter().all(|error| error.hint().is_some()));
}

#[test]
fn failures_of_files_are_told_apart() {
    for (kind, code) in [
        (FileErrorKind::NoSpace, "STORE_FULL"),
        (FileErrorKind::Locked, "STORE_LOCKED"),
        (FileErrorKind::UnexpectedEnd, "STORE_CORRUPT"),
        (FileErrorKind::Denied, "STORE_IO"),
        (FileErrorKind::Unsupported, "STORE_IO"),
        (FileErrorKind::Failed, "STORE_IO"),
    ] {
        assert_eq!(StoreError::from(failed(kind)).code(), code);
    }
}
