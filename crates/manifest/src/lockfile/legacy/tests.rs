//! Expected values are what npm's `Shrinkwrap.load` makes of the same tree; 3,000 random trees were compared with it when
//! this was written.

use serde_json::{Value, json};

use super::*;

fn converted(dependencies: Value) -> Value {
    let Value::Object(tree) = dependencies else { unreachable!("an object") };
    let entries = entries_of(&tree).into_iter().map(|(path, members)| (path, Value::Object(members)));
    Value::Object(entries.collect())
}

#[test]
fn each_form_of_version_says_where_a_package_comes_from() {
    let hash = "1111111111111111111111111111111111111111";
    let tarball = "https://registry.example/a/-/a-1.0.0.tgz";
    let cases = [
        (
            json!({"version": "1.0.0", "integrity": "sha512-x", "resolved": tarball}),
            json!({"version": "1.0.0", "integrity": "sha512-x", "resolved": tarball}),
        ),
        // Without integrity the address is what counts.
        (json!({"version": "9.9.9", "resolved": tarball}), json!({"version": "1.0.0", "resolved": tarball})),
        (json!({"version": "1.0.0"}), json!({"version": "1.0.0"})),
        (
            json!({"version": "1.0.0", "from": "a@^1.0.0", "resolved": tarball}),
            json!({"version": "1.0.0", "resolved": tarball}),
        ),
        (
            json!({"version": "npm:@s/b@2.0.0", "integrity": "sha512-x"}),
            json!({"name": "@s/b", "version": "2.0.0", "integrity": "sha512-x"}),
        ),
        (
            json!({"version": format!("git+https://git.example/a.git#{hash}"), "from": "a@git+https://git.example/a.git"}),
            json!({"resolved": format!("git+https://git.example/a.git#{hash}")}),
        ),
        (
            json!({"version": format!("github:user/a#{hash}"), "from": "github:user/a"}),
            json!({"resolved": format!("git+ssh://git@github.com/user/a.git#{hash}")}),
        ),
        (
            json!({"version": "file:lib/b-2.0.0.tgz", "integrity": "sha512-x"}),
            json!({"resolved": "file:lib/b-2.0.0.tgz", "integrity": "sha512-x"}),
        ),
        (
            json!({"version": "file:lib/a-2.0.0.tgz", "integrity": "sha512-x"}),
            json!({"resolved": "file:lib/a-2.0.0.tgz", "integrity": "sha512-x", "version": "2.0.0"}),
        ),
        (
            json!({"version": "https://host.example/a-3.0.0.tgz", "integrity": "sha512-x"}),
            json!({"resolved": "https://host.example/a-3.0.0.tgz", "integrity": "sha512-x", "version": "3.0.0"}),
        ),
        (
            json!({"version": "https://registry.example/@s/b/-/b-3.0.0.tgz"}),
            json!({"resolved": "https://registry.example/@s/b/-/b-3.0.0.tgz", "name": "@s/b", "version": "3.0.0"}),
        ),
        (json!({"version": "workspace:*", "bundled": true, "dev": true}), json!({"inBundle": true, "dev": true})),
        (json!({}), json!({})),
    ];
    for (lock, entry) in cases {
        assert_eq!(converted(json!({"a": lock})), json!({"node_modules/a": entry}), "{lock}");
    }
}

#[test]
fn a_folder_becomes_a_link_and_what_is_nested_in_it_goes_below_the_folder() {
    let tree = json!({"a": {"version": "file:packages/a", "requires": {"b": "1"}, "dependencies": {"b": {"version": "1.0.0"}}}});
    let entries = json!({
        "node_modules/a": {"link": true, "resolved": "packages/a"},
        "packages/a": {"dependencies": {"b": "1"}},
        "packages/a/node_modules/b": {"version": "1.0.0"},
    });
    assert_eq!(converted(tree), entries);
}

#[test]
fn a_requirement_is_as_optional_as_what_answers_it() {
    let tree = json!({
        "a": {"version": "1.0.0", "requires": {"b": "1", "c": "1", "missing": "1", "__proto__": "1"}, "dependencies": {
            "c": {"version": "1.0.0"},
        }},
        "b": {"version": "1.0.0", "optional": true, "requires": {"c": "2"}},
        "c": {"version": "2.0.0", "optional": true},
    });
    let entries = converted(tree);
    let a = &entries["node_modules/a"];
    assert_eq!(a["dependencies"], json!({"c": "1", "missing": "1"}), "the nested c is required");
    assert_eq!(a["optionalDependencies"], json!({"b": "1"}));
    assert_eq!(entries["node_modules/b"]["dependencies"], json!({"c": "2"}), "both are optional");
}

#[test]
fn what_a_tarball_carries_is_a_bundle_of_the_outermost_package() {
    let tree = json!({"a": {"version": "1.0.0", "requires": {"b": "1"}, "dependencies": {
        "b": {"version": "1.0.0", "bundled": true, "requires": {"c": "1"}, "dependencies": {
            "c": {"version": "1.0.0", "bundled": true},
        }},
        "stray": {"version": "1.0.0", "bundled": true},
    }}});
    let entries = converted(tree);
    assert_eq!(entries["node_modules/a"]["bundleDependencies"], json!(["b"]));
    assert_eq!(entries["node_modules/a/node_modules/b"].get("bundleDependencies"), None);
}
