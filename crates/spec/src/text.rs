//! The few text rules of JavaScript that npm's answers rest on: its white space, `encodeURIComponent` and
//! `decodeURIComponent`. ASCII is the fast path of each.

/// What `\s` and `String.prototype.trim` count as white space.
pub(crate) fn is_space(character: char) -> bool {
    match character {
        '\t'..='\r' | ' ' => true,
        '\0'..='\u{9f}' => false,
        '\u{feff}' => true,
        other => other.is_whitespace(),
    }
}

/// `String.prototype.trim`.
pub(crate) fn trim(text: &str) -> &str {
    text.trim_matches(is_space)
}

/// Whether `encodeURIComponent` would leave the text as it is.
pub(crate) fn is_uri_component(text: &str) -> bool {
    text.bytes().all(is_uri_component_byte)
}

fn is_uri_component_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'!' | b'~' | b'*' | b'\'' | b'(' | b')')
}

/// `encodeURIComponent`.
pub(crate) fn encode_uri_component(text: &str) -> String {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if is_uri_component_byte(byte) {
            encoded.push(byte as char);
        } else {
            encoded.push('%');
            encoded.push(DIGITS[usize::from(byte >> 4)] as char);
            encoded.push(DIGITS[usize::from(byte & 15)] as char);
        }
    }
    encoded
}

/// `decodeURIComponent`; `None` where JavaScript throws: a `%` without two hex digits, or bytes that are not UTF-8.
pub(crate) fn decode_uri_component(text: &str) -> Option<String> {
    if !text.contains('%') {
        return Some(text.to_owned());
    }
    let mut decoded = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        if byte == b'%' {
            let high = char::from(bytes.next()?).to_digit(16)?;
            let low = char::from(bytes.next()?).to_digit(16)?;
            decoded.push(u8::try_from(high * 16 + low).ok()?);
        } else {
            decoded.push(byte);
        }
    }
    String::from_utf8(decoded).ok()
}
