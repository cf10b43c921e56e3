//! What npm makes of a `package.json` and of a registry's version.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn read(document: Value) -> Manifest {
    Manifest::parse_package_json(document.to_string().as_bytes(), "package.json").expect("npm reads it")
}

fn field_error(document: Value) -> String {
    let error = Manifest::parse_package_json(document.to_string().as_bytes(), "package.json").expect_err("npm fails");
    assert_eq!(error.code(), "MANIFEST_FIELD");
    error.to_string()
}

fn pairs(pairs: &[(&str, &str)]) -> DependencyMap {
    pairs.iter().map(|(key, value)| (Text::from(*key), Text::from(*value))).collect()
}

#[test]
fn an_empty_object_is_an_empty_manifest() {
    assert_eq!(read(json!({})), Manifest::default());
    assert_eq!(
        Manifest::parse_package_json(b"\xef\xbb\xbf {}\n", "x").expect("a mark is allowed"),
        Manifest::default()
    );
}

#[test]
fn invalid_json_is_named_with_its_place() {
    let error =
        Manifest::parse_package_json(b"{\n  \"name\": \"a\",\n}", "app/package.json").expect_err("trailing comma");
    assert_eq!(error.code(), "MANIFEST_JSON");
    assert_eq!(error.to_string(), "app/package.json:3:1: invalid JSON: trailing comma");
    let conflict = b"{\n<<<<<<< ours\n\"name\": \"a\"\n=======\n\"name\": \"b\"\n>>>>>>> theirs\n}";
    let error = Manifest::parse_package_json(conflict, "package.json").unwrap_err();
    assert_eq!(error.to_string(), "package.json:2:1: invalid JSON: a merge has left its conflict here");
    for text in ["", "{", "<html>", "{} x", "{\"a\":1}}"] {
        let error = Manifest::parse_package_json(text.as_bytes(), "x").expect_err(text);
        assert_eq!(error.code(), "MANIFEST_JSON", "{text}");
    }
    for text in ["[]", "1", "null", "\"x\"", "true", "-1.5"] {
        let error = Manifest::parse_package_json(text.as_bytes(), "x").expect_err(text);
        assert_eq!(error.code(), "MANIFEST_SHAPE", "{text}");
    }
}

#[test]
fn dependencies_keep_the_order_of_the_document_and_of_duplicates_the_last_counts() {
    let text = r#"{"dependencies":{"b":"1","a":"2","b":"3","__proto__":"4"},"name":"x","name":"y"}"#;
    let manifest = Manifest::parse_package_json(text.as_bytes(), "x").expect("valid");
    assert_eq!(manifest.dependencies, pairs(&[("b", "3"), ("a", "2"), ("__proto__", "4")]));
    assert_eq!(manifest.name.as_deref(), Some("y"));
}

#[test]
fn an_optional_dependency_is_not_an_ordinary_one_too() {
    let manifest = read(json!({"dependencies": {"a": "1", "b": "1"}, "optionalDependencies": {"b": "2"}}));
    assert_eq!(manifest.dependencies, pairs(&[("a", "1")]));
    assert_eq!(manifest.optional_dependencies, pairs(&[("b", "2")]));
}

#[test]
fn dependencies_that_npm_cannot_install_are_errors_with_the_field() {
    let cases = [
        (
            json!({"dependencies": ["ms@2"]}),
            "package.json: \"dependencies\" must be an object of names and version ranges",
        ),
        (
            json!({"devDependencies": "ms"}),
            "package.json: \"devDependencies\" must be an object of names and version ranges",
        ),
        (json!({"dependencies": {"ms": 2}}), "package.json: \"dependencies.ms\" must be a string"),
        (json!({"peerDependencies": {"ms": null}}), "package.json: \"peerDependencies.ms\" must be a string"),
        (json!({"name": 1}), "package.json: \"name\" must be a string"),
        (json!({"version": {}}), "package.json: \"version\" must be a string"),
    ];
    for (document, expected) in cases {
        assert_eq!(field_error(document), expected);
    }
}

#[test]
fn what_is_falsy_or_empty_counts_as_not_given() {
    let manifest = read(json!({
        "name": "", "version": null, "dependencies": [], "devDependencies": "", "optionalDependencies": false,
        "peerDependencies": "any text", "bin": {}, "engines": {}, "os": [], "cpu": "", "funding": "", "license": "",
        "deprecated": false, "workspaces": [], "overrides": {}, "peerDependenciesMeta": {}, "scripts": "none",
    }));
    assert_eq!(manifest, Manifest::default());
}

#[test]
fn bundled_dependencies_are_read_in_every_form() {
    let cases = [
        (json!({"bundleDependencies": ["a", "b"]}), vec!["a", "b"]),
        (json!({"bundledDependencies": ["a"]}), vec!["a"]),
        (json!({"bundleDependencies": ["a"], "bundledDependencies": ["b"]}), vec!["a"]),
        (json!({"bundleDependencies": null, "bundledDependencies": ["b"]}), vec![]),
        (json!({"bundleDependencies": true, "dependencies": {"x": "1", "y": "1"}}), vec!["x", "y"]),
        (json!({"bundleDependencies": false, "dependencies": {"x": "1"}}), vec![]),
        (json!({"bundleDependencies": {"a": "1", "b": "2"}}), vec!["a", "b"]),
        (json!({"bundleDependencies": "a"}), vec![]),
    ];
    for (document, expected) in cases {
        assert_eq!(read(document.clone()).bundle_dependencies, expected, "{document}");
    }
}

#[test]
fn bins_are_named_after_the_package_or_their_keys_and_confined() {
    let cases = [
        (json!({"name": "x", "bin": "./cli.js"}), vec![("x", "cli.js")]),
        (json!({"name": "@s/x", "bin": "cli.js"}), vec![("x", "cli.js")]),
        (json!({"bin": "cli.js"}), vec![]),
        (json!({"name": "x", "bin": ["bin/a", "./b/"]}), vec![("a", "bin/a"), ("b", "b/")]),
        (json!({"bin": {"../../evil": "../../../../etc/passwd"}}), vec![("evil", "etc/passwd")]),
        (json!({"bin": {"@s/a": "1", "a": "2"}}), vec![("a", "1")]),
        (json!({"bin": {"c:\\d\\e": "x\\y:z"}}), vec![("e", "x/y/z")]),
        (json!({"bin": {"..": "a", ".": "a", "/": "a", "": "a", "b": "", "c": "..", "d": 1, "e": null}}), vec![]),
        (json!({"bin": {"nul\u{0}": "a", "b": "a\u{0}"}}), vec![]),
        (json!({"name": "x", "bin": true}), vec![]),
    ];
    for (document, expected) in cases {
        assert_eq!(read(document.clone()).bin, pairs(&expected), "{document}");
    }
}

#[test]
fn peers_are_optional_only_if_they_are_peers() {
    let meta = json!({"a": {"optional": true}, "b": {"optional": false}, "ghost": {"optional": true}, "odd": 1});
    let manifest = read(json!({"peerDependencies": {"a": "1", "b": "1", "c": "1"}, "peerDependenciesMeta": meta}));
    assert_eq!(manifest.peer_optional, ["a"]);
    assert_eq!(manifest.peer_dependencies.len(), 3);
    assert_eq!(manifest.peer_dependencies_meta, Some(meta));
    assert_eq!(read(json!({"peerDependenciesMeta": {"a": {"optional": true}}})).peer_optional, [""; 0]);
}

#[test]
fn license_and_funding_are_as_the_lock_writes_them() {
    assert_eq!(read(json!({"license": "MIT"})).license.as_deref(), Some("MIT"));
    assert_eq!(read(json!({"license": {"type": "BSD", "url": "u"}})).license.as_deref(), Some("BSD"));
    for odd in [json!(["MIT", "Apache2"]), json!({"name": "MIT"})] {
        let manifest = read(json!({"license": odd}));
        assert_eq!(manifest.license, None);
        assert_eq!(manifest.verbatim, [("license".to_owned(), odd)]);
    }
    assert_eq!(read(json!({"funding": "https://a"})).funding, Some(json!({"url": "https://a"})));
    assert_eq!(read(json!({"funding": ["a", {"url": "b"}]})).funding, Some(json!(["a", {"url": "b"}])));
}

#[test]
fn engines_and_platforms_of_an_unusual_type_are_kept_for_the_lock() {
    let manifest =
        read(json!({"engines": ["node >= 0.6"], "os": "linux", "cpu": ["x64", "!arm"], "libc": ["musl", 1]}));
    assert_eq!(manifest.engines, []);
    assert_eq!(manifest.os, ["linux"]);
    assert_eq!(manifest.cpu, ["x64", "!arm"]);
    assert_eq!(manifest.libc, ["musl"]);
    let kept: Vec<&str> = manifest.verbatim.iter().map(|(member, _)| member.as_str()).collect();
    assert_eq!(kept, ["engines", "os", "libc"]);
    assert_eq!(read(json!({"engines": {"node": ">=4", "npm": "*"}})).engines, pairs(&[("node", ">=4"), ("npm", "*")]));
}

#[test]
fn only_the_three_install_scripts_count() {
    for script in ["preinstall", "install", "postinstall"] {
        assert!(read(json!({"scripts": {script: "node x"}})).has_install_script, "{script}");
        assert!(!read(json!({"scripts": {script: ""}})).has_install_script, "{script} is empty");
        assert!(!read(json!({"scripts": {script: 1}})).has_install_script, "{script} is no text");
    }
    assert!(!read(json!({"scripts": {"prepare": "x", "test": "x"}})).has_install_script);
    assert!(read(json!({"hasInstallScript": true})).has_install_script);
}

#[test]
fn a_file_cannot_pretend_to_be_a_registry_document() {
    let manifest = read(json!({"_hasShrinkwrap": true, "_id": "x@1", "dist": {"tarball": "t"}}));
    assert_eq!(manifest, Manifest::default());
}

#[test]
fn a_registry_version_has_its_tarball_and_no_development_dependencies() {
    let document = json!({
        "name": "a", "version": "1.0.0", "devDependencies": {"b": "1"}, "_hasShrinkwrap": true, "deprecated": "no more",
        "dist": {"tarball": "https://registry.example/a.tgz", "integrity": "sha512-x", "shasum": "ab", "fileCount": 3,
                 "unpackedSize": 99, "signatures": [{"sig": "x"}]},
    });
    let manifest = Manifest::parse_registry_version(document.to_string().as_bytes()).expect("valid");
    assert_eq!(manifest.dev_dependencies, []);
    assert!(manifest.has_shrinkwrap);
    assert_eq!(manifest.deprecated.as_deref(), Some("no more"));
    let dist = manifest.dist.expect("given");
    assert_eq!(dist.tarball, "https://registry.example/a.tgz");
    assert_eq!((dist.integrity.as_deref(), dist.shasum.as_deref()), (Some("sha512-x"), Some("ab")));
    assert_eq!((dist.file_count, dist.unpacked_size), (Some(3), Some(99)));
}

#[test]
fn a_registry_version_that_npm_cannot_install_is_none() {
    for text in ["", "[]", "null", "{", r#"{"dependencies":["a"]}"#, r#"{"dependencies":{"a":{}}}"#, r#"{"version":1}"#]
    {
        assert_eq!(Manifest::parse_registry_version(text.as_bytes()), None, "{text}");
    }
    // What is merely odd does not make it so.
    assert!(Manifest::parse_registry_version(br#"{"dist":7,"engines":"node","bin":3,"scripts":[],"os":{}}"#).is_some());
}

#[test]
fn nesting_of_any_depth_is_harmless() {
    let deep = |member: &str| format!("{{\"{member}\":{}{}}}", "[".repeat(10_000), "]".repeat(10_000));
    assert!(Manifest::parse_registry_version(deep("readme").as_bytes()).is_some());
    assert_eq!(Manifest::parse_registry_version(deep("funding").as_bytes()), None);
    let error = Manifest::parse_package_json(deep("funding").as_bytes(), "x").expect_err("too deep");
    assert_eq!(error.code(), "MANIFEST_JSON");
}

#[test]
fn bytes_that_are_not_utf8_are_replaced_as_node_does() {
    let manifest = Manifest::parse_registry_version(b"{\"name\":\"a\",\"deprecated\":\"\xff\"}").expect("readable");
    assert_eq!(manifest.deprecated.as_deref(), Some("\u{fffd}"));
}

#[test]
fn half_a_surrogate_pair_does_not_cost_the_document() {
    let text = r#"{"name":"a","deprecated":"x\ud83d\ude00 \ud800 \udc00\u0041 \\ud800 \ud83d"}"#;
    let manifest = Manifest::parse_registry_version(text.as_bytes()).expect("readable");
    assert_eq!(manifest.deprecated.as_deref(), Some("x\u{1f600} \u{fffd} \u{fffd}A \\ud800 \u{fffd}"));
    for broken in [r#"{"a":"\"#, r#"{"a":"\ud8"#, r#"{"a":"\ud800\"#, r#"\é"#, r#"{"a":"\ud800é"#] {
        assert_eq!(Manifest::parse_registry_version(broken.as_bytes()), None, "{broken}");
    }
}

/// Values of the kinds that members of manifests have, rightly or not.
fn any_value() -> impl Strategy<Value = Value> {
    let text = || prop_oneof!["[a-c]{1,2}", "\\PC{0,4}"];
    let leaf = prop_oneof![
        4 => text().prop_map(Value::from),
        1 => any::<bool>().prop_map(Value::from),
        1 => any::<u32>().prop_map(Value::from),
        1 => Just(Value::Null),
    ];
    leaf.prop_recursive(2, 40, 20, move |inner| {
        prop_oneof![
            4 => prop::collection::vec((text(), text()), 0..20)
                .prop_map(|pairs| pairs.into_iter().map(|(key, text)| (key, Value::from(text))).collect()),
            1 => prop::collection::vec((text(), inner.clone()), 0..4).prop_map(|pairs| pairs.into_iter().collect()),
            1 => prop::collection::vec(inner, 0..3).prop_map(Value::Array),
        ]
    })
}

proptest! {
    #[test]
    fn members_mean_the_same_however_they_are_read(
        members in prop::collection::vec((prop::sample::select(REGISTRY_MEMBERS), any_value()), 0..9),
    ) {
        let object: serde_json::Map<_, _> = members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        let bytes = serde_json::to_vec(&object).expect("JSON");
        let whole = normalise::manifest_of(object.into(), None).ok();
        prop_assert_eq!(Manifest::parse_registry_version(&bytes), whole);
    }
}

#[test]
fn of_a_dependency_given_twice_the_last_counts_in_the_first_place() {
    let many: String = (0..20).map(|index| format!(r#""p{index}":"1","#)).collect();
    for between in ["", &many] {
        let json = format!(r#"{{"dependencies":{{"a":"1","b":"1",{between}"a":"2","c":"1"}}}}"#);
        let manifest = Manifest::parse_registry_version(json.as_bytes()).expect("valid");
        assert_eq!(manifest.dependencies[0], (Text::from("a"), Text::from("2")));
        assert_eq!(manifest.dependencies.iter().filter(|(name, _)| name == "a").count(), 1);
        assert_eq!(manifest.dependencies.last(), Some(&(Text::from("c"), Text::from("1"))));
    }
}

#[test]
fn without_bin_the_files_of_a_folder_are_commands() {
    let commands = |document: Value, files: &[&str]| {
        let mut manifest = read(document);
        manifest.read_commands(files.iter().copied());
        assert_eq!(manifest.command_folder, None);
        manifest.bin
    };
    let files = ["bin/a", "bin/.b", "bin/c/d.js", "bin/c/.e/f", "bin/g/a", "binary", "package.json"];
    let found = pairs(&[("a", "bin/g/a"), ("c", "bin/c"), ("d.js", "bin/c/d.js"), ("g", "bin/g")]);
    for folder in ["bin", "./bin/", "../bin", "x\\..\\bin"] {
        assert_eq!(
            commands(json!({"name": "x", "bin": "", "directories": {"bin": folder}}), &files),
            found,
            "{folder}"
        );
    }
    let all = commands(json!({"directories": {"bin": "."}}), &["package.json", "lib/a"]);
    assert_eq!(all, pairs(&[("a", "lib/a"), ("lib", "lib"), ("package.json", "package.json")]));
    for document in [
        json!({"bin": {}, "directories": {"bin": "bin"}}),
        json!({"directories": {"bin": ["bin"]}}),
        json!({"directories": "bin"}),
        json!({"directories": {"bin": "lib"}}),
    ] {
        assert_eq!(commands(document.clone(), &files), pairs(&[]), "{document}");
    }
    let registry = Manifest::parse_registry_version(json!({"directories": {"bin": "bin"}}).to_string().as_bytes());
    assert_eq!(registry.expect("npm reads it").command_folder, None);
}
