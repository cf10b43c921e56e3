//! The list of codes is complete.

use super::*;

#[test]
fn every_error_has_a_listed_code_and_advice() {
    let file = || "x.json".to_owned();
    let errors = [
        ManifestError::ManifestJson { file: file(), line: 1, column: 1, message: String::new() },
        ManifestError::ManifestField { file: file(), field: "name".to_owned(), expected: "a string" },
        ManifestError::ManifestShape { file: file() },
        ManifestError::PackumentJson { offset: 0 },
        ManifestError::PackumentShape { problem: "it is not an object" },
        ManifestError::Workspaces { problem: String::new() },
        ManifestError::LockJson { file: file(), line: 1, column: 1, message: String::new() },
        ManifestError::LockShape { file: file(), problem: String::new() },
        ManifestError::LockConflict { file: file(), line: 1 },
        ManifestError::LockPath { file: file(), path: "../x".to_owned() },
        ManifestError::LockTooLarge { file: file(), what: "2 bytes".to_owned(), limit: 1 },
        ManifestError::LockVersion { file: file(), version: 4 },
    ];
    let codes: Vec<&str> = errors.iter().map(ManifestError::code).collect();
    assert_eq!(codes, CODES);
    assert!(errors.iter().all(|error| error.hint().is_some()));
}
