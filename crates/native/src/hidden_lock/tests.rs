//! The rule, on folders made for it.

use super::*;
use rustix::fs::{AtFlags, CWD, Timespec, Timestamps};
use std::os::unix::fs::symlink;
use tempfile::TempDir;

/// A project with `left`, `@scope/middle` and a package nested in it, and a hidden lock that names `paths`.
fn project(paths: &[&str]) -> TempDir {
    let place = TempDir::new().unwrap();
    for path in ["left", "@scope/middle", "@scope/middle/node_modules/left", ".bin"] {
        fs::create_dir_all(place.path().join("node_modules").join(path)).unwrap();
    }
    let entries: Vec<String> =
        paths.iter().map(|path| format!("\"node_modules/{path}\": {{\"version\": \"1.0.0\"}}")).collect();
    let text = format!("{{\"lockfileVersion\": 3, \"packages\": {{{}}}}}", entries.join(", "));
    fs::write(place.path().join(HIDDEN_LOCK), text).unwrap();
    place
}

const ALL: [&str; 3] = ["left", "@scope/middle", "@scope/middle/node_modules/left"];

/// Sets when `path` was changed, in seconds from now.
fn age(project: &TempDir, path: &str, seconds: i64) {
    let now = fs::metadata(project.path().join(HIDDEN_LOCK)).unwrap().mtime();
    let time = || Timespec { tv_sec: now + seconds, tv_nsec: 0 };
    let times = Timestamps { last_access: time(), last_modification: time() };
    rustix::fs::utimensat(CWD, project.path().join(path), &times, AtFlags::empty()).unwrap();
}

#[test]
fn a_hidden_lock_that_names_what_is_there_is_trusted() {
    let project = project(&ALL);
    assert_eq!(trusted(project.path()).unwrap().packages.len(), 3);
}

#[test]
fn one_that_is_older_than_a_folder_is_not() {
    for folder in
        ["node_modules", "node_modules/left", "node_modules/@scope", "node_modules/@scope/middle/node_modules/left"]
    {
        let project = project(&ALL);
        age(&project, folder, 2);
        assert_eq!(trusted(project.path()), None, "{folder}");
    }
    let project = project(&ALL);
    age(&project, "node_modules/.bin", 2);
    assert!(trusted(project.path()).is_some(), "names with a dot are passed over");
}

#[test]
fn one_that_lacks_a_package_or_names_one_too_many_is_not() {
    assert_eq!(trusted(project(&ALL[..2]).path()), None);
    assert_eq!(trusted(project(&["left", ALL[1], ALL[2], "gone"]).path()), None);
}

#[test]
fn one_that_is_damaged_or_not_there_is_not() {
    let project = project(&ALL);
    fs::write(project.path().join(HIDDEN_LOCK), "{").unwrap();
    assert_eq!(trusted(project.path()), None);
    fs::remove_file(project.path().join(HIDDEN_LOCK)).unwrap();
    assert_eq!(trusted(project.path()), None);
}

#[test]
fn what_a_link_leads_to_must_be_named_and_links_in_a_circle_end() {
    let project = project(&ALL);
    let packages = project.path().join("packages/a");
    fs::create_dir_all(packages.join("node_modules")).unwrap();
    symlink("../packages/a", project.path().join("node_modules/a")).unwrap();
    symlink("../../..", packages.join("node_modules/project")).unwrap();
    age(&project, "node_modules", -5);
    assert_eq!(trusted(project.path()), None, "packages/a is not named");
    let text = fs::read_to_string(project.path().join(HIDDEN_LOCK)).unwrap();
    let link = "\"node_modules/a\": {\"resolved\": \"packages/a\", \"link\": true}, \"packages/a\": {}, ";
    let text = text.replacen("\"node_modules/left\"", &format!("{link}\"node_modules/left\""), 1);
    fs::write(project.path().join(HIDDEN_LOCK), text).unwrap();
    let _ended = trusted(project.path());
}
