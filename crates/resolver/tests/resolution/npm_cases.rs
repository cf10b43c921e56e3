//! Every case in `tests/cases` gives what npm made of it, however the answers arrive.
//!
//! `generate.mjs` in that folder writes the expectations by running npm; its head says what a case looks like.
#![expect(clippy::disallowed_methods, reason = "tests read their cases from disk")]

use crate::support::{Case, Order};
use gantry_manifest::Lockfile;
use gantry_resolver::{ResolveError, ResolveOptions, lock_mismatches, lock_satisfies};
use proptest::prelude::*;
use std::{fs, path::Path};

fn cases() -> Vec<(String, Case)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut files: Vec<_> =
        fs::read_dir(&folder).expect("the folder is there").flatten().map(|entry| entry.path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "json"));
    files.sort();
    let name = |file: &Path| file.file_stem().expect("it has a name").to_string_lossy().into_owned();
    files.iter().map(|file| (name(file), Case::read(file))).collect()
}

fn expected(name: &str) -> Result<String, String> {
    let file = |end: &str| Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/cases/{name}.{end}"));
    match fs::read_to_string(file("lock")) {
        Ok(lock) => Ok(lock),
        Err(_) => Err(fs::read_to_string(file("error")).expect("generate.mjs was run").trim().to_owned()),
    }
}

/// The code npm has for an error.
fn npm_code(error: &ResolveError) -> String {
    let code = match error.code() {
        "RESOLVE_PEER_CONFLICT" => "ERESOLVE",
        "RESOLVE_NO_MATCHING_VERSION" => "ETARGET",
        "RESOLVE_PACKAGE_NOT_FOUND" => "E404",
        "RESOLVE_PLATFORM" => "EBADPLATFORM",
        "RESOLVE_ENGINE" => "EBADENGINE",
        "RESOLVE_OVERRIDE_CONFLICT" => "EOVERRIDE",
        "RESOLVE_INVALID_SPEC" => "EUNSUPPORTEDPROTOCOL",
        "RESOLVE_FETCH" => "ENOENT",
        "RESOLVE_OVERRIDE_REFERENCE" => return format!("npm error {error}"),
        other => other,
    };
    code.to_owned()
}

#[test]
fn every_case_gives_what_npm_gives() {
    let mut different = Vec::new();
    for (name, case) in cases() {
        let actual = case.resolve(&mut Order::InTurn).map_err(|error| npm_code(&error));
        if actual != expected(&name) {
            different.push(format!("{name} ({})\nexpected {:?}\nactual {:?}", case.about(), expected(&name), actual));
        }
    }
    assert!(different.is_empty(), "{} cases differ:\n{}", different.len(), different.join("\n\n"));
}

/// A lock that was just written is kept as it is, and what npm would do with it.
#[test]
fn a_finished_lock_asks_for_nothing() {
    for (name, case) in cases() {
        let Ok(lock) = case.resolve(&mut Order::InTurn) else { continue };
        // npm removes what is there for no reason only when it starts from a lock.
        if lock.contains("\"extraneous\": true") {
            continue;
        }
        let again = case.with_lock(&lock);
        assert_eq!(again.resolve(&mut Order::InTurn).map_err(|error| error.to_string()), Ok(lock), "{name}");
    }
}

/// A lock that npm install wrote needs no second look, but for those from which an optional package had to be left out and
/// those with a conflict that was accepted; after that look only the former, and conflicts of the project itself, remain.
#[test]
fn a_finished_lock_satisfies_its_manifest() {
    let mut suspicious = Vec::new();
    let mut refused = Vec::new();
    for (name, case) in cases() {
        let Ok(text) = case.resolve(&mut Order::InTurn) else { continue };
        let lock = Lockfile::parse(text.as_bytes(), "package-lock.json").expect("it was just written");
        if lock_satisfies(&case.project(), &lock, &ResolveOptions::default()).is_err() {
            let again = case.with_lock(&text).run(&mut Order::InTurn, |options| {
                options.save = false;
                options.force = false;
                options.legacy_peer_deps = false;
            });
            match again {
                Ok(resolution) if lock_mismatches(&lock, &resolution).is_empty() => {}
                Ok(resolution) => refused.push((name.clone(), lock_mismatches(&lock, &resolution).join("; "))),
                Err(error) => refused.push((name.clone(), npm_code(&error))),
            }
            suspicious.push(name);
        }
    }
    let expected = [
        "e4-below",
        "e4-no-version",
        "e4-not-found",
        "o6-sets",
        "r2-mine-force",
        "r2-mine-legacy",
        "w3-optional-tarball",
    ];
    assert_eq!(suspicious, expected);
    let refused: Vec<_> = refused.iter().map(|(name, why)| (name.as_str(), why.as_str())).collect();
    let expected = [
        ("e4-below", "Missing: ghost@ from lock file"),
        ("e4-no-version", "Missing: b@ from lock file"),
        ("e4-not-found", "Missing: ghost2@ from lock file; Missing: ghost@ from lock file"),
        ("r2-mine-force", "ERESOLVE"),
        ("r2-mine-legacy", "ERESOLVE"),
        ("w3-optional-tarball", "Missing: t@ from lock file"),
    ];
    assert_eq!(refused, expected);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Shuffled, delayed and repeated answers give the same bytes.
    #[test]
    fn the_order_of_answers_changes_nothing(seed: u64) {
        for (name, case) in cases() {
            let straight = case.resolve(&mut Order::InTurn).map_err(|error| error.to_string());
            let shuffled = case.resolve(&mut Order::shuffled(seed)).map_err(|error| error.to_string());
            prop_assert_eq!(straight, shuffled, "{}", name);
        }
    }
}
