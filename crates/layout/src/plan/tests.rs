use super::{LinkKind, Plan, linked_commands, plan, wanted};
use crate::PackageKeys;
use crate::{LayoutError, Omit};
use gantry_archive::Entry;
use gantry_manifest::{LockEntry, Lockfile};
use gantry_store::{PackageIndex, PackageKey, prepare};
use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

/// A lock from the members of its `packages`.
fn lock(packages: &str) -> Lockfile {
    let text =
        format!(r#"{{"name":"p","version":"1.0.0","lockfileVersion":3,"requires":true,"packages":{{{packages}}}}}"#);
    Lockfile::parse(text.as_bytes(), "package-lock.json").unwrap()
}

/// The project, for what nothing vouches for.
const OWNER: &str = "project";

fn keys() -> PackageKeys<'static> {
    PackageKeys::without_scripts(OWNER)
}

/// Stored packages: address and names of files; those whose name starts with `bin/` are executable.
struct Stored(BTreeMap<PackageKey, Arc<PackageIndex>>);

impl Stored {
    fn new(packages: &[(&str, &[&str])]) -> Self {
        let index = |files: &[&str]| {
            let entry = |path: &&str| Entry {
                path: (*path).to_owned(),
                data: Cow::Borrowed(b"x".as_slice()),
                executable: path.starts_with("bin/"),
            };
            Arc::new(prepare(files.iter().map(entry).collect()).index)
        };
        Self(packages.iter().map(|(address, files)| (PackageKey::of_owner(address, OWNER), index(files))).collect())
    }

    fn plan(&self, lock: &Lockfile) -> Result<Plan, LayoutError> {
        self.plan_with(lock, &[], Omit::default())
    }

    fn plan_with(&self, lock: &Lockfile, inert: &[&str], omit: Omit) -> Result<Plan, LayoutError> {
        plan(&lock.to_text(), &set(inert), &omit, keys(), &|key| self.0.get(key).cloned())
    }
}

fn set(paths: &[&str]) -> BTreeSet<String> {
    paths.iter().map(|&path| path.to_owned()).collect()
}

fn paths(plan: &Plan) -> Vec<&str> {
    plan.packages.iter().map(|package| package.path.as_str()).collect()
}

fn links(plan: &Plan) -> Vec<(&str, &str)> {
    plan.links.iter().map(|link| (link.path.as_str(), link.target.as_str())).collect()
}

#[test]
fn an_aliased_package_keeps_its_own_name() {
    let lock = lock(r#""node_modules/a":{"name":"b","version":"2.0.0","resolved":"https://registry.test/b.tgz"}"#);
    let wanted = wanted(&lock, &set(&[]), &Omit::default(), keys()).unwrap();
    assert_eq!((wanted[0].path.as_str(), wanted[0].name.as_str()), ("node_modules/a", "b"));
    assert_eq!(wanted[0].key, PackageKey::of_owner("https://registry.test/b.tgz", OWNER));
}

#[test]
fn what_is_omitted_follows_the_flags() {
    let lock = lock(
        r#""node_modules/dev":{"version":"1.0.0","dev":true},
           "node_modules/devopt":{"version":"1.0.0","devOptional":true},
           "node_modules/opt":{"version":"1.0.0","optional":true},
           "node_modules/peer":{"version":"1.0.0","peer":true},
           "node_modules/prod":{"version":"1.0.0"},
           "node_modules/prod/node_modules/nested":{"version":"1.0.0"},
           "node_modules/dev/node_modules/nested":{"version":"1.0.0"},
           "node_modules/extra":{"version":"1.0.0","extraneous":true}"#,
    );
    let names = |dev, optional, peer, inert: &[&str]| {
        let found = wanted(&lock, &set(inert), &Omit { dev, optional, peer }, keys()).unwrap();
        found.iter().map(|package| package.path.replace("node_modules/", "")).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(names(false, false, false, &[]), "dev dev/nested devopt extra opt peer prod prod/nested");
    assert_eq!(names(true, false, false, &[]), "devopt extra opt peer prod prod/nested");
    assert_eq!(names(false, true, false, &[]), "dev dev/nested devopt extra peer prod prod/nested");
    assert_eq!(names(true, true, false, &[]), "extra peer prod prod/nested");
    assert_eq!(names(false, false, true, &[]), "dev dev/nested devopt extra opt prod prod/nested");
    assert_eq!(names(true, true, true, &["node_modules/prod"]), "extra");
}

#[test]
fn a_linked_folder_that_is_no_workspace_keeps_everything() {
    let lock = lock(
        r#""":{"workspaces":["w"],"dependencies":{"f":"file:./f"}},
           "f":{"version":"1.0.0","dev":true},
           "w":{"version":"1.0.0"},
           "node_modules/f":{"resolved":"f","link":true},
           "node_modules/w":{"resolved":"w","link":true},
           "f/node_modules/x":{"version":"1.0.0","dev":true},
           "w/node_modules/x":{"version":"1.0.0","dev":true}"#,
    );
    let omit = Omit { dev: true, ..Omit::default() };
    let wanted = wanted(&lock, &set(&[]), &omit, keys()).unwrap();
    assert_eq!(wanted.iter().map(|package| package.path.as_str()).collect::<Vec<_>>(), ["f/node_modules/x"]);
}

#[test]
fn what_a_tarball_carries_is_not_a_package_of_its_own_but_has_commands() {
    let lock = lock(
        r#""node_modules/a":{"version":"1.0.0","resolved":"a","bundleDependencies":["b"]},
           "node_modules/a/node_modules/b":{"version":"1.0.0","inBundle":true,"bin":{"b":"b.js","gone":"gone.js"}},
           "node_modules/rooted":{"version":"1.0.0","resolved":"rooted","inBundle":true}"#,
    );
    let stored = Stored::new(&[("a", &["node_modules/b/b.js", "package.json"]), ("rooted", &["x"])]);
    let plan = stored.plan(&lock).unwrap();
    assert_eq!(paths(&plan), ["node_modules/a", "node_modules/rooted"]);
    assert_eq!(links(&plan), [("node_modules/a/node_modules/.bin/b", "../b/b.js")]);
    assert_eq!(plan.executables, ["node_modules/a/node_modules/b/b.js"]);
}

#[test]
fn commands_are_linked_where_their_package_is() {
    let lock = lock(
        r#""node_modules/@s/t":{"version":"1.0.0","resolved":"t","bin":{"t":"bin/t.js","dir":"lib","missing":"no.js"}},
           "node_modules/a":{"version":"1.0.0","resolved":"a"},
           "node_modules/a/node_modules/b":{"version":"1.0.0","resolved":"b","bin":{"b":"b.js"}}"#,
    );
    let stored = Stored::new(&[("t", &["bin/t.js", "lib/x.js"]), ("a", &["x"]), ("b", &["b.js"])]);
    let plan = stored.plan(&lock).unwrap();
    assert_eq!(
        links(&plan),
        [
            ("node_modules/.bin/dir", "../@s/t/lib"),
            ("node_modules/.bin/t", "../@s/t/bin/t.js"),
            ("node_modules/a/node_modules/.bin/b", "../b/b.js"),
        ]
    );
    assert_eq!(plan.executables, ["node_modules/a/node_modules/b/b.js"]);
}

#[test]
fn the_first_package_in_npms_order_has_the_command_even_without_the_file() {
    // Upper case sorts after lower case in npm's order and before it in that of bytes.
    let lock = lock(
        r#""node_modules/B":{"version":"1.0.0","resolved":"one","bin":{"x":"x.js","y":"x.js"}},
           "node_modules/a":{"version":"1.0.0","resolved":"one","bin":{"x":"x.js","y":"none.js"}}"#,
    );
    let plan = Stored::new(&[("one", &["x.js"])]).plan(&lock).unwrap();
    assert_eq!(links(&plan), [("node_modules/.bin/x", "../a/x.js")]);
}

#[test]
fn folders_of_the_user_are_links_and_their_commands_come_last() {
    let lock = lock(
        r#""":{"workspaces":["packages/*"]},
           "packages/w":{"name":"@s/w","version":"1.0.0","bin":{"w":"cli.js","x":"cli.js"}},
           "node_modules/@s/w":{"resolved":"packages/w","link":true},
           "node_modules/out":{"resolved":"../out","link":true},
           "../out":{"version":"1.0.0"},
           "node_modules/z":{"version":"1.0.0","resolved":"z","bin":{"x":"bin/x"}},
           "packages/w/node_modules/z":{"version":"2.0.0","resolved":"z","bin":{"x":"bin/x"}}"#,
    );
    let plan = Stored::new(&[("z", &["bin/x"])]).plan(&lock).unwrap();
    assert_eq!(
        links(&plan),
        [
            ("node_modules/.bin/w", "../@s/w/cli.js"),
            ("node_modules/.bin/x", "../z/bin/x"),
            ("node_modules/@s/w", "../../packages/w"),
            ("node_modules/out", "../../out"),
            ("packages/w/node_modules/.bin/x", "../z/bin/x"),
        ]
    );
    assert_eq!(plan.links[0].kind, LinkKind::LocalCommand);
    assert_eq!(plan.links[1].kind, LinkKind::Command);
    let linked = linked_commands(&lock).unwrap();
    let linked: Vec<&str> = linked.iter().map(|link| link.path.as_str()).collect();
    // The package has the other one.
    assert_eq!(linked, ["node_modules/@s/w", "node_modules/out", "node_modules/.bin/w"]);
}

#[test]
fn the_hidden_lock_has_what_is_installed() {
    let lock = lock(
        r#""":{"name":"p"},
           "node_modules/a":{"version":"1.0.0","resolved":"a"},
           "node_modules/a/node_modules/b":{"version":"1.0.0","resolved":"a"},
           "node_modules/c":{"version":"1.0.0","resolved":"a"}"#,
    );
    let plan = Stored::new(&[("a", &["x"])]).plan_with(&lock, &["node_modules/a"], Omit::default()).unwrap();
    let hidden = String::from_utf8(plan.hidden_lock).unwrap();
    assert!(hidden.contains("node_modules/c") && !hidden.contains("node_modules/a"), "{hidden}");
}

#[test]
fn a_package_that_is_not_stored_is_an_error() {
    let lock = lock(r#""node_modules/a":{"version":"1.0.0","resolved":"a"}"#);
    let error = Stored::new(&[]).plan(&lock).unwrap_err();
    assert_eq!(
        (error.code(), error.to_string().as_str()),
        ("LAYOUT_MISSING", "a@1.0.0 for node_modules/a is not in the store")
    );
}

#[test]
fn dangerous_locks_are_refused() {
    // Reading a lock refuses most of these already; a resolution does not come from there.
    let entry = |path: &str, link: bool, integrity: Option<&str>| LockEntry {
        path: path.into(),
        resolved: Some(if link { "../../etc" } else { "a" }.into()),
        link,
        integrity: integrity.map(Into::into),
        ..LockEntry::default()
    };
    let package = |path| entry(path, false, None);
    for (packages, code) in [
        (vec![package("node_modules/.bin")], "LAYOUT_PATH"),
        (vec![package("node_modules/../node_modules/a")], "LAYOUT_PATH"),
        (vec![package("../node_modules/a")], "LAYOUT_PATH"),
        (vec![package("node_modules/@a")], "LAYOUT_PATH"),
        (vec![entry("../node_modules/l", true, None)], "LAYOUT_PATH"),
        (vec![entry("node_modules/l", true, None), package("node_modules/l/node_modules/a")], "LAYOUT_PATH"),
        (vec![entry("node_modules/a", false, Some("sha512-?"))], "LAYOUT_INTEGRITY"),
    ] {
        let lock = Lockfile { packages, ..Lockfile::default() };
        let error = Stored::new(&[("a", &["x"])]).plan(&lock).unwrap_err();
        assert_eq!(error.code(), code, "{lock:?}: {error}");
    }
}

#[test]
fn names_and_files_of_commands_cannot_lead_elsewhere() {
    let lock_with = |name: &str, file: &str| {
        let mut lock = lock(r#""node_modules/a":{"version":"1.0.0","resolved":"a","bin":{"x":"x"}}"#);
        for entry in &mut lock.packages {
            entry.manifest.bin = vec![(name.into(), file.into())];
        }
        lock
    };
    for (name, file) in
        [("../x", "x"), ("..", "x"), ("", "x"), ("a/b", "x"), ("x", "../x"), ("x", "/x"), ("x", "a/../../x")]
    {
        let error = Stored::new(&[("a", &["x"])]).plan(&lock_with(name, file)).unwrap_err();
        assert_eq!(error.code(), "LAYOUT_PATH", "{name} {file}");
    }
    assert_eq!(Stored::new(&[("a", &["x/y"])]).plan(&lock_with("x", "x/")).unwrap().links.len(), 1);
}

#[test]
fn what_gives_way_to_nested_packages_and_commands_is_told() {
    let lock = lock(
        r#""node_modules/a":{"version":"1.0.0","resolved":"a"},
           "node_modules/a-b":{"version":"1.0.0","resolved":"none"},
           "node_modules/a/node_modules/b":{"version":"1.0.0","resolved":"b","bin":{"b":"b.js"}},
           "node_modules/a/node_modules/c":{"version":"1.0.0","resolved":"none"}"#,
    );
    let carried = ["node_modules/.bin/b", "node_modules/b/stale.js", "node_modules/d/x.js"];
    let stored = Stored::new(&[("a", &carried), ("b", &["b.js"]), ("none", &[])]);
    let plan = stored.plan(&lock).unwrap();
    let replaced = |position: usize| {
        let package = &plan.packages[position];
        plan.replaced_in(package, &stored.0[&package.key])
    };
    assert_eq!(replaced(0), ["node_modules/.bin/b", "node_modules/b"]);
    assert_eq!(replaced(1), Vec::<String>::new());
}

#[test]
fn a_package_without_integrity_is_stored_by_where_it_comes_from_or_by_what_it_is_for_its_project_alone() {
    let key = |text: &str| {
        let lock = lock(&format!(r#""node_modules/a":{{"version":"1.0.0"{text}}}"#));
        keys().of(lock.entry("node_modules/a").unwrap())
    };
    let (bare, placed) = (key("").unwrap(), key(r#","resolved":"https://r.test/a.tgz""#).unwrap());
    assert_ne!(bare, placed);
    assert_eq!(bare, PackageKey::of_owner("a@1.0.0", OWNER));
    assert_eq!(placed, PackageKey::of_owner("https://r.test/a.tgz", OWNER));
    let other = lock(r#""node_modules/a":{"version":"1.0.0","resolved":"https://r.test/a.tgz"}"#);
    assert_ne!(placed, PackageKeys::without_scripts("another").of(other.entry("node_modules/a").unwrap()).unwrap());
    let problem = key(r#","integrity":"none""#).unwrap_err();
    assert_eq!((problem.code(), problem.package()), ("LAYOUT_INTEGRITY", Some("node_modules/a")));
}
