//! From a [`Lockfile`] to npm's text.

use std::collections::BTreeSet;
use std::ops::Range;

use rustc_hash::{FxBuildHasher, FxHashMap};
use serde_json::Value;

use super::nice::{self, Members, Part};
use super::read::{is_outside, targets_of_links};
use super::{LockEntry, Lockfile};
use crate::manifest::value::worth_keeping;
use crate::{DependencyMap, Manifest, Text, TextStyle};

/// The entries of a lock as npm writes them. A project's lock and its hidden lock are put together from them, so that those of
/// a large project are written once.
#[derive(Debug)]
pub struct LockText<'a> {
    lock: &'a Lockfile,
    /// In npm's order.
    entries: Vec<(&'a LockEntry, Range<usize>)>,
    text: String,
}

impl Lockfile {
    /// npm's text of `package-lock.json` in the version of [`lockfile_version`](Self::lockfile_version), byte for byte. For
    /// versions 1 and 2 [`dependencies`](Self::dependencies) must have been made.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.to_text().to_bytes()
    }

    /// The texts of the entries, from which every kind of lock can be made.
    pub fn to_text(&self) -> LockText<'_> {
        let mut entries = Members::with_capacity(self.packages.len());
        let mut by_path = FxHashMap::with_capacity_and_hasher(self.packages.len(), FxBuildHasher);
        let packages = self.packages.iter().map(|entry| (entry, entry.is_top()));
        let outside = self.still_outside().map(|entry| (entry, false));
        for (entry, is_top) in packages.chain(outside) {
            let members = members_of(entry, is_top);
            if !entry.path.is_empty() || !members.is_empty() {
                by_path.insert(entry.path.as_str(), entry);
                entries.add(&entry.path, Part::Members(members));
            }
        }
        let (text, parts) = nice::to_parts(entries, ENTRY_DEPTH, &self.style);
        let entries = parts.into_iter().map(|(path, part)| (by_path[path], part)).collect();
        LockText { lock: self, entries, text }
    }
}

impl Lockfile {
    /// Of what is outside of the project, what is below a folder that a link still leads to.
    fn still_outside(&self) -> impl Iterator<Item = &LockEntry> {
        let targets = if self.outside.is_empty() { BTreeSet::new() } else { targets_of_links(&self.packages) };
        self.outside.iter().filter(move |entry| is_outside(entry, &targets))
    }
}

impl LockEntry {
    /// Whether this entry, which is that of a folder with a `package.json` of its own, says of it all that a lock does; but for
    /// its name, which depends on where it is linked.
    pub fn says_all_of(&self, manifest: &Manifest) -> bool {
        let text_of = |manifest: &Manifest| {
            let manifest = Manifest { name: None, ..manifest.clone() };
            let entry = LockEntry { path: self.path.clone(), manifest, ..LockEntry::default() };
            let mut entries = Members::default();
            entries.add(&entry.path, Part::Members(members_of(&entry, entry.is_top())));
            nice::to_parts(entries, ENTRY_DEPTH, &TextStyle::default()).0
        };
        text_of(&self.manifest) == text_of(manifest)
    }
}

/// How many brackets are open around an entry.
const ENTRY_DEPTH: usize = 2;

impl<'a> LockText<'a> {
    /// What the texts are of.
    pub fn lock(&self) -> &'a Lockfile {
        self.lock
    }

    /// As [`Lockfile::to_bytes`].
    pub fn to_bytes(&self) -> Vec<u8> {
        self.text_of(self.lock.lockfile_version, |_| true)
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
        let mut document = Members::default();
        document.set_text("name", self.lock.name.as_deref());
        document.set_text("version", self.lock.version.as_deref());
        let lockfile_version_number = Value::from(lockfile_version);
        document.set("lockfileVersion", Part::Value(&lockfile_version_number));
        document.set("requires", Part::True);
        if lockfile_version < 3
            && let Some(dependencies) = &self.lock.dependencies
        {
            document.set("dependencies", Part::Value(dependencies));
        }
        if lockfile_version >= 2 {
            let entries = self.entries.iter().filter(|(entry, _)| wanted(entry));
            let entries = entries.map(|(entry, part)| (entry.path.as_str(), &self.text[part.clone()])).collect();
            document.set("packages", Part::Written(entries));
        }
        nice::to_text(document, &self.lock.style)
    }
}

/// The members of one entry; those of a folder of the user if `is_top`. Their order is the writer's matter.
fn members_of(entry: &LockEntry, is_top: bool) -> Members<'_> {
    let mut members = Members::with_capacity(12);
    if entry.link {
        // A link says nothing else, not even flags: those are at its target. The project itself is the empty target.
        members.set("resolved", Part::Text(entry.resolved.as_deref().unwrap_or_default()));
        members.set("link", Part::True);
        return members;
    }
    members.set_text("resolved", entry.resolved.as_deref());
    set_manifest(&mut members, &entry.manifest);
    if is_top {
        members.set_pairs("devDependencies", &entry.manifest.dev_dependencies);
        if entry.manifest.declares_dev_dependencies && entry.manifest.dev_dependencies.is_empty() {
            members.set("devDependencies", Part::Members(Members::default()));
        }
    }
    members.set_text("integrity", entry.integrity.as_deref());
    members.set_flag("inBundle", entry.in_bundle);
    if entry.extraneous {
        members.set_flag("extraneous", true);
    } else {
        members.set_flag("peer", entry.peer);
        members.set_flag("dev", entry.dev);
        members.set_flag("optional", entry.optional);
        members.set_flag("devOptional", entry.dev_optional && !entry.dev && !entry.optional);
    }
    members
}

fn set_manifest<'a>(members: &mut Members<'a>, manifest: &'a Manifest) {
    members.set_text("name", manifest.name.as_deref());
    members.set_text("version", manifest.version.as_deref());
    members.set_pairs("dependencies", &manifest.dependencies);
    members.set_pairs("peerDependencies", &manifest.peer_dependencies);
    members.set_value("peerDependenciesMeta", manifest.peer_dependencies_meta.as_ref());
    members.set_pairs("optionalDependencies", &manifest.optional_dependencies);
    members.set_list("bundleDependencies", &manifest.bundle_dependencies);
    members.set_pairs("acceptDependencies", &manifest.accept_dependencies);
    members.set_value("funding", manifest.funding.as_ref());
    members.set_pairs("engines", &manifest.engines);
    members.set_list("os", &manifest.os);
    members.set_list("cpu", &manifest.cpu);
    members.set_list("libc", &manifest.libc);
    members.set_text("license", manifest.license.as_deref());
    members.set_flag("hasShrinkwrap", manifest.has_shrinkwrap);
    members.set_flag("hasInstallScript", manifest.has_install_script);
    members.set_pairs("bin", &manifest.bin);
    members.set_text("deprecated", manifest.deprecated.as_deref());
    members.set_value("workspaces", manifest.workspaces.as_ref());
    for (member, value) in &manifest.verbatim {
        // What is not worth keeping is left out in this form too.
        members.remove(member);
        members.set_value(member, Some(value));
    }
}

impl<'a> Members<'a> {
    fn set_text(&mut self, member: &'a str, text: Option<&'a str>) {
        if let Some(text) = text.filter(|text| !text.is_empty()) {
            self.set(member, Part::Text(text));
        }
    }

    fn set_flag(&mut self, member: &'a str, flag: bool) {
        if flag {
            self.set(member, Part::True);
        }
    }

    fn set_value(&mut self, member: &'a str, value: Option<&'a Value>) {
        if let Some(value) = value.filter(|value| worth_keeping(value)) {
            self.set(member, Part::Value(value));
        }
    }

    fn set_list(&mut self, member: &'a str, list: &'a [Text]) {
        if !list.is_empty() {
            self.set(member, Part::List(list));
        }
    }

    fn set_pairs(&mut self, member: &'a str, pairs: &'a DependencyMap) {
        if !pairs.is_empty() {
            self.set(member, Part::Pairs(pairs));
        }
    }
}
