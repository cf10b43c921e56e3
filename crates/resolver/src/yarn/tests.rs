use super::{Pins, split_request};
use crate::package::{Package, Peers, Top};
use crate::start::builder;
use crate::{Project, ResolveOptions, YarnHints, yarn_text};
use gantry_manifest::{Lockfile, Manifest, YarnLock};
use serde_json::{Value, json};
use std::sync::Arc;

fn hints(text: &str) -> YarnHints {
    let lock = Arc::new(YarnLock::parse(text.as_bytes(), "yarn.lock").unwrap());
    YarnHints { lock, yarn_host: "yarn.example".to_owned(), npm_host: "npm.example".to_owned() }
}

fn project(root: &Value) -> Project {
    Project::from(Manifest::parse_package_json(root.to_string().as_bytes(), "package.json").unwrap())
}

fn lock(packages: Value) -> Lockfile {
    let text = json!({ "lockfileVersion": 3, "requires": true, "packages": packages }).to_string();
    Lockfile::parse(text.as_bytes(), "package-lock.json").unwrap()
}

fn options(text: &str) -> ResolveOptions {
    ResolveOptions { yarn: Some(hints(text)), project_path: "/project".to_owned(), ..ResolveOptions::default() }
}

#[test]
fn requests_are_names_and_specifiers() {
    assert_eq!(split_request("a@^1"), Some(("a", "^1")));
    assert_eq!(split_request("@s/a@npm:b@1"), Some(("@s/a", "npm:b@1")));
    assert_eq!(split_request("a@"), Some(("a", "")));
    assert_eq!([split_request("a"), split_request("@s/a"), split_request("")], [None; 3]);
}

#[test]
fn a_lock_that_says_too_little_is_completed() {
    let root = json!({ "name": "project", "dependencies": { "a": "^1.0.0", "b": "^1.0.0", "c": "^1.0.0" } });
    let lock = lock(json!({
        "": root,
        "node_modules/a": { "version": "1.0.0" },
        "node_modules/b": { "version": "1.0.0" },
        "node_modules/c": { "version": "1.0.0", "resolved": "https://else.example/c.tgz" },
    }));
    let yarn = concat!(
        "a@^1.0.0:\n  version \"1.0.0\"\n  resolved \"https://yarn.example/a/-/a-1.0.0.tgz#12\"\n  integrity sha512-A\n\n",
        "b@^1.0.0:\n  version \"1.0.1\"\n  integrity sha512-B\n\n",
        "c@^1.0.0:\n  version \"1.0.0\"\n  resolved \"https://yarn.example/c.tgz\"\n  integrity sha512-C\n",
    );
    let forest = builder(project(&root), Some(&lock), options(yarn)).unwrap().forest;
    let known = |place: &str| {
        let package = forest.package_of(forest.at(forest.root, place).unwrap());
        (package.resolved.as_deref(), package.integrity.as_deref())
    };
    assert_eq!(known("node_modules/a"), (Some("https://npm.example/a/-/a-1.0.0.tgz"), Some("sha512-A")));
    assert_eq!(known("node_modules/b"), (None, None), "another version");
    assert_eq!(known("node_modules/c"), (Some("https://else.example/c.tgz"), None), "from somewhere else");
}

#[test]
fn what_asks_for_a_package_is_written_with_it() {
    let root = json!({
        "name": "project", "dependencies": { "a": "^1.0.0", "folder": "file:folder" }, "devDependencies": { "b": "*" },
    });
    let lock = lock(json!({
        "": root,
        "folder": { "version": "1.0.0", "dependencies": { "b": "^1.0.0" } },
        "node_modules/folder": { "resolved": "folder", "link": true },
        "node_modules/a": { "version": "1.2.0", "resolved": "https://npm.example/a.tgz", "integrity": "sha512-A",
            "dependencies": { "b": "^1.0.0", "gone": "1" } },
        "node_modules/b": { "version": "1.0.0", "integrity": "sha512-B" },
    }));
    let text = yarn_text(&project(&root), &lock, &options("")).unwrap().unwrap();
    let entries: Vec<&str> = text.split("\n\n").skip(1).map(str::trim).collect();
    assert_eq!(
        entries,
        [
            concat!(
                "a@^1.0.0:\n  version \"1.2.0\"\n  resolved \"https://npm.example/a.tgz\"\n  integrity sha512-A\n",
                "  dependencies:\n    b \"^1.0.0\"\n    gone \"1\"",
            ),
            "b@*, b@^1.0.0:\n  version \"1.0.0\"\n  integrity sha512-B",
            "\"folder@file:folder\":\n  version \"1.0.0\"\n  resolved \"file:folder\"\n  dependencies:\n    b \"^1.0.0\"",
        ]
    );
    assert_eq!(yarn_text(&Project::default(), &Lockfile::default(), &options("")).unwrap(), None);
}

#[test]
fn an_integrity_must_not_contradict_the_registrys() {
    let mut forest = builder(Project::default(), None, ResolveOptions::default()).unwrap().forest;
    let [zeros, ones] = ["A".repeat(86), "/".repeat(85) + "w"].map(|digest| format!("sha512-{digest}=="));
    let sha1 = format!("sha1-{}=", "A".repeat(27));
    let tables = (&mut forest.names, &mut forest.specs);
    let source = (None, Some(zeros.as_str().into()));
    let package = Package::new(Arc::default(), source, (Peers::Load, Top::No), tables);
    let package = forest.add_package(package);
    let mut pins = Pins::default();
    let mut confirm = |stated: &str| {
        let confirmed = pins.confirm(&mut forest, package, &stated.into(), Peers::Load);
        confirmed.map(|id| (id == package, forest.packages[id.index()].integrity.clone().unwrap().to_string()))
    };
    assert_eq!(confirm(&zeros).unwrap(), (true, zeros.clone()));
    assert_eq!(confirm("no integrity").unwrap(), (true, zeros.clone()));
    assert_eq!(confirm(&sha1).unwrap(), (false, format!("{sha1} {zeros}")));
    assert!(confirm(&ones).is_err());
}
