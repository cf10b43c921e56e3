//! What is asked for ahead of placement: packuments level by level, packages only where they will be installed.

use crate::support::Case;
use serde_json::{Value, json};

fn observe(registry: Value, root: Value) -> (Vec<Vec<String>>, Vec<String>) {
    Case::new(json!({ "registry": registry, "root": root })).observe()
}

#[test]
fn optional_peers_and_their_peers_are_asked_for_beside_what_is_installed() {
    let registry = json!({
        "app@1.0.0": {
            "dependencies": { "one": "1" },
            "peerDependencies": { "x": "1", "y": "1", "z": "1" },
            "peerDependenciesMeta": { "x": { "optional": true }, "y": { "optional": true }, "z": { "optional": true } },
        },
        "one@1.0.0": { "dependencies": { "two": "1" } },
        "two@1.0.0": {},
        "x@1.0.0": { "dependencies": { "only-of-x": "1" }, "peerDependencies": { "peer-of-x": "1" } },
        "peer-of-x@1.0.0": {}, "only-of-x@1.0.0": {}, "y@1.0.0": {}, "z@1.0.0": {},
    });
    let (rounds, picks) = observe(registry, json!({ "dependencies": { "app": "1" } }));
    let expected: [&[&str]; 3] = [&["app"], &["one", "x", "y", "z"], &["peer-of-x", "two"]];
    assert_eq!(rounds, expected);
    // An optional peer that nobody brings is looked at, and not installed.
    assert_eq!(picks, ["app@1.0.0", "one@1.0.0", "two@1.0.0"]);
}

#[test]
fn peers_that_nobody_meets_are_guessed_together() {
    let registry = json!({
        "a@1.0.0": { "peerDependencies": { "p": "1" } },
        "b@1.0.0": { "peerDependencies": { "q": "1" } },
        "p@1.0.0": { "dependencies": { "below-p": "1" } },
        "q@1.0.0": { "dependencies": { "below-q": "1" } },
        "below-p@1.0.0": {}, "below-q@1.0.0": {},
    });
    let (rounds, picks) = observe(registry, json!({ "dependencies": { "a": "1", "b": "1" } }));
    let expected: [&[&str]; 3] = [&["a", "b"], &["p", "q"], &["below-p", "below-q"]];
    assert_eq!(rounds, expected);
    assert_eq!(picks, ["a@1.0.0", "b@1.0.0", "below-p@1.0.0", "below-q@1.0.0", "p@1.0.0", "q@1.0.0"]);
}

#[test]
fn a_peer_is_not_guessed_where_another_wish_meets_it() {
    let registry = json!({
        "plugin@1.0.0": { "peerDependencies": { "host": ">=1" } },
        "host@1.0.0": {}, "host@2.0.0": {},
    });
    let (rounds, picks) = observe(registry, json!({ "dependencies": { "plugin": "1", "host": "1" } }));
    let expected: [&[&str]; 1] = [&["host", "plugin"]];
    assert_eq!(rounds, expected);
    assert_eq!(picks, ["host@1.0.0", "plugin@1.0.0"]);
}

#[test]
fn of_an_optional_dependency_on_one_version_only_that_is_asked_for() {
    let registry = json!({
        "tool@1.0.0": {
            "dependencies": { "exact": "1.0.0" },
            "optionalDependencies": { "tool-linux": "1.0.0", "tool-mac": "=1.0.0", "tool-other": "npm:tool-mac@1.0.0", "ranged": "1" },
        },
        "exact@1.0.0": {}, "tool-linux@1.0.0": {}, "tool-mac@1.0.0": {}, "ranged@1.0.0": {},
    });
    let (rounds, picks) = observe(registry, json!({ "dependencies": { "tool": "1" } }));
    let expected: [&[&str]; 2] = [&["tool"], &["exact", "ranged", "tool-linux@1.0.0", "tool-mac@1.0.0"]];
    assert_eq!(rounds, expected);
    assert_eq!(picks, ["exact@1.0.0", "ranged@1.0.0", "tool-linux@1.0.0", "tool-mac@1.0.0", "tool@1.0.0"]);
}

#[test]
fn a_version_that_came_alone_does_not_stand_for_its_packument() {
    let registry = json!({
        "tool@1.0.0": { "optionalDependencies": { "tool-linux": "1.0.0" } },
        "late@1.0.0": { "dependencies": { "later": "1" } },
        "later@1.0.0": { "dependencies": { "tool-linux": ">=1.1.0" } },
        "tool-linux@1.0.0": {}, "tool-linux@1.1.0": {},
    });
    let (rounds, picks) = observe(registry, json!({ "dependencies": { "tool": "1", "late": "1" } }));
    let expected: [&[&str]; 3] = [&["late", "tool"], &["later", "tool-linux@1.0.0"], &["tool-linux"]];
    assert_eq!(rounds, expected);
    assert_eq!(picks, ["late@1.0.0", "later@1.0.0", "tool-linux@1.0.0", "tool-linux@1.1.0", "tool@1.0.0"]);
}

#[test]
fn where_dates_count_packuments_are_asked_for() {
    let registry =
        json!({ "tool@1.0.0": { "optionalDependencies": { "tool-linux": "1.0.0" } }, "tool-linux@1.0.0": {} });
    let root = json!({ "dependencies": { "tool": "1" } });
    let case = Case::new(json!({ "registry": registry, "root": root, "options": ["--before=2030-01-01"] }));
    let expected: [&[&str]; 2] = [&["tool"], &["tool-linux"]];
    assert_eq!(case.observe().0, expected);
}

#[test]
fn what_workspaces_need_of_each_other_is_asked_of_no_registry() {
    let case = Case::new(json!({
        "registry": { "x@1.0.0": { "dependencies": { "b": "1" } }, "b@2.0.0": {} },
        "root": { "workspaces": ["packages/*"] },
        "workspaces": ["packages/a", "packages/b", "packages/c"],
        "folders": {
            "packages/a": { "name": "a", "dependencies": { "b": "^1.0.0", "x": "1" } },
            "packages/b": { "name": "b", "version": "1.2.0" },
            "packages/c": { "name": "c", "devDependencies": { "a": "*" } },
        },
    }));
    assert_eq!(case.observe().0, [["x"]]);
    let mut document = json!({ "registry": { "b@2.0.0": {} }, "root": { "workspaces": ["packages/*"] } });
    document["workspaces"] = json!(["packages/a", "packages/b"]);
    document["folders"] = json!({
        "packages/a": { "name": "a", "dependencies": { "b": "2" } }, "packages/b": { "name": "b", "version": "1.2.0" },
    });
    // One that does not fit is no answer.
    assert_eq!(Case::new(document).observe().0, [["b"]]);
}

#[test]
fn what_a_workspace_has_for_itself_is_not_asked_for_again() {
    let case = Case::new(json!({
        "registry": { "x@1.0.0": { "dependencies": { "below-x": "1" } }, "x@2.0.0": {}, "below-x@1.0.0": {}, "y@1.0.0": {} },
        "root": { "name": "project", "workspaces": ["packages/*"], "dependencies": { "x": "2", "y": "1" } },
        "workspaces": ["packages/a"],
        "folders": { "packages/a": { "name": "a", "dependencies": { "x": "1" } } },
        "lock": {
            "lockfileVersion": 3,
            "packages": {
                "": { "name": "project", "workspaces": ["packages/*"], "dependencies": { "x": "2" } },
                "node_modules/a": { "resolved": "packages/a", "link": true },
                "node_modules/below-x": { "version": "1.0.0" },
                "node_modules/x": { "version": "2.0.0" },
                "packages/a": { "dependencies": { "x": "1" } },
                // Nothing but the workspace leads here, so that nobody looks for what it lacks.
                "packages/a/node_modules/x": {
                    "version": "1.0.0", "dependencies": { "below-x": "1" }, "optionalDependencies": { "for-others": "1.0.0" },
                },
            },
        },
    }));
    assert_eq!(case.observe().0, [["y"]]);
}

#[test]
fn what_folders_elsewhere_need_is_not_asked_for() {
    let case = Case::new(json!({
        "registry": { "x@1.0.0": {}, "y@1.0.0": {}, "z@1.0.0": {} },
        "root": { "dependencies": { "inside": "file:inside", "outside": "file:../outside", "x": "1" } },
        "folders": {
            "inside": { "name": "inside", "devDependencies": { "y": "1" } },
            "../outside": { "name": "outside", "dependencies": { "z": "1" }, "devDependencies": { "z": "1" } },
        },
    }));
    let asked: Vec<String> = case.observe().0.concat();
    assert_eq!(asked, ["x", "y"]);
}

#[test]
fn what_a_package_lists_itself_is_not_asked_for() {
    let case = Case::new(json!({
        "registry": {
            "lister@1.0.0": { "dependencies": { "x": "1" }, "peerDependencies": { "host": "1" }, "_hasShrinkwrap": true },
            "host@1.0.0": {}, "x@1.0.0": { "dependencies": { "below-x": "1" } }, "x@1.1.0": {}, "below-x@1.0.0": {},
        },
        "root": { "dependencies": { "lister": "1" } },
        "shrinkwraps": {
            "lister@1.0.0": { "lockfileVersion": 3, "packages": {
                "node_modules/x": { "version": "1.0.0", "dependencies": { "below-x": "1" } },
                "node_modules/below-x": { "version": "1.0.0" },
            } },
        },
    }));
    assert_eq!(case.observe().0.concat(), ["lister", "host"]);
}
