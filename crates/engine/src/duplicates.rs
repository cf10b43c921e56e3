//! Which packages a tree has more than once: what npm's `dedupe` looks up again.

use gantry_manifest::{LockEntry, Lockfile};
use std::collections::BTreeMap;

/// The names that several folders of the tree have, sorted. As for npm the project and the folders that links lead to have
/// names, too: those of their folders, whatever their manifests say.
pub(crate) fn duplicates(lock: &Lockfile, project_folder: &str) -> Vec<String> {
    let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
    for entry in &lock.packages {
        let name = if entry.path.is_empty() { project_folder } else { folder_name(entry) };
        *counts.entry(name).or_default() += 1;
    }
    counts.into_iter().filter(|(_, count)| *count > 1).map(|(name, _)| name.to_owned()).collect()
}

/// The last part of a path, with the scope before it.
fn folder_name(entry: &LockEntry) -> &str {
    let path = entry.path.as_str();
    let name = path.rfind('/').map_or(0, |slash| slash + 1);
    let above = path[..name].trim_end_matches('/');
    let scope = above.rfind('/').map_or(0, |slash| slash + 1);
    if above[scope..].starts_with('@') { &path[scope..] } else { &path[name..] }
}

#[cfg(test)]
mod tests {
    use super::duplicates;
    use gantry_manifest::Lockfile;

    #[test]
    fn what_is_in_the_tree_more_than_once_is_named_once() {
        let lock = r#"{"lockfileVersion":3,"packages":{"":{},"node_modules/once":{},"node_modules/twice":{},
            "node_modules/once/node_modules/twice":{},"node_modules/@scope/twice":{},"node_modules/once/node_modules/@scope/twice":{},
            "node_modules/@own/folder":{"link":true,"resolved":"packages/folder"},"packages/folder":{"name":"@own/folder"},
            "node_modules/same":{"link":true,"resolved":"packages/same"},"packages/same":{},
            "node_modules/project":{}}}"#;
        let lock = Lockfile::parse(lock.as_bytes(), "lock").unwrap();
        assert_eq!(duplicates(&lock, "project"), ["@scope/twice", "project", "same", "twice"]);
        assert_eq!(duplicates(&lock, "other"), ["@scope/twice", "same", "twice"]);
    }
}
