use super::*;

/// A lock from the members of its `packages`.
fn lock(packages: &str) -> Lockfile {
    let text = format!(r#"{{"name":"p","lockfileVersion":3,"requires":true,"packages":{{{packages}}}}}"#);
    Lockfile::parse(text.as_bytes(), "package-lock.json").unwrap()
}

fn policy(entries: &[(&str, bool)]) -> (Scripts, Vec<String>) {
    let (policy, problems) =
        ScriptPolicy::read(entries.iter().map(|(key, is_allowed)| ((*key).to_owned(), Some(*is_allowed))).collect());
    (Scripts::Allowed(policy), problems)
}

/// What may run scripts of all in a lock, and what nothing is said of.
fn judged(lock: &Lockfile, scripts: &Scripts, workspaces: &[&str]) -> (Vec<String>, Vec<String>) {
    let paths = lock.packages.iter().map(|entry| entry.path.as_str()).filter(|path| path.contains("node_modules/"));
    let workspaces = workspaces.iter().map(|&folder| folder.to_owned()).collect();
    let ScriptedTree { allowed, unreviewed, .. } = ScriptedTree::of_paths(lock, paths.collect(), scripts, &workspaces);
    let names = |list: Vec<Scripted>| list.into_iter().map(|scripted| scripted.path).collect();
    (names(allowed), names(unreviewed))
}

/// A project with `left` 1.2.3 from a registry, asked for as `spec`.
fn project(spec: &str, resolved: &str) -> Lockfile {
    lock(&format!(
        r#""":{{"dependencies":{{"left":"{spec}"}}}},
        "node_modules/left":{{"version":"1.2.3","resolved":"{resolved}","hasInstallScript":true}}"#
    ))
}

const LEFT: &str = "https://r.example/left/-/left-1.2.3.tgz";
const COMMIT: &str = "git+ssh://git@github.com/user/left.git#0123456789012345678901234567890123456789";

#[test]
fn what_a_registry_serves_is_allowed_by_name_and_version() {
    for (key, is_covered) in [
        ("left", true),
        ("left@*", true),
        ("left@1.2.3", true),
        ("left@1.2.2 || 1.2.3", true),
        ("left@1.2.2", false),
        ("right", false),
        (LEFT, true),
        ("user/left", false),
    ] {
        let (scripts, problems) = policy(&[(key, true)]);
        assert_eq!(problems, Vec::<String>::new(), "{key}");
        let (allowed, unreviewed) = judged(&project("^1.0.0", LEFT), &scripts, &[]);
        assert_eq!((allowed.len(), unreviewed.len()), if is_covered { (1, 0) } else { (0, 1) }, "{key}");
    }
}

#[test]
fn what_would_allow_the_unseen_is_left_out_with_a_reason() {
    for key in [
        "left@^1.0.0",
        "left@>=1.0.0",
        "left@1",
        "left@latest",
        "left@npm:right@1.0.0",
        "left@@",
        "user/left#semver:^1",
    ] {
        let (scripts, problems) = policy(&[(key, true)]);
        assert_eq!(problems.len(), 1, "{key}");
        assert!(problems[0].starts_with(key), "{problems:?}");
        assert_eq!(judged(&project("^1.0.0", LEFT), &scripts, &[]).0, Vec::<String>::new(), "{key}");
    }
}

#[test]
fn a_refusal_outweighs_what_allows() {
    for (entries, expected) in [
        (&[("left", true), ("left@1.2.3", false)][..], (0, 0)),
        (&[("left", false)][..], (0, 0)),
        (&[("left", true), ("left@1.2.4", false)][..], (1, 0)),
        (&[][..], (0, 1)),
    ] {
        let (allowed, unreviewed) = judged(&project("^1.0.0", LEFT), &policy(entries).0, &[]);
        assert_eq!((allowed.len(), unreviewed.len()), expected, "{entries:?}");
    }
}

#[test]
fn names_that_only_the_package_or_an_address_claims_count_for_nothing() {
    let (scripts, _) = policy(&[("left", true), ("left@1.2.3", true)]);
    // Whoever asks says where it comes from: no registry of the user's.
    for spec in ["https://evil.example/left/-/left-1.2.3.tgz", "user/left", "file:left.tgz"] {
        assert_eq!(judged(&project(spec, LEFT), &scripts, &[]).0, Vec::<String>::new(), "{spec}");
    }
    // Another package under this name, and this one under another.
    let alias = lock(
        r#""":{"dependencies":{"left":"npm:right@1","other":"npm:left@1"}},
        "node_modules/left":{"name":"right","version":"1.2.3","resolved":"https://r.example/right/-/right-1.2.3.tgz"},
        "node_modules/other":{"name":"left","version":"1.2.3","resolved":"https://r.example/left/-/left-1.2.3.tgz"}"#,
    );
    assert_eq!(judged(&alias, &scripts, &[]).0, ["node_modules/other"]);
    // A tarball claims it, and nobody asks for it.
    let carried = lock(
        r#""":{"dependencies":{"a":"1"}},
        "node_modules/a":{"version":"1.0.0","resolved":"https://r.example/a/-/a-1.0.0.tgz"},
        "node_modules/a/node_modules/left":{"version":"1.2.3","inBundle":true},
        "node_modules/left":{"version":"1.2.3","resolved":"https://r.example/left/-/left-1.2.3.tgz"}"#,
    );
    assert_eq!(judged(&carried, &scripts, &[]).0, Vec::<String>::new());
}

#[test]
fn what_overrides_have_come_from_elsewhere_is_not_what_a_registry_serves() {
    let judged_as = |overrides: serde_json::Value, key: &str, resolved: Option<&str>| {
        let resolved = resolved.map_or_else(String::new, |address| format!(r#","resolved":"{address}""#));
        let lock = lock(&format!(
            r#""":{{"dependencies":{{"a":"1","left":"1"}}}},
            "node_modules/a":{{"version":"1.0.0","dependencies":{{"left":"^1.0.0"}}}},
            "node_modules/left":{{"version":"1.2.3"{resolved}}}"#
        ));
        let manifest = serde_json::json!({ "dependencies": { "left": "user/left" }, "overrides": overrides });
        let (policy, _) = ScriptPolicy::read(vec![(key.to_owned(), Some(true))]);
        judged(&lock, &Scripts::Allowed(policy.for_project(&manifest)), &[]).0.len() == 1
    };
    let elsewhere = "https://evil.example/left/-/left-1.2.3.tgz";
    let right = "https://r.example/right/-/right-1.2.3.tgz";
    for (overrides, key, resolved, is_covered) in [
        (serde_json::json!({}), "left", Some(LEFT), true),
        (serde_json::json!({ "left": "user/left" }), "left", Some(COMMIT), false),
        (serde_json::json!({ "left": "user/left" }), "user/left", Some(COMMIT), true),
        (serde_json::json!({ "left": "file:left.tgz" }), "left", Some("file:left.tgz"), false),
        (serde_json::json!({ "a": { "left@1": elsewhere } }), "left", Some(elsewhere), false),
        (serde_json::json!({ "left": { ".": elsewhere } }), "left", Some(elsewhere), false),
        (serde_json::json!({ "left": elsewhere }), elsewhere, Some(elsewhere), true),
        (serde_json::json!({ "left": "$left" }), "left", None, false),
        (serde_json::json!({ "left": "npm:right@1" }), "left", Some(right), false),
        (serde_json::json!({ "left": "npm:right@1" }), "right@1.2.3", Some(right), true),
        // It may be either.
        (serde_json::json!({ "left": "npm:right@1" }), "left", None, false),
        (serde_json::json!({ "left": "1.2.3", "a": { "right": "user/right" } }), "left@1.2.3", Some(LEFT), true),
    ] {
        let described = format!("{overrides} {key} {resolved:?}");
        assert_eq!(judged_as(overrides, key, resolved), is_covered, "{described}");
    }
}

#[test]
fn a_registry_has_no_say_in_names_that_nobody_asks_it_for() {
    // As the registry of a scope may have it, whatever a name means at others.
    let lock = lock(&format!(
        r#""":{{"dependencies":{{"@s/a":"1"}}}},
        "node_modules/@s/a":{{"version":"1.2.3","resolved":"{LEFT}"}}"#
    ));
    for (key, is_covered) in [("left", false), ("left@1.2.3", false), ("@s/a", false), (LEFT, true)] {
        assert_eq!(judged(&lock, &policy(&[(key, true)]).0, &[]).0.len() == 1, is_covered, "{key}");
    }
}

#[test]
fn what_the_lock_in_a_package_says_counts_for_the_registry_that_served_the_package() {
    let (scripts, _) = policy(&[("left", true)]);
    for (resolved, is_covered) in [
        (LEFT, true),
        ("https://evil.example/left/-/left-1.2.3.tgz", false),
        ("https://r.example/evil/-/evil-1.2.3.tgz", false),
        ("https://r.example/evil/-/evil-1.2.3.tgz?", false),
        ("https://r.example:81/left/-/left-1.2.3.tgz", false),
        ("git+ssh://git@github.com/evil/left.git#0123456789012345678901234567890123456789", false),
    ] {
        let lock = lock(&format!(
            r#""":{{"dependencies":{{"a":"1"}}}},
            "node_modules/a":{{"version":"1.0.0","resolved":"https://r.example/a/-/a-1.0.0.tgz","hasShrinkwrap":true,"dependencies":{{"b":"1"}}}},
            "node_modules/a/node_modules/b":{{"version":"1.0.0","resolved":"https://r.example/b/-/b-1.0.0.tgz","dependencies":{{"left":"1"}}}},
            "node_modules/a/node_modules/b/node_modules/left":{{"version":"1.2.3","resolved":"{resolved}"}}"#
        ));
        assert_eq!(judged(&lock, &scripts, &[]).0.len() == 1, is_covered, "{resolved}");
    }
}

#[test]
fn folders_outside_of_the_project_ask_for_nothing_in_it() {
    let lock = lock(&format!(
        r#""":{{"dependencies":{{"left":"1","c":"file:../c"}}}},
        "../c":{{"version":"3.0.0","dependencies":{{"left":"user/left"}}}},
        "node_modules/c":{{"resolved":"../c","link":true}},
        "node_modules/left":{{"version":"1.2.3","resolved":"{LEFT}"}}"#
    ));
    assert_eq!(judged(&lock, &policy(&[("left", true)]).0, &[]).0, ["node_modules/left"]);
}

#[test]
fn without_an_address_the_name_counts_and_no_version_is_vouched_for() {
    let lock = lock(
        r#""":{"dependencies":{"a":"1"}},
        "node_modules/a":{"version":"1.0.0","dependencies":{"left":"^1.0.0"}},
        "node_modules/left":{"version":"1.2.3"}"#,
    );
    let of_left = |entries| {
        let (allowed, unreviewed) = judged(&lock, &policy(entries).0, &[]);
        (allowed.len(), unreviewed.iter().filter(|path| *path == "node_modules/left").count())
    };
    assert_eq!(of_left(&[("left", true)]), (1, 0));
    assert_eq!(of_left(&[("left@1.2.3", true)]), (0, 1));
    // It might be the one.
    assert_eq!(of_left(&[("left", true), ("left@1.0.0", false)]), (0, 0));
}

#[test]
fn repositories_addresses_and_files_are_meant_by_where_they_are() {
    let address = "https://files.example/left.tgz";
    for (spec, resolved, key, is_covered) in [
        ("user/left", COMMIT, "user/left", true),
        ("user/left", COMMIT, "github:user/left#0123456", true),
        ("user/left", COMMIT, "git+https://github.com/user/left.git", true),
        ("user/left", COMMIT, "user/left#1123456", false),
        ("user/left", COMMIT, "user/left#path:deep", false),
        ("user/left", COMMIT, "user/right", false),
        ("user/left", COMMIT, "left", false),
        (address, address, address, true),
        (address, address, "left", false),
        ("file:left.tgz", "file:left.tgz", "file:left.tgz", true),
        ("file:left.tgz", "file:left.tgz", "file:./left.tgz", true),
        ("file:left.tgz", "file:left.tgz", "file:deep/../left.tgz", true),
        ("file:left.tgz", "file:left.tgz", "file:right.tgz", false),
    ] {
        let (allowed, _) = judged(&project(spec, resolved), &policy(&[(key, true)]).0, &[]);
        assert_eq!(allowed.len() == 1, is_covered, "{key} for {resolved}");
    }
}

#[test]
fn workspaces_may_and_other_folders_where_they_are_allowed_to() {
    let lock = lock(
        r#""":{"workspaces":["packages/*"],"dependencies":{"b":"file:b","c":"file:../c"}},
        "packages/a":{"version":"1.0.0"},
        "b":{"version":"2.0.0"},
        "../c":{"version":"3.0.0"},
        "node_modules/a":{"resolved":"packages/a","link":true},
        "node_modules/b":{"resolved":"b","link":true},
        "node_modules/c":{"resolved":"../c","link":true}"#,
    );
    let allowed = |entries| judged(&lock, &policy(entries).0, &["packages/a"]);
    assert_eq!(allowed(&[]), (vec!["node_modules/a".to_owned()], Vec::new()));
    assert_eq!(allowed(&[("file:b", true), ("file:../c", true)]).0.len(), 3);
    assert_eq!(judged(&lock, &Scripts::All, &[]).0.len(), 3);
    let ScriptedTree { allowed, .. } =
        ScriptedTree::of_paths(&lock, vec!["node_modules/a"], &Scripts::All, &BTreeSet::new());
    let Scripted { folder, label, is_link, .. } = &allowed[0];
    assert_eq!((folder.as_str(), label.as_str(), *is_link), ("packages/a", "a@1.0.0", true));
}

#[test]
fn what_is_nested_comes_later() {
    let lock = lock(
        r#""":{"dependencies":{"b":"1","a":"1"}},
        "node_modules/b":{"version":"1.0.0","dependencies":{"c":"1"}},
        "node_modules/a":{"version":"1.0.0","dependencies":{"c":"2"}},
        "node_modules/a/node_modules/c":{"version":"2.0.0"},
        "node_modules/c":{"version":"1.0.0"}"#,
    );
    let order = ["node_modules/a", "node_modules/b", "node_modules/c", "node_modules/a/node_modules/c"];
    assert_eq!(judged(&lock, &Scripts::All, &[]).0, order);
    assert_eq!(judged(&lock, &Scripts::None, &[]).1, order);
}
