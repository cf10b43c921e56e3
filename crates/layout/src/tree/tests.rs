use super::{FileKind, FileSource, TreeEntry, VirtualTree};
use crate::{Omit, PackageKeys, Plan, TreeDigest, plan};
use gantry_archive::Entry;
use gantry_manifest::Lockfile;
use gantry_store::{PackageIndex, PackageKey, PreparedPackage, prepare};
use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

const LOCK: &str = r#"{"name":"p","lockfileVersion":3,"packages":{
  "":{"name":"p","workspaces":["packages/*"]},
  "packages/w":{"version":"1.0.0","bin":"cli.js"},
  "packages/w/node_modules/c":{"version":"2.0.0","resolved":"c"},
  "node_modules/w":{"resolved":"packages/w","link":true},
  "node_modules/out":{"resolved":"../out","link":true},
  "node_modules/a":{"version":"1.0.0","resolved":"a","bin":{"a":"bin/a.js"},"bundleDependencies":["bundled"]},
  "node_modules/a/node_modules/bundled":{"version":"1.0.0","inBundle":true},
  "node_modules/a/node_modules/c":{"version":"1.0.0","resolved":"c"},
  "node_modules/@s/b":{"version":"1.0.0","resolved":"b"},
  "node_modules/c":{"version":"1.0.0","resolved":"c"},
  "node_modules/none":{"version":"1.0.0","resolved":"none"}
}}"#;

/// Contents of a file in these tests follow from its package and path.
fn contents(package: &str, path: &str) -> Vec<u8> {
    format!("{package}:{path}").into_bytes()
}

fn packages() -> BTreeMap<PackageKey, PreparedPackage<'static>> {
    let files: [(&str, &[&str]); 4] = [
        (
            "a",
            &[
                "bin/a.js",
                "index.js",
                "lib-x/i.js",
                "lib/deep/er/z.js",
                "lib/é.js",
                "node_modules/bundled/index.js",
                "node_modules/c/stale.js",
                "node_modules/left/x.js",
            ],
        ),
        ("b", &["b.js"]),
        ("c", &["c.js", "package.json"]),
        ("none", &[]),
    ];
    let entry = |package: &str, path: &str| Entry {
        path: path.to_owned(),
        data: Cow::Owned(contents(package, path)),
        executable: false,
    };
    files
        .into_iter()
        .map(|(package, files)| {
            let entries = files.iter().map(|path| entry(package, path)).collect();
            (PackageKey::of_owner(package, ""), prepare(entries))
        })
        .collect()
}

fn indexes() -> BTreeMap<PackageKey, Arc<PackageIndex>> {
    packages().into_iter().map(|(key, package)| (key, Arc::new(package.index))).collect()
}

fn planned() -> Plan {
    let indexes = indexes();
    let lock = Lockfile::parse(LOCK.as_bytes(), "package-lock.json").unwrap();
    plan(&lock.to_text(), &BTreeSet::new(), &Omit::default(), PackageKeys::without_scripts(""), &|key| {
        indexes.get(key).cloned()
    })
    .unwrap()
}

fn tree() -> VirtualTree {
    let indexes = indexes();
    VirtualTree::new(&planned(), &|key| indexes.get(key).cloned()).unwrap()
}

fn list(path: &str) -> String {
    let suffix = |kind| match kind {
        FileKind::Directory => "/",
        FileKind::Symlink => "@",
        FileKind::File => "",
    };
    let names = tree().read_directory(path).unwrap();
    names.into_iter().map(|(name, kind)| format!("{name}{}", suffix(kind))).collect::<Vec<_>>().join(" ")
}

#[test]
fn folders_list_packages_links_and_files_in_byte_order() {
    for (path, expected) in [
        ("", "node_modules/ packages/"),
        ("node_modules", ".bin/ .package-lock.json @s/ a/ c/ none/ out@ w@"),
        ("node_modules/.bin", "a@ w@"),
        ("node_modules/@s", "b/"),
        ("node_modules/a", "bin/ index.js lib/ lib-x/ node_modules/"),
        ("node_modules/a/lib", "deep/ é.js"),
        ("node_modules/a/lib/deep", "er/"),
        ("node_modules/a/node_modules", "bundled/ c/ left/"),
        ("node_modules/a/node_modules/c", "c.js package.json"),
        ("node_modules/a/node_modules/bundled", "index.js"),
        ("node_modules/none", ""),
        ("packages", "w/"),
        ("packages/w", "node_modules/"),
        ("node_modules/w/node_modules/c", "c.js package.json"),
        ("/node_modules//./@s/", "b/"),
    ] {
        assert_eq!(list(path), expected, "{path}");
    }
}

#[test]
fn what_is_at_a_path_is_told() {
    let tree = tree();
    let stat = |path| tree.stat(path).map(|status| (status.kind, status.size, status.executable)).unwrap();
    assert_eq!(stat("node_modules/a/index.js"), (FileKind::File, 10, false));
    assert_eq!(stat("node_modules/a/bin/a.js"), (FileKind::File, 10, true));
    assert_eq!(stat("node_modules/.bin/a"), (FileKind::File, 10, true));
    assert_eq!(stat("node_modules/a/lib"), (FileKind::Directory, 0, false));
    assert_eq!(stat("node_modules/none").0, FileKind::Directory);
    assert_eq!(stat("node_modules/w").0, FileKind::Directory);
    assert_eq!(stat("node_modules/.package-lock.json").1, planned().hidden_lock.len() as u64);
    let link = tree.lstat("node_modules/.bin/a").unwrap();
    assert_eq!((link.kind, link.size), (FileKind::Symlink, "../a/bin/a.js".len() as u64));
    assert_eq!(tree.lstat("node_modules/w/").unwrap().kind, FileKind::Directory);
}

#[test]
fn files_are_found_where_the_innermost_package_has_them() {
    let tree = tree();
    for (path, package, inner) in [
        ("node_modules/a/lib/é.js", "a", "lib/é.js"),
        ("node_modules/a/node_modules/c/c.js", "c", "c.js"),
        ("node_modules/a/node_modules/bundled/index.js", "a", "node_modules/bundled/index.js"),
        ("node_modules/a/node_modules/left/x.js", "a", "node_modules/left/x.js"),
        ("node_modules/.bin/a", "a", "bin/a.js"),
        ("node_modules/w/node_modules/c/c.js", "c", "c.js"),
        ("node_modules/a/lib/deep/../é.js", "a", "lib/é.js"),
    ] {
        let FileSource::Stored(location) = tree.open(path).unwrap() else { panic!("{path} is stored") };
        assert_eq!(location.key, PackageKey::of_owner(package, ""), "{path}");
        let record = indexes()[&location.key].file(inner).unwrap().clone();
        assert_eq!((location.offset, location.size), (record.offset, record.size), "{path}");
    }
    assert_eq!(tree.open("node_modules/.package-lock.json").unwrap(), FileSource::Bytes(planned().hidden_lock.into()));
}

#[test]
fn errors_are_those_of_node() {
    let tree = tree();
    for (code, path) in [
        ("ENOENT", "node_modules/missing"),
        ("ENOENT", "node_modules/a/missing/x"),
        ("ENOENT", "node_modules/a/node_modules/c/stale.js"),
        ("ENOENT", "node_modules/out"),
        ("ENOENT", "node_modules/.bin/w"),
        ("ENOENT", "../x"),
        ("ENOENT", "node_modules/a/li"),
        ("ENOTDIR", "node_modules/a/index.js/x"),
        ("ENOTDIR", "node_modules/a/index.js/../bin/a.js"),
        ("ENOTDIR", "node_modules/.package-lock.json/x"),
        ("EINVAL", "node_modules/a\0"),
    ] {
        assert_eq!(tree.stat(path).unwrap_err().code(), code, "{path}");
        assert_eq!(tree.open(path).unwrap_err().code(), code, "{path}");
        assert_eq!(tree.read_directory(path).unwrap_err().code(), code, "{path}");
    }
    assert_eq!(tree.open("node_modules/a").unwrap_err().code(), "EISDIR");
    assert_eq!(tree.read_directory("node_modules/a/index.js").unwrap_err().code(), "ENOTDIR");
    assert_eq!(tree.read_link("node_modules/a").unwrap_err().code(), "EINVAL");
    assert_eq!(tree.read_link("node_modules/.bin/a").unwrap(), "../a/bin/a.js");
}

#[test]
fn links_lead_to_real_paths_in_and_out_of_the_tree() {
    let tree = tree();
    assert_eq!(tree.real_path("node_modules/.bin/../.bin/a").unwrap(), "node_modules/a/bin/a.js");
    assert_eq!(tree.real_path("node_modules/w/node_modules/c").unwrap(), "packages/w/node_modules/c");
    assert_eq!(tree.real_path("node_modules/w/cli.js").unwrap_err().code(), "ENOENT");
    assert_eq!(tree.resolve("node_modules/w/cli.js").unwrap(), "packages/w/cli.js");
    assert_eq!(tree.resolve("node_modules/.bin/w").unwrap(), "packages/w/cli.js");
    assert_eq!(tree.resolve("node_modules/out/x").unwrap(), "../out/x");
    assert_eq!(tree.resolve("node_modules/out/../../x").unwrap(), "../../x");
}

#[test]
fn links_in_a_circle_end() {
    let mut plan = Plan::default();
    for (path, target) in [
        ("node_modules/x", "y"),
        ("node_modules/y", "x"),
        ("node_modules/self", "self/a"),
        ("node_modules/abs", "/etc"),
    ] {
        let (path, target) = (path.to_owned(), target.to_owned());
        plan.links.push(crate::PlannedLink { path, target, kind: crate::LinkKind::Folder });
    }
    let tree = VirtualTree::new(&plan, &|_| None).unwrap();
    for path in ["node_modules/x", "node_modules/x/deeper", "node_modules/self"] {
        assert_eq!(tree.stat(path).unwrap_err().code(), "ELOOP");
    }
    assert_eq!(tree.lstat("node_modules/x").unwrap().kind, FileKind::Symlink);
    assert_eq!(tree.stat("node_modules/abs/passwd").unwrap_err().code(), "ENOENT");
}

#[test]
fn entries_are_all_files_and_links_and_make_a_digest() {
    let tree = tree();
    let entries = tree.entries();
    let paths: Vec<&str> = entries.iter().map(|(path, _)| path.as_str()).collect();
    assert_eq!(
        paths,
        [
            "node_modules/.bin/a",
            "node_modules/.bin/w",
            "node_modules/.package-lock.json",
            "node_modules/@s/b/b.js",
            "node_modules/a/bin/a.js",
            "node_modules/a/index.js",
            "node_modules/a/lib-x/i.js",
            "node_modules/a/lib/deep/er/z.js",
            "node_modules/a/lib/é.js",
            "node_modules/a/node_modules/bundled/index.js",
            "node_modules/a/node_modules/c/c.js",
            "node_modules/a/node_modules/c/package.json",
            "node_modules/a/node_modules/left/x.js",
            "node_modules/c/c.js",
            "node_modules/c/package.json",
            "node_modules/out",
            "node_modules/w",
            "packages/w/node_modules/c/c.js",
            "packages/w/node_modules/c/package.json",
        ]
    );
    let mut digest = TreeDigest::new();
    let packages = packages();
    for (path, entry) in entries {
        match entry {
            TreeEntry::Symlink(target) => {
                assert_eq!(tree.read_link(&path).unwrap(), target);
                digest.symlink(&path, &target);
            }
            TreeEntry::File(FileSource::Bytes(bytes)) => digest.file(&path, false, &bytes),
            TreeEntry::File(FileSource::Stored(location)) => {
                let segment = packages[&location.key].contents.concat();
                let start = usize::try_from(location.offset).unwrap();
                let end = start + usize::try_from(location.size).unwrap();
                digest.file(&path, location.executable, &segment[start..end]);
            }
        }
    }
    assert_eq!(digest.finish().len(), 64);
}

#[test]
fn what_is_listed_can_be_asked_for() {
    let tree = tree();
    let mut folders = vec![String::new()];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for (name, kind) in tree.read_directory(&folder).unwrap() {
            let path = if folder.is_empty() { name } else { format!("{folder}/{name}") };
            assert_eq!(tree.lstat(&path).unwrap().kind, kind, "{path}");
            match kind {
                FileKind::Directory => folders.push(path),
                FileKind::File | FileKind::Symlink => found.push(path),
            }
        }
    }
    found.sort();
    assert_eq!(found, tree.entries().into_iter().map(|(path, _)| path).collect::<Vec<_>>());
}

#[test]
fn any_path_has_an_answer_and_the_answers_agree() {
    let tree = tree();
    let components =
        ["node_modules", "a", "w", "out", ".bin", "c", "index.js", "lib", "..", ".", "", "é.js", "packages", "\0"];
    // Every path of up to four of these.
    for number in 0..components.len().pow(4) {
        let path = (0..4).map(|place| components[number / components.len().pow(place) % components.len()]);
        let path = path.collect::<Vec<_>>().join("/");
        let Ok(status) = tree.stat(&path) else {
            assert!(tree.open(&path).is_err() && tree.read_directory(&path).is_err() && tree.real_path(&path).is_err());
            continue;
        };
        let real = tree.real_path(&path).unwrap();
        assert_eq!(tree.lstat(&real).unwrap(), status, "{path}");
        assert_eq!(tree.resolve(&path).unwrap(), real);
        assert_eq!(tree.open(&path).is_ok(), status.kind == FileKind::File, "{path}");
        assert_eq!(tree.read_directory(&path).is_ok(), status.kind == FileKind::Directory, "{path}");
    }
}

#[test]
fn everything_below_a_folder_is_listed_in_order_and_links_are_not_followed() {
    let below = |path: &str| tree().read_directory_recursively(path).unwrap();
    let names: Vec<String> = below("node_modules/a").into_iter().map(|(path, _)| path).collect();
    assert_eq!(
        names,
        [
            "bin",
            "bin/a.js",
            "index.js",
            "lib",
            "lib/deep",
            "lib/deep/er",
            "lib/deep/er/z.js",
            "lib/é.js",
            "lib-x",
            "lib-x/i.js",
            "node_modules",
            "node_modules/bundled",
            "node_modules/bundled/index.js",
            "node_modules/c",
            "node_modules/c/c.js",
            "node_modules/c/package.json",
            "node_modules/left",
            "node_modules/left/x.js",
        ]
    );
    let whole = below("");
    assert!(whole.contains(&("node_modules/w".into(), FileKind::Symlink)));
    assert!(!whole.iter().any(|(path, _)| path.starts_with("node_modules/w/")));
    // All files and links of the tree are among them.
    assert!(tree().entries().iter().all(|(entry, _)| whole.iter().any(|(path, _)| path == entry)));
}

#[test]
fn a_slash_at_the_end_asks_for_a_folder() {
    assert_eq!(tree().stat("node_modules/a/index.js/").unwrap_err().code(), "ENOTDIR");
    assert_eq!(tree().open("node_modules/a/index.js/").unwrap_err().code(), "ENOTDIR");
    assert_eq!(tree().stat("node_modules/a/").unwrap().kind, FileKind::Directory);
}
