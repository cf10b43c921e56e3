//! Which lists a name is in after each change: npm's answers.

use super::*;
use serde_json::json;

fn manifest(document: Value) -> Manifest {
    Manifest::parse_package_json(document.to_string().as_bytes(), "package.json").expect("it is one")
}

fn lists(manifest: &Manifest) -> [String; 4] {
    [&manifest.dependencies, &manifest.dev_dependencies, &manifest.optional_dependencies, &manifest.peer_dependencies]
        .map(|list| list.iter().map(|(name, spec)| format!("{name}@{spec} ")).collect::<String>().trim_end().to_owned())
}

#[test]
fn a_new_dependency_is_an_ordinary_one_unless_a_kind_is_named() {
    for (kind, expected) in [
        (None, ["a@1", "", "", ""]),
        (Some(DependencyKind::Production), ["a@1", "", "", ""]),
        (Some(DependencyKind::Development), ["", "a@1", "", ""]),
        (Some(DependencyKind::Optional), ["", "", "a@1", ""]),
        (Some(DependencyKind::Peer), ["", "", "", "a@1"]),
    ] {
        let mut changed = Manifest::default();
        assert!(changed.add_dependency("a", "1", kind, false).is_empty());
        assert_eq!(lists(&changed), expected, "{kind:?}");
    }
}

#[test]
fn without_a_kind_it_stays_what_it_is_and_a_star_keeps_its_range() {
    let mut changed = manifest(json!({ "devDependencies": { "a": "^1" }, "peerDependencies": { "b": "^2" } }));
    changed.add_dependency("a", "*", None, false);
    changed.add_dependency("b", "3", None, false);
    assert_eq!(lists(&changed), ["", "a@^1", "", "b@3"]);
}

#[test]
fn a_kind_takes_the_name_out_of_the_lists_it_cannot_share() {
    let start = json!({
        "dependencies": { "a": "1", "o": "1" }, "devDependencies": { "d": "1", "p": "1" },
        "peerDependencies": { "p": "1" }, "peerDependenciesMeta": { "p": { "optional": true } },
    });
    let mut changed = manifest(start);
    let moved = changed.add_dependency("a", "2", Some(DependencyKind::Development), false);
    assert_eq!(moved, [Moved { name: "a".to_owned(), from: "dependencies", to: "devDependencies" }]);
    changed.add_dependency("d", "2", Some(DependencyKind::Production), false);
    changed.add_dependency("o", "2", Some(DependencyKind::Optional), false);
    assert_eq!(lists(&changed), ["d@2", "p@1 a@2", "o@2", "p@1"]);
    changed.add_dependency("p", "2", Some(DependencyKind::Peer), false);
    assert_eq!(lists(&changed), ["d@2", "p@2 a@2", "o@2", "p@2"], "a peer's range is that for development too");
    assert_eq!(changed.peer_optional, [""; 0], "a peer is not optional any more");
    changed.add_dependency("p", "3", Some(DependencyKind::Production), false);
    assert_eq!(lists(&changed), ["d@2 p@3", "a@2", "o@2", ""]);
}

#[test]
fn a_removed_dependency_is_in_no_list() {
    let mut changed = manifest(json!({
        "dependencies": { "a": "1", "b": "1" }, "devDependencies": { "a": "1" }, "peerDependencies": { "a": "1" },
        "bundleDependencies": ["a", "b"], "peerDependenciesMeta": { "a": { "optional": true } },
    }));
    changed.remove_dependency("a");
    assert_eq!(lists(&changed), ["b@1", "", "", ""]);
    assert_eq!(changed.bundle_dependencies, ["b"]);
    assert_eq!((changed.peer_dependencies_meta, changed.declares_dev_dependencies), (None, false));
}

#[test]
fn a_bundled_dependency_is_listed_in_order_and_a_peer_is_never_bundled() {
    let mut changed = manifest(json!({ "bundleDependencies": ["b"] }));
    changed.add_dependency("a", "1", None, true);
    changed.add_dependency("b", "1", None, true);
    changed.add_dependency("c", "1", Some(DependencyKind::Peer), true);
    assert_eq!(changed.bundle_dependencies, ["a", "b"]);
}

#[test]
fn a_range_is_saved_where_the_name_is_listed() {
    let start =
        json!({ "devDependencies": { "a": "1" }, "peerDependencies": { "a": ">=1" }, "dependencies": { "b": "1" } });
    let mut changed = manifest(start);
    changed.save_dependency("a", "^1.2.0", None, &|known| known == ">=1");
    changed.save_dependency("b", "^1.3.0", None, &|_| false);
    changed.save_dependency("unknown", "^1.0.0", None, &|_| false);
    assert_eq!(lists(&changed), ["b@^1.3.0", "a@^1.2.0", "", "a@>=1"]);
    changed.save_dependency("a", "^2.0.0", None, &|_| false);
    assert_eq!(lists(&changed), ["b@^1.3.0", "a@^2.0.0", "", "a@^2.0.0"]);
}

#[test]
fn what_marks_peers_optional_may_be_of_any_shape() {
    for meta in [json!([]), json!("x"), json!({ "a": "x" }), json!(7)] {
        let mut changed = manifest(json!({ "peerDependencies": { "a": "1" }, "peerDependenciesMeta": meta }));
        changed.add_dependency("a", "2", Some(DependencyKind::PeerOptional), false);
        assert_eq!(changed.peer_dependencies_meta, Some(json!({ "a": { "optional": true } })));
    }
}
