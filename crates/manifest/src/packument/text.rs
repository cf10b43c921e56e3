//! JSON strings to text, without a parser and without ever failing.

use std::borrow::Cow;
use std::ops::Range;

/// The text of a JSON string, quotes included in `raw`; `None` if it is no string.
///
/// Escapes that make no sense and halves of surrogate pairs, which JavaScript can hold and UTF-8 cannot, become U+FFFD.
pub(super) fn decode_string(raw: &[u8]) -> Option<Cow<'_, str>> {
    let inner = raw.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
    // Nearly all are short, and plain: a loop without a way out is done in a few instructions.
    let is_escaped = inner.iter().fold(false, |found, byte| found | (*byte == b'\\'));
    let text = match std::str::from_utf8(inner) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => String::from_utf8_lossy(inner),
    };
    Some(if is_escaped { Cow::Owned(unescape(&text)) } else { text })
}

/// The bytes of a JSON string, quotes included in `raw`, that is ASCII and has no escapes; `None` for any other.
pub(super) fn plain_string(raw: &[u8]) -> Option<&[u8]> {
    let inner = raw.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
    // Most are short: a loop without a way out is done in a few instructions.
    let is_plain = inner.iter().fold(true, |plain, byte| plain & byte.is_ascii() & (*byte != b'\\'));
    is_plain.then_some(inner)
}

/// Bytes of a short string.
const SHORT: usize = 16;

/// A string of at most 16 bytes as two numbers, filled up with zeros: nearly every version is so short.
pub(super) fn words_of(text: &[u8]) -> Option<[u64; 2]> {
    let mut bytes = [0; SHORT];
    bytes.get_mut(..text.len())?.copy_from_slice(text);
    Some(words(bytes))
}

/// [`words_of`] the JSON string at `place`, quotes included, if it is ASCII and has no escapes.
pub(super) fn short_string(body: &[u8], place: &Range<usize>) -> Option<[u64; 2]> {
    let length = place.len().checked_sub(2).filter(|length| *length <= SHORT)?;
    // More than the string is read where there is more, without a loop, and cut off.
    let bytes: [u8; SHORT] = body.get(place.start + 1..place.start + 1 + SHORT)?.try_into().ok()?;
    let [low, high] = words(bytes);
    let first = |bytes: usize| if bytes >= 8 { u64::MAX } else { (1 << (8 * bytes)) - 1 };
    let (low, high) = (low & first(length), high & first(length.saturating_sub(8)));
    let is_plain = (low | high) & NOT_ASCII == 0 && backslashes(low) | backslashes(high) == 0;
    is_plain.then_some([low, high])
}

fn words(bytes: [u8; SHORT]) -> [u64; 2] {
    let (words, _) = bytes.as_chunks::<8>();
    [u64::from_le_bytes(words[0]), u64::from_le_bytes(words[1])]
}

const ONES: u64 = u64::from_le_bytes([1; 8]);
const NOT_ASCII: u64 = ONES << 7;

/// Not zero if a byte is a backslash.
fn backslashes(word: u64) -> u64 {
    let zeros = word ^ (ONES * b'\\' as u64);
    zeros.wrapping_sub(ONES) & !zeros & NOT_ASCII
}

/// Whether a JSON string, quotes included, is `text`.
pub(super) fn string_is(raw: &[u8], text: &str) -> bool {
    let Some(inner) = raw.strip_prefix(b"\"").and_then(|rest| rest.strip_suffix(b"\"")) else { return false };
    inner == text.as_bytes() || (inner.contains(&b'\\') && decode_string(raw).is_some_and(|decoded| decoded == text))
}

fn unescape(text: &str) -> String {
    let mut units = Vec::with_capacity(text.len());
    let mut characters = text.chars();
    let mut buffer = [0u16; 2];
    while let Some(character) = characters.next() {
        if character != '\\' {
            units.extend_from_slice(character.encode_utf16(&mut buffer));
            continue;
        }
        let unit = match characters.next() {
            Some('n') => 0x0a,
            Some('r') => 0x0d,
            Some('t') => 0x09,
            Some('b') => 0x08,
            Some('f') => 0x0c,
            Some(same @ ('"' | '\\' | '/')) => same as u16,
            Some('u') => {
                let digits = characters.as_str().get(..4).unwrap_or_default();
                match u16::from_str_radix(digits, 16) {
                    Ok(unit) if digits.bytes().all(|digit| digit.is_ascii_hexdigit()) => {
                        characters = characters.as_str()[4..].chars();
                        unit
                    }
                    _ => REPLACEMENT,
                }
            }
            _ => REPLACEMENT,
        };
        units.push(unit);
    }
    String::from_utf16_lossy(&units)
}

const REPLACEMENT: u16 = 0xfffd;
