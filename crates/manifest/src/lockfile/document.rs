//! The JSON of a lock file.
//!
//! Entries are read straight into the members that matter, without a tree of values for the whole document: of a large
//! project that would be most of what reading takes. Whatever is out of the ordinary (a conflict, an old format, damage) is
//! read as such a tree.

use std::fmt;

use rustc_hash::FxHashSet;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;

use super::{conflict, legacy};
use crate::ManifestError;
use crate::error::parser_message;
use crate::manifest::document::{Members, without_lone_surrogates};
use crate::manifest::fields::Fields;
use crate::manifest::value::{Object, truthy};

/// What is read of an entry.
const ENTRY_MEMBERS: &[&str] = &[
    "version",
    "resolved",
    "integrity",
    "dev",
    "license",
    "dependencies",
    "engines",
    "bin",
    "peer",
    "optional",
    "peerDependencies",
    "funding",
    "peerDependenciesMeta",
    "optionalDependencies",
    "os",
    "cpu",
    "libc",
    "name",
    "link",
    "inBundle",
    "extraneous",
    "devOptional",
    "deprecated",
    "hasInstallScript",
    "hasShrinkwrap",
    "bundleDependencies",
    "devDependencies",
    "workspaces",
    "_hasShrinkwrap",
    "acceptDependencies",
    "bundledDependencies",
    "scripts",
    "overrides",
];

/// A lock file's members.
pub(super) struct Document {
    /// `name`, `version`, `lockfileVersion` and `requires`, and what nobody reads.
    pub head: Object,
    /// Path and members of each entry, each path once; `None` for what is no object.
    pub entries: Vec<(String, Option<Fields>)>,
}

impl Document {
    /// Reads the text of a lock file of any version. `file` is what errors call it.
    pub fn read(text: &str, file: &str) -> Result<Document, ManifestError> {
        if conflict::is_conflict(text) {
            let settled = conflict::settle(text, |part| parse(part).ok());
            let line = || conflict::first_marker_line(text);
            let error = || ManifestError::LockConflict { file: file.to_owned(), line: line() };
            return Self::of_value(settled.ok_or_else(error)?, file);
        }
        if let Some(document) = Self::read_entries(text) {
            return Ok(document);
        }
        let value = parse(text).map_err(|error| ManifestError::LockJson {
            file: file.to_owned(),
            line: error.line().max(1),
            column: error.column().max(1),
            message: parser_message(&error),
        })?;
        Self::of_value(value, file)
    }

    /// The way for nearly all locks; `None` for what has no object of `packages`, for a path given twice and for damage.
    fn read_entries(text: &str) -> Option<Document> {
        let mut deserializer = serde_json::Deserializer::from_str(text);
        let document = deserializer.deserialize_map(DocumentVisitor).ok()?;
        deserializer.end().ok()?;
        let mut known = FxHashSet::default();
        document.entries.iter().all(|(path, _)| known.insert(path.as_str())).then_some(())?;
        Some(document)
    }

    fn of_value(document: Value, file: &str) -> Result<Document, ManifestError> {
        let shape = |problem: &str| ManifestError::LockShape { file: file.to_owned(), problem: problem.to_owned() };
        let Value::Object(mut head) = document else { return Err(shape("must hold a JSON object")) };
        let entries = match (head.swap_remove("packages"), head.swap_remove("dependencies")) {
            (Some(Value::Object(packages)), _) => packages
                .into_iter()
                .map(|(path, entry)| match entry {
                    Value::Object(members) => (path, Some(members.into())),
                    _ => (path, None),
                })
                .collect(),
            (Some(value), _) if truthy(&value) => return Err(shape("\"packages\" must be an object")),
            (_, Some(Value::Object(tree))) => {
                legacy::entries_of(&tree).into_iter().map(|(path, entry)| (path, Some(entry.into()))).collect()
            }
            (_, Some(value)) if truthy(&value) => return Err(shape("\"dependencies\" must be an object")),
            _ => Vec::new(),
        };
        Ok(Document { head, entries })
    }
}

fn parse(text: &str) -> Result<Value, serde_json::Error> {
    serde_json::from_str::<Value>(text).or_else(|error| match without_lone_surrogates(text) {
        Some(text) => serde_json::from_str(&text),
        None => Err(error),
    })
}

struct DocumentVisitor;

impl<'de> Visitor<'de> for DocumentVisitor {
    type Value = Document;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a lock file with packages")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Self::Value, A::Error> {
        let mut head = Object::new();
        let mut entries = None;
        while let Some(member) = access.next_key::<String>()? {
            match member.as_str() {
                "packages" => entries = Some(access.next_value_seed(EntriesVisitor)?),
                "name" | "version" | "lockfileVersion" | "requires" => {
                    let value = access.next_value()?;
                    head.insert(member, value);
                }
                _ => {
                    access.next_value::<IgnoredAny>()?;
                }
            }
        }
        let missing = || serde::de::Error::missing_field("packages");
        Ok(Document { head, entries: entries.ok_or_else(missing)? })
    }
}

struct EntriesVisitor;

impl<'de> serde::de::DeserializeSeed<'de> for EntriesVisitor {
    type Value = Vec<(String, Option<Fields>)>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for EntriesVisitor {
    type Value = Vec<(String, Option<Fields>)>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("entries by their paths")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Self::Value, A::Error> {
        let mut entries = Vec::new();
        while let Some(path) = access.next_key()? {
            entries.push((path, access.next_value_seed(Members { wanted: ENTRY_MEMBERS })?));
        }
        Ok(entries)
    }
}
