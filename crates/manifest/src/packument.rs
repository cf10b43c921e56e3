//! A registry's document of one package, read lazily.
//!
//! One pass over the body finds the name, the dist-tags and the byte span of each version; a version is decoded when it
//! is first asked for, once, and kept. A pick looks at the version *texts* and one or two of hundreds of manifests, so
//! most of a body is never parsed. The body itself is shared, never copied.
//!
//! A version that cannot be decoded is as good as absent: one damaged entry of a document does not spoil the others.

mod scan;
mod text;
mod versions;

#[cfg(test)]
mod tests;

use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use rustc_hash::FxHashMap;
use serde_json::Value;

use self::scan::{Members, NotJson, skip_space, skip_value};
use self::text::{decode_string, string_is};
use self::versions::VersionTable;
use crate::manifest::value::truthy;
use crate::{Manifest, ManifestError};

/// A lazily read packument. Share it by `Arc`.
#[derive(Debug)]
pub struct Packument {
    body: Bytes,
    name: String,
    dist_tags: Vec<(String, String)>,
    versions: VersionTable,
    /// Where the `time` object begins; it is read when first asked for.
    time_at: Option<usize>,
    time: OnceLock<FxHashMap<String, String>>,
}

impl Packument {
    /// Scans a body.
    ///
    /// `PACKUMENT_JSON` if it is not JSON, `PACKUMENT_SHAPE` if it has no object `versions`. Damage inside of a version
    /// shows when that version is asked for.
    pub fn scan(body: Bytes) -> Result<Packument, ManifestError> {
        let shape = |problem| Err(ManifestError::PackumentShape { problem });
        if u32::try_from(body.len()).is_err() {
            return shape("it is larger than 4 GiB");
        }
        let sections = Sections::find(&body).map_err(|NotJson(offset)| ManifestError::PackumentJson { offset })?;
        let Some(sections) = sections else { return shape("it is not an object") };
        let versions = match sections.versions {
            Some(Versions::Table(table)) => table,
            Some(Versions::NoObject) => return shape("\"versions\" is not an object"),
            None => return shape("it has no \"versions\""),
        };
        Ok(Packument {
            name: sections.name.and_then(|at| string_at(&body, at)).unwrap_or_default(),
            dist_tags: sections.dist_tags.map(|at| text_members(&body, at)).unwrap_or_default(),
            versions,
            time_at: sections.time,
            time: OnceLock::new(),
            body,
        })
    }

    /// The name the document gives itself; empty if it gives none.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The version that a tag points to.
    pub fn dist_tag(&self, tag: &str) -> Option<&str> {
        self.dist_tags().find(|(name, _)| *name == tag).map(|(_, version)| version)
    }

    /// Tags and versions, in document order.
    pub fn dist_tags(&self) -> impl Iterator<Item = (&str, &str)> {
        self.dist_tags.iter().map(|(tag, version)| (tag.as_str(), version.as_str()))
    }

    /// Version texts, in document order.
    pub fn versions(&self) -> impl Iterator<Item = &str> {
        self.versions.texts(&self.body)
    }

    /// Whether there is such a version. Does not decode the version.
    pub fn has_version(&self, version: &str) -> bool {
        self.versions.find(&self.body, version).is_some()
    }

    /// The manifest of a version, decoded on first use; `None` if there is none or npm could not install it.
    pub fn manifest(&self, version: &str) -> Option<Arc<Manifest>> {
        self.versions.find(&self.body, version)?.manifest(&self.body)
    }

    /// Whether a version is deprecated. Does not decode the version.
    pub fn is_deprecated(&self, version: &str) -> bool {
        let Some(raw) = self.probe(version, "deprecated") else { return false };
        match raw.first() {
            // Any text but the empty one, whatever its escapes.
            Some(b'"') => raw.len() > 2,
            _ => serde_json::from_slice::<Value>(raw).is_ok_and(|value| truthy(&value)),
        }
    }

    /// The engines of a version that are texts. Does not decode the version.
    pub fn engines(&self, version: &str) -> Vec<(String, String)> {
        self.probe(version, "engines").map(|raw| text_members(raw, 0)).unwrap_or_default()
    }

    /// When a version was published, if the document tells. The first call reads all times.
    pub fn published(&self, version: &str) -> Option<&str> {
        let at = self.time_at?;
        let times = self.time.get_or_init(|| text_members(&self.body, at).into_iter().collect());
        times.get(version).map(String::as_str)
    }

    /// Whether this is the abbreviated form, which lacks `time` and, in its versions, `license`.
    pub fn is_abbreviated(&self) -> bool {
        self.time_at.is_none()
    }

    /// The registry's own bytes.
    pub fn body(&self) -> &Bytes {
        &self.body
    }

    /// The bytes of one version's manifest, as the registry wrote them.
    pub fn version_bytes(&self, version: &str) -> Option<&[u8]> {
        Some(&self.body[self.versions.find(&self.body, version)?.span()])
    }

    /// The raw value of one member of a version.
    fn probe(&self, version: &str, member: &str) -> Option<&[u8]> {
        let bytes = self.version_bytes(version)?;
        // Of a member given twice the last counts, so the walk goes to the end.
        let found =
            Members::new(bytes, 0).map_while(Result::ok).filter(|found| string_is(&bytes[found.key.clone()], member));
        found.last().map(|found| &bytes[found.value])
    }
}

/// Where the members that matter begin, and the versions, which are read on the way: the body is walked once.
#[derive(Default)]
struct Sections {
    name: Option<usize>,
    dist_tags: Option<usize>,
    versions: Option<Versions>,
    time: Option<usize>,
}

enum Versions {
    Table(VersionTable),
    NoObject,
}

impl Sections {
    /// `None` if the document is JSON but no object.
    fn find(body: &[u8]) -> Result<Option<Sections>, NotJson> {
        let start = skip_space(body, if body.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 });
        let (sections, end) = if body.get(start) == Some(&b'{') {
            let (sections, end) = Self::walk(body, start)?;
            (Some(sections), end)
        } else {
            (None, skip_value(body, start)?)
        };
        match skip_space(body, end) {
            rest if rest == body.len() => Ok(sections),
            rest => Err(NotJson(rest)),
        }
    }

    fn walk(body: &[u8], start: usize) -> Result<(Sections, usize), NotJson> {
        let mut sections = Sections::default();
        let mut members = Members::new(body, start);
        while let Some((key, value)) = members.next_key()? {
            let key = &body[key];
            if string_is(key, "versions") && body.get(value) == Some(&b'{') {
                let (table, end) = VersionTable::read(body, value)?;
                sections.versions = Some(Versions::Table(table));
                members.resume_at(end);
                continue;
            }
            members.skip_over(value)?;
            if string_is(key, "versions") {
                sections.versions = Some(Versions::NoObject);
            } else if string_is(key, "name") {
                sections.name = Some(value);
            } else if string_is(key, "dist-tags") {
                sections.dist_tags = Some(value);
            } else if string_is(key, "time") {
                sections.time = Some(value);
            }
        }
        Ok((sections, members.end()))
    }
}

fn string_at(body: &[u8], at: usize) -> Option<String> {
    decode_string(&body[at..skip_value(body, at).ok()?]).map(|text| text.into_owned())
}

/// The members of an object whose values are texts; of a key given twice the last. Ends where the JSON is damaged.
fn text_members(body: &[u8], at: usize) -> Vec<(String, String)> {
    let mut pairs: Vec<(String, String)> = Vec::new();
    let mut places: FxHashMap<String, usize> = FxHashMap::default();
    for member in Members::new(body, at).map_while(Result::ok) {
        let Some(key) = decode_string(&body[member.key]) else { continue };
        let Some(value) = decode_string(&body[member.value]) else { continue };
        match places.get(key.as_ref()) {
            Some(&place) => pairs[place].1 = value.into_owned(),
            None => {
                places.insert(key.to_string(), pairs.len());
                pairs.push((key.into_owned(), value.into_owned()));
            }
        }
    }
    pairs
}
