//! One header block.

use crate::pax::{Extended, text};
use std::borrow::Cow;

/// Bytes of a block.
pub(crate) const BLOCK: usize = 512;

/// The largest integer that JavaScript counts exactly; npm refuses headers with larger numbers.
const MAXIMUM_INTEGER: u128 = (1 << 53) - 1;

/// Field positions: offset and length.
const NAME: (usize, usize) = (0, 100);
const MODE: (usize, usize) = (100, 8);
const USER: (usize, usize) = (108, 8);
const GROUP: (usize, usize) = (116, 8);
const SIZE: (usize, usize) = (124, 12);
const MODIFIED: (usize, usize) = (136, 12);
const CHECKSUM: (usize, usize) = (148, 8);
/// npm reads four bytes more than the field has, which matters if nothing ends the number.
const CHECKSUM_READ: (usize, usize) = (148, 12);
const TYPE: usize = 156;
const LINK: (usize, usize) = (157, 100);
const MAGIC: (usize, usize) = (257, 8);
const DEVICE_MAJOR: (usize, usize) = (329, 8);
const DEVICE_MINOR: (usize, usize) = (337, 8);
const PREFIX: (usize, usize) = (345, 155);
/// The prefix of archives that keep two more times behind it.
const SHORT_PREFIX: (usize, usize) = (345, 130);
/// The last byte of a long prefix; zero says that there are times.
const PREFIX_MARK: usize = 475;
const ACCESSED: (usize, usize) = (476, 12);
const CHANGED: (usize, usize) = (488, 12);

/// A block that should be a header.
pub(crate) struct Block<'a>(pub &'a [u8; BLOCK]);

/// What a block is.
#[derive(Debug)]
pub(crate) enum Header<'a> {
    /// Nothing but zeros, as far as it counts.
    Zeros,
    /// Not a header, or one that contradicts itself.
    Invalid,
    /// A header.
    Entry(EntryHeader<'a>),
}

/// What a header says.
#[derive(Debug)]
pub(crate) struct EntryHeader<'a> {
    pub kind: Kind,
    pub path: Cow<'a, str>,
    pub size: u64,
    pub executable: bool,
}

/// Kinds of entries, as far as they differ here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    File {
        contiguous: bool,
    },
    Pax,
    PaxGlobal,
    LongPath,
    LongLink,
    /// Folders, links, devices, and what is unknown.
    Dropped,
}

impl<'a> Block<'a> {
    /// Reads the header; `next` and `all` are the extended headers that apply to it.
    pub fn read(&self, next: &'a Extended, all: &Extended) -> Header<'a> {
        let ustar = self.field(MAGIC) == b"ustar\x0000";
        let Ok(numbers) = self.numbers(ustar) else { return Header::Invalid };
        let sum = self.sum();
        if numbers.checksum.is_none() && sum == 8 * u64::from(b' ') {
            return Header::Zeros;
        }
        if numbers.checksum.and_then(|checksum| u64::try_from(checksum).ok()) != Some(sum) {
            return Header::Invalid;
        }

        let mut code = self.0[TYPE];
        // Extended headers apply to what can be in a file system, not to other extended headers on the way to it.
        let ordinary = matches!(code, 0 | b'0'..=b'7' | b'D');
        let name = match &next.path {
            Some(path) if ordinary => Cow::Borrowed(path.as_str()),
            _ => text(self.field(NAME)),
        };
        if matches!(code, 0 | b'0') && name.ends_with('/') {
            code = b'5';
        }
        let prefix = match (ustar, self.0[PREFIX_MARK]) {
            (false, _) => Cow::Borrowed(""),
            (true, 0) => text(self.field(SHORT_PREFIX)),
            (true, _) => text(self.field(PREFIX)),
        };
        let has_prefix = !prefix.is_empty() || (ustar && self.0[PREFIX_MARK] != 0);
        let linked = !text(self.field(LINK)).is_empty();
        let consistent = match code {
            b'1' | b'2' => linked,
            b'x' | b'g' => true,
            _ => !linked,
        };
        if !consistent || (name.is_empty() && !has_prefix) {
            return Header::Invalid;
        }

        let size = if code == b'5' {
            0
        } else {
            let extended = if ordinary { next.size.or(all.size) } else { None };
            extended.or(numbers.size.and_then(|size| u64::try_from(size).ok())).unwrap_or(0)
        };
        // A name from an extended header is complete.
        let path = if has_prefix && !(ordinary && next.path.is_some()) {
            Cow::Owned(format!("{prefix}/{name}"))
        } else {
            name
        };
        let executable = numbers.mode.is_some_and(|mode| mode & 0o111 != 0);
        Header::Entry(EntryHeader { kind: kind(code), path, size, executable })
    }

    fn field(&self, (offset, length): (usize, usize)) -> &'a [u8] {
        &self.0[offset..offset + length]
    }

    /// The sum of all bytes, those of the checksum counted as spaces.
    fn sum(&self) -> u64 {
        let total: u64 = self.0.iter().map(|&byte| u64::from(byte)).sum();
        let field: u64 = self.field(CHECKSUM).iter().map(|&byte| u64::from(byte)).sum();
        total - field + 8 * u64::from(b' ')
    }

    /// Decodes every number of the header: one that cannot be decoded makes the header invalid even if it is not needed.
    fn numbers(&self, ustar: bool) -> Result<Numbers, Undecodable> {
        for field in [USER, GROUP, MODIFIED] {
            number(self.field(field))?;
        }
        if ustar {
            number(self.field(DEVICE_MAJOR))?;
            number(self.field(DEVICE_MINOR))?;
            if self.0[PREFIX_MARK] == 0 {
                number(self.field(ACCESSED))?;
                number(self.field(CHANGED))?;
            }
        }
        Ok(Numbers {
            mode: number(self.field(MODE))?,
            size: number(self.field(SIZE))?,
            checksum: number(self.field(CHECKSUM_READ))?,
        })
    }
}

struct Numbers {
    mode: Option<i64>,
    size: Option<i64>,
    checksum: Option<i64>,
}

struct Undecodable;

fn kind(code: u8) -> Kind {
    match code {
        0 | b'0' => Kind::File { contiguous: false },
        b'7' => Kind::File { contiguous: true },
        b'x' | b'X' => Kind::Pax,
        b'g' => Kind::PaxGlobal,
        b'L' | b'N' => Kind::LongPath,
        b'K' => Kind::LongLink,
        _ => Kind::Dropped,
    }
}

/// A number: octal digits, or base 256 behind a first byte of 0x80 or (negative) 0xff; `None` if there are no digits.
fn number(field: &[u8]) -> Result<Option<i64>, Undecodable> {
    match field {
        [0x80, digits @ ..] => {
            let value = digits.iter().fold(0u128, |value, &byte| (value << 8) | u128::from(byte));
            if value > MAXIMUM_INTEGER {
                return Err(Undecodable);
            }
            Ok(i64::try_from(value).ok())
        }
        [0xff, ..] => {
            // Two's complement: the distance to the next power of 256.
            let distance = field.iter().fold(0u128, |value, &byte| (value << 8) | u128::from(!byte)) + 1;
            if distance > MAXIMUM_INTEGER {
                return Err(Undecodable);
            }
            Ok(i64::try_from(distance).ok().map(|distance| -distance))
        }
        [first, ..] if first & 0x80 != 0 => Err(Undecodable),
        _ => Ok(octal(field)),
    }
}

fn octal(field: &[u8]) -> Option<i64> {
    let end = field.iter().position(|&byte| byte == 0).unwrap_or(field.len());
    let digits = field[..end].trim_ascii_start();
    let (negative, digits) = match digits {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] => (false, digits),
        _ => (false, digits),
    };
    let count = digits.iter().take_while(|byte| (b'0'..=b'7').contains(byte)).count();
    if count == 0 {
        return None;
    }
    // Twelve digits of three bits cannot overflow.
    let value = digits[..count].iter().fold(0i64, |value, &digit| value * 8 + i64::from(digit - b'0'));
    Some(if negative { -value } else { value })
}
