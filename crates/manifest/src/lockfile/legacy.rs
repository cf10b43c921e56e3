//! The `dependencies` tree of lock files of version 1, as entries of `packages`.
//!
//! Version 1 says less: which package needs which others (`requires`) without saying how, no commands, no platforms, no
//! peers. And its `version` is whatever led to the package: a version, `npm:name@version`, a git address, `file:` and a
//! folder or tarball, a tarball's URL. The conversion is npm's (`Shrinkwrap` of arborist): what each entry is follows from
//! `version`, `from`, `resolved` and `integrity` together, and a requirement counts as optional where the package that
//! answers it is and the one that asks is not. The rest is for whoever has a registry: until each package's manifest was
//! fetched, the entries are good for finding versions and for nothing else.
//!
//! Recursion is bounded: the parser refuses documents deeper than 128.

mod tarball_name;

#[cfg(test)]
mod tests;

use gantry_spec::{Spec, SpecKind};
use rustc_hash::FxHashMap;
use serde_json::Value;
pub(crate) use tarball_name::version_in;

use crate::manifest::value::{Object, truthy};

/// Entries by path, in the order in which npm comes across them.
pub(super) type Entries = Vec<(String, Object)>;

/// Converts a `dependencies` tree. Members of odd types count as absent, as they mostly do for npm.
pub(super) fn entries_of(dependencies: &Object) -> Entries {
    let mut loading = Loading::default();
    loading.load_below("", dependencies);
    loading.name_requirements();
    loading.assign_bundles();
    loading.entries
}

#[derive(Default)]
struct Loading {
    entries: Entries,
    /// Where in `entries` a path is.
    positions: FxHashMap<String, usize>,
}

impl Loading {
    fn load_below(&mut self, location: &str, dependencies: &Object) {
        for (name, lock) in dependencies {
            // npm passes over what is null or false, and reads nothing out of other things that are no objects.
            let Value::Object(lock) = lock else { continue };
            let own = below(location, name);
            let target = self.load(&own, name, lock, false);
            if let Some(Value::Object(nested)) = lock.get("dependencies") {
                self.load_below(target.as_deref().unwrap_or(&own), nested);
            }
        }
    }

    fn put(&mut self, location: &str, members: Object) {
        match self.positions.get(location) {
            Some(&position) => self.entries[position].1 = members,
            None => {
                self.positions.insert(location.to_owned(), self.entries.len());
                self.entries.push((location.to_owned(), members));
            }
        }
    }

    fn find(&self, location: &str) -> Option<&Object> {
        self.positions.get(location).map(|&position| &self.entries[position].1)
    }

    /// Makes the entry of one package, and gives the target if it is a link. `is_target` for that target itself: what is
    /// there is unknown, except that it is no link again.
    fn load(&mut self, location: &str, name: &str, lock: &Object, is_target: bool) -> Option<String> {
        let lock = Lock { name, members: lock, is_target };
        let spec = lock.spec();
        if let Some(SpecKind::Directory { path }) = spec.as_ref().map(|spec| &spec.kind)
            && !is_target
        {
            let target = if path == "." { String::new() } else { path.clone() };
            let link = [("link".to_owned(), Value::Bool(true)), ("resolved".to_owned(), target.as_str().into())];
            self.put(location, Object::from_iter(link));
            // The empty path is the project, which is there.
            if !target.is_empty() && self.find(&target).is_none() {
                self.load(&target, name, lock.members, true);
            }
            return Some(target);
        }
        let members = lock.to_members(spec.as_ref());
        self.put(location, members);
        None
    }

    /// Makes dependencies out of requirements.
    fn name_requirements(&mut self) {
        for position in 0..self.entries.len() {
            let (location, members) = &mut self.entries[position];
            let Some(Value::Object(requires)) = members.shift_remove("requires") else { continue };
            let location = location.clone();
            let flags = |members: &Object| ["optional", "dev"].map(|flag| members.get(flag).is_some_and(truthy));
            let [optional, dev] = flags(members);
            for (name, specifier) in requires {
                let [is_optional, is_dev] = self.resolve(&location, &name).map_or([false; 2], flags);
                let kind = match (is_optional && !optional, is_dev && !dev) {
                    (true, _) => "optionalDependencies",
                    (_, true) => "devDependencies",
                    _ => "dependencies",
                };
                let map = self.entries[position].1.entry(kind).or_insert_with(|| Value::Object(Object::new()));
                // JavaScript takes this name for the object's kind, and the requirement is lost.
                if let Value::Object(map) = map
                    && name != "__proto__"
                {
                    map.insert(name, specifier);
                }
            }
        }
    }

    /// What a package at `location` gets when it asks for `name`.
    fn resolve(&self, location: &str, name: &str) -> Option<&Object> {
        let mut path = location;
        loop {
            if let Some(found) = self.find(&below(path, name)) {
                return Some(found);
            }
            if path.is_empty() {
                return None;
            }
            path = path.rsplit_once('/').map_or("", |(above, _)| above);
        }
    }

    /// A package that is part of a tarball was put there by the one above it, if that one needs it and is not part of a
    /// tarball itself.
    fn assign_bundles(&mut self) {
        let in_bundle = |members: &Object| members.get("inBundle").is_some_and(truthy);
        for position in 0..self.entries.len() {
            let (location, members) = &self.entries[position];
            if !in_bundle(members) {
                continue;
            }
            let Some((parent, name)) = location.rsplit_once("/node_modules/") else { continue };
            let name = name.to_owned();
            let Some(&parent) = self.positions.get(parent) else { continue };
            let parent = &mut self.entries[parent].1;
            let kinds = ["dependencies", "optionalDependencies"];
            let needs = kinds.iter().any(|kind| parent.get(*kind).and_then(|map| map.get(&name)).is_some());
            if needs && !in_bundle(parent) {
                let list = parent.entry("bundleDependencies").or_insert_with(|| Value::Array(Vec::new()));
                if let Value::Array(list) = list {
                    list.push(name.into());
                }
            }
        }
    }
}

/// One package of the tree.
struct Lock<'a> {
    name: &'a str,
    members: &'a Object,
    is_target: bool,
}

impl Lock<'_> {
    fn text(&self, member: &str) -> Option<&str> {
        let hidden = self.is_target && member == "version";
        self.members.get(member).and_then(Value::as_str).filter(|text| !text.is_empty() && !hidden)
    }

    fn is(&self, member: &str) -> bool {
        self.members.get(member).is_some_and(truthy)
    }

    /// What led to the package: `version` where that can be trusted, else what was asked for, else where it came from.
    fn spec(&self) -> Option<Spec> {
        let resolve = |text: &str| Spec::parse(self.name, text);
        let (version, from, resolved) = (self.text("version"), self.text("from"), self.text("resolved"));
        let attempt = || {
            if let Some(version) = version {
                let spec = resolve(version)?;
                if self.text("integrity").is_some() || matches!(spec.kind, SpecKind::Git(_)) {
                    return Ok(Some(spec));
                }
            }
            if let Some(from) = from {
                let spec = resolve(from)?;
                match version {
                    Some(version) if spec.is_registry() => return resolve(version).map(Some),
                    _ if resolved.is_none() => return Ok(Some(spec)),
                    _ => {}
                }
            }
            resolved.map(resolve).transpose()
        };
        match attempt() {
            Ok(Some(spec)) => Some(spec),
            Ok::<_, gantry_spec::SpecError>(None) | Err(_) => resolve(version.unwrap_or_default()).ok(),
        }
    }

    /// The entry of a package that is no link.
    fn to_members(&self, spec: Option<&Spec>) -> Object {
        let mut members = Object::new();
        let mut set = |member: &str, value: Value| {
            members.insert(member.to_owned(), value);
        };
        if let Some(requires @ Value::Object(_)) = self.members.get("requires") {
            set("requires", requires.clone());
        }
        for flag in ["optional", "dev"] {
            if self.is(flag) {
                set(flag, true.into());
            }
        }
        let (version, integrity, resolved) = (self.text("version"), self.text("integrity"), self.text("resolved"));
        if let Some(integrity) = integrity {
            set("integrity", integrity.into());
        }
        let is_registry = spec.is_some_and(Spec::is_registry);
        let mut known_version = None;
        if integrity.is_none()
            && let Some(version) = version
        {
            match spec.map(|spec| &spec.kind) {
                Some(SpecKind::Git(git)) => {
                    let hash = spec.and_then(|spec| spec.raw.split_once('#')).map(|(_, hash)| hash);
                    let address = match &git.hosted {
                        Some(hosted) => match hash {
                            Some(hash) => hosted.resolved(hash),
                            None => format!("git+{}", hosted.ssh_url(None)),
                        },
                        None => git.saved.clone(),
                    };
                    set("resolved", address.into());
                    return members;
                }
                _ if is_registry => known_version = Some(version.to_owned()),
                _ => {}
            }
        }
        let source = match spec.map(|spec| &spec.kind) {
            _ if is_registry => resolved.map(str::to_owned),
            Some(SpecKind::File { path }) => Some(format!("file:{path}")),
            Some(SpecKind::Remote { url }) => Some(url.clone()),
            // For what is written without an address npm knows none.
            Some(SpecKind::Git(git)) if git.hosted.is_none() || git.saved.contains("://") => Some(git.url.clone()),
            _ => None,
        };
        if let Some(source) = &source {
            set("resolved", source.as_str().into());
        }
        if known_version.is_none() {
            match spec.map(|spec| &spec.kind) {
                Some(SpecKind::File { path: tarball } | SpecKind::Remote { url: tarball }) => {
                    if let Some((name, version)) = version_in(self.name, tarball) {
                        if name != self.name {
                            set("name", name.into());
                        }
                        known_version = Some(version);
                    }
                }
                Some(SpecKind::Alias { name, target }) => {
                    set("name", name.as_str().into());
                    known_version = Some(target.raw.trim().to_owned());
                }
                Some(SpecKind::Version(_)) => known_version = spec.map(|spec| spec.raw.trim().to_owned()),
                _ => {}
            }
        }
        if let Some(version) = known_version {
            set("version", version.into());
        }
        if self.is("bundled") {
            set("inBundle", true.into());
        }
        members
    }
}

/// The folder of `name` below a folder.
fn below(location: &str, name: &str) -> String {
    if location.is_empty() { format!("node_modules/{name}") } else { format!("{location}/node_modules/{name}") }
}
