//! Extended headers: pax records and GNU long names, as far as they say where a file goes and how long it is.

use std::borrow::Cow;

/// What extended headers say of the entries they apply to.
#[derive(Debug, Clone, Default)]
pub(crate) struct Extended {
    pub path: Option<String>,
    pub size: Option<u64>,
}

impl Extended {
    /// Takes a GNU long name.
    pub fn set_path(&mut self, body: &[u8]) {
        self.path = Some(text(body).into_owned());
    }

    /// Takes pax records: lines of length, space, key, `=`, value. A line whose length is wrong is passed over. A global
    /// header's path is never used, as it cannot be meant for every file.
    pub fn merge_pax(&mut self, body: &[u8]) {
        let body = String::from_utf8_lossy(body);
        for line in body.strip_suffix('\n').unwrap_or(&body).split('\n') {
            let Some((key, value)) = record(line) else { continue };
            match key {
                "path" => self.path = Some(cut_at_zero(value).into_owned()),
                "size" => {
                    if let Some(size) = size(&cut_at_zero(value)) {
                        self.size = Some(size);
                    }
                }
                _ => {}
            }
        }
    }
}

/// Key and value of a line whose stated length is right.
fn record(line: &str) -> Option<(&str, &str)> {
    let digits = line.trim_start();
    let count = digits.bytes().take_while(u8::is_ascii_digit).count();
    let stated: usize = digits[..count].parse().ok()?;
    if stated != line.len() + 1 {
        return None;
    }
    let record = line.get(stated.to_string().len() + 1..)?;
    let (key, value) = record.split_once('=').unwrap_or((record, ""));
    (!key.is_empty()).then_some((key, value))
}

/// A whole number; an empty value is 0, as JavaScript's `Number` has it, and one too large is larger than any archive.
fn size(value: &str) -> Option<u64> {
    let value = value.trim();
    if !value.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    Some(if value.is_empty() { 0 } else { value.parse().unwrap_or(u64::MAX) })
}

/// A text field: what is not UTF-8 becomes U+FFFD, and it ends at a NUL.
pub(crate) fn text(field: &[u8]) -> Cow<'_, str> {
    let end = field.iter().position(|&byte| byte == 0).unwrap_or(field.len());
    // Every header has three of these, mostly empty: no branch for each byte.
    if field[end..].iter().fold(0, |bits, byte| bits | byte) == 0 {
        return String::from_utf8_lossy(&field[..end]);
    }
    match String::from_utf8_lossy(field) {
        Cow::Borrowed(text) => cut_at_zero(text),
        Cow::Owned(text) => Cow::Owned(cut_at_zero(&text).into_owned()),
    }
}

/// Removes what follows a NUL up to the end of its line, which is what npm's pattern for it matches.
fn cut_at_zero(text: &str) -> Cow<'_, str> {
    let Some(start) = text.find('\0') else { return Cow::Borrowed(text) };
    match text[start..].find(['\n', '\r', '\u{2028}', '\u{2029}']) {
        None => Cow::Borrowed(&text[..start]),
        Some(length) => Cow::Owned(format!("{}{}", &text[..start], &text[start + length..])),
    }
}
