//! From a [`Lockfile`] to npm's text.

use serde_json::Value;

use super::{LockEntry, Lockfile, nice};
use crate::manifest::value::{Object, worth_keeping};
use crate::{DependencyMap, Manifest};

impl Lockfile {
    /// npm's text of `package-lock.json` in the version of [`lockfile_version`](Self::lockfile_version), byte for byte. For
    /// versions 1 and 2 [`dependencies`](Self::dependencies) must have been made.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.text_of(self.lockfile_version, |_| true)
    }

    /// The same in version 3, from which the whole tree can be read again, whatever the version.
    pub fn to_complete_bytes(&self) -> Vec<u8> {
        self.text_of(3, |_| true)
    }

    /// The text of `node_modules/.package-lock.json`: no root entry, and without the entries for which `inert` holds,
    /// which are those that were not installed on this machine.
    pub fn to_hidden_bytes(&self, inert: &dyn Fn(&LockEntry) -> bool) -> Vec<u8> {
        self.text_of(3, |entry| !entry.path.is_empty() && !inert(entry))
    }

    fn text_of(&self, lockfile_version: u32, wanted: impl Fn(&LockEntry) -> bool) -> Vec<u8> {
        let mut document = Object::new();
        set_text(&mut document, "name", self.name.as_deref());
        set_text(&mut document, "version", self.version.as_deref());
        document.insert("lockfileVersion".into(), lockfile_version.into());
        document.insert("requires".into(), true.into());
        if lockfile_version < 3
            && let Some(dependencies) = &self.dependencies
        {
            document.insert("dependencies".into(), dependencies.clone());
        }
        if lockfile_version < 2 {
            return nice::to_text(&document, &self.style);
        }
        let mut packages = Object::with_capacity(self.packages.len());
        for entry in self.packages.iter().filter(|entry| wanted(entry)) {
            let members = members_of(entry);
            if !entry.path.is_empty() || !members.is_empty() {
                packages.insert(entry.path.clone(), Value::Object(members));
            }
        }
        document.insert("packages".into(), Value::Object(packages));
        nice::to_text(&document, &self.style)
    }
}

/// The members of one entry. Their order is the writer's matter.
fn members_of(entry: &LockEntry) -> Object {
    let mut members = Object::new();
    if entry.link {
        // A link says nothing else, not even flags: those are at its target. The project itself is the empty target.
        members.insert("resolved".into(), entry.resolved.as_deref().unwrap_or_default().into());
        members.insert("link".into(), true.into());
        return members;
    }
    set_text(&mut members, "resolved", entry.resolved.as_deref());
    set_manifest(&mut members, &entry.manifest);
    if entry.is_top() {
        set_pairs(&mut members, "devDependencies", &entry.manifest.dev_dependencies);
        if entry.manifest.declares_dev_dependencies && entry.manifest.dev_dependencies.is_empty() {
            members.insert("devDependencies".into(), Value::Object(Object::new()));
        }
    }
    set_text(&mut members, "integrity", entry.integrity.as_deref());
    set_flag(&mut members, "inBundle", entry.in_bundle);
    if entry.extraneous {
        set_flag(&mut members, "extraneous", true);
    } else {
        set_flag(&mut members, "peer", entry.peer);
        set_flag(&mut members, "dev", entry.dev);
        set_flag(&mut members, "optional", entry.optional);
        set_flag(&mut members, "devOptional", entry.dev_optional && !entry.dev && !entry.optional);
    }
    members
}

fn set_manifest(members: &mut Object, manifest: &Manifest) {
    set_text(members, "name", manifest.name.as_deref());
    set_text(members, "version", manifest.version.as_deref());
    set_pairs(members, "dependencies", &manifest.dependencies);
    set_pairs(members, "peerDependencies", &manifest.peer_dependencies);
    set_value(members, "peerDependenciesMeta", manifest.peer_dependencies_meta.as_ref());
    set_pairs(members, "optionalDependencies", &manifest.optional_dependencies);
    set_list(members, "bundleDependencies", &manifest.bundle_dependencies);
    set_pairs(members, "acceptDependencies", &manifest.accept_dependencies);
    set_value(members, "funding", manifest.funding.as_ref());
    set_pairs(members, "engines", &manifest.engines);
    set_list(members, "os", &manifest.os);
    set_list(members, "cpu", &manifest.cpu);
    set_list(members, "libc", &manifest.libc);
    set_text(members, "license", manifest.license.as_deref());
    set_flag(members, "hasShrinkwrap", manifest.has_shrinkwrap);
    set_flag(members, "hasInstallScript", manifest.has_install_script);
    set_pairs(members, "bin", &manifest.bin);
    set_text(members, "deprecated", manifest.deprecated.as_deref());
    set_value(members, "workspaces", manifest.workspaces.as_ref());
    for (member, value) in &manifest.verbatim {
        // What is not worth keeping is left out in this form too.
        members.shift_remove(member);
        set_value(members, member, Some(value));
    }
}

fn set_text(members: &mut Object, member: &str, text: Option<&str>) {
    if let Some(text) = text.filter(|text| !text.is_empty()) {
        members.insert(member.into(), text.into());
    }
}

fn set_flag(members: &mut Object, member: &str, flag: bool) {
    if flag {
        members.insert(member.into(), true.into());
    }
}

fn set_value(members: &mut Object, member: &str, value: Option<&Value>) {
    if let Some(value) = value.filter(|value| worth_keeping(value)) {
        members.insert(member.into(), value.clone());
    }
}

fn set_list(members: &mut Object, member: &str, list: &[String]) {
    if !list.is_empty() {
        members.insert(member.into(), list.into());
    }
}

fn set_pairs(members: &mut Object, member: &str, pairs: &DependencyMap) {
    if !pairs.is_empty() {
        let pairs = pairs.iter().map(|(key, value)| (key.clone(), Value::from(value.as_str())));
        members.insert(member.into(), Value::Object(pairs.collect()));
    }
}
