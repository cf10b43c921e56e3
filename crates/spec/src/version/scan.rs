//! The one scanner under versions and ranges: an optional prefix of `v`, `=` and white space, one to three parts that
//! are digits or `x`, `X`, `*`, then a prerelease and build metadata. It borrows from the text and allocates nothing.
//!
//! `semver` does this with regular expressions, and their backtracking is part of its behaviour: `1.2.34.5` is
//! `1.2.3-4.5` in loose reading, because the last digit of the patch can begin a prerelease.

use crate::text::is_space;

/// Longest run of digits `semver` matches.
const LONGEST_DIGITS: usize = 256;

/// Longest rest of an identifier `semver` matches.
const LONGEST_IDENTIFIER: usize = 250;

/// Which forms are accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Reading {
    /// Leading zeros, a prerelease without hyphen, any prefix of `v`, `=` and spaces.
    Loose,
    /// Semantic versioning to the letter, apart from one `v` before a version.
    Strict,
}

/// A version of which parts may be missing or placeholders.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Partial<'a> {
    /// What stands before the first part.
    pub(crate) prefix: &'a str,
    pub(crate) major: &'a str,
    pub(crate) minor: Option<&'a str>,
    pub(crate) patch: Option<&'a str>,
    pub(crate) prerelease: Option<&'a str>,
    pub(crate) build: Option<&'a str>,
}

impl Partial<'_> {
    /// Whether the prefix is one that strict reading allows before a full version.
    pub(crate) fn has_plain_prefix(&self) -> bool {
        matches!(self.prefix, "" | "v")
    }
}

/// Reads the whole text as a partial version.
pub(crate) fn partial(text: &str, reading: Reading) -> Option<Partial<'_>> {
    let (prefix, rest) = text.split_at(prefix_length(text));
    let (major, rest) = part(rest, reading)?;
    let mut found = Partial { prefix, major, minor: None, patch: None, prerelease: None, build: None };
    if rest.is_empty() {
        return Some(found);
    }
    let (minor, rest) = part(rest.strip_prefix('.')?, reading)?;
    found.minor = Some(minor);
    if rest.is_empty() {
        return Some(found);
    }
    let start = rest.strip_prefix('.')?;
    let (patch, rest) = part(start, reading)?;
    found.patch = Some(patch);
    if rest.is_empty() {
        return Some(found);
    }
    if let Some((prerelease, build)) = tail(rest, reading) {
        (found.prerelease, found.build) = (prerelease, build);
        return Some(found);
    }
    if reading == Reading::Loose && rest.starts_with('.') && patch.len() > 1 {
        let (patch, rest) = start.split_at(patch.len() - 1);
        found.patch = Some(patch);
        (found.prerelease, found.build) = tail(rest, reading)?;
        return Some(found);
    }
    None
}

/// How far a version or partial version at the start of the text reaches, as `semver` consumes it while it joins
/// operators and versions: a loose full version if there is one, else a strict partial one.
pub(crate) fn plain_end(text: &str) -> Option<usize> {
    let prefix = prefix_length(text);
    if let Some(rest) = loose_numbers(&text[prefix..]) {
        let end = prerelease(rest, Reading::Loose).map_or(0, |found| found.1);
        let end = end + build(&rest[end..]).unwrap_or(0);
        return Some(text.len() - rest.len() + end);
    }
    let (_, mut rest) = part(&text[prefix..], Reading::Strict)?;
    for level in 0..2 {
        let Some((_, next)) = rest.strip_prefix('.').and_then(|next| part(next, Reading::Strict)) else { break };
        rest = next;
        if level == 1 {
            rest = &rest[prerelease(rest, Reading::Strict).map_or(0, |found| found.1)..];
            rest = &rest[build(rest).unwrap_or(0)..];
        }
    }
    Some(text.len() - rest.len())
}

/// What follows three numbers at the start of the text.
fn loose_numbers(text: &str) -> Option<&str> {
    let digits = |text: &str| Some(digits_length(text)).filter(|length| *length > 0);
    let rest = text[digits(text)?..].strip_prefix('.')?;
    let rest = rest[digits(rest)?..].strip_prefix('.')?;
    Some(&rest[digits(rest)?..])
}

/// The length of the `v`, `=` and white space at the start of the text.
pub(crate) fn prefix_length(text: &str) -> usize {
    match text.as_bytes().first() {
        Some(b'0'..=b'9') | None => 0,
        _ => text.find(|character| !matches!(character, 'v' | '=') && !is_space(character)).unwrap_or(text.len()),
    }
}

fn digits_length(text: &str) -> usize {
    text.bytes().take(LONGEST_DIGITS).take_while(u8::is_ascii_digit).count()
}

/// One of the three parts.
fn part(text: &str, reading: Reading) -> Option<(&str, &str)> {
    let length = match text.as_bytes().first()? {
        b'x' | b'X' | b'*' => 1,
        b'0' if reading == Reading::Strict => 1,
        _ => digits_length(text),
    };
    (length > 0).then(|| text.split_at(length))
}

/// The rest behind the patch, to its very end.
fn tail(text: &str, reading: Reading) -> Option<(Option<&str>, Option<&str>)> {
    let (prerelease, rest) = match prerelease(text, reading) {
        Some((start, end)) => (Some(&text[start..end]), &text[end..]),
        None => (None, text),
    };
    if rest.is_empty() {
        return Some((prerelease, None));
    }
    (build(rest)? == rest.len()).then(|| (prerelease, Some(&rest[1..])))
}

/// Where the prerelease at the start of the text begins and ends.
fn prerelease(text: &str, reading: Reading) -> Option<(usize, usize)> {
    let behind_hyphen = text.strip_prefix('-').and_then(|rest| identifiers(rest, reading)).map(|end| (1, end + 1));
    match reading {
        Reading::Strict => behind_hyphen,
        // Without an identifier behind it the hyphen is one itself: `1.2.3-` is `1.2.3--`.
        Reading::Loose => behind_hyphen.or_else(|| identifiers(text, reading).map(|end| (0, end))),
    }
}

/// The length of build metadata at the start of the text, with its `+`.
fn build(text: &str) -> Option<usize> {
    let mut end = 0;
    while matches!((end, text.as_bytes().get(end)), (0, Some(b'+')) | (1.., Some(b'.'))) {
        let length = text[end + 1..].bytes().take(LONGEST_IDENTIFIER).take_while(is_identifier_byte).count();
        if length == 0 {
            break;
        }
        end += 1 + length;
    }
    (end > 0).then_some(end)
}

/// The length of dotted identifiers at the start of the text.
fn identifiers(text: &str, reading: Reading) -> Option<usize> {
    let mut end = identifier(text, reading)?;
    while let Some(length) = text[end..].strip_prefix('.').and_then(|rest| identifier(rest, reading)) {
        end += 1 + length;
    }
    Some(end)
}

fn identifier(text: &str, reading: Reading) -> Option<usize> {
    let digits = digits_length(text);
    match text.as_bytes().get(digits) {
        Some(byte) if byte.is_ascii_alphabetic() || *byte == b'-' => {
            let rest = text[digits + 1..].bytes().take(LONGEST_IDENTIFIER).take_while(is_identifier_byte).count();
            Some(digits + 1 + rest)
        }
        _ if digits > 1 && reading == Reading::Strict && text.starts_with('0') => Some(1),
        _ => (digits > 0).then_some(digits),
    }
}

fn is_identifier_byte(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || *byte == b'-'
}
