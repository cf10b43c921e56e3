//! The steps that work on the text of a whole alternative. Each borrows unless it has something to do.

use std::borrow::Cow;

use super::{Options, token::next};
use crate::{
    range::Prereleases,
    version::{Partial, partial, plain_end, prefix_length},
};

/// Drops build metadata wherever it stands.
pub(super) fn without_build(text: &str) -> Cow<'_, str> {
    if text.contains('+') { Cow::Owned(build_dropped(text)) } else { Cow::Borrowed(text) }
}

#[cold]
fn build_dropped(text: &str) -> String {
    let is_identifier = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'-';
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(plus) = rest.find('+') {
        let mut end = plus;
        loop {
            let length = rest[end + 1..].bytes().take_while(is_identifier).count();
            if length == 0 {
                break;
            }
            end += 1 + length;
            if rest.as_bytes().get(end) != Some(&b'.') {
                break;
            }
        }
        kept.push_str(&rest[..plus]);
        if end == plus {
            kept.push('+');
            end += 1;
        }
        rest = &rest[end..];
    }
    kept.push_str(rest);
    kept
}

/// Writes `1.2 - 3` as `>=1.2.0 <4.0.0-0`.
pub(super) fn hyphen<'a>(text: Cow<'a, str>, options: Options) -> Cow<'a, str> {
    match text.split_once(" - ").and_then(|(from, to)| bounds(from, to, options)) {
        Some(bounds) => Cow::Owned(bounds),
        None => text,
    }
}

/// What a hyphen stands for; `None` if it is none between two versions.
#[cold]
fn bounds(from: &str, to: &str, options: Options) -> Option<String> {
    // Dropped build metadata may have left a space at either end.
    let (from, to) = (from.strip_prefix(' ').unwrap_or(from), to.strip_suffix(' ').unwrap_or(to));
    let (lower, upper) = (partial(from, options.reading)?, partial(to, options.reading)?);
    let included = options.prereleases == Prereleases::Included;
    let lower = lower_bound(from, lower, included);
    let upper = upper_bound(to, upper, included);
    Some(format!("{lower} {upper}").trim_matches(' ').to_owned())
}

fn is_placeholder(part: Option<&str>) -> bool {
    matches!(part, None | Some("x" | "X" | "*"))
}

fn lower_bound(text: &str, found: Partial<'_>, included: bool) -> String {
    let lowest = if included { "-0" } else { "" };
    let Partial { major, minor, patch, prerelease, .. } = found;
    if is_placeholder(Some(major)) {
        return String::new();
    }
    match (minor, patch) {
        (minor, _) if is_placeholder(minor) => format!(">={major}.0.0{lowest}"),
        (Some(minor), patch) if is_placeholder(patch) => format!(">={major}.{minor}.0{lowest}"),
        _ if prerelease.is_some() => format!(">={text}"),
        _ => format!(">={text}{lowest}"),
    }
}

fn upper_bound(text: &str, found: Partial<'_>, included: bool) -> String {
    let Partial { major, minor, patch, prerelease, .. } = found;
    if is_placeholder(Some(major)) {
        return String::new();
    }
    match (minor, patch) {
        (minor, _) if is_placeholder(minor) => format!("<{}.0.0-0", next_text(major)),
        (Some(minor), patch) if is_placeholder(patch) => format!("<{major}.{}.0-0", next_text(minor)),
        (Some(minor), Some(patch)) => match prerelease {
            Some(prerelease) => format!("<={major}.{minor}.{patch}-{prerelease}"),
            None if included => format!("<{major}.{minor}.{}-0", next_text(patch)),
            None => format!("<={text}"),
        },
        _ => format!("<={text}"),
    }
}

/// One more than the digits say, as text; what JavaScript would write with an exponent is left unreadable.
fn next_text(digits: &str) -> String {
    let value = next(digits);
    if value < 1e21 { format!("{value:.0}") } else { "e".to_owned() }
}

/// Takes out the space behind comparison operators, tildes and carets.
pub(super) fn joined_operators(text: Cow<'_, str>) -> Cow<'_, str> {
    let is_loose = |pair: &[u8]| pair[1] == b' ' && matches!(pair[0], b'<' | b'>' | b'=' | b'~' | b'^');
    if !text.as_bytes().windows(2).any(is_loose) {
        return text;
    }
    Cow::Owned(joined(&text))
}

#[cold]
fn joined(text: &str) -> String {
    joined_comparisons(text).replace("~> ", "~").replace("~ ", "~").replace("^ ", "^")
}

/// From the left, finds each version with the operator before it, and drops the space between the two. What a version
/// has before it (`v`, `=`, spaces) belongs to the version, so `> v 1` becomes `>v 1` and not `>v1`.
fn joined_comparisons(text: &str) -> String {
    let mut joined = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let mut operator = usize::from(first == ' ');
        operator += usize::from(matches!(rest.as_bytes().get(operator), Some(b'<' | b'>')));
        operator += usize::from(rest.as_bytes().get(operator) == Some(&b'='));
        let version = operator + usize::from(rest.as_bytes().get(operator) == Some(&b' '));
        match plain_end(&rest[version..]) {
            Some(length) => {
                joined.push_str(&rest[..operator]);
                joined.push_str(&rest[version..version + length]);
                rest = &rest[version + length..];
            }
            None => {
                // No later start within the same prefix can do better, so all of it is passed over at once.
                let (passed, left) = rest.split_at(prefix_length(rest).max(first.len_utf8()));
                joined.push_str(passed);
                rest = left;
            }
        }
    }
    joined
}
