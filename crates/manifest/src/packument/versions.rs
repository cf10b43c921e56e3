//! The versions of a packument: where each is in the body, found by text, decoded at most once.
//!
//! A table costs 40 bytes a version plus 8 for the hash table and no allocation per version; building it for the 3,478
//! versions of `typescript` takes a few per cent of the scan.

use std::borrow::Cow;
use std::hash::Hasher;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use hashbrown::HashTable;
use rustc_hash::FxHasher;

use super::scan::{Members, NotJson};
use super::text::decode_string;
use crate::Manifest;

/// All versions of one packument. Every method is given the body that the table was read from.
#[derive(Debug)]
pub(super) struct VersionTable {
    slots: Vec<Slot>,
    /// Positions in `slots` by the hash of the version's text.
    by_text: HashTable<u32>,
}

/// One version.
#[derive(Debug)]
pub(super) struct Slot {
    text: Text,
    /// Position in the body; bodies of 4 GiB and more are refused.
    value: Range<u32>,
    decoded: OnceLock<Option<Arc<Manifest>>>,
}

#[derive(Debug)]
enum Text {
    /// Plain text in the body.
    Span(Range<u32>),
    /// A key with escapes or bytes that are not UTF-8.
    Owned(Box<str>),
}

impl VersionTable {
    /// Reads the object whose `{` is at `at`, and gives the position behind it. Of a version given twice the last counts, in the place of the first.
    pub(super) fn read(body: &[u8], at: usize) -> Result<(VersionTable, usize), NotJson> {
        let mut table = VersionTable { slots: Vec::new(), by_text: HashTable::new() };
        let mut members = Members::new(body, at);
        for member in members.by_ref() {
            let member = member?;
            let Some(text) = decode_string(&body[member.key.clone()]) else { continue };
            let value = narrow(member.value);
            if let Some(position) = table.position(body, &text) {
                table.slots[position].value = value;
                continue;
            }
            let position = table.slots.len() as u32;
            let hash = hash_of(&text);
            let text = match text {
                Cow::Borrowed(_) => Text::Span(narrow(member.key.start + 1..member.key.end - 1)),
                Cow::Owned(text) => Text::Owned(text.into_boxed_str()),
            };
            table.slots.push(Slot { text, value, decoded: OnceLock::new() });
            let slots = &table.slots;
            table.by_text.insert_unique(hash, position, |other| hash_of(slots[*other as usize].text(body)));
        }
        Ok((table, members.end()))
    }

    pub(super) fn texts<'a>(&'a self, body: &'a [u8]) -> impl Iterator<Item = &'a str> {
        self.slots.iter().map(|slot| slot.text(body))
    }

    /// Where the values are in the body, in the order of the texts.
    pub(super) fn spans(&self) -> impl Iterator<Item = Range<u32>> {
        self.slots.iter().map(|slot| slot.value.clone())
    }

    pub(super) fn find(&self, body: &[u8], version: &str) -> Option<&Slot> {
        self.position(body, version).map(|position| &self.slots[position])
    }

    fn position(&self, body: &[u8], version: &str) -> Option<usize> {
        let is_it = |position: &u32| self.slots[*position as usize].text(body) == version;
        self.by_text.find(hash_of(version), is_it).map(|position| *position as usize)
    }
}

impl Slot {
    fn text<'a>(&'a self, body: &'a [u8]) -> &'a str {
        match &self.text {
            Text::Span(span) => std::str::from_utf8(&body[widen(span)]).expect("checked when the table was read"),
            Text::Owned(text) => text,
        }
    }

    pub(super) fn span(&self) -> Range<usize> {
        widen(&self.value)
    }

    pub(super) fn manifest(&self, body: &[u8]) -> Option<Arc<Manifest>> {
        self.decoded.get_or_init(|| Manifest::parse_registry_version(&body[self.span()]).map(Arc::new)).clone()
    }
}

fn hash_of(text: &str) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(text.as_bytes());
    hasher.finish()
}

/// Never truncates: `Packument::scan` refuses what does not fit.
fn narrow(range: Range<usize>) -> Range<u32> {
    range.start as u32..range.end as u32
}

fn widen(range: &Range<u32>) -> Range<usize> {
    range.start as usize..range.end as usize
}
