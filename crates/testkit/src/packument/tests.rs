//! The abbreviated form against what the public registry leaves out and computes.
use super::*;
use serde_json::json;

#[test]
fn the_abbreviated_form_drops_what_an_install_does_not_need() {
    let full = json!({
        "_id": "a", "name": "a", "description": "text", "license": "MIT", "readme": "long",
        "dist-tags": {"latest": "1.0.0"},
        "time": {"created": "2020-01-01T00:00:00.000Z", "modified": "2020-01-02T00:00:00.000Z", "1.0.0": "2020-01-01T00:00:00.000Z"},
        "versions": {"1.0.0": {
            "name": "a", "version": "1.0.0", "license": "MIT", "scripts": {"test": "x"}, "_id": "a@1.0.0",
            "funding": {"url": "u"}, "libc": ["musl"], "_hasShrinkwrap": false, "_npmUser": {"name": "n"},
            "dist": {"tarball": "t", "shasum": "s"}, "main": "index.js", "bin": {"a": "a.js"},
        }},
    });
    let expected = json!({
        "name": "a", "dist-tags": {"latest": "1.0.0"},
        "versions": {"1.0.0": {
            "name": "a", "version": "1.0.0", "funding": {"url": "u"}, "libc": ["musl"], "_hasShrinkwrap": false,
            "dist": {"tarball": "t", "shasum": "s"}, "bin": {"a": "a.js"},
        }},
        "modified": "2020-01-02T00:00:00.000Z",
    });
    assert_eq!(abbreviate(&full).to_string(), expected.to_string());
}

#[test]
fn an_install_script_is_computed_only_where_the_document_does_not_say() {
    let flag = |manifest: Value| {
        let full = json!({"name": "a", "versions": {"1.0.0": manifest}});
        abbreviate(&full).pointer("/versions/1.0.0/hasInstallScript").cloned()
    };
    assert_eq!(flag(json!({"scripts": {"postinstall": "x"}})), Some(json!(true)));
    assert_eq!(flag(json!({"scripts": {"install": "x"}, "hasInstallScript": false})), Some(json!(false)));
    assert_eq!(flag(json!({"scripts": {"prepare": "x"}})), None);
}

#[test]
fn tarball_addresses_lose_their_host_and_path() {
    let mut full = json!({"versions": {
        "1.0.0": {"dist": {"tarball": "https://user:secret@registry.test/deep/@s/a/-/a-1.0.0.tgz?token=1"}},
        "2.0.0": {},
    }});
    let tarballs = anonymise("@s/a", &mut full);
    assert_eq!(tarballs[0].0, "a-1.0.0.tgz");
    assert_eq!(full.pointer("/versions/1.0.0/dist/tarball"), Some(&json!(format!("{PLACEHOLDER}@s/a/-/a-1.0.0.tgz"))));
}
