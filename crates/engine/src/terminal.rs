//! What commands may send to a terminal of what packages and registries say.

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::fmt::Write;

/// Length of the longest sequence for colours behind its escape: `[38;5;255m`.
const LONGEST_STYLE: usize = 10;

/// A text that cannot do more to a terminal than be read there: control characters are written as `^[` and the like, but for
/// those of lines and tabs, and for sequences that only colour (`npm/lib/utils/format.js`).
pub fn for_terminal(text: &str) -> Cow<'_, str> {
    if !text.contains(|character| is_control(character) || character == '\r') {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for (index, character) in text.char_indices() {
        let rest = &text[index + character.len_utf8()..];
        let is_harmless = match character {
            // By itself it would have the line written over.
            '\r' => rest.starts_with('\n'),
            '\u{1b}' => begins_style(rest),
            character => !is_control(character),
        };
        if is_harmless {
            shown.push(character);
            continue;
        }
        let code = u32::from(character);
        let letter = if code <= 0x1f { code + 0x40 } else { code - 0x40 };
        let _ = write!(shown, "^{}", char::from_u32(letter).unwrap_or('?'));
    }
    Cow::Owned(shown)
}

/// A warning as a line for people. Further lines of what it says are further in, so that none of them looks like a warning of
/// its own.
pub fn warning_line(code: &str, message: &str) -> String {
    format!("warning {code}: {}", message.replace('\n', "\n  "))
}

/// C0 but for tabs and ends of lines, and C1.
fn is_control(character: char) -> bool {
    character.is_control() && !matches!(character, '\t' | '\n' | '\u{b}' | '\r')
}

/// Whether an escape before this text begins a sequence of colours.
fn begins_style(text: &str) -> bool {
    let Some(rest) = text.strip_prefix('[') else { return false };
    let end = rest.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b';').count();
    end + 2 <= LONGEST_STYLE && rest.as_bytes().get(end) == Some(&b'm')
}
