//! The versions of a packument: where each is in the body, found by text, decoded at most once.
//!
//! A table costs 24 bytes a version plus 4 to 8 for the hash table and the text, and no allocation per version; building it
//! for the 3,478 versions of `typescript` takes a few per cent of the scan. The texts are kept together: looking through
//! them in the body would bring in a line of memory for each.

use std::borrow::Cow;
use std::hash::Hasher;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use hashbrown::HashTable;
use rustc_hash::FxHasher;

use super::scan::{Members, NotJson};
use super::text::{decode_string, plain_string, short_string, words_of};
use crate::Manifest;

/// All versions of one packument. Every method is given the body that the table was read from.
#[derive(Debug)]
pub(super) struct VersionTable {
    /// All texts, one behind the other.
    texts: String,
    slots: Vec<Slot>,
    /// Positions in `slots` by the hash of the version's text.
    by_text: HashTable<u32>,
    /// By position. Few of many versions are ever decoded.
    decoded: Mutex<Vec<(usize, Option<Arc<Manifest>>)>>,
}

/// Bytes of a version in an abbreviated document, and of its number; most have more of the one and fewer of the other.
const LIKELY_SIZE: usize = 600;
const LIKELY_TEXT: usize = 8;

/// One version.
#[derive(Debug)]
struct Slot {
    /// In the texts, which are no longer than the body.
    text: Range<u32>,
    /// In the body; bodies of 4 GiB and more are refused.
    value: Range<u32>,
    /// Of the text: the hash table grows many times.
    hash: u64,
}

impl VersionTable {
    /// Reads the object whose `{` is at `at`, and gives the position behind it. Of a version given twice the last counts, in
    /// the place of the first.
    pub(super) fn read(body: &[u8], at: usize) -> Result<(VersionTable, usize), NotJson> {
        // A guess that is rarely too low: what grows is copied.
        let likely = (body.len() - at.min(body.len())) / LIKELY_SIZE;
        let mut texts: Vec<u8> = Vec::with_capacity(likely * LIKELY_TEXT);
        let mut table = VersionTable {
            texts: String::new(),
            slots: Vec::with_capacity(likely),
            by_text: HashTable::with_capacity(likely),
            decoded: Mutex::default(),
        };
        let mut members = Members::new(body, at);
        while let Some((key, value)) = members.next_key()? {
            let value = narrow(value..members.skip_over(value)?);
            let (text, hash) = if let Some(words) = short_string(body, &key) {
                (Cow::Borrowed(&body[key.start + 1..key.end - 1]), hash_of_words(words))
            } else if let Some(text) = plain_string(&body[key.clone()]) {
                (Cow::Borrowed(text), hash_of(text))
            } else if let Some(text) = decode_string(&body[key]) {
                let hash = hash_of(text.as_bytes());
                (Cow::Owned(text.into_owned().into_bytes()), hash)
            } else {
                continue;
            };
            let VersionTable { slots, by_text, .. } = &mut table;
            let is_it = |position: &u32| texts[widen(&slots[*position as usize].text)] == *text;
            if let Some(&position) = by_text.find(hash, is_it) {
                slots[position as usize].value = value;
                continue;
            }
            let position = slots.len() as u32;
            let start = texts.len();
            texts.extend_from_slice(&text);
            slots.push(Slot { text: narrow(start..texts.len()), value, hash });
            by_text.insert_unique(hash, position, |other| slots[*other as usize].hash);
        }
        // One look at all of them is cheaper than one at each; each is ASCII or was decoded.
        table.texts = String::from_utf8(texts).map_err(|_| NotJson(at))?;
        Ok((table, members.end()))
    }

    pub(super) fn texts(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.slots.iter().map(|slot| self.text(slot))
    }

    /// Where the values are in the body, in the order of the texts.
    pub(super) fn spans(&self) -> impl Iterator<Item = Range<u32>> {
        self.slots.iter().map(|slot| slot.value.clone())
    }

    /// Where a version's value is in the body.
    pub(super) fn find(&self, version: &str) -> Option<Range<usize>> {
        self.position(version).map(|position| widen(&self.slots[position].value))
    }

    /// A version, decoded; `None` if it is not there or cannot be.
    pub(super) fn manifest(&self, body: &[u8], version: &str) -> Option<Arc<Manifest>> {
        let position = self.position(version)?;
        let mut decoded = self.decoded.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, known)) = decoded.iter().find(|(known, _)| *known == position) {
            return known.clone();
        }
        let manifest = Manifest::parse_registry_version(&body[widen(&self.slots[position].value)]).map(Arc::new);
        decoded.push((position, manifest.clone()));
        manifest
    }

    fn position(&self, version: &str) -> Option<usize> {
        let is_it = |position: &u32| self.text(&self.slots[*position as usize]) == version;
        self.by_text.find(hash_of(version.as_bytes()), is_it).map(|position| *position as usize)
    }

    fn text(&self, slot: &Slot) -> &str {
        &self.texts[widen(&slot.text)]
    }
}

fn hash_of(text: &[u8]) -> u64 {
    match words_of(text) {
        Some(words) => hash_of_words(words),
        None => {
            let mut hasher = FxHasher::default();
            hasher.write(text);
            hasher.finish()
        }
    }
}

/// The hash table takes the slot from the low bits and a tag from the high ones.
fn hash_of_words([low, high]: [u64; 2]) -> u64 {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    let mixed = (low ^ high.wrapping_mul(ODD).rotate_left(29)).wrapping_mul(ODD);
    mixed ^ mixed >> 32
}

/// Never truncates: `Packument::scan` refuses what does not fit.
fn narrow(range: Range<usize>) -> Range<u32> {
    range.start as u32..range.end as u32
}

fn widen(range: &Range<u32>) -> Range<usize> {
    range.start as usize..range.end as usize
}
