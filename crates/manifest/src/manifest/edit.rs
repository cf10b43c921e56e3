//! Adding and removing a project's own dependencies.
//!
//! The rules are npm's (`add-rm-pkg-deps.js` and the saving part of `reify.js` in `@npmcli/arborist`): which kinds of
//! dependency a name may have at once, which kind is meant where nobody says, and where the final range goes.

use super::{DependencyMap, Manifest, Text};
use gantry_spec::compare_locale;
use serde_json::{Map, Value};

/// A kind of dependency of a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DependencyKind {
    /// `dependencies`
    Production,
    /// `devDependencies`
    Development,
    /// `optionalDependencies`
    Optional,
    /// `peerDependencies`
    Peer,
    /// `peerDependencies`, marked optional in `peerDependenciesMeta`.
    PeerOptional,
}

impl DependencyKind {
    /// The member of `package.json` that lists it.
    pub fn member(self) -> &'static str {
        match self {
            Self::Production => "dependencies",
            Self::Development => "devDependencies",
            Self::Optional => "optionalDependencies",
            Self::Peer | Self::PeerOptional => "peerDependencies",
        }
    }
}

/// A dependency that left one list in favour of another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moved {
    /// Its name.
    pub name: String,
    /// The member of `package.json` that it left.
    pub from: &'static str,
    /// The member that has it now.
    pub to: &'static str,
}

impl Manifest {
    /// Lists a dependency. Without a `kind` it is the one that the name has, and else an ordinary one. `*` leaves what is listed
    /// as it is. Gives the lists that it left.
    pub fn add_dependency(&mut self, name: &str, spec: &str, kind: Option<DependencyKind>, bundle: bool) -> Vec<Moved> {
        use DependencyKind::{Development, Optional, Peer, PeerOptional, Production};
        let kind = kind.unwrap_or_else(|| self.kind_of(name));
        let excluded: &[DependencyKind] = match kind {
            Production => &[Development, Peer],
            Development => &[Production],
            Optional => &[Peer],
            Peer | PeerOptional => &[Production, Optional],
        };
        let mut moved = Vec::new();
        for &other in excluded {
            if self.unlist(other, name) {
                moved.push(Moved { name: name.to_owned(), from: other.member(), to: kind.member() });
            }
        }
        let list = self.list_mut(kind);
        if spec != "*" || get(list, name).is_none() {
            put(list, name, spec);
        }
        match kind {
            // In the tree the optional one counts.
            Optional => _ = remove(&mut self.dependencies, name),
            Peer | PeerOptional => self.note_peer(name, kind),
            Production | Development => {}
        }
        let is_bundled = bundle && !matches!(kind, Peer | PeerOptional);
        if is_bundled && !self.bundle_dependencies.iter().any(|bundled| bundled == name) {
            self.bundle_dependencies.push(name.into());
            self.bundle_dependencies.sort_by(|left, right| compare_locale(left, right));
        }
        moved
    }

    /// Takes a dependency out of every list.
    pub fn remove_dependency(&mut self, name: &str) {
        use DependencyKind::{Development, Optional, Peer, Production};
        for kind in [Development, Optional, Production, Peer] {
            self.unlist(kind, name);
        }
        self.bundle_dependencies.retain(|bundled| bundled != name);
    }

    /// Writes the range that an installed dependency is saved with. With the `kind` that it was installed as, there; else
    /// wherever it is listed, in `peerDependencies` and `optionalDependencies` beside `devDependencies` only if `fits` does not
    /// hold for the range that stands there.
    pub fn save_dependency(
        &mut self,
        name: &str,
        spec: &str,
        kind: Option<DependencyKind>,
        fits: &dyn Fn(&str) -> bool,
    ) {
        use DependencyKind::{Development, Optional, Peer, Production};
        if let Some(kind) = kind {
            put(self.list_mut(kind), name, spec);
            if kind == Production {
                remove(&mut self.optional_dependencies, name);
            }
            return;
        }
        let is_for_development = get(&self.dev_dependencies, name).is_some();
        for kind in [Production, Development, Peer, Optional] {
            let list = self.list_mut(kind);
            let Some(known) = get(list, name) else { continue };
            if is_for_development && matches!(kind, Peer | Optional) && fits(known) {
                continue;
            }
            put(list, name, spec);
        }
    }

    /// What the project asks of a dependency, whatever its kind; of several kinds the one that counts in the tree.
    pub fn dependency(&self, name: &str) -> Option<&Text> {
        let lists = [&self.dev_dependencies, &self.optional_dependencies, &self.dependencies, &self.peer_dependencies];
        lists.into_iter().find_map(|list| get(list, name))
    }

    fn kind_of(&self, name: &str) -> DependencyKind {
        let has = |list: &DependencyMap| get(list, name).is_some();
        if has(&self.dev_dependencies) {
            DependencyKind::Development
        } else if has(&self.optional_dependencies) {
            DependencyKind::Optional
        } else if has(&self.dependencies) {
            DependencyKind::Production
        } else if has(&self.peer_dependencies) {
            let is_optional = self.peer_optional.iter().any(|optional| optional == name);
            if is_optional { DependencyKind::PeerOptional } else { DependencyKind::Peer }
        } else {
            DependencyKind::Production
        }
    }

    fn list_mut(&mut self, kind: DependencyKind) -> &mut DependencyMap {
        match kind {
            DependencyKind::Production => &mut self.dependencies,
            DependencyKind::Development => &mut self.dev_dependencies,
            DependencyKind::Optional => &mut self.optional_dependencies,
            DependencyKind::Peer | DependencyKind::PeerOptional => &mut self.peer_dependencies,
        }
    }

    /// Whether it was listed.
    fn unlist(&mut self, kind: DependencyKind, name: &str) -> bool {
        let list = self.list_mut(kind);
        let listed = remove(list, name);
        let is_empty = list.is_empty();
        match kind {
            DependencyKind::Peer | DependencyKind::PeerOptional if listed => {
                self.peer_optional.retain(|optional| optional != name);
                if let Some(Value::Object(meta)) = &mut self.peer_dependencies_meta {
                    meta.shift_remove(name);
                    if meta.is_empty() {
                        self.peer_dependencies_meta = None;
                    }
                }
            }
            // npm deletes the list with its last member.
            DependencyKind::Development if listed && is_empty => self.declares_dev_dependencies = false,
            _ => {}
        }
        listed
    }

    /// Brings what goes with a peer dependency in line: whether it is optional, and its range for development.
    fn note_peer(&mut self, name: &str, kind: DependencyKind) {
        let optional = kind == DependencyKind::PeerOptional;
        let known = self.peer_optional.iter().any(|known| known == name);
        if known != optional {
            let meta = object(self.peer_dependencies_meta.get_or_insert(Value::Null));
            object(meta.entry(name).or_insert(Value::Null)).insert("optional".to_owned(), optional.into());
            self.peer_optional.retain(|known| known != name);
            if optional {
                self.peer_optional.push(name.into());
            }
        }
        if let Some(spec) = get(&self.peer_dependencies, name).cloned()
            && get(&self.dev_dependencies, name).is_some()
        {
            put(&mut self.dev_dependencies, name, &spec);
        }
    }
}

/// The members of a value, which becomes an object if it is none.
fn object(value: &mut Value) -> &mut Map<String, Value> {
    if !value.is_object() {
        *value = Value::Object(Map::new());
    }
    value.as_object_mut().expect("it was made one")
}

fn get<'a>(list: &'a DependencyMap, name: &str) -> Option<&'a Text> {
    list.iter().find(|(known, _)| known == name).map(|(_, spec)| spec)
}

fn put(list: &mut DependencyMap, name: &str, spec: &str) {
    match list.iter_mut().find(|(known, _)| known == name) {
        Some((_, known)) => *known = spec.into(),
        None => list.push((name.into(), spec.into())),
    }
}

fn remove(list: &mut DependencyMap, name: &str) -> bool {
    let before = list.len();
    list.retain(|(known, _)| known != name);
    list.len() < before
}

#[cfg(test)]
mod tests;
