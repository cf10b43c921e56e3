use super::{admits, installs_on};
use crate::Target;
use gantry_manifest::{Manifest, Text};

fn list(entries: &[&str]) -> Vec<Text> {
    entries.iter().map(|&entry| entry.into()).collect()
}

#[test]
fn lists_admit_and_exclude() {
    for (entries, expected) in [
        (&[][..], true),
        (&["any"], true),
        (&["linux"], true),
        (&["darwin"], false),
        (&["darwin", "linux"], true),
        (&["!win32"], true),
        (&["!linux"], false),
        (&["!win32", "!darwin"], true),
        (&["!win32", "darwin"], false),
        (&["any", "darwin"], false),
    ] {
        assert_eq!(admits(&list(entries), "linux"), expected, "{entries:?}");
    }
}

#[test]
fn an_unknown_c_library_fits_only_packages_that_name_none() {
    let target = Target { libc: None, ..Target::default() };
    assert!(installs_on(&Manifest::default(), &target));
    assert!(!installs_on(&Manifest { libc: list(&["!musl"]), ..Manifest::default() }, &target));
    assert!(installs_on(&Manifest { libc: list(&["glibc"]), ..Manifest::default() }, &Target::default()));
}
