//! Small synthetic registries, good and bad, made in memory.
//!
//! `Registry::new().package("a", "1.0.0", |p| p.dependency("b", "^1").file("index.js", "…"))` builds a real gzip'd
//! tarball, its integrity and its packument. The same calls give the same bytes in every run. Documents and tarballs
//! can be taken without a server, or served by [`Server`](crate::Server).
mod archive;
mod basic;
mod package;
mod scripts;

use std::collections::BTreeMap;

use base64::Engine as _;
use bytes::Bytes;
use serde_json::{Map, Value, json};
use sha1::Sha1;
use sha2::{Digest as _, Sha512};

pub use archive::TarballBuilder;
pub use basic::basic;
pub use package::Package;
pub use scripts::scripts;

use crate::names::{tarball_file, tarball_path};
use crate::packument::{PLACEHOLDER, abbreviate};
use crate::{FaultRule, TestkitError};
use package::{DistKind, TarballKind};

/// A synthetic registry: documents, tarballs, and the faults that belong to them.
#[derive(Clone, Debug, Default)]
pub struct Registry {
    documents: BTreeMap<String, Value>,
    tarballs: BTreeMap<String, Bytes>,
    faults: Vec<FaultRule>,
}

impl Registry {
    /// An empty registry.
    pub fn new() -> Self {
        Self::default()
    }

    /// The built-in set of this name.
    pub fn named(name: &str) -> Result<Self, TestkitError> {
        match name {
            "basic" => Ok(basic()),
            "scripts" => Ok(scripts()),
            _ => Err(TestkitError::UnknownFixtures { name: name.into() }),
        }
    }

    /// Adds a version; `latest` points at the version added last that is not a prerelease.
    pub fn package(mut self, name: &str, version: &str, describe: impl FnOnce(Package) -> Package) -> Self {
        let package = describe(Package::new(name, version));
        let manifest = package.manifest();
        let (tarball, digested) = package.tarballs(&manifest);
        let dist = package.dist(&digested);
        let mut listed = manifest;
        listed.insert("_id".into(), json!(format!("{name}@{version}")));
        if let Some(message) = &package.deprecated {
            listed.insert("deprecated".into(), json!(message));
        }
        if let Some(dist) = dist {
            listed.insert("dist".into(), dist);
        }
        if let Some(value) = package.has_shrinkwrap {
            listed.insert("_hasShrinkwrap".into(), json!(value));
        }
        if package.tarball != TarballKind::Missing {
            self.tarballs.insert(tarball_path(name, &tarball_file(name, version)), tarball);
        }
        self.list(name, version, Value::Object(listed));
        self
    }

    /// Points a dist-tag of a package at a version, which need not exist.
    pub fn tag(mut self, name: &str, tag: &str, version: &str) -> Self {
        let document = self.document_mut(name);
        document["dist-tags"][tag] = json!(version);
        self
    }

    /// Takes a dist-tag away.
    pub fn without_tag(mut self, name: &str, tag: &str) -> Self {
        if let Some(tags) = self.document_mut(name)["dist-tags"].as_object_mut() {
            tags.remove(tag);
        }
        self
    }

    /// Sets when a version was published, as an ISO 8601 text.
    pub fn published(mut self, name: &str, version: &str, time: &str) -> Self {
        self.document_mut(name)["time"][version] = json!(time);
        self
    }

    /// Replaces the document of a package by any JSON at all.
    pub fn document(mut self, name: &str, document: Value) -> Self {
        self.documents.insert(name.into(), document);
        self
    }

    /// Adds a fault that a server of this registry applies from the start.
    pub fn fault(mut self, rule: FaultRule) -> Self {
        self.faults.push(rule);
        self
    }

    /// Adds everything of another registry, which wins over what is here.
    pub fn merge(mut self, other: Registry) -> Self {
        self.documents.extend(other.documents);
        self.tarballs.extend(other.tarballs);
        self.faults.extend(other.faults);
        self
    }

    /// Names of all packages, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.documents.keys().map(String::as_str)
    }

    /// The full packument as a registry at `base` (ends with `/`) would send it.
    pub fn full_packument(&self, name: &str, base: &str) -> Option<Bytes> {
        self.stored_document(name).map(|text| Bytes::from(text.replace(PLACEHOLDER, base)))
    }

    /// The abbreviated packument as a registry at `base` (ends with `/`) would send it.
    pub fn abbreviated_packument(&self, name: &str, base: &str) -> Option<Bytes> {
        let document = self.documents.get(name)?;
        Some(Bytes::from(abbreviate(document).to_string().replace(PLACEHOLDER, base)))
    }

    /// The tarball of a version as it is served.
    pub fn tarball(&self, name: &str, version: &str) -> Option<Bytes> {
        self.tarballs.get(&tarball_path(name, &tarball_file(name, version))).cloned()
    }

    /// The integrity the packument claims for a version.
    pub fn integrity(&self, name: &str, version: &str) -> Option<&str> {
        self.documents.get(name)?["versions"][version]["dist"]["integrity"].as_str()
    }

    pub(crate) fn stored_document(&self, name: &str) -> Option<String> {
        self.documents.get(name).map(Value::to_string)
    }

    pub(crate) fn stored_tarball(&self, path: &str) -> Option<&Bytes> {
        self.tarballs.get(path)
    }

    pub(crate) fn fault_rules(&self) -> &[FaultRule] {
        &self.faults
    }

    fn document_mut(&mut self, name: &str) -> &mut Value {
        self.documents.entry(name.into()).or_insert_with(|| {
            json!({
                "_id": name, "name": name, "dist-tags": {}, "versions": {},
                "time": {"created": FIRST_DAY, "modified": FIRST_DAY},
            })
        })
    }

    fn list(&mut self, name: &str, version: &str, manifest: Value) {
        let document = self.document_mut(name);
        let published = day(document["versions"].as_object().map_or(0, Map::len));
        document["versions"][version] = manifest;
        if !version.contains('-') {
            document["dist-tags"]["latest"] = json!(version);
        }
        document["time"][version] = json!(published);
        document["time"]["modified"] = json!(published);
    }
}

const FIRST_DAY: &str = "2024-01-01T00:00:00.000Z";

/// The n-th version of a package is published n days after the first.
fn day(index: usize) -> String {
    // Months of 28 days keep every date valid.
    format!("{}-{:02}-{:02}T00:00:00.000Z", 2024 + index / 336, index / 28 % 12 + 1, index % 28 + 1)
}

/// `sha512-…` of bytes, as packuments and locks spell it.
pub fn sha512_integrity(bytes: &[u8]) -> String {
    format!("sha512-{}", base64::engine::general_purpose::STANDARD.encode(Sha512::digest(bytes)))
}

/// The `shasum` of bytes: SHA-1 in lower-case hex.
pub fn sha1_hex(bytes: &[u8]) -> String {
    crate::encoded::hex(&Sha1::digest(bytes))
}

impl Package {
    fn dist(&self, tarball: &[u8]) -> Option<Value> {
        let mut dist = Map::new();
        match &self.dist {
            DistKind::Missing => return None,
            DistKind::Full => {
                dist.insert("integrity".into(), json!(sha512_integrity(tarball)));
                dist.insert("shasum".into(), json!(sha1_hex(tarball)));
            }
            DistKind::Integrity(text) => {
                dist.insert("integrity".into(), json!(text));
                dist.insert("shasum".into(), json!(sha1_hex(tarball)));
            }
            DistKind::ShasumOnly => {
                dist.insert("shasum".into(), json!(sha1_hex(tarball)));
            }
            DistKind::NoDigests => {}
        }
        let path = tarball_path(&self.name, &tarball_file(&self.name, &self.version));
        let address = self.tarball_address.clone().unwrap_or_else(|| format!("{PLACEHOLDER}{path}"));
        dist.insert("tarball".into(), json!(address));
        dist.insert("fileCount".into(), json!(self.file_count()));
        dist.insert("unpackedSize".into(), json!(self.unpacked_size()));
        Some(Value::Object(dist))
    }
}

#[cfg(test)]
mod tests;
