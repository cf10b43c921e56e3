//! Input that is strange, hostile or very long ends in a tree or in an error with a code: never in a panic, an exhausted
//! stack or a loop.

use crate::support::{Case, Order};
use gantry_manifest::Lockfile;
use gantry_manifest::{Manifest, Packument};
use gantry_resolver::{ResolveOptions, Resolver, Step};
use serde_json::{Map, Value, json};
use std::sync::Arc;

fn resolve(registry: Value, root: Value) -> Result<Value, &'static str> {
    let case = Case::new(json!({ "registry": registry, "root": root }));
    let lock = case.resolve(&mut Order::InTurn).map_err(|error| error.code())?;
    Ok(serde_json::from_str(&lock).expect("a lock is JSON"))
}

fn paths(lock: &Value) -> Vec<&str> {
    lock["packages"].as_object().expect("a lock has packages").keys().map(String::as_str).collect()
}

/// `p0` wants `p1` wants `p2` and so on.
fn chain(length: usize, group: &str) -> Value {
    let mut registry = Map::new();
    for index in 0..length {
        let next = format!("p{}", index + 1);
        registry.insert(format!("p{index}@1.0.0"), json!({ group: { next: "1" } }));
    }
    registry.insert(format!("p{length}@1.0.0"), json!({}));
    registry.into()
}

#[test]
fn a_long_chain_is_flat() {
    let lock = resolve(chain(3000, "dependencies"), json!({ "dependencies": { "p0": "1" } })).expect("it resolves");
    assert_eq!(paths(&lock).len(), 3002);
}

#[test]
fn a_long_chain_under_overrides() {
    let root = json!({ "dependencies": { "p0": "1" }, "overrides": { "p0": { "p2000": "1.0.0" } } });
    let lock = resolve(chain(2000, "dependencies"), root).expect("it resolves");
    assert_eq!(paths(&lock).len(), 2002);
}

#[test]
fn a_short_chain_of_peers_is_placed_and_a_very_long_one_refused() {
    let root = json!({ "dependencies": { "p0": "1" } });
    let lock = resolve(chain(100, "peerDependencies"), root.clone()).expect("it resolves");
    assert_eq!(paths(&lock).len(), 102);
    assert_eq!(resolve(chain(5000, "peerDependencies"), root), Err("RESOLVE_TOO_COMPLEX"));
}

#[test]
fn everybody_is_a_peer_of_everybody() {
    let mut registry = Map::new();
    for index in 0..14 {
        let peers: Map<String, Value> =
            (0..14).filter(|&peer| peer != index).map(|peer| (format!("p{peer}"), "1".into())).collect();
        registry.insert(format!("p{index}@1.0.0"), json!({ "peerDependencies": peers }));
    }
    let result = resolve(registry.into(), json!({ "dependencies": { "p0": "1" } }));
    assert!(matches!(result, Ok(_) | Err("RESOLVE_TOO_COMPLEX")), "{result:?}");
}

#[test]
fn two_packages_that_displace_each_other_for_ever() {
    let registry = json!({
        "a@1.0.0": { "dependencies": { "b": "1" } }, "a@2.0.0": { "dependencies": { "b": "2" } },
        "b@1.0.0": { "dependencies": { "c": "1" } }, "b@2.0.0": { "dependencies": { "c": "2" } },
        "c@1.0.0": { "dependencies": { "a": "2" }, "peerDependencies": { "b": "2" } },
        "c@2.0.0": { "dependencies": { "a": "1" }, "peerDependencies": { "b": "1" } },
    });
    let result = resolve(registry, json!({ "dependencies": { "a": "1", "c": "*" } }));
    assert!(matches!(result, Ok(_) | Err("RESOLVE_TOO_COMPLEX" | "RESOLVE_PEER_CONFLICT")), "{result:?}");
}

#[test]
fn names_of_object_machinery_are_names() {
    let registry = json!({
        "constructor@1.0.0": { "dependencies": { "toString": "1", "hasOwnProperty": "1" } },
        "toString@1.0.0": {}, "hasOwnProperty@1.0.0": {},
    });
    let lock = resolve(registry, json!({ "dependencies": { "constructor": "1" } })).expect("it resolves");
    let expected = ["", "node_modules/constructor", "node_modules/hasOwnProperty", "node_modules/toString"];
    assert_eq!(paths(&lock), expected);
}

#[test]
fn names_that_no_package_can_have() {
    for name in ["__proto__", "../x", "a b", "node_modules", ".bin", "%2e", ""] {
        let result = resolve(json!({ "a@1.0.0": {} }), json!({ "dependencies": { "a": "1", name: "1" } }));
        assert_eq!(result, Err("RESOLVE_INVALID_SPEC"), "{name:?}");
    }
}

#[test]
fn a_version_that_is_none() {
    let registry = json!({ "a@banana": {}, "a@1.0.0": {}, "b@1.0.0": { "dependencies": { "a": "*" } } });
    let lock = resolve(registry.clone(), json!({ "dependencies": { "a": "latest", "b": "1" } })).expect("it resolves");
    assert_eq!(lock["packages"]["node_modules/a"]["version"], "1.0.0");
    let case = json!({ "registry": registry, "tags": { "a": { "latest": "banana" } }, "root": { "dependencies": { "a": "latest" } } });
    let lock = Case::new(case).resolve(&mut Order::InTurn).expect("it resolves");
    assert!(lock.contains("\"version\": \"banana\""), "{lock}");
}

#[test]
fn a_tag_to_nowhere() {
    let case = |spec: &str| {
        let case = json!({ "registry": { "a@1.0.0": {} }, "tags": { "a": { "latest": "9.9.9" } }, "root": { "dependencies": { "a": spec } } });
        Case::new(case).resolve(&mut Order::InTurn).map_err(|error| error.code())
    };
    assert_eq!(case("latest"), Err("RESOLVE_NO_MATCHING_VERSION"));
    assert!(case("^1.0.0").is_ok());
}

#[test]
fn a_source_that_fails_is_named() {
    for spec in ["github:user/repo", "git+https://example.test/a.git", "https://example.test/a.tgz", "file:a.tgz"] {
        let registry = json!({ "b@1.0.0": { "dependencies": { "a": spec } } });
        let case = Case::new(json!({ "registry": registry, "root": { "dependencies": { "b": "1" } } }));
        let error = case.resolve(&mut Order::InTurn).expect_err("it is not there");
        assert_eq!(error.code(), "RESOLVE_FETCH", "{spec}");
        let text = error.to_string();
        assert!(text.contains(spec) && text.contains("b@1.0.0") && text.contains("the root project"), "{text}");
        // Where it is optional it is left out.
        let registry = json!({ "b@1.0.0": { "optionalDependencies": { "a": spec } } });
        let case = Case::new(json!({ "registry": registry, "root": { "dependencies": { "b": "1" } } }));
        let resolution = case.run(&mut Order::InTurn, |_| {}).expect("it resolves without");
        assert_eq!(resolution.left_out, ["a"]);
    }
}

#[test]
fn override_rules_that_mean_nothing() {
    for overrides in [json!({ "": "1" }), json!({ "a": null }), json!({ "a": ["1"] }), json!({ "a@latest": "1" })] {
        let registry = json!({ "a@1.0.0": {}, "b@1.0.0": { "dependencies": { "a": "1" } } });
        let result = resolve(registry, json!({ "dependencies": { "b": "1" }, "overrides": overrides.clone() }));
        assert_eq!(result, Err("RESOLVE_OVERRIDE"), "{overrides}");
    }
}

#[test]
fn a_lock_with_impossible_paths() {
    for path in ["node_modules/../x", "node_modules/", "node_modules/a/node_modules/", "../x", "packages/a"] {
        let lock = json!({ "lockfileVersion": 3, "packages": { "": {}, "node_modules/a": { "version": "1.0.0" }, path: { "version": "1.0.0" } } });
        // Some are refused by whoever reads the file.
        if let Err(error) = Lockfile::parse(lock.to_string().as_bytes(), "package-lock.json") {
            assert!(matches!(error.code(), "LOCK_PATH"), "{path}: {error}");
            continue;
        }
        let case = json!({ "registry": { "a@1.0.0": {} }, "lock": lock, "root": { "dependencies": { "a": "1" } } });
        if let Err(error) = Case::new(case).resolve(&mut Order::InTurn) {
            assert!(matches!(error.code(), "RESOLVE_LOCK" | "RESOLVE_UNSUPPORTED"), "{path}: {error}");
        }
    }
}

#[test]
fn a_hundred_thousand_versions() {
    let version = |number: u32| {
        let dependencies = if number.is_multiple_of(1_000) { r#","dependencies":{"many":"<1.0.0"}"# } else { "" };
        format!(
            r#""{}.{}.0":{{"name":"many","version":"{}.{}.0"{dependencies}}}"#,
            number / 1_000,
            number % 1_000,
            number / 1_000,
            number % 1_000
        )
    };
    let versions: Vec<String> = (0..100_000).map(version).collect();
    let text = format!(r#"{{"name":"many","dist-tags":{{"latest":"3.0.0"}},"versions":{{{}}}}}"#, versions.join(","));
    let packument = Arc::new(Packument::scan(text.into()).expect("a packument"));
    let picked = |range: &str| {
        let root = format!(r#"{{"dependencies":{{"many":"{range}"}}}}"#);
        let root = Manifest::parse_package_json(root.as_bytes(), "package.json").expect("a manifest");
        let mut resolver = Resolver::new(root, None, ResolveOptions::default()).expect("it begins");
        while let Step::Need(requests) = resolver.next().expect("it goes on") {
            for request in requests {
                resolver.answer(&request.name, Ok(packument.clone()));
            }
        }
        let lock = resolver.finish().expect("it ends").lockfile;
        let packages = lock.packages.into_iter().skip(1);
        packages.map(|entry| entry.manifest.version.unwrap_or_default()).collect::<Vec<_>>()
    };
    assert_eq!(picked("*"), ["3.0.0", "0.999.0"], "the tag, and what that needs");
    assert_eq!(picked("^42.0.0"), ["42.999.0"]);
    assert_eq!(picked(">3"), ["99.999.0"]);
    assert_eq!(picked("1 - 4 || 98.1.x"), ["3.0.0", "0.999.0"]);
}
