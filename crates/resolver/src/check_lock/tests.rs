use super::{check_machine, optional_set};
use crate::ResolveOptions;
use gantry_manifest::{Lockfile, Manifest};
use std::collections::BTreeSet;

fn lock(packages: &str) -> Lockfile {
    let text = format!(r#"{{"name":"p","lockfileVersion":3,"requires":true,"packages":{packages}}}"#);
    Lockfile::parse(text.as_bytes(), "package-lock.json").expect("a lock")
}

fn manifest(text: &str) -> Manifest {
    Manifest::parse_package_json(text.as_bytes(), "package.json").expect("a manifest")
}

fn lock_satisfies(root: &Manifest, lock: &Lockfile) -> Result<(), Vec<String>> {
    super::lock_satisfies(&root.clone().into(), lock, &ResolveOptions::default())
}

#[test]
fn a_lock_that_fits() {
    let lock = lock(
        r#"{"": {"dependencies": {"a": "^1.0.0"}}, "node_modules/a": {"version": "1.2.0", "dependencies": {"b": "2"}},
            "node_modules/b": {"version": "2.0.0", "peerDependencies": {"c": "1"}, "peerDependenciesMeta": {"c": {"optional": true}}}}"#,
    );
    assert_eq!(lock_satisfies(&manifest(r#"{"dependencies": {"a": "^1.0.0"}}"#), &lock), Ok(()));
    // Only what is wanted counts, not how the lock's own root entry puts it.
    assert_eq!(lock_satisfies(&manifest(r#"{"devDependencies": {"a": "1.2.0"}}"#), &lock), Ok(()));
}

#[test]
fn what_is_missing_or_wrong_is_named() {
    let lock = lock(
        r#"{"": {}, "node_modules/a": {"version": "1.2.0", "dependencies": {"b": "2", "x": "1"}}, "node_modules/b": {"version": "1.0.0"},
            "node_modules/z": {"version": "1.0.0", "dependencies": {"nowhere": "1"}}}"#,
    );
    let root = manifest(r#"{"dependencies": {"a": "^2.0.0", "c": "^3.0.0"}, "optionalDependencies": {"o": "4.0.0"}}"#);
    let expected = [
        "Invalid: lock file's a@1.2.0 does not satisfy a@^2.0.0",
        "Missing: c@^3.0.0 from lock file",
        "Missing: o@4.0.0 from lock file",
        "Missing: x@1 from lock file",
        "Invalid: lock file's b@1.0.0 does not satisfy b@2",
    ];
    let mut actual = lock_satisfies(&root, &lock).expect_err("it does not fit");
    let mut expected: Vec<String> = expected.iter().map(|&text| text.to_owned()).collect();
    actual.sort();
    expected.sort();
    assert_eq!(actual, expected);
}

#[test]
fn optional_packages_for_other_machines_go_with_what_only_they_need() {
    let lock = lock(
        r#"{"": {"dependencies": {"a": "1"}}, "node_modules/a": {"version": "1.0.0", "optionalDependencies": {"linux": "1", "mac": "1"}},
            "node_modules/linux": {"version": "1.0.0", "optional": true, "os": ["linux"], "dependencies": {"shared": "1"}},
            "node_modules/mac": {"version": "1.0.0", "optional": true, "os": ["darwin"], "dependencies": {"own": "1", "shared": "1"}},
            "node_modules/own": {"version": "1.0.0", "optional": true}, "node_modules/shared": {"version": "1.0.0", "optional": true}}"#,
    );
    let checked = check_machine(&lock, &ResolveOptions::default()).expect("it can be installed");
    assert_eq!(checked.inert.into_iter().collect::<Vec<_>>(), ["node_modules/mac", "node_modules/own"]);
    assert_eq!(checked.warnings, []);
}

#[test]
fn a_required_package_for_other_machines_is_an_error() {
    let lock = lock(r#"{"": {"dependencies": {"a": "1"}}, "node_modules/a": {"version": "1.0.0", "cpu": ["arm64"]}}"#);
    let error = check_machine(&lock, &ResolveOptions::default()).expect_err("it cannot be installed");
    assert_eq!(error.code(), "RESOLVE_PLATFORM");
    assert_eq!(error.to_string(), "a@1.0.0 is not made for linux x64 glibc (wanted: cpu arm64)");
}

#[test]
fn force_and_omit_spare_what_other_machines_need_and_strict_engines_do_not_spare_engines() {
    let lock = lock(
        r#"{"": {"devDependencies": {"a": "1"}, "dependencies": {"e": "1"}}, "node_modules/a": {"version": "1.0.0", "dev": true, "cpu": ["arm64"]},
            "node_modules/e": {"version": "1.0.0", "engines": {"node": ">=999"}}}"#,
    );
    let options = ResolveOptions::default;
    assert_eq!(check_machine(&lock, &options()).expect_err("a is required").code(), "RESOLVE_PLATFORM");
    let omitting = ResolveOptions { omit_dev: true, ..options() };
    let warnings = check_machine(&lock, &omitting).expect("a is left out").warnings;
    assert!(
        matches!(&warnings[..], [only] if only.code == "EBADENGINE" && only.message.contains("e@1.0.0")),
        "{warnings:?}"
    );
    check_machine(&lock, &ResolveOptions { force: true, ..options() }).expect("anything goes");
    let strict = ResolveOptions { engine_strict: true, ..omitting };
    assert_eq!(check_machine(&lock, &strict).expect_err("e is required").code(), "RESOLVE_ENGINE");
}

#[test]
fn what_cannot_be_had_takes_its_dependants_and_what_only_they_need_along() {
    let lock = lock(
        r#"{"": {"optionalDependencies": {"a": "1"}, "dependencies": {"r": "1"}}, "node_modules/r": {"version": "1.0.0", "dependencies": {"shared": "1"}},
            "node_modules/a": {"version": "1.0.0", "optional": true, "dependencies": {"b": "1", "c": "1", "shared": "1"}},
            "node_modules/b": {"version": "1.0.0", "optional": true}, "node_modules/c": {"version": "1.0.0", "optional": true},
            "node_modules/shared": {"version": "1.0.0"}}"#,
    );
    let set = |failed: &str| {
        let set = optional_set(&lock, &ResolveOptions::default(), failed, &BTreeSet::new()).expect("a tree");
        set.map(|set| set.into_iter().collect::<Vec<_>>())
    };
    let all = ["node_modules/a", "node_modules/b", "node_modules/c"].map(str::to_owned).to_vec();
    assert_eq!(set("node_modules/b"), Some(all.clone()));
    assert_eq!(set("node_modules/a"), Some(all));
    assert_eq!(set("node_modules/shared"), None, "it is required");
    assert_eq!(set("node_modules/nowhere"), None);
}
