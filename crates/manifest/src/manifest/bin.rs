//! `bin` reduced to names and paths that cannot leave the package.
//!
//! The rule is npm's (`@npmcli/package-json`, `normalizePackageBin`): a name keeps only its last part, a path is resolved
//! as if the package were the root of the file system, so `../../evil` becomes `evil`.

use serde_json::Value;

use super::DependencyMap;
use std::collections::BTreeMap;

/// Command names and files. `name` is the package's, for a `bin` that is one path.
pub(super) fn normalise(bin: Value, name: Option<&str>) -> DependencyMap {
    let mut entries: Vec<(String, Value)> = match (bin, name) {
        (Value::String(path), Some(name)) if !path.is_empty() => vec![(name.to_owned(), Value::String(path))],
        (Value::Array(paths), _) => {
            let mut entries = Vec::new();
            for path in paths {
                if let Value::String(path) = path {
                    set(&mut entries, last_part(&path).to_owned(), Value::String(path));
                }
            }
            entries
        }
        (Value::Object(members), _) => members.into_iter().collect(),
        _ => return Vec::new(),
    };
    // A renamed entry overwrites one that already has the shorter name, and is read again when that one's turn comes.
    let keys: Vec<String> = entries.iter().map(|(key, _)| key.clone()).collect();
    for key in keys {
        let Some(position) = entries.iter().position(|(other, _)| *other == key) else { continue };
        let confined_key = confine(&key);
        let base = last_part(&confined_key);
        let target = entries[position].1.as_str().map(confine).unwrap_or_default();
        if base.is_empty() || target.is_empty() || base.contains('\0') || target.contains('\0') {
            entries.remove(position);
            continue;
        }
        let base = base.to_owned();
        if base != key {
            entries.remove(position);
        }
        set(&mut entries, base, Value::String(target));
    }
    entries.into_iter().filter_map(|(key, value)| Some((key.into(), value.as_str()?.into()))).collect()
}

/// Commands that have no names but those of the files in `folder`, at any depth; as in npm's `binDir` step its folders count as
/// well, and hidden ones do not. Of several with one name the deepest is it.
pub(super) fn commands_in<'f>(folder: &str, files: impl IntoIterator<Item = &'f str>) -> DependencyMap {
    let mut places: BTreeMap<(usize, &str), &str> = BTreeMap::new();
    let start = if folder.is_empty() { 0 } else { folder.len() + 1 };
    for file in files {
        let is_below = start == 0 || file.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
        let Some(inside) = file.get(start..).filter(|_| is_below) else { continue };
        let mut end = start;
        for (depth, part) in inside.split('/').enumerate() {
            if part.is_empty() || part.starts_with('.') {
                break;
            }
            end += part.len();
            places.insert((depth, &file[..end]), part);
            end += 1;
        }
    }
    let named: BTreeMap<&str, &str> = places.into_iter().map(|((_, path), name)| (name, path)).collect();
    named.into_iter().map(|(name, path)| (name.into(), path.into())).collect()
}

fn set(entries: &mut Vec<(String, Value)>, key: String, value: Value) {
    match entries.iter_mut().find(|(other, _)| *other == key) {
        Some(entry) => entry.1 = value,
        None => entries.push((key, value)),
    }
}

/// Node's `path.basename`.
fn last_part(path: &str) -> &str {
    let path = path.trim_end_matches('/');
    path.rsplit('/').next().unwrap_or(path)
}

/// A relative path below the package; empty if nothing is left. A trailing slash is kept, as node keeps it.
pub(super) fn confine(path: &str) -> String {
    let path = path.replace(['\\', ':'], "/");
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            _ => parts.push(part),
        }
    }
    let mut confined = parts.join("/");
    if !confined.is_empty() && path.ends_with('/') {
        confined.push('/');
    }
    confined
}
