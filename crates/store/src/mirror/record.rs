//! What the journal of a mirror records.

use super::{Freshness, Validators};
use crate::wire::{Reader, write_number, write_text};

const DOCUMENT: u8 = 1;
const REFRESHED: u8 = 2;
const FACTS: u8 = 3;

/// Where a document is in the pack: its outline, and right behind it its body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DocumentPlace {
    pub offset: u64,
    pub outline: u32,
    pub body: u32,
    /// xxh3-64 of the outline.
    pub outline_checksum: u64,
    /// xxh3-64 of the body.
    pub body_checksum: u64,
}

impl DocumentPlace {
    /// Bytes of both parts.
    pub fn length(&self) -> u64 {
        u64::from(self.outline) + u64::from(self.body)
    }

    pub fn end(&self) -> Option<u64> {
        self.offset.checked_add(self.length())
    }
}

/// One record; texts are borrowed from the journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Record<'a> {
    /// A document is kept.
    Document { key: &'a str, place: DocumentPlace, state: State<'a> },
    /// It is what the registry still has.
    Refreshed { key: &'a str, state: State<'a> },
    /// What a version's own document says; `integrity` tells which tarball it was about.
    Facts { key: &'a str, integrity: &'a str, lock_members: Option<&'a str> },
}

/// What an answer's headers say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct State<'a> {
    pub freshness: Freshness,
    pub etag: Option<&'a str>,
    pub last_modified: Option<&'a str>,
}

impl<'a> State<'a> {
    pub fn new(freshness: Freshness, validators: &'a Validators) -> Self {
        let Validators { etag, last_modified } = validators;
        Self { freshness, etag: etag.as_deref(), last_modified: last_modified.as_deref() }
    }

    pub fn validators(&self) -> Validators {
        Validators { etag: self.etag.map(str::to_owned), last_modified: self.last_modified.map(str::to_owned) }
    }
}

impl<'a> Record<'a> {
    pub fn write(&self, bytes: &mut Vec<u8>) {
        match *self {
            Self::Document { key, place, state } => {
                bytes.push(DOCUMENT);
                write_text(bytes, key);
                write_number(bytes, place.offset);
                write_number(bytes, place.outline.into());
                write_number(bytes, place.body.into());
                bytes.extend_from_slice(&place.outline_checksum.to_le_bytes());
                bytes.extend_from_slice(&place.body_checksum.to_le_bytes());
                state.write(bytes);
            }
            Self::Refreshed { key, state } => {
                bytes.push(REFRESHED);
                write_text(bytes, key);
                state.write(bytes);
            }
            Self::Facts { key, integrity, lock_members } => {
                bytes.push(FACTS);
                write_text(bytes, key);
                write_text(bytes, integrity);
                write_option(bytes, lock_members);
            }
        }
    }

    /// `None` for what this version did not write.
    pub fn read(bytes: &'a [u8]) -> Option<Self> {
        let mut reader = Reader::new(bytes);
        let kind = reader.byte()?;
        let key = reader.text()?;
        let record = match kind {
            DOCUMENT => Self::Document {
                key,
                place: DocumentPlace {
                    offset: reader.number()?,
                    outline: u32::try_from(reader.number()?).ok()?,
                    body: u32::try_from(reader.number()?).ok()?,
                    outline_checksum: u64::from_le_bytes(reader.array()?),
                    body_checksum: u64::from_le_bytes(reader.array()?),
                },
                state: State::read(&mut reader)?,
            },
            REFRESHED => Self::Refreshed { key, state: State::read(&mut reader)? },
            FACTS => Self::Facts { key, integrity: reader.text()?, lock_members: read_option(&mut reader)? },
            _ => return None,
        };
        reader.is_at_end().then_some(record)
    }
}

impl<'a> State<'a> {
    fn write(&self, bytes: &mut Vec<u8>) {
        write_number(bytes, self.freshness.answered);
        write_number(bytes, self.freshness.lifetime);
        bytes.push(self.freshness.must_revalidate.into());
        write_option(bytes, self.etag);
        write_option(bytes, self.last_modified);
    }

    fn read(reader: &mut Reader<'a>) -> Option<Self> {
        let freshness =
            Freshness { answered: reader.number()?, lifetime: reader.number()?, must_revalidate: reader.byte()? != 0 };
        Some(Self { freshness, etag: read_option(reader)?, last_modified: read_option(reader)? })
    }
}

/// A byte that says whether there is a text, and the text.
fn write_option(bytes: &mut Vec<u8>, text: Option<&str>) {
    bytes.push(text.is_some().into());
    if let Some(text) = text {
        write_text(bytes, text);
    }
}

fn read_option<'a>(reader: &mut Reader<'a>) -> Option<Option<&'a str>> {
    Some(if reader.byte()? == 0 { None } else { Some(reader.text()?) })
}
