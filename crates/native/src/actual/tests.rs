use super::{has_version, package_in_place, scanned};
use serde_json::json;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use tempfile::tempdir;

fn package(folder: &Path, name: &str, version: &str) {
    fs::create_dir_all(folder).unwrap();
    let text = json!({ "name": name, "version": version, "_resolved": "https://registry.example/x.tgz" });
    fs::write(folder.join("package.json"), text.to_string()).unwrap();
}

fn paths(project: &Path) -> Vec<String> {
    let lock = scanned(project, &[]).unwrap();
    lock.packages.into_iter().map(|entry| entry.path).collect()
}

#[test]
fn folders_are_packages_at_every_depth() {
    let folder = tempdir().unwrap();
    let modules = folder.path().join("node_modules");
    package(&modules.join("a"), "a", "1.0.0");
    package(&modules.join("a/node_modules/@s/b"), "@s/b", "2.0.0");
    package(&modules.join("alias"), "c", "3.0.0");
    package(&modules.join(".cache/d"), "d", "1.0.0");
    package(&modules.join("@s/.e-retired"), "e", "1.0.0");
    fs::create_dir(modules.join("empty")).unwrap();
    fs::write(modules.join("file"), "").unwrap();
    let expected = ["node_modules/a", "node_modules/a/node_modules/@s/b", "node_modules/alias", "node_modules/empty"];
    assert_eq!(paths(folder.path()), expected);
    let lock = scanned(folder.path(), &[]).unwrap();
    let alias = lock.entry("node_modules/alias").unwrap();
    assert_eq!((alias.package_name(), &alias.resolved, &alias.integrity), ("c", &None, &None));
    assert_eq!(lock.entry("node_modules/empty").unwrap().manifest.version, None);
}

#[test]
fn links_are_followed_to_folders_of_the_user() {
    let outer = tempdir().unwrap();
    let project = outer.path().join("project");
    package(&project.join("packages/a"), "a", "1.0.0");
    package(&project.join("packages/a/node_modules/b"), "b", "1.0.0");
    package(&outer.path().join("outside"), "outside", "1.0.0");
    package(&outer.path().join("outside/node_modules/c"), "c", "1.0.0");
    fs::create_dir(project.join("node_modules")).unwrap();
    symlink("../packages/a", project.join("node_modules/a")).unwrap();
    symlink("../../outside", project.join("node_modules/outside")).unwrap();
    symlink("../nowhere", project.join("node_modules/broken")).unwrap();
    symlink("..", project.join("node_modules/self")).unwrap();
    let expected = [
        "../outside",
        "node_modules/a",
        "node_modules/outside",
        "node_modules/self",
        "packages/a",
        "packages/a/node_modules/b",
    ];
    assert_eq!(paths(&project), expected);
    let lock = scanned(&project, &[]).unwrap();
    assert_eq!(lock.entry("node_modules/a").unwrap().resolved.as_deref(), Some("packages/a"));
    assert_eq!(lock.entry("node_modules/self").unwrap().resolved.as_deref(), Some(""));
}

#[test]
fn links_among_packages_are_not_understood() {
    let folder = tempdir().unwrap();
    let modules = folder.path().join("node_modules");
    package(&modules.join(".store/a@1.0.0/node_modules/a"), "a", "1.0.0");
    symlink(".store/a@1.0.0/node_modules/a", modules.join("a")).unwrap();
    assert!(scanned(folder.path(), &[]).is_none());
}

#[test]
fn folders_of_the_project_count_without_a_link() {
    let folder = tempdir().unwrap();
    package(&folder.path().join("packages/a"), "a", "1.0.0");
    assert!(scanned(folder.path(), &["packages/a".to_owned()]).is_none(), "nothing is installed");
    package(&folder.path().join("packages/a/node_modules/b"), "b", "1.0.0");
    let lock = scanned(folder.path(), &["packages/a".to_owned()]).unwrap();
    assert!(lock.entry("packages/a/node_modules/b").is_some() && lock.entry("packages/a").is_some());
    assert!(scanned(folder.path(), &[]).is_none());
    assert!(scanned(&folder.path().join("absent"), &[]).is_none());
}

#[test]
fn a_package_is_in_place_in_its_version_only() {
    let folder = tempdir().unwrap();
    let project = folder.path();
    let place = project.join("node_modules/a");
    package(&place, "a", "1.0.0");
    fs::create_dir(place.join("lib")).unwrap();
    fs::write(place.join("lib/index.js"), "1\n").unwrap();
    let index = package_in_place(project, "node_modules/a", "1.0.0").unwrap();
    assert!(index.file("lib/index.js").is_some() && index.is_in_order());
    for (path, version) in [("node_modules/a", "1.0.1"), ("node_modules/a", ""), ("node_modules", "1.0.0")] {
        assert!(!has_version(project, path, version), "{path} {version}");
    }
    package(&project.join("node_modules/my_node_modules"), "my_node_modules", "1.0.0");
    assert!(has_version(project, "node_modules/my_node_modules", "1.0.0"));
    symlink("a", project.join("node_modules/link")).unwrap();
    assert!(package_in_place(project, "node_modules/link", "1.0.0").is_none());
    fs::write(place.join("package.json"), "{").unwrap();
    assert!(package_in_place(project, "node_modules/a", "1.0.0").is_none());
}

#[test]
fn a_tree_that_is_a_link_counts_as_none() {
    let folder = tempdir().unwrap();
    package(&folder.path().join("elsewhere/a"), "a", "1.0.0");
    symlink("elsewhere", folder.path().join("node_modules")).unwrap();
    assert!(scanned(folder.path(), &[]).is_none());
    assert!(!has_version(folder.path(), "node_modules/a", "1.0.0"));
}
