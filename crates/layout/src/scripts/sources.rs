//! What a package of a lock is known to be by whoever asks for it, as opposed to what it says of itself.

use super::overrides::Overrides;
use gantry_manifest::{LockEntry, Lockfile};
use gantry_spec::{Spec, SpecKind, Version};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

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
    /// Of an entry that everybody who asks for it wants from a registry, and that no override has come from elsewhere. What an
    /// address says counts where it is what somebody asks for: the registry of a scope has no say in what other names are. Of what a
    /// package's own lock names it counts where that is the registry that served the package, and nothing else does.
    pub fn of(entry: &LockEntry, lock: &Lockfile, entries: &Entries<'_>, overrides: &Overrides) -> Option<Self> {
        let name = entry.folder_name();
        let specs: Vec<Spec> = asked_for(entry, lock, entries)
            .into_iter()
            .map(|spec| Spec::parse(name, spec).ok().filter(Spec::is_registry))
            .collect::<Option<_>>()?;
        let address = entry.resolved.as_deref();
        if specs.is_empty() || address.is_some_and(|address| !is_http(address)) {
            return None;
        }
        let overrides = overrides.specs(name);
        let is_elsewhere = |spec: &Spec| match (&spec.kind, address) {
            (SpecKind::Remote { url }, Some(address)) => without_fragment(url) == without_fragment(address),
            (_, Some(_)) => false,
            (_, None) => !spec.is_registry(),
        };
        if overrides.iter().any(is_elsewhere) {
            return None;
        }
        let specs = specs.iter().chain(overrides.iter().filter(|spec| spec.is_registry()));
        let names: BTreeSet<&str> = specs.map(|spec| spec.fetch_name(name)).collect();
        match address.and_then(Self::in_address) {
            Some(found) => Some(found)
                .filter(|found| names.contains(found.name.as_str()))
                .filter(|_| giver(entry, entries).is_none_or(|giver| is_of_same_origin(giver, entry))),
            None if giver(entry, entries).is_some() => None,
            None => {
                let only = names.first().filter(|_| names.len() == 1)?;
                Some(Self { name: (*only).to_owned(), version: None })
            }
        }
    }

    /// What an address as registries have them says: `…/name/-/name-1.0.0.tgz`.
    fn in_address(address: &str) -> Option<Self> {
        let path = address.split_once("://")?.1;
        let (before, file) = path.rsplit_once("/-/").filter(|_| is_http(address) && !path.contains(['?', '#']))?;
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

fn is_http(address: &str) -> bool {
    ["https://", "http://"].iter().any(|scheme| address.starts_with(scheme))
}

/// The package whose own lock says where an entry comes from.
fn giver<'l>(entry: &LockEntry, entries: &Entries<'l>) -> Option<&'l LockEntry> {
    let above = entry.path.match_indices("/node_modules/").filter_map(|(at, _)| entries.get(&entry.path[..at]));
    above.copied().find(|above| above.manifest.has_shrinkwrap)
}

fn is_of_same_origin(left: &LockEntry, right: &LockEntry) -> bool {
    let origin = |entry: &LockEntry| -> Option<String> {
        let (scheme, rest) = entry.resolved.as_deref()?.split_once("://")?;
        Some(format!("{scheme}://{}", rest.split('/').next()?))
    };
    origin(left).is_some_and(|origin_of_left| origin(right).as_ref() == Some(&origin_of_left))
}

fn without_fragment(address: &str) -> &str {
    address.split('#').next().unwrap_or_default()
}

/// What is asked for under its name where the answer is this entry.
fn asked_for<'l>(entry: &LockEntry, lock: &'l Lockfile, entries: &Entries<'_>) -> Vec<&'l str> {
    let name = entry.folder_name();
    let mut asked = Vec::new();
    for from in &lock.packages {
        let manifest = &from.manifest;
        let development = from.is_top().then_some(&manifest.dev_dependencies);
        let kinds = [&manifest.dependencies, &manifest.optional_dependencies, &manifest.peer_dependencies];
        let specs = kinds.into_iter().chain(development).flatten().filter(|(other, _)| **other == *name);
        for (_, spec) in specs {
            if found_from(&from.path, name, entries).is_some_and(|found| found == entry.path) {
                asked.push(&**spec);
            }
        }
    }
    asked
}

/// Where Node finds `name` from a folder; of what is outside of the project nothing is known.
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
        folder = match here.rsplit_once('/') {
            Some((parent, _)) => Some(parent),
            None => Some("").filter(|_| !matches!(here, "" | "..")),
        };
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
            ("https://evil.example/?/left/-/left-1.2.3.tgz", None),
            ("https://evil.example/#/left/-/left-1.2.3.tgz", None),
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
