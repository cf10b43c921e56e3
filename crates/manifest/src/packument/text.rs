//! JSON strings to text, without a parser and without ever failing.

use std::borrow::Cow;

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
