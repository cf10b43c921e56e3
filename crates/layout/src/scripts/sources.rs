//! What a package of a lock is known to be by whoever asks for it, as opposed to what it says of itself.

use gantry_manifest::{LockEntry, Lockfile};
use gantry_spec::{Spec, Version};
use rustc_hash::FxHashMap;

/// The packages of a lock by path.
pub(super) type Entries<'l> = FxHashMap<&'l str, &'l LockEntry>;

/// What a registry is known to have served a package as. A tarball may claim any name; the address that it was served at, and
/// who asks for it, are not its to choose.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Identity {
    pub name: String,
    /// `None` where nothing but the package itself tells.
    pub version: Option<Version>,
}

impl Identity {
    /// Of an entry that everybody who asks for it wants from a registry.
    pub fn of(entry: &LockEntry, lock: &Lockfile, entries: &Entries<'_>) -> Option<Self> {
        let asked = asked_for(entry, lock, entries);
        let specs: Vec<Spec> = asked.iter().map(|(name, spec)| Spec::parse(name, spec).ok()).collect::<Option<_>>()?;
        if specs.is_empty() || !specs.iter().all(Spec::is_registry) {
            return None;
        }
        entry.resolved.as_deref().and_then(Self::in_address).or_else(|| {
            let name = specs.first()?.fetch_name(&asked.first()?.0).to_owned();
            Some(Self { name, version: None })
        })
    }

    /// What an address as registries have them says: `…/name/-/name-1.0.0.tgz`.
    fn in_address(address: &str) -> Option<Self> {
        let path = address.strip_prefix("https://").or_else(|| address.strip_prefix("http://"))?;
        let (before, file) = path.rsplit_once("/-/")?;
        // npm reads the path of the address, where `@scope%2fname` may be.
        let before = before.replace("%2f", "/").replace("%2F", "/");
        let mut folders = before.rsplit('/');
        let name = folders.next().filter(|name| !name.is_empty())?;
        let scope = folders.next().filter(|scope| scope.starts_with('@'));
        let version = file.strip_prefix(name)?.strip_prefix('-')?.strip_suffix(".tgz")?;
        let name = scope.map_or_else(|| name.to_owned(), |scope| format!("{scope}/{name}"));
        Some(Self { name, version: Some(Version::parse_strict(version)?) })
    }
}

/// What is asked for under which name where the answer is this entry.
fn asked_for(entry: &LockEntry, lock: &Lockfile, entries: &Entries<'_>) -> Vec<(String, String)> {
    let name = entry.folder_name();
    let mut asked = Vec::new();
    for from in &lock.packages {
        let manifest = &from.manifest;
        let development = from.is_top().then_some(&manifest.dev_dependencies);
        let kinds = [&manifest.dependencies, &manifest.optional_dependencies, &manifest.peer_dependencies];
        let specs = kinds.into_iter().chain(development).flatten().filter(|(other, _)| **other == *name);
        for (_, spec) in specs {
            if found_from(&from.path, name, entries).is_some_and(|found| found == entry.path) {
                asked.push((name.to_owned(), spec.to_string()));
            }
        }
    }
    asked
}

/// Where Node finds `name` from a folder.
fn found_from(folder: &str, name: &str, entries: &Entries<'_>) -> Option<String> {
    let mut folder = Some(folder);
    while let Some(here) = folder {
        if !here.ends_with("node_modules") {
            let path =
                if here.is_empty() { format!("node_modules/{name}") } else { format!("{here}/node_modules/{name}") };
            if entries.contains_key(path.as_str()) {
                return Some(path);
            }
        }
        folder = if here.is_empty() { None } else { Some(here.rsplit_once('/').map_or("", |(parent, _)| parent)) };
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_registries_say_what_they_serve() {
        let identity = |address: &str| {
            let Identity { name, version } = Identity::in_address(address)?;
            Some(format!("{name}@{}", version?))
        };
        for (address, expected) in [
            ("https://r.example/left/-/left-1.2.3.tgz", Some("left@1.2.3")),
            ("http://r.example:8080/a/b/@scope/left/-/left-1.2.3-beta.1.tgz", Some("@scope/left@1.2.3-beta.1")),
            ("https://r.example/@scope%2fleft/-/left-1.2.3.tgz", Some("@scope/left@1.2.3")),
            ("https://r.example/left/-/right-1.2.3.tgz", None),
            ("https://r.example/left/-/left-latest.tgz", None),
            ("https://r.example/left/-/left-1.2.3.tar", None),
            ("https://r.example/-/left-1.2.3.tgz", None),
            ("https://r.example/download/left/1.2.3/0123", None),
            ("file:left/-/left-1.2.3.tgz", None),
        ] {
            assert_eq!(identity(address).as_deref(), expected, "{address}");
        }
    }
}
