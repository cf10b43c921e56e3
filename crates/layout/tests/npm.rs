//! Whole projects: the plan of npm's lock, against what npm puts on disk (`cases/npm.json`, written by
//! `cases/generate.mjs`).

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use base64::{Engine, engine::general_purpose::STANDARD};
use gantry_archive::{Extractor, Integrity};
use gantry_layout::{FileSource, LinkKind, Omit, PackageKeys, Plan, TreeEntry, VirtualTree, plan, wanted};
use gantry_manifest::Lockfile;
use gantry_store::{PackageIndex, PackageKey, prepare};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

/// Unpacked packages: index and bytes.
type Store = BTreeMap<PackageKey, (Arc<PackageIndex>, Vec<u8>)>;

fn store(tarballs: &Value) -> Store {
    let mut extractor = Extractor::default();
    let mut store = Store::new();
    for (address, tarball) in tarballs.as_object().unwrap() {
        let tarball = STANDARD.decode(tarball.as_str().unwrap()).unwrap();
        let key = PackageKey::from_integrity(&Integrity::sha512_of(&tarball));
        let package = prepare(extractor.extract(address, &tarball).unwrap());
        store.insert(key, (Arc::new(package.index), package.contents.concat()));
    }
    store
}

fn sum(contents: &[u8]) -> String {
    Sha256::digest(contents)[..8].iter().map(|byte| format!("{byte:02x}")).collect()
}

fn strings(value: &Value) -> Vec<&str> {
    value.as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect()
}

/// The tree in the form of the cases.
fn listing(tree: &VirtualTree, store: &Store) -> Vec<Value> {
    let entry = |(path, entry)| match entry {
        TreeEntry::Symlink(target) => json!({ "path": path, "link": target }),
        TreeEntry::File(FileSource::Bytes(bytes)) => json!({ "path": path, "executable": false, "sum": sum(&bytes) }),
        TreeEntry::File(FileSource::Stored(location)) => {
            let start = usize::try_from(location.offset).unwrap();
            let end = start + usize::try_from(location.size).unwrap();
            let contents = &store[&location.key].1[start..end];
            json!({ "path": path, "executable": location.executable, "sum": sum(contents) })
        }
    };
    tree.entries().into_iter().map(entry).collect()
}

/// Removes links to commands of the user's folders whose file is not there, as who makes the tree does.
fn without_missing_commands(plan: &mut Plan, lock: &Lockfile, local: &[&str]) {
    plan.links.retain(|link| {
        if link.kind != LinkKind::LocalCommand {
            return true;
        }
        let target = link.target.trim_start_matches("../");
        lock.packages.iter().filter(|entry| entry.link).any(|entry| {
            let name = entry.path.trim_start_matches("node_modules/");
            let file = target.strip_prefix(name).map(|file| format!("{}{file}", entry.resolved.as_deref().unwrap()));
            file.is_some_and(|file| local.contains(&file.as_str()))
        })
    });
}

/// Where Gantry decides otherwise than npm, on purpose.
fn is_accepted(case: &str, ours: Option<&Value>, npms: Option<&Value>) -> bool {
    match (ours, npms) {
        // npm makes a command executable when it links it, Gantry when it stores it: a package is the same everywhere.
        (Some(ours), Some(npms)) => {
            ours["executable"] == true && npms["executable"] == false && ours["sum"] == npms["sum"]
        }
        // npm unpacks both into one folder, in an order that is left to chance.
        (None, Some(npms)) => {
            case == "a package that carries a node_modules"
                && npms["path"] == "node_modules/carries-node-modules/node_modules/plain/stale.js"
        }
        _ => false,
    }
}

#[test]
fn projects_are_laid_out_as_npm_lays_them_out() {
    let cases: Value = serde_json::from_str(include_str!("cases/npm.json")).unwrap();
    let store = store(&cases["tarballs"]);
    let index = |key: &PackageKey| store.get(key).map(|(index, _)| index.clone());
    let mut failures = Vec::new();
    for case in cases["cases"].as_array().unwrap() {
        let name = case["name"].as_str().unwrap();
        let lock = Lockfile::parse(case["lock"].as_str().unwrap().as_bytes(), "package-lock.json").unwrap();
        let omitted = strings(&case["omit"]);
        let omit = Omit {
            dev: omitted.contains(&"dev"),
            optional: omitted.contains(&"optional"),
            peer: omitted.contains(&"peer"),
        };
        let inert: BTreeSet<String> = strings(&case["inert"]).into_iter().map(str::to_owned).collect();
        let mut plan = plan(&lock.to_text(), &inert, &omit, PackageKeys::without_scripts(""), &index).unwrap();
        without_missing_commands(&mut plan, &lock, &strings(&case["local"]));
        assert_eq!(wanted(&lock, &inert, &omit, PackageKeys::without_scripts("")).unwrap(), plan.packages);

        let hidden = String::from_utf8(plan.hidden_lock.clone()).unwrap();
        if hidden != case["hidden"] {
            failures.push(format!("{name}: hidden lock\n{hidden}\nnpm's\n{}", case["hidden"].as_str().unwrap()));
        }
        let by_path = |list: &[Value]| -> BTreeMap<String, Value> {
            list.iter().map(|entry| (entry["path"].as_str().unwrap().to_owned(), entry.clone())).collect()
        };
        let ours = by_path(&listing(&VirtualTree::new(&plan, &index).unwrap(), &store));
        let npms = by_path(case["tree"].as_array().unwrap());
        let paths: BTreeSet<&String> = ours.keys().chain(npms.keys()).collect();
        for path in paths {
            let (ours, npms) = (ours.get(path), npms.get(path));
            if ours != npms && !is_accepted(name, ours, npms) {
                failures.push(format!("{name}: {path}\n  gantry {ours:?}\n  npm    {npms:?}"));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
