use super::TreeDigest;

/// Computed by another program.
const EXPECTED: &str = "14a1e35f480fe968ea4784f28d999e614be7b738f7b64f424d67fdb23c2b85c5";

fn digest(build: impl FnOnce(&mut TreeDigest)) -> String {
    let mut digest = TreeDigest::new();
    build(&mut digest);
    digest.finish()
}

#[test]
fn every_difference_shows() {
    let digests = [
        digest(|_| {}),
        digest(|tree| tree.file("a", false, b"")),
        digest(|tree| tree.file("a", true, b"")),
        digest(|tree| tree.symlink("a", "")),
        digest(|tree| tree.file("b", false, b"")),
        digest(|tree| tree.file("a", false, b"b")),
        digest(|tree| tree.file("ab", false, b"")),
        digest(|tree| {
            tree.file("a", false, b"");
            tree.file("b", false, b"");
        }),
    ];
    for (number, digest) in digests.iter().enumerate() {
        assert_eq!(digest.len(), 64);
        assert!(!digests[..number].contains(digest), "{number}");
    }
}

#[test]
fn the_format_does_not_change_unnoticed() {
    let digest = digest(|tree| {
        tree.symlink("node_modules/.bin/a", "../a/a.js");
        tree.file("node_modules/a/a.js", true, b"#!/usr/bin/env node\n");
        tree.file("node_modules/a/package.json", false, b"{}");
    });
    assert_eq!(digest, EXPECTED);
}

#[test]
#[should_panic(expected = "byte order")]
fn entries_out_of_order_are_a_mistake_of_the_program() {
    digest(|tree| {
        tree.file("b", false, b"");
        tree.file("a", false, b"");
    });
}
