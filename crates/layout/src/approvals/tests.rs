use super::*;
use serde_json::{Map, json};

/// A tree by the members of its lock's `packages`, and what the project says.
struct Tree {
    lock: Lockfile,
    package_json: Value,
    workspaces: BTreeSet<String>,
}

impl Tree {
    fn new(package_json: Value, packages: &[(&str, Value)]) -> Self {
        let mut members: Map<String, Value> =
            packages.iter().map(|(path, entry)| ((*path).to_owned(), entry.clone())).collect();
        members.insert(String::new(), package_json.clone());
        let text = json!({ "lockfileVersion": 3, "requires": true, "packages": members }).to_string();
        let lock = Lockfile::parse(text.as_bytes(), "package-lock.json").unwrap();
        Self { lock, package_json, workspaces: BTreeSet::from(["packages/w".to_owned()]) }
    }

    fn review(&self) -> ScriptReview<'_> {
        ScriptReview::new(&self.lock, &self.package_json, &self.workspaces)
    }

    /// The keys of what is found.
    fn keys(&self, argument: &str) -> Vec<(String, Option<String>)> {
        self.review().find(argument).into_iter().map(|subject| (subject.every, subject.exact)).collect()
    }

    /// What `allowScripts` is after it, with what changed.
    fn after(&self, entries: Value, argument: &str, act: Act) -> (Value, Vec<String>) {
        let review = self.review();
        let Value::Object(mut entries) = entries else { panic!("these are none") };
        let groups = ScriptReview::grouped(review.find(argument));
        assert_eq!(groups.len(), 1, "{argument}");
        let approval = match act {
            Act::Approve => review.approve(&mut entries, &groups[0], true),
            Act::ApproveAll => review.approve(&mut entries, &groups[0], false),
            Act::Deny => review.deny(&mut entries, &groups[0]),
        };
        let changes = approval.changes.iter().map(|(key, change)| format!("{} {key}", change.as_str()));
        let problem = approval.problem.as_ref().map(|problem| problem.code().to_owned());
        (Value::Object(entries), changes.chain(problem).collect())
    }
}

#[derive(Clone, Copy)]
enum Act {
    Approve,
    ApproveAll,
    Deny,
}

const LEFT: &str = "https://r.example/left/-/left-1.2.3.tgz";
const OLD: &str = "https://r.example/left/-/left-1.0.0.tgz";
const COMMIT: &str = "git+ssh://git@github.com/user/left.git#0123456789012345678901234567890123456789";

/// `left` once, as `spec` and from `resolved`.
fn one(spec: &str, resolved: Option<&str>) -> Tree {
    let mut entry = json!({ "version": "1.2.3" });
    if let Some(resolved) = resolved {
        entry["resolved"] = resolved.into();
    }
    Tree::new(json!({ "dependencies": { "left": spec } }), &[("node_modules/left", entry)])
}

/// `left` in two versions, of which one is installed as `other`.
fn two() -> Tree {
    Tree::new(
        json!({ "dependencies": { "left": "1", "other": "npm:left@1.0.0" } }),
        &[
            ("node_modules/left", json!({ "version": "1.2.3", "resolved": LEFT })),
            ("node_modules/other", json!({ "name": "left", "version": "1.0.0", "resolved": OLD })),
        ],
    )
}

fn pair(every: &str, exact: &str) -> Vec<(String, Option<String>)> {
    vec![(every.to_owned(), Some(exact.to_owned()))]
}

#[test]
fn every_kind_of_package_has_keys_that_are_heeded() {
    let sha = "0123456789012345678901234567890123456789";
    let elsewhere = "git+https://git.example/left.git#0123456789012345678901234567890123456789";
    let address = "https://files.example/left-1.2.3.tgz";
    for (spec, resolved, every, exact) in [
        ("1", LEFT, "left", "left@1.2.3".to_owned()),
        ("user/left", COMMIT, "github:user/left", format!("github:user/left#{sha}")),
        ("git+https://git.example/left.git", elsewhere, "git+https://git.example/left.git", elsewhere.to_owned()),
        (address, address, address, address.to_owned()),
        ("file:left.tgz", "file:left.tgz", "file:left.tgz", "file:left.tgz".to_owned()),
        // It is not what the registry of the user has under this name.
        (LEFT, LEFT, LEFT, LEFT.to_owned()),
    ] {
        assert_eq!(one(spec, Some(resolved)).keys("left"), pair(every, &exact), "{spec}");
    }
    let deep = format!("{COMMIT}::path:deep");
    let keys = pair("github:user/left#path:deep", &format!("github:user/left#{sha}::path:deep"));
    assert_eq!(one("user/left#path:deep", Some(&deep)).keys("left"), keys);
    assert_eq!(one("1", None).keys("left"), [("left".to_owned(), None)]);
}

#[test]
fn folders_are_meant_by_where_they_are_in_the_project() {
    let tree = Tree::new(
        json!({ "dependencies": { "a": "file:lib", "c": "file:../c" }, "workspaces": ["packages/*"] }),
        &[
            ("../c", json!({ "version": "3.0.0" })),
            ("../d", json!({ "version": "4.0.0" })),
            ("lib", json!({ "version": "2.0.0" })),
            ("packages/w", json!({ "version": "1.0.0" })),
            ("node_modules/p/node_modules/d", json!({ "resolved": "../d", "link": true })),
            ("node_modules/a", json!({ "resolved": "lib", "link": true })),
            ("node_modules/c", json!({ "resolved": "../c", "link": true })),
            ("node_modules/w", json!({ "resolved": "packages/w", "link": true })),
        ],
    );
    assert_eq!(tree.keys("a"), pair("file:lib", "file:lib"));
    assert_eq!(tree.keys("c"), pair("file:../c", "file:../c"));
    // Workspaces may in any case, and folders elsewhere that packages link to are the affair of who made these.
    assert_eq!(tree.keys("w"), []);
    assert_eq!(tree.keys("d"), []);
    assert_eq!(tree.after(json!({ "file:./lib": false }), "a", Act::Deny).0, json!({ "file:lib": false }));
}

#[test]
fn packages_go_by_the_name_that_their_registry_has() {
    let exact =
        |argument: &str| -> Vec<String> { two().keys(argument).into_iter().map(|(_, exact)| exact.unwrap()).collect() };
    assert_eq!(exact("left"), ["left@1.2.3", "left@1.0.0"]);
    assert_eq!(exact("left@^1.1.0"), ["left@1.2.3"]);
    assert_eq!(exact("left@1.0.0"), ["left@1.0.0"]);
    assert_eq!(exact("left@latest").len(), 2);
    for argument in ["other", "left@2", "user/left", "right"] {
        assert_eq!(exact(argument), Vec::<String>::new(), "{argument}");
    }
    let carried = Tree::new(
        json!({ "dependencies": { "a": "1" } }),
        &[("node_modules/a/node_modules/left", json!({ "version": "1.2.3", "inBundle": true }))],
    );
    assert_eq!(carried.keys("left"), []);
}

#[test]
fn approving_pins_what_is_installed_and_forgets_what_is_not() {
    for (before, after, changes) in [
        (json!({}), json!({ "left@1.2.3": true, "left@1.0.0": true }), &["added left@1.2.3", "added left@1.0.0"][..]),
        (json!({ "left@1.2.3": true, "left@1.0.0": true }), json!({ "left@1.2.3": true, "left@1.0.0": true }), &[]),
        (
            json!({ "x": true, "left@0.9.0": true, "left@1.0.0": true, "left@0.8.0 || 1.0.0": true }),
            json!({ "x": true, "left@1.0.0": true, "left@0.8.0 || 1.0.0": true, "left@1.2.3": true }),
            &["removed-stale left@0.9.0", "added left@1.2.3"],
        ),
        (
            json!({ "left": true }),
            json!({ "left@1.2.3": true, "left@1.0.0": true }),
            &["added left@1.2.3", "added left@1.0.0", "replaced-by-pin left"],
        ),
        (json!({ "left": false }), json!({ "left": false }), &["SCRIPTS_DENIED"]),
        (json!({ "left@3.0.0": false }), json!({ "left@3.0.0": false }), &["SCRIPTS_DENIED"]),
    ] {
        let (entries, changed) = two().after(before.clone(), "left", Act::Approve);
        assert_eq!(entries.to_string(), after.to_string(), "{before}");
        assert_eq!(changed, changes, "{before}");
    }
}

#[test]
fn approving_all_versions_is_one_entry() {
    let (entries, changes) =
        two().after(json!({ "left@0.9.0": true, "left@1.0.0": true, "right@1.0.0": true }), "left", Act::ApproveAll);
    assert_eq!(entries, json!({ "right@1.0.0": true, "left": true }));
    assert_eq!(changes, ["removed-pinned-allow left@0.9.0", "removed-pinned-allow left@1.0.0", "added left"]);
    let unknown = one("1", None);
    let (entries, changes) = unknown.after(json!({ "left@1.2.3": true }), "left", Act::Approve);
    assert_eq!(entries, json!({ "left": true }));
    assert_eq!(changes, ["removed-pinned-allow left@1.2.3", "added left", "SCRIPTS_UNPINNED"]);
    assert_eq!(unknown.after(entries, "left", Act::Approve).1, Vec::<String>::new());
}

#[test]
fn refusing_means_all_versions_and_takes_the_place_of_what_allowed_some() {
    let before = json!({ "left": true, "left@1.0.0": true, "left@0.9.0 || 1.0.0": false, "right": true });
    let (entries, changes) = two().after(before, "left@1.0.0", Act::Deny);
    assert_eq!(entries.to_string(), json!({ "left": false, "right": true }).to_string());
    assert_eq!(changes, ["removed-pinned-allow left@1.0.0", "removed-pinned-allow left@0.9.0 || 1.0.0", "added left"]);
    let repository = one("user/left", Some(COMMIT));
    let other_commit = json!({ "github:user/left#0000000": true, "left": true });
    let (entries, _) = repository.after(other_commit, "left", Act::Deny);
    assert_eq!(entries, json!({ "left": true, "github:user/left": false }));
    assert_eq!(repository.after(entries, "left", Act::Approve).1, ["SCRIPTS_DENIED"]);
}

#[test]
fn entries_are_of_use_while_something_with_scripts_is_meant() {
    let entries = json!({
        "left": false,
        "left@1.2.3": true,
        "left@2.0.0": true,
        "left@^1.0.0": true,
        "file:lib": true,
        "a": true,
        "user/left": true,
        "left@@": true,
    });
    let tree = Tree::new(
        json!({ "dependencies": { "left": "1", "a": "1", "lib": "file:lib" } }),
        &[
            ("lib", json!({ "version": "1.0.0" })),
            ("node_modules/a", json!({ "version": "1.0.0", "resolved": "https://r.example/a/-/a-1.0.0.tgz" })),
            ("node_modules/left", json!({ "version": "1.2.3", "resolved": LEFT })),
            ("node_modules/lib", json!({ "resolved": "lib", "link": true })),
        ],
    );
    let unused = tree.review().unused(entries.as_object().unwrap(), &|owner| owner.folder_name() != "a");
    let expected = [
        ("left@2.0.0", Unused::NotInstalled),
        ("left@^1.0.0", Unused::NotInstalled),
        ("a", Unused::NoScripts),
        ("user/left", Unused::NotInstalled),
    ];
    assert_eq!(unused, expected.map(|(key, why)| (key.to_owned(), why)));
}
