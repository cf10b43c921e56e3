//! The binary form of a [`PackageIndex`].
//!
//! ```text
//! version      1 byte
//! flags        1 byte: bit 0 name, 1 version, 2 lock members are there; bit 3 has an install script
//! name, version, members       text each, those that are there
//! bin          count, then command and file as text
//! files        count, then for each: bytes shared with the path before, rest of the path as text, size * 2 + executable,
//!              and, in version 2, the offset
//! ```
//! Counts, lengths, sizes and offsets are LEB128; text is its length and UTF-8. Nothing may follow. Version 1 is written of
//! files that lie one after the other in the order of their paths, version 2 of all others: where an archive was written
//! down as it came.

use super::{FileRecord, PackageFacts, PackageIndex};
use crate::StoreError;
use crate::wire::{Reader, write_number, write_text};

/// Files lie in the order of their paths.
const IN_ORDER: u8 = 1;
/// Each file says where it lies.
const ANYWHERE: u8 = 2;
const HAS_NAME: u8 = 1;
const HAS_VERSION: u8 = 2;
const HAS_LOCK_MEMBERS: u8 = 4;
const HAS_INSTALL_SCRIPT: u8 = 8;

pub(super) fn encode(index: &PackageIndex) -> Vec<u8> {
    let PackageFacts { name, version, lock_members, bin, has_install_script } = &index.facts;
    let mut bytes = Vec::with_capacity(64 + 24 * index.files.len());
    let mut flags = if *has_install_script { HAS_INSTALL_SCRIPT } else { 0 };
    let texts = [(name, HAS_NAME), (version, HAS_VERSION), (lock_members, HAS_LOCK_MEMBERS)];
    for (text, flag) in texts {
        flags |= if text.is_some() { flag } else { 0 };
    }
    let version = if index.is_in_order() { IN_ORDER } else { ANYWHERE };
    bytes.extend([version, flags]);
    for text in texts.iter().filter_map(|(text, _)| text.as_deref()) {
        write_text(&mut bytes, text);
    }
    write_number(&mut bytes, bin.len() as u64);
    for (command, target) in bin {
        write_text(&mut bytes, command);
        write_text(&mut bytes, target);
    }
    write_number(&mut bytes, index.files.len() as u64);
    let mut previous = "";
    for file in &index.files {
        let shared = shared_prefix(previous, &file.path);
        write_number(&mut bytes, shared as u64);
        write_text(&mut bytes, &file.path[shared..]);
        write_number(&mut bytes, (file.size << 1) | u64::from(file.executable));
        if version == ANYWHERE {
            write_number(&mut bytes, file.offset);
        }
        previous = &file.path;
    }
    bytes
}

/// Bytes that both start with, up to a character boundary of both.
fn shared_prefix(left: &str, right: &str) -> usize {
    let mut shared = left.bytes().zip(right.bytes()).take_while(|(left, right)| left == right).count();
    while !right.is_char_boundary(shared) {
        shared -= 1;
    }
    shared
}

pub(super) fn decode(bytes: &[u8]) -> Result<PackageIndex, StoreError> {
    if bytes.first().is_some_and(|version| ![IN_ORDER, ANYWHERE].contains(version)) {
        return Err(StoreError::Format { file: "package index".into(), problem: "it has another version" });
    }
    let mut reader = Reader::new(bytes);
    read(&mut reader)
        .filter(|_| reader.is_at_end())
        .ok_or(StoreError::Corrupt { file: "package index".into(), problem: "it cannot be decoded" })
}

fn read(reader: &mut Reader<'_>) -> Option<PackageIndex> {
    let version = reader.byte()?;
    let flags = reader.byte()?;
    let mut optional_text =
        |flag: u8| if flags & flag == 0 { Some(None) } else { reader.text().map(|text| Some(text.to_owned())) };
    let mut facts = PackageFacts {
        name: optional_text(HAS_NAME)?,
        version: optional_text(HAS_VERSION)?,
        lock_members: optional_text(HAS_LOCK_MEMBERS)?,
        bin: Vec::new(),
        has_install_script: flags & HAS_INSTALL_SCRIPT != 0,
    };
    let commands = reader.count(2)?;
    facts.bin.reserve_exact(commands);
    for _ in 0..commands {
        facts.bin.push((reader.text()?.to_owned(), reader.text()?.to_owned()));
    }
    let count = reader.count(3)?;
    let mut files: Vec<FileRecord> = Vec::with_capacity(count);
    let mut end = 0u64;
    for _ in 0..count {
        let shared = usize::try_from(reader.number()?).ok()?;
        let rest = reader.text()?;
        let previous = files.last().map_or("", |file| file.path.as_str());
        let path = [previous.get(..shared)?, rest].concat();
        if !files.is_empty() && path.as_str() <= previous {
            return None;
        }
        let number = reader.number()?;
        let size = number >> 1;
        let offset = if version == ANYWHERE { reader.number()? } else { end };
        end = offset.checked_add(size)?;
        files.push(FileRecord { path, offset, size, executable: number & 1 == 1 });
    }
    Some(PackageIndex { files, facts })
}
