//! A packument as a cache keeps it: what a scan found, in a form that is read in place, and a body that is read in pieces.
//!
//! The *outline* of a packument has everything a pick looks at (version texts, their order of precedence, deprecation,
//! engines, tags) and where each version is in the body. Making a packument from an outline costs the same for one version
//! and for thousands: nothing is scanned, copied or hashed. Of the body only the versions that are decoded are read, each
//! checked against a checksum of its own.
//!
//! All numbers are little-endian. The outline is trusted to be what [`encode`] made (a cache keeps a checksum of it), yet
//! no outline makes reading panic.
//! ```text
//! head         10 × 4 bytes, see `Head`
//! lists        for each version in document order, list by list: end of its text, hash of its text, start, length and
//!              checksum of its value (4 bytes each); then the order of precedence (4 bytes each); then engines (2 bytes
//!              each: position in the table of engines); then flags (1 byte each)
//! texts        version texts, one behind the other
//! strings      name, number of tags, tags and versions, number of engine sets, the sets; each text with its length
//! ```

use std::sync::{Arc, Mutex, OnceLock};

use bytes::Bytes;
use gantry_spec::Version;
use rustc_hash::FxHashMap;

use super::body::Body;
use super::scan::skip_value;
use super::{Scanned, is_true, probe, text_members};
use crate::{Manifest, Text};

#[cfg(test)]
mod tests;

/// Changes with the format; an outline of another one is no outline.
const FORMAT: u32 = 2;

/// Bytes of the head.
const HEAD: usize = 40;
/// Bytes of all lists together for one version.
const VERSION: usize = 27;

const DEPRECATED: u8 = 1;

/// A packument over an outline.
#[derive(Debug)]
pub(super) struct Stored {
    outline: Bytes,
    head: Head,
    /// What `strings` decodes to; small, and needed by every pick.
    tags: Vec<(Text, Text)>,
    name: String,
    engines: OnceLock<Vec<Vec<(Text, Text)>>>,
    /// Where the sets of engines begin in the outline.
    engines_at: usize,
    body: Body,
    /// Versions decoded so far, by position; rarely more than two.
    decoded: Mutex<Vec<(u32, Option<Arc<Manifest>>)>>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Head {
    versions: usize,
    /// Versions that npm can read, which is how long the order of precedence is; the rest of that list is unused.
    readable: usize,
    texts: usize,
    /// Where the times are in the body, and their checksum; all zero where there are none.
    time: (u32, u32, u32),
    /// Whether it is abbreviated although it may have times.
    is_abbreviated: bool,
}

/// Everything an outline repeats of a packument; `None` if it is too large to have one.
pub(super) fn encode(scanned: &Scanned) -> Option<Bytes> {
    let Scanned { body, versions, .. } = scanned;
    let texts: Vec<&str> = versions.texts().collect();
    let count = texts.len();
    let mut out = Vec::with_capacity(HEAD + count * (VERSION + 8) + 64);
    out.resize(HEAD, 0);

    let mut end = 0;
    put_list(
        &mut out,
        texts.iter().map(|text| {
            end += text.len();
            end as u32
        }),
    );
    put_list(&mut out, texts.iter().map(|text| hash_of(text)));
    put_list(&mut out, versions.spans().map(|span| span.start));
    put_list(&mut out, versions.spans().map(|span| span.end - span.start));
    put_list(&mut out, versions.spans().map(|span| checksum(&body[span.start as usize..span.end as usize])));
    let order = Version::order(&texts);
    put_list(&mut out, order.iter().copied().chain(std::iter::repeat_n(0, count - order.len())));

    let mut sets: Vec<Vec<(Text, Text)>> = vec![Vec::new()];
    let mut known: FxHashMap<&[u8], u16> = FxHashMap::default();
    let mut flags = Vec::with_capacity(count);
    for span in versions.spans() {
        let raw = &body[span.start as usize..span.end as usize];
        let found = probe(raw, ["engines", "deprecated"]);
        let set = match found[0] {
            None => 0,
            Some(engines) => match known.get(engines) {
                Some(&set) => set,
                None => {
                    let members = text_members(engines, 0);
                    let set = if members.is_empty() { 0 } else { u16::try_from(sets.len()).ok()? };
                    if set > 0 {
                        sets.push(members);
                    }
                    known.insert(engines, set);
                    set
                }
            },
        };
        out.extend_from_slice(&set.to_le_bytes());
        flags.push(if found[1].is_some_and(is_true) { DEPRECATED } else { 0 });
    }
    out.extend_from_slice(&flags);
    texts.iter().for_each(|text| out.extend_from_slice(text.as_bytes()));

    put_text(&mut out, &scanned.name);
    put_number(&mut out, scanned.dist_tags.len());
    for (tag, version) in &scanned.dist_tags {
        put_text(&mut out, tag);
        put_text(&mut out, version);
    }
    put_number(&mut out, sets.len());
    for set in &sets {
        put_number(&mut out, set.len());
        for (engine, range) in set {
            put_text(&mut out, engine);
            put_text(&mut out, range);
        }
    }

    let time = scanned.time_at.and_then(|at| Some(at..skip_value(body, at).ok()?));
    let time =
        time.map_or((0, 0, 0), |span| (span.start as u32, (span.end - span.start) as u32, checksum(&body[span])));
    let is_abbreviated = u32::from(scanned.is_abbreviated);
    let head = [FORMAT, count as u32, order.len() as u32, end as u32, time.0, time.1, time.2, is_abbreviated, 0, 0];
    for (place, number) in out[..HEAD].chunks_exact_mut(4).zip(head) {
        place.copy_from_slice(&number.to_le_bytes());
    }
    Some(out.into())
}

impl Stored {
    /// `None` if these bytes are no outline of this format.
    pub(super) fn open(outline: Bytes, body: Body) -> Option<Stored> {
        if number_at(&outline, 0)? != FORMAT {
            return None;
        }
        let size = |index: usize| number_at(&outline, index * 4).map(|number| number as usize);
        let head = Head {
            versions: size(1)?,
            readable: size(2)?,
            texts: size(3)?,
            time: (number_at(&outline, 16)?, number_at(&outline, 20)?, number_at(&outline, 24)?),
            is_abbreviated: number_at(&outline, 28)? != 0,
        };
        let strings = HEAD.checked_add(head.versions.checked_mul(VERSION)?)?.checked_add(head.texts)?;
        if head.readable > head.versions {
            return None;
        }
        let mut strings = Strings { bytes: &outline, at: strings };
        let name = strings.text()?.to_owned();
        let tags = (0..strings.count(2)?)
            .map(|_| Some((strings.text()?.into(), strings.text()?.into())))
            .collect::<Option<Vec<_>>>()?;
        let engines_at = strings.at;
        Some(Stored {
            head,
            tags,
            name,
            engines: OnceLock::new(),
            engines_at,
            body,
            decoded: Mutex::default(),
            outline,
        })
    }

    pub(super) fn outline(&self) -> &Bytes {
        &self.outline
    }

    pub(super) fn body(&self) -> &Body {
        &self.body
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn tags(&self) -> &[(Text, Text)] {
        &self.tags
    }

    pub(super) fn has_time(&self) -> bool {
        self.head.time.1 > 0
    }

    pub(super) fn is_abbreviated(&self) -> bool {
        self.head.is_abbreviated
    }

    pub(super) fn texts(&self) -> impl DoubleEndedIterator<Item = &str> {
        (0..self.head.versions).filter_map(|position| self.text(position))
    }

    pub(super) fn by_precedence(&self) -> impl Iterator<Item = &str> {
        let order = self.list(5);
        (0..self.head.readable).filter_map(move |rank| self.text(number_at(order, rank * 4)? as usize))
    }

    pub(super) fn position(&self, version: &str) -> Option<usize> {
        let hash = hash_of(version).to_le_bytes();
        let hashes = self.list(1).chunks_exact(4).enumerate();
        let mut equal = hashes.filter(|(_, found)| **found == hash);
        equal.find(|(position, _)| self.text(*position) == Some(version)).map(|(position, _)| position)
    }

    pub(super) fn is_deprecated(&self, position: usize) -> bool {
        let flags = HEAD + self.head.versions * (VERSION - 1);
        self.outline.get(flags + position).is_some_and(|flags| flags & DEPRECATED != 0)
    }

    pub(super) fn engines(&self, position: usize) -> &[(Text, Text)] {
        let at = HEAD + self.head.versions * 24 + position * 2;
        let Some(set) = self.outline.get(at..at + 2) else { return &[] };
        let set = usize::from(u16::from_le_bytes([set[0], set[1]]));
        self.engines.get_or_init(|| self.read_engines().unwrap_or_default()).get(set).map_or(&[], Vec::as_slice)
    }

    pub(super) fn manifest(&self, position: usize) -> Option<Arc<Manifest>> {
        let mut decoded = self.decoded.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some((_, known)) = decoded.iter().find(|(known, _)| *known as usize == position) {
            return known.clone();
        }
        let manifest = Manifest::parse_registry_version(&self.value(position)?).map(Arc::new);
        decoded.push((position as u32, manifest.clone()));
        manifest
    }

    /// The value of a version.
    pub(super) fn value(&self, position: usize) -> Option<Bytes> {
        let number = |list: usize| number_at(self.list(list), position * 4);
        self.piece(number(2)?, number(3)?, number(4)?)
    }

    /// All times.
    pub(super) fn times(&self) -> Option<Vec<(Text, Text)>> {
        let (start, length, expected) = self.head.time;
        let times = (length > 0).then(|| self.piece(start, length, expected))??;
        Some(text_members(&times, 0))
    }

    fn piece(&self, start: u32, length: u32, expected: u32) -> Option<Bytes> {
        let piece = self.body.read(start..start.checked_add(length)?);
        let piece = piece.filter(|piece| checksum(piece) == expected);
        if piece.is_none() {
            self.body.damaged();
        }
        piece
    }

    /// The list of four-byte numbers at this position in the outline.
    fn list(&self, list: usize) -> &[u8] {
        let length = self.head.versions * 4;
        self.outline.get(HEAD + list * length..HEAD + (list + 1) * length).unwrap_or_default()
    }

    fn text(&self, position: usize) -> Option<&str> {
        // A damaged order of precedence may name any position; four times that need not fit 32 bits.
        if position >= self.head.versions {
            return None;
        }
        let ends = self.list(0);
        let start = if position == 0 { 0 } else { number_at(ends, (position - 1) * 4)? as usize };
        let end = number_at(ends, position * 4)? as usize;
        let texts = HEAD + self.head.versions * VERSION;
        let texts = self.outline.get(texts..texts + self.head.texts)?;
        std::str::from_utf8(texts.get(start..end)?).ok()
    }

    fn read_engines(&self) -> Option<Vec<Vec<(Text, Text)>>> {
        let mut strings = Strings { bytes: &self.outline, at: self.engines_at };
        let sets = strings.count(1)?;
        let mut set = || {
            let members = strings.count(2)?;
            (0..members).map(|_| Some((strings.text()?.into(), strings.text()?.into()))).collect()
        };
        (0..sets).map(|_| set()).collect()
    }
}

/// Reads texts and numbers one after the other.
struct Strings<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Strings<'a> {
    fn number(&mut self) -> Option<usize> {
        let number = number_at(self.bytes, self.at)?;
        self.at += 4;
        Some(number as usize)
    }

    /// A number of things of `parts` numbers each at least; `None` if so many cannot follow.
    fn count(&mut self, parts: usize) -> Option<usize> {
        let count = self.number()?;
        (count <= (self.bytes.len() - self.at) / (parts * 4)).then_some(count)
    }

    fn text(&mut self) -> Option<&'a str> {
        let length = self.number()?;
        let text = self.bytes.get(self.at..self.at.checked_add(length)?)?;
        self.at += length;
        std::str::from_utf8(text).ok()
    }
}

fn number_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at.checked_add(4)?).map(|four| u32::from_le_bytes([four[0], four[1], four[2], four[3]]))
}

fn put_list(out: &mut Vec<u8>, numbers: impl Iterator<Item = u32>) {
    numbers.for_each(|number| out.extend_from_slice(&number.to_le_bytes()));
}

fn put_number(out: &mut Vec<u8>, number: usize) {
    out.extend_from_slice(&(number as u32).to_le_bytes());
}

fn put_text(out: &mut Vec<u8>, text: &str) {
    put_number(out, text.len());
    out.extend_from_slice(text.as_bytes());
}

fn hash_of(text: &str) -> u32 {
    checksum(text.as_bytes())
}

/// The lower half of xxh3-64.
fn checksum(bytes: &[u8]) -> u32 {
    xxhash_rust::xxh3::xxh3_64(bytes) as u32
}
