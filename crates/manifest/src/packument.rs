//! A registry's document of one package, read lazily.
//!
//! One pass over the body finds the name, the dist-tags and the byte span of each version; a version is decoded when it
//! is first asked for, once, and kept. A pick looks at the version *texts* and one or two of hundreds of manifests, so
//! most of a body is never parsed. The body itself is shared, never copied.
//!
//! A version that cannot be decoded is as good as absent: one damaged entry of a document does not spoil the others.
//!
//! A cache keeps what the scan found as an *outline* ([`Packument::outline`]) and makes a packument from it again without
//! scanning ([`Packument::from_outline`]). One that was scanned can be turned into such a one
//! ([`Packument::into_outlined`]), so that its body need not stay in memory.

mod body;
mod scan;
mod stored;
mod text;
mod versions;

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use rustc_hash::FxHashMap;
use serde_json::Value;

use self::body::Body;
pub use self::body::StoredBody;
use self::scan::{Members, NotJson, skip_space, skip_value};
use self::stored::Stored;
use self::text::{decode_string, string_is};
use self::versions::VersionTable;
use crate::manifest::value::truthy;
use crate::{Manifest, ManifestError, Text};

/// A lazily read packument. Share it by `Arc`.
#[derive(Debug)]
pub struct Packument {
    contents: Contents,
    times: OnceLock<FxHashMap<Text, Text>>,
}

#[derive(Debug)]
enum Contents {
    /// Scanned just now, with its whole body at hand.
    Scanned(Scanned),
    /// Kept from an earlier scan.
    Stored(Stored),
}

#[derive(Debug)]
struct Scanned {
    body: Bytes,
    name: String,
    dist_tags: Vec<(Text, Text)>,
    versions: VersionTable,
    /// Where the `time` object begins.
    time_at: Option<usize>,
    /// Whether it is abbreviated although it may have `time`: it has `modified`, or whoever sent it said so.
    is_abbreviated: bool,
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
        let scanned = Scanned {
            name: sections.name.and_then(|at| string_at(&body, at)).unwrap_or_default(),
            dist_tags: sections.dist_tags.map(|at| text_members(&body, at)).unwrap_or_default(),
            versions,
            time_at: sections.time,
            is_abbreviated: sections.has_modified,
            body,
        };
        Ok(Packument { contents: Contents::Scanned(scanned), times: OnceLock::new() })
    }

    /// The same packument, which a registry has called abbreviated although it may have `time`.
    #[must_use]
    pub fn called_abbreviated(mut self) -> Self {
        if let Contents::Scanned(scanned) = &mut self.contents {
            scanned.is_abbreviated = true;
        }
        self
    }

    /// Makes a packument from what [`Packument::outline`] gave, over a body that is read when a version is decoded; `None`
    /// if `outline` is none, or one of another version of Gantry.
    ///
    /// A piece of the body that cannot be read or does not match the outline is reported to `body`; its version is absent.
    pub fn from_outline(outline: Bytes, body: Arc<dyn StoredBody>) -> Option<Packument> {
        let stored = Stored::open(outline, Body::kept(body))?;
        Some(Packument { contents: Contents::Stored(stored), times: OnceLock::new() })
    }

    /// The same packument over its outline, the body still at hand: what a scan took note of besides is let go of, and the body
    /// [can be](Self::give_up_body). One that cannot have an outline stays as it is.
    #[must_use]
    pub fn into_outlined(self) -> Packument {
        let Contents::Scanned(scanned) = &self.contents else { return self };
        let outlined =
            stored::encode(scanned).and_then(|outline| Stored::open(outline, Body::at_hand(scanned.body.clone())));
        match outlined {
            Some(stored) => Packument { contents: Contents::Stored(stored), times: self.times },
            None => self,
        }
    }

    /// Lets go of the body, which is to be read from `kept` from now on; nothing happens where it is needed in memory.
    pub fn give_up_body(&self, kept: Arc<dyn StoredBody>) {
        if let Contents::Stored(stored) = &self.contents {
            stored.body().give_up(kept);
        }
    }

    /// What a cache keeps beside the body; `None` for a document that cannot be kept so (more than 65,535 different
    /// `engines`). Costs another walk over the versions.
    pub fn outline(&self) -> Option<Bytes> {
        match &self.contents {
            Contents::Scanned(scanned) => stored::encode(scanned),
            Contents::Stored(stored) => Some(stored.outline().clone()),
        }
    }

    /// The name the document gives itself; empty if it gives none.
    pub fn name(&self) -> &str {
        match &self.contents {
            Contents::Scanned(scanned) => &scanned.name,
            Contents::Stored(stored) => stored.name(),
        }
    }

    /// The version that a tag points to.
    pub fn dist_tag(&self, tag: &str) -> Option<&str> {
        self.dist_tags().find(|(name, _)| *name == tag).map(|(_, version)| version)
    }

    /// Tags and versions, in document order.
    pub fn dist_tags(&self) -> impl Iterator<Item = (&str, &str)> {
        let tags = match &self.contents {
            Contents::Scanned(scanned) => &scanned.dist_tags,
            Contents::Stored(stored) => stored.tags(),
        };
        tags.iter().map(|(tag, version)| (tag.as_str(), version.as_str()))
    }

    /// Version texts, in document order.
    pub fn versions(&self) -> impl DoubleEndedIterator<Item = &str> {
        let (scanned, stored) = match &self.contents {
            Contents::Scanned(scanned) => (Some(scanned.versions.texts()), None),
            Contents::Stored(stored) => (None, Some(stored.texts())),
        };
        scanned.into_iter().flatten().chain(stored.into_iter().flatten())
    }

    /// Texts of the versions that npm can read, highest first and equal ones in document order, where that order is at
    /// hand: in packuments made from an outline.
    pub fn versions_by_precedence(&self) -> Option<impl Iterator<Item = &str>> {
        match &self.contents {
            Contents::Scanned(_) => None,
            Contents::Stored(stored) => Some(stored.by_precedence()),
        }
    }

    /// Whether there is such a version. Does not decode the version.
    pub fn has_version(&self, version: &str) -> bool {
        match &self.contents {
            Contents::Scanned(scanned) => scanned.versions.find(version).is_some(),
            Contents::Stored(stored) => stored.position(version).is_some(),
        }
    }

    /// The manifest of a version, decoded on first use; `None` if there is none or npm could not install it.
    pub fn manifest(&self, version: &str) -> Option<Arc<Manifest>> {
        match &self.contents {
            Contents::Scanned(scanned) => scanned.versions.manifest(&scanned.body, version),
            Contents::Stored(stored) => stored.manifest(stored.position(version)?),
        }
    }

    /// Whether a version is deprecated. Does not decode the version.
    pub fn is_deprecated(&self, version: &str) -> bool {
        match &self.contents {
            Contents::Scanned(scanned) => {
                let [deprecated] = scanned.probe(version, ["deprecated"]);
                deprecated.is_some_and(is_true)
            }
            Contents::Stored(stored) => stored.position(version).is_some_and(|position| stored.is_deprecated(position)),
        }
    }

    /// The engines of a version that are texts. Does not decode the version.
    pub fn engines(&self, version: &str) -> Cow<'_, [(Text, Text)]> {
        match &self.contents {
            Contents::Scanned(scanned) => {
                let [engines] = scanned.probe(version, ["engines"]);
                engines.map(|raw| text_members(raw, 0)).unwrap_or_default().into()
            }
            Contents::Stored(stored) => {
                stored.position(version).map_or(&[][..], |position| stored.engines(position)).into()
            }
        }
    }

    /// [`engines`](Self::engines) and [`is_deprecated`](Self::is_deprecated) together, for one walk over the version.
    pub fn engines_and_deprecation(&self, version: &str) -> (Cow<'_, [(Text, Text)]>, bool) {
        match &self.contents {
            Contents::Scanned(scanned) => {
                let [engines, deprecated] = scanned.probe(version, ["engines", "deprecated"]);
                let engines = engines.map(|raw| text_members(raw, 0)).unwrap_or_default();
                (engines.into(), deprecated.is_some_and(is_true))
            }
            Contents::Stored(_) => (self.engines(version), self.is_deprecated(version)),
        }
    }

    /// When a version was published, if the document tells. The first call reads all times.
    pub fn published(&self, version: &str) -> Option<&str> {
        let times = self.times.get_or_init(|| {
            let times = match &self.contents {
                Contents::Scanned(Scanned { body, time_at, .. }) => time_at.map(|at| text_members(body, at)),
                Contents::Stored(stored) => stored.times(),
            };
            times.unwrap_or_default().into_iter().collect()
        });
        times.get(version).map(Text::as_str)
    }

    /// Whether this is the abbreviated form, which lacks, in its versions, `license`, and mostly `time`.
    pub fn is_abbreviated(&self) -> bool {
        match &self.contents {
            Contents::Scanned(scanned) => scanned.is_abbreviated || scanned.time_at.is_none(),
            Contents::Stored(stored) => stored.is_abbreviated() || !stored.has_time(),
        }
    }

    /// Whether this may leave out for which C library versions are. The public registry's abbreviated form has `libc`, and no
    /// `time`; Verdaccio computes a form of its own that has `time`, and no `libc`. Only of a document that has just been
    /// scanned, with its body at hand, this is said.
    pub fn may_lack_libc(&self) -> bool {
        let has_time = match &self.contents {
            Contents::Scanned(scanned) => scanned.time_at.is_some(),
            Contents::Stored(stored) => stored.has_time(),
        };
        let mentions = |body: &[u8], member: &str| memchr::memmem::find(body, member.as_bytes()).is_some();
        has_time
            && self.is_abbreviated()
            && self.body().is_some_and(|body| mentions(&body, "\"os\"") && !mentions(&body, "\"libc\""))
    }

    /// The registry's own bytes, where all of them are in memory.
    pub fn body(&self) -> Option<Bytes> {
        match &self.contents {
            Contents::Scanned(scanned) => Some(scanned.body.clone()),
            Contents::Stored(stored) => stored.body().bytes(),
        }
    }

    /// The bytes of one version's manifest, as the registry wrote them.
    pub fn version_bytes(&self, version: &str) -> Option<Bytes> {
        match &self.contents {
            Contents::Scanned(Scanned { body, versions, .. }) => Some(body.slice(versions.find(version)?)),
            Contents::Stored(stored) => stored.value(stored.position(version)?),
        }
    }
}

impl Scanned {
    /// The raw values of some members of a version.
    fn probe<const N: usize>(&self, version: &str, members: [&str; N]) -> [Option<&[u8]>; N] {
        let Some(span) = self.versions.find(version) else { return [None; N] };
        probe(&self.body[span], members)
    }
}

/// The raw values of some members of an object.
fn probe<'a, const N: usize>(object: &'a [u8], members: [&str; N]) -> [Option<&'a [u8]>; N] {
    let mut found = [None; N];
    // Of a member given twice the last counts, so the walk goes to the end.
    for member in Members::new(object, 0).map_while(Result::ok) {
        let key = &object[member.key];
        if let Some(place) = members.iter().position(|name| string_is(key, name)) {
            found[place] = Some(&object[member.value]);
        }
    }
    found
}

/// Whether JavaScript takes a value for true.
fn is_true(raw: &[u8]) -> bool {
    match raw.first() {
        // Any text but the empty one, whatever its escapes.
        Some(b'"') => raw.len() > 2,
        _ => serde_json::from_slice::<Value>(raw).is_ok_and(|value| truthy(&value)),
    }
}

/// Where the members that matter begin, and the versions, which are read on the way: the body is walked once.
#[derive(Default)]
struct Sections {
    name: Option<usize>,
    dist_tags: Option<usize>,
    versions: Option<Versions>,
    time: Option<usize>,
    /// Whether there is `modified`, which full documents have in `time` alone.
    has_modified: bool,
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
            } else if string_is(key, "modified") {
                sections.has_modified = true;
            }
        }
        Ok((sections, members.end()))
    }
}

fn string_at(body: &[u8], at: usize) -> Option<String> {
    decode_string(&body[at..skip_value(body, at).ok()?]).map(|text| text.into_owned())
}

/// The members of an object whose values are texts; of a key given twice the last. Ends where the JSON is damaged.
fn text_members(body: &[u8], at: usize) -> Vec<(Text, Text)> {
    let mut pairs: Vec<(Text, Text)> = Vec::new();
    // Most objects have one or two members; those of all versions' times have thousands.
    let mut places: FxHashMap<Text, usize> = FxHashMap::default();
    for member in Members::new(body, at).map_while(Result::ok) {
        let Some(key) = decode_string(&body[member.key]) else { continue };
        let Some(value) = decode_string(&body[member.value]) else { continue };
        if pairs.len() == SCANNED_PAIRS && places.is_empty() {
            places.extend(pairs.iter().enumerate().map(|(place, (key, _))| (key.clone(), place)));
        }
        let known = if pairs.len() < SCANNED_PAIRS {
            pairs.iter().position(|(known, _)| known.as_str() == key)
        } else {
            places.get(key.as_ref()).copied()
        };
        match known {
            Some(place) => pairs[place].1 = value.into(),
            None => {
                if pairs.len() >= SCANNED_PAIRS {
                    places.insert(Text::new(&key), pairs.len());
                }
                pairs.push((key.into(), value.into()));
            }
        }
    }
    pairs
}

/// Up to so many pairs a scan is faster than a map.
const SCANNED_PAIRS: usize = 8;
