//! Single rules of reading and writing lock files; whole files are in `tests/lock_round_trip.rs`.

use serde_json::{Value, json};

use super::*;
use crate::ManifestError;

fn lock_of(packages: Value) -> Value {
    json!({"name": "x", "version": "1.0.0", "lockfileVersion": 3, "requires": true, "packages": packages})
}

fn parse(document: &Value) -> Result<Lockfile, ManifestError> {
    Lockfile::parse(document.to_string().as_bytes(), "package-lock.json")
}

fn entry(path: &str) -> LockEntry {
    LockEntry { path: path.to_owned(), ..LockEntry::default() }
}

fn text_of(lock: &Lockfile) -> String {
    String::from_utf8(lock.to_bytes()).expect("text")
}

#[test]
fn an_entry_is_read_into_its_fields() {
    let lock = parse(&lock_of(json!({
        "": {"name": "x", "devDependencies": {"a": "1"}},
        "node_modules/@s/a": {"version": "1.0.0", "resolved": "https://registry.example/a.tgz", "integrity": "sha512-x",
            "dev": true, "license": "MIT", "bin": {"a": "a.js"}, "engines": {"node": "*"}, "hasInstallScript": true,
            "peerDependencies": {"p": "1"}, "peerDependenciesMeta": {"p": {"optional": true}}, "unknown": 1},
        "node_modules/b": {"name": "real-b", "version": "2.0.0", "inBundle": true, "devOptional": true, "peer": true},
        "node_modules/c": {"resolved": "packages/c", "link": true},
        "packages/c": {"version": "3.0.0", "extraneous": true, "optional": true}
    })))
    .expect("valid");
    assert_eq!((lock.name.as_deref(), lock.version.as_deref(), lock.lockfile_version), (Some("x"), Some("1.0.0"), 3));
    let a = lock.entry("node_modules/@s/a").expect("there");
    assert_eq!((a.folder_name(), a.package_name()), ("@s/a", "@s/a"));
    assert!(a.dev && !a.optional && a.manifest.has_install_script);
    assert_eq!(a.manifest.peer_optional, ["p"]);
    assert_eq!(a.resolved.as_deref(), Some("https://registry.example/a.tgz"));
    let b = lock.entry("node_modules/b").expect("there");
    assert_eq!((b.folder_name(), b.package_name()), ("b", "real-b"));
    assert!(b.in_bundle && b.dev_optional && b.peer);
    assert!(lock.entry("node_modules/c").is_some_and(|c| c.link));
    assert!(lock.entry("packages/c").is_some_and(|c| c.extraneous && c.optional));
    assert_eq!(lock.entry("node_modules/d"), None);
}

#[test]
fn folder_names_and_tops_follow_from_paths() {
    let cases = [
        ("", "", true),
        ("node_modules/a", "a", false),
        ("node_modules/@s/a", "@s/a", false),
        ("node_modules/@s/a/node_modules/b", "b", false),
        ("packages/a", "a", true),
        ("packages/@s/a", "@s/a", true),
        ("@s/a", "@s/a", true),
        ("packages/a/node_modules/@s/b", "@s/b", false),
        ("node_modules/a/lib/b", "b", true),
        ("not_node_modules/a", "a", true),
        ("../other", "other", true),
        ("../machine/lib/node_modules/@s/a", "@s/a", true),
    ];
    for (path, name, top) in cases {
        assert_eq!((entry(path).folder_name(), entry(path).is_top()), (name, top), "{path}");
    }
}

#[test]
fn keys_are_in_the_order_of_npm() {
    let mut root = entry("");
    root.manifest.name = Some("x".into());
    // Package names that are also leading keys lead here too, and list indexes come before everything.
    let names = ["b", "a", "version", "name", "requires", "10", "9", "01"];
    root.manifest.dependencies = names.map(|name| (name.into(), "1".into())).into();
    root.manifest.os = vec!["z".into(), "a".into()];
    let lock = Lockfile { packages: vec![entry("node_modules/a"), root], ..Lockfile::default() };
    let expected = r#"{
  "lockfileVersion": 3,
  "requires": true,
  "packages": {
    "": {
      "name": "x",
      "os": [
        "z",
        "a"
      ],
      "dependencies": {
        "9": "1",
        "10": "1",
        "name": "1",
        "version": "1",
        "requires": "1",
        "01": "1",
        "a": "1",
        "b": "1"
      }
    },
    "node_modules/a": {}
  }
}
"#;
    assert_eq!(text_of(&lock), expected);
}

#[test]
fn a_whole_registry_manifest_may_be_given_and_only_the_locks_members_are_written() {
    let mut package = entry("node_modules/a");
    package.manifest = Manifest::parse_registry_version(
        br#"{"version":"1.0.0","dist":{"tarball":"t"},"scripts":{"install":"x"},"license":["MIT"],"engines":["node"],
            "deprecated":true,"os":"linux","acceptDependencies":{"b":"2"},"funding":[{"url":"u","n":1.0}]}"#,
    )
    .expect("valid");
    package.manifest.dev_dependencies = vec![("never".into(), "1".into())];
    package.manifest.overrides = Some(json!({"never": "1"}));
    (package.dev, package.optional, package.dev_optional) = (true, true, true);
    let lock = Lockfile { packages: vec![package], ..Lockfile::default() };
    let written: Value = serde_json::from_slice(&lock.to_bytes()).expect("JSON");
    let expected = json!({"version": "1.0.0", "hasInstallScript": true, "license": ["MIT"], "engines": ["node"],
        "deprecated": true, "os": "linux", "acceptDependencies": {"b": "2"}, "funding": [{"url": "u", "n": 1}],
        "dev": true, "optional": true});
    assert_eq!(written["packages"]["node_modules/a"], expected);
}

#[test]
fn flags_exclude_each_other_as_in_npm() {
    let flags = |dev, optional, dev_optional, peer, extraneous| {
        let package = LockEntry { dev, optional, dev_optional, peer, extraneous, ..entry("node_modules/a") };
        let lock = Lockfile { packages: vec![package], ..Lockfile::default() };
        let written: Value = serde_json::from_slice(&lock.to_bytes()).expect("JSON");
        written["packages"]["node_modules/a"].as_object().expect("object").keys().cloned().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(flags(false, false, true, false, false), "devOptional");
    assert_eq!(flags(true, false, true, true, false), "dev peer");
    assert_eq!(flags(false, true, true, false, false), "optional");
    assert_eq!(flags(true, true, true, true, true), "extraneous");
}

#[test]
fn a_link_says_only_where_it_leads() {
    let mut link = LockEntry { link: true, dev: true, resolved: Some("packages/a".into()), ..entry("node_modules/a") };
    link.manifest.version = Some("1.0.0".into());
    let to_project = LockEntry { link: true, resolved: Some(Text::default()), ..entry("node_modules/self") };
    let lock = Lockfile { packages: vec![link, to_project], ..Lockfile::default() };
    let text = text_of(&lock);
    assert!(
        text.contains("\"node_modules/a\": {\n      \"resolved\": \"packages/a\",\n      \"link\": true\n    }"),
        "{text}"
    );
    assert_eq!(text_of(&Lockfile::parse(text.as_bytes(), "x").expect("valid")), text);
}

#[test]
fn a_root_without_anything_is_not_written_and_one_line_gets_the_default_layout() {
    let lock = Lockfile::parse(b"{\"lockfileVersion\":3,\"packages\":{\"\":{}}}", "x").expect("valid");
    assert_eq!(text_of(&lock), "{\n  \"lockfileVersion\": 3,\n  \"requires\": true,\n  \"packages\": {}\n}\n");
}

#[test]
fn version_two_is_read_by_its_packages() {
    let mut document = lock_of(json!({"node_modules/a": {"version": "1.0.0"}}));
    document["lockfileVersion"] = json!(2);
    document["dependencies"] = json!({"a": {"version": "1.0.0"}});
    let lock = parse(&document).expect("valid");
    assert_eq!((lock.lockfile_version, lock.packages.len()), (2, 1));
    assert!(text_of(&lock).contains("\"lockfileVersion\": 2"));
}

#[test]
fn each_version_is_written_with_its_own_members() {
    let lock = |lockfile_version| Lockfile {
        lockfile_version,
        packages: vec![entry("node_modules/a")],
        dependencies: Some(json!({"a": {"version": "1.0.0", "requires": {}}})),
        ..Lockfile::default()
    };
    let members = |bytes: Vec<u8>| {
        let written: Value = serde_json::from_slice(&bytes).expect("JSON");
        written.as_object().expect("object").keys().cloned().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(members(lock(1).to_bytes()), "lockfileVersion requires dependencies");
    assert_eq!(members(lock(2).to_bytes()), "lockfileVersion requires packages dependencies");
    assert_eq!(members(lock(3).to_bytes()), "lockfileVersion requires packages");
    assert_eq!(lock(1).to_text().to_complete_bytes(), lock(3).to_bytes());
    assert_eq!(members(lock(1).to_text().to_hidden_bytes(&|_| false)), "lockfileVersion requires packages");
}

#[test]
fn what_is_no_lock_has_a_code_of_its_own() {
    let cases = [
        ("", "LOCK_JSON"),
        ("{", "LOCK_JSON"),
        ("[]", "LOCK_SHAPE"),
        (r#"{"packages":[]}"#, "LOCK_SHAPE"),
        (r#"{"packages":{"a":1}}"#, "LOCK_SHAPE"),
        (r#"{"packages":{"node_modules/a":{"dependencies":["b"]}}}"#, "LOCK_SHAPE"),
        (r#"{"packages":{"node_modules/a":{"link":true}}}"#, "LOCK_SHAPE"),
        (r#"{"packages":{"node_modules/a":{"version":1}}}"#, "LOCK_SHAPE"),
        (r#"{"lockfileVersion":"3","packages":{}}"#, "LOCK_SHAPE"),
        (r#"{"lockfileVersion":1,"dependencies":[]}"#, "LOCK_SHAPE"),
        (r#"{"lockfileVersion":-1}"#, "LOCK_SHAPE"),
        ("{\n<<<<<<< ours\n\"a\":1\n=======\n\"a\":\n>>>>>>> theirs\n}", "LOCK_CONFLICT"),
        ("{\n<<<<<<< ours\n=======\n>>>>>>> theirs", "LOCK_CONFLICT"),
    ];
    for (text, code) in cases {
        let error = Lockfile::parse(text.as_bytes(), "package-lock.json").expect_err(text);
        assert_eq!(error.code(), code, "{text}");
        assert!(error.to_string().starts_with("package-lock.json:"), "{error}");
        assert!(error.hint().is_some());
    }
    assert_eq!(Lockfile::parse(b"{}", "x").expect("an empty lock").packages, []);
}

#[test]
fn a_version_that_is_not_known_is_refused() {
    for version in 4..6 {
        let text = format!(r#"{{"lockfileVersion": {version}, "packages": {{"": {{}}}}}}"#);
        let error = Lockfile::parse(text.as_bytes(), "package-lock.json").expect_err("not known");
        assert_eq!(error.code(), "LOCK_VERSION");
        assert!(error.to_string().contains(&version.to_string()), "{error}");
    }
}

#[test]
fn paths_that_leave_the_project_are_refused() {
    let evil = [
        "/etc/passwd",
        "../evil",
        "node_modules/../../evil",
        "node_modules/..",
        "node_modules/a/../b",
        "./a",
        "a//b",
        "a/",
        "node_modules\\a",
        "a\0b",
        "C:/a",
        "c:a",
        "..",
        ".",
        "/",
    ];
    for path in evil {
        let error = parse(&lock_of(json!({path: {"version": "1.0.0"}}))).expect_err(path);
        assert_eq!(error.code(), "LOCK_PATH", "{path:?}");
        let error = parse(&lock_of(json!({"node_modules/x": {"link": true, "resolved": format!("/{path}")}})));
        assert_eq!(error.expect_err(path).code(), "LOCK_PATH", "link to {path:?}");
    }
}

#[test]
fn a_link_may_lead_outside_but_nothing_is_installed_there() {
    let link = json!({"link": true, "resolved": "../../lib"});
    assert!(parse(&lock_of(json!({"node_modules/lib": link, "../../lib": {"version": "1.0.0"}}))).is_ok());
    let refused = [
        json!({"node_modules/lib": link, "../lib": {}}),
        json!({"node_modules/lib": link, "../../other/node_modules/a": {}}),
        json!({"node_modules/lib": link, "../../lib/a": {}}),
        json!({"node_modules/lib": link, "../../lib/node_modules/../a": {}}),
        json!({"node_modules/lib": link, "node_modules/lib/node_modules/a": {}}),
        json!({"node_modules/lib": {"link": true, "resolved": "../node_modules/a"}, "../node_modules/b": {}}),
        json!({"node_modules/lib": {"link": true, "resolved": "a/../../lib"}}),
    ];
    for packages in refused {
        let error = parse(&lock_of(packages.clone())).expect_err("outside");
        assert_eq!(error.code(), "LOCK_PATH", "{packages}");
    }
}

#[test]
fn what_is_installed_outside_is_kept_as_long_as_a_link_leads_there() {
    let link = json!({"link": true, "resolved": "../../lib"});
    let inside = json!({"version": "2.0.0", "dev": true});
    let text = lock_of(json!({
        "": {"name": "project"},
        "../../lib": {"version": "1.0.0"},
        "../../lib/node_modules/a": inside,
        "../../lib/node_modules/a/node_modules/b": inside,
        "node_modules/lib": link,
    }));
    let mut lock = parse(&text).expect("valid");
    let paths = |entries: &[LockEntry]| entries.iter().map(|entry| entry.path.clone()).collect::<Vec<_>>();
    assert_eq!(paths(&lock.packages), ["", "../../lib", "node_modules/lib"]);
    assert_eq!(paths(&lock.outside), ["../../lib/node_modules/a", "../../lib/node_modules/a/node_modules/b"]);
    let read = |bytes: Vec<u8>| serde_json::from_slice::<Value>(&bytes).expect("JSON")["packages"].clone();
    assert_eq!(read(lock.to_bytes()), text["packages"]);
    assert_eq!(read(lock.to_text().to_hidden_bytes(&|_| false)).as_object().map(|packages| packages.len()), Some(4));
    lock.packages.retain(|entry| entry.path.is_empty());
    assert_eq!(read(lock.to_bytes()), json!({"": {"name": "project"}}));
}

#[test]
fn a_link_may_lead_to_what_is_installed_elsewhere() {
    let entry = json!({"version": "1.0.0", "devDependencies": {"b": "1"}});
    let text = lock_of(json!({
        "../machine/node_modules/@s/a": entry,
        "../machine/node_modules/@s/a/node_modules/b": {"version": "1.0.0", "extraneous": true},
        "node_modules/@s/a": {"resolved": "../machine/node_modules/@s/a", "link": true},
    }));
    let lock = parse(&text).expect("valid");
    assert!(lock.packages[0].is_top());
    assert_eq!(lock.outside[0].path, "../machine/node_modules/@s/a/node_modules/b");
    let read = |bytes: Vec<u8>| serde_json::from_slice::<Value>(&bytes).expect("JSON")["packages"].clone();
    assert_eq!(read(lock.to_bytes()), text["packages"]);
}

#[test]
fn what_no_link_leads_to_any_more_is_left_out_where_the_lock_says_that_nobody_asks_for_it() {
    let link = json!({"link": true, "resolved": "../lib"});
    let former = json!({"version": "1.0.0", "extraneous": true});
    let packages = json!({
        "node_modules/lib": link, "../lib": former,
        "../former": former, "../../a/b": former, "../machine/node_modules/a": former,
    });
    let lock = parse(&lock_of(packages)).expect("valid");
    assert_eq!(
        lock.packages.iter().map(|entry| entry.path.as_str()).collect::<Vec<_>>(),
        ["node_modules/lib", "../lib"]
    );
    for path in ["../a/../b", "../node_modules/../a", "/a", "../a\\b"] {
        let error = parse(&lock_of(json!({"node_modules/lib": link, path: former}))).expect_err(path);
        assert_eq!(error.code(), "LOCK_PATH", "{path}");
    }
}

#[test]
fn commands_of_a_lock_are_confined_too() {
    let packages = json!({"node_modules/@s/a": {"bin": "../../x.js"}, "node_modules/b": {"bin": {"../../c": "/d"}}});
    let lock = parse(&lock_of(packages)).expect("valid");
    assert_eq!(lock.packages[0].manifest.bin, [(Text::from("a"), Text::from("x.js"))]);
    assert_eq!(lock.packages[1].manifest.bin, [(Text::from("c"), Text::from("d"))]);
}

#[test]
fn an_empty_dev_dependencies_object_of_the_root_is_repeated_as_npm_does() {
    let root = Manifest::parse_package_json(br#"{"name":"a","dependencies":{},"devDependencies":{}}"#, "package.json");
    let entry = LockEntry { manifest: root.unwrap(), ..LockEntry::default() };
    let lock = Lockfile { packages: vec![entry], ..Lockfile::default() };
    let text = String::from_utf8(lock.to_bytes()).unwrap();
    assert!(text.contains("\"devDependencies\": {}") && !text.contains("\"dependencies\""), "{text}");
    assert_eq!(Lockfile::parse(text.as_bytes(), "lock").unwrap().to_bytes(), text.as_bytes());
}

#[test]
fn what_would_take_for_ever_is_refused_with_the_number() {
    let entries = |list: Vec<String>| format!("{{\"lockfileVersion\":3,\"packages\":{{{}}}}}", list.join(","));
    let many: Vec<String> = (0..250_001).map(|number| format!("\"node_modules/a{number}\":{{}}")).collect();
    let names: Vec<String> = (0..20_001).map(|number| format!("\"a{number}\":\"1\"")).collect();
    let cases = [
        entries(many),
        entries(vec![format!("\"node_modules/a\":{{\"dependencies\":{{{}}}}}", names.join(","))]),
        entries(vec![format!("{:?}:{{}}", vec!["node_modules/a"; 10_000].join("/"))]),
        " ".repeat((100 << 20) + 1),
    ];
    for (text, number) in cases.iter().zip(["250001 packages", "20001 dep", "10000 levels", "104857601 bytes"]) {
        let error = Lockfile::parse(text.as_bytes(), "package-lock.json").expect_err(number);
        assert_eq!(error.code(), "LOCK_TOO_LARGE");
        assert!(error.to_string().contains(number), "{error}");
    }
    assert_eq!(Lockfile::parse("[".repeat(10_000).as_bytes(), "x").expect_err("deep").code(), "LOCK_JSON");
    let tree = "{\"dependencies\":{\"a\":".repeat(10_000);
    assert_eq!(Lockfile::parse(tree.as_bytes(), "x").expect_err("deep").code(), "LOCK_JSON");
}

#[test]
fn names_that_mean_something_to_javascript_are_names() {
    let packages =
        json!({"node_modules/__proto__": {"version": "1.0.0"}, "node_modules/constructor": {"name": "__proto__"}});
    let lock = parse(&lock_of(packages)).expect("valid");
    assert_eq!(lock.packages[0].folder_name(), "__proto__");
    assert_eq!(Lockfile::parse(&lock.to_bytes(), "x").expect("valid").packages, lock.packages);
}

#[test]
fn reading_entries_straight_and_by_way_of_values_come_to_the_same() {
    let parse = |first: &str| {
        let entries = r#"{"name": "y", "dependencies": {"a": "1"}},
            "node_modules/a": {"version": "1.0.0", "resolved": "", "integrity": "sha1-x", "dev": 1, "peer": "", "bin": "a.js",
                "engines": ["node"], "os": "linux", "license": {"type": "MIT"}, "funding": "u", "hasInstallScript": true,
                "peerDependencies": {"d": "1"}, "peerDependenciesMeta": {"d": {"optional": true}}, "unknown": {"e": [1]}},
            "node_modules/b": {"resolved": "", "link": true},
            "": {"name": "x", "workspaces": ["w"]}"#;
        let text =
            format!(r#"{{"name": "x", "lockfileVersion": 3, "requires": true, "packages": {{"{first}": {entries}}}}}"#);
        Lockfile::parse(text.as_bytes(), "package-lock.json").expect("valid")
    };
    // With a path given twice a lock is read by way of values, and the last entry counts.
    let (straight, by_values) = (parse("w"), parse(""));
    assert_eq!((straight.packages.len(), by_values.packages.len()), (4, 3));
    for path in ["", "node_modules/a", "node_modules/b"] {
        assert_eq!(straight.entry(path).expect("there"), by_values.entry(path).expect("there"), "{path}");
    }
    let entry = |path| straight.entry(path).expect("there");
    assert_eq!(entry("").manifest.name.as_deref(), Some("x"));
    assert_eq!(entry("node_modules/b").resolved.as_deref(), Some(""));
    assert_eq!((entry("node_modules/a").dev, entry("node_modules/a").peer), (true, false));
}
