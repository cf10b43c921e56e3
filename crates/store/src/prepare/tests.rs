use super::{PreparedPackage, prepare};
use gantry_archive::Entry;
use std::borrow::Cow;

fn entry(path: &str, data: &'static str) -> Entry<'static> {
    Entry { path: path.into(), data: Cow::Borrowed(data.as_bytes()), executable: false }
}

fn contents(package: &PreparedPackage<'_>, path: &str) -> String {
    let position = package.index.files.iter().position(|file| file.path == path).unwrap();
    String::from_utf8(package.contents[position].to_vec()).unwrap()
}

#[test]
fn files_lie_one_after_the_other_in_the_order_of_their_paths() {
    let package = prepare(vec![entry("b", "four"), entry("a", "xyz"), entry("lib/c", ""), entry("lib-d", "d")]);
    let files: Vec<_> = package.index.files.iter().map(|file| (file.path.as_str(), file.offset, file.size)).collect();
    assert_eq!(files, [("a", 0, 3), ("b", 3, 4), ("lib-d", 7, 1), ("lib/c", 8, 0)]);
    assert_eq!(package.contents.concat(), b"xyzfourd");
    assert_eq!(package.index.segment_length(), 8);
}

#[test]
fn facts_come_from_the_package_itself() {
    let package = prepare(vec![entry(
        "package.json",
        "\u{feff}{\"name\":\"@s/x\",\"version\":\"1.0.0\",\"license\":{\"type\":\"MIT\",\"url\":\"u\"},\
         \"bin\":\"./cli.js\",\"scripts\":{\"postinstall\":\"node x\"}}",
    )]);
    let facts = package.index.facts;
    assert_eq!(facts.name.as_deref(), Some("@s/x"));
    assert_eq!(facts.version.as_deref(), Some("1.0.0"));
    assert_eq!(facts.lock_members.as_deref(), Some("{\"license\":\"MIT\"}"));
    assert_eq!(facts.bin, [("x".into(), "cli.js".into())]);
    assert!(facts.has_install_script);
}

#[test]
fn a_package_without_a_usable_manifest_has_no_facts() {
    for package_json in [None, Some(""), Some("{"), Some("[]"), Some("null"), Some("\"x\"")] {
        let mut entries = vec![entry("index.js", "x")];
        entries.extend(package_json.map(|text| entry("package.json", text)));
        assert_eq!(prepare(entries).index.facts, Default::default(), "{package_json:?}");
    }
}

#[test]
fn mistakes_in_other_members_do_not_hide_the_facts() {
    let text = r#"{"name":"x","version":"1.0.0","dependencies":["a"],"bin":{"x":"x.js"}}"#;
    let package = prepare(vec![entry("package.json", text), entry("x.js", "x")]);
    assert_eq!(package.index.facts.name.as_deref(), Some("x"));
    assert!(package.index.file("x.js").unwrap().executable);
}

#[test]
fn commands_are_executable_and_start_with_a_unix_line() {
    for (before, after) in [
        ("#!/usr/bin/env node\r\nx\r\n", "#!/usr/bin/env node\nx\r\n"),
        ("#!/usr/bin/env node\nx\r\n", "#!/usr/bin/env node\nx\r\n"),
        ("#!\r\nx", "#!\r\nx"),
        ("#!a\r\n", "#!a\n"),
        ("x\r\n#!a\r\n", "x\r\n#!a\r\n"),
        ("", ""),
    ] {
        let package = prepare(vec![
            entry("package.json", r#"{"name":"x","bin":{"a":"./bin/a.js","gone":"gone.js"}}"#),
            entry("bin/a.js", before),
            entry("bin/b.js", "#!/usr/bin/env node\r\n"),
        ]);
        assert_eq!(contents(&package, "bin/a.js"), after);
        assert_eq!(package.index.file("bin/a.js").unwrap().size, after.len() as u64);
        assert!(package.index.file("bin/a.js").unwrap().executable);
        assert!(!package.index.file("bin/b.js").unwrap().executable);
        assert_eq!(contents(&package, "bin/b.js"), "#!/usr/bin/env node\r\n");
    }
}

#[test]
fn only_the_first_two_kilobytes_are_searched_for_the_end_of_the_line() {
    let far: &'static str = Box::leak(format!("#!{}\r\n", "x".repeat(2044)).into_boxed_str());
    let further: &'static str = Box::leak(format!("#!{}\r\n", "x".repeat(2045)).into_boxed_str());
    for (text, changed) in [(far, true), (further, false)] {
        let package = prepare(vec![entry("package.json", r#"{"name":"x","bin":"x"}"#), entry("x", text)]);
        assert_eq!(contents(&package, "x").len() < text.len(), changed);
    }
}

#[test]
fn a_binding_gyp_is_an_install_script_unless_the_package_objects() {
    for (package_json, expected) in [
        (r#"{"name":"x"}"#, true),
        (r#"{"name":"x","gypfile":false}"#, false),
        (r#"{"name":"x","gypfile":false,"scripts":{"preinstall":"y"}}"#, true),
    ] {
        let package = prepare(vec![entry("package.json", package_json), entry("binding.gyp", "{}")]);
        assert_eq!(package.index.facts.has_install_script, expected, "{package_json}");
    }
    let nested = prepare(vec![entry("package.json", "{}"), entry("src/binding.gyp", "{}")]);
    assert!(!nested.index.facts.has_install_script);
}
