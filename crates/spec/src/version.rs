//! Versions as npm's `semver` 7.8 reads them in loose mode, which is how npm reads everything but `engines`.
//!
//! The crate `nodejs-semver` 7.0.0 was tried first and answered otherwise than npm's own package on what
//! `tests/vectors/generate.mjs` makes up: of 934 versions 219 differ; of 1,698 ranges 283 differ in being valid, 421 in
//! the canonical text and 228 in the versions that satisfy; of 2,425 pairs 793 differ in `intersects` and 592 in
//! `subset`. It has no loose mode, so a wrapper could not mend it.
//!
//! This module and [`crate::Range`] differ in none of the kept vectors. With `--scale 40` and seeds 6, 7 and 8 (about
//! 227,000 checks of ranges each) one text differs: `<= 10.99999999999993999999999`, see `range/parse/token.rs`.
//!
//! A version without prerelease and build owns no memory besides itself.

mod order;
mod scan;

use std::{cmp::Ordering, fmt};

pub(crate) use scan::{Partial, Reading, partial, plain_end, prefix_length};

/// `Number.MAX_SAFE_INTEGER`: no part of a version may be larger.
pub(crate) const LARGEST_NUMBER: u64 = 9_007_199_254_740_991;

/// Digits of a number that is surely none larger.
const LONGEST_PLAIN: usize = 15;

/// Longest text `semver` looks at, in UTF-16 units.
pub(crate) const LONGEST_TEXT: usize = 256;

/// A version such as `1.2.3-rc.1+build.5`.
///
/// Its order is total: [`Version::precedence`], then build metadata, then the text of the identifiers.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Version {
    major: u64,
    minor: u64,
    patch: u64,
    prerelease: Box<[Identifier]>,
    build: Box<str>,
}

/// One part of a prerelease. Digits that reach [`LARGEST_NUMBER`] stay text, as in `semver`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Identifier {
    Number(u64),
    Text(Box<str>),
}

impl Version {
    /// Reads a version as `semver.parse(text, { loose: true })` does: white space around it, `v` and `=` before it, and
    /// a prerelease without hyphen (`1.2.3beta`) are accepted. `None` for anything that is not one whole version.
    pub fn parse(text: &str) -> Option<Version> {
        Version::parse_reading(text, Reading::Loose)
    }

    /// Reads a version as `semver.parse(text)` does, without the loose forms; npm reads so where it checks `engines`.
    pub fn parse_strict(text: &str) -> Option<Version> {
        Version::parse_reading(text, Reading::Strict)
    }

    fn parse_reading(text: &str, reading: Reading) -> Option<Version> {
        let Parts { numbers, prerelease, build } = Parts::read(text, reading)?;
        let mut version = Version::new(numbers, prerelease);
        version.build = build.map_or_else(Box::default, Box::from);
        Some(version)
    }

    /// A version without build metadata. The prerelease must be scanned text.
    pub(crate) fn new(numbers: [u64; 3], prerelease: Option<&str>) -> Version {
        let prerelease = prerelease.map_or_else(Box::default, |text| text.split('.').map(Identifier::new).collect());
        Version { major: numbers[0], minor: numbers[1], patch: numbers[2], prerelease, build: Box::default() }
    }

    /// The first number.
    pub fn major(&self) -> u64 {
        self.major
    }

    /// The second number.
    pub fn minor(&self) -> u64 {
        self.minor
    }

    /// The third number.
    pub fn patch(&self) -> u64 {
        self.patch
    }

    /// The build metadata without its `+`; empty if there is none.
    pub fn build(&self) -> &str {
        &self.build
    }

    /// Whether the version has a prerelease part.
    pub fn is_prerelease(&self) -> bool {
        !self.prerelease.is_empty()
    }

    /// Whether the numbers are equal, whatever the prerelease.
    pub(crate) fn has_same_numbers(&self, other: &Version) -> bool {
        self.major == other.major && self.minor == other.minor && self.patch == other.patch
    }

    /// Whether the prerelease is just `0`, the lowest there is.
    pub(crate) fn has_lowest_prerelease(&self) -> bool {
        matches!(*self.prerelease, [Identifier::Number(0)])
    }

    /// Whether a version of this text ranks below this one, told by its numbers alone; false where they do not say it.
    /// Who looks for the highest of hundreds of versions need not read those of which this is true.
    pub fn is_surely_above(&self, text: &str) -> bool {
        let ours = [self.major, self.minor, self.patch];
        let (mut number, mut start) = (0, 0);
        let mut place = 0;
        for (at, byte) in text.bytes().enumerate() {
            match byte {
                b'0'..=b'9' if at - start < LONGEST_PLAIN => number = number * 10 + u64::from(byte - b'0'),
                b'.' if at > start && place < 2 => {
                    if number != ours[place] {
                        return number < ours[place];
                    }
                    (number, start, place) = (0, at + 1, place + 1);
                }
                b'0'..=b'9' => return false,
                // Loose reading may take the patch's last digits for a prerelease; the number is no greater then.
                _ => return place == 2 && at > start && number < ours[2],
            }
        }
        place == 2 && text.len() > start && number < ours[2]
    }

    /// `semver.compare`: by the numbers, then by the prerelease (none is higher than any); build metadata does not count.
    pub fn precedence(&self, other: &Version) -> Ordering {
        let numbers = |version: &Version| (version.major, version.minor, version.patch);
        numbers(self).cmp(&numbers(other)).then_with(|| match (self.is_prerelease(), other.is_prerelease()) {
            (false, false) => Ordering::Equal,
            (false, true) => Ordering::Greater,
            (true, false) => Ordering::Less,
            (true, true) => self.prerelease.iter().map(Ranked).cmp(other.prerelease.iter().map(Ranked)),
        })
    }
}

/// A whole version, read and not kept.
struct Parts<'a> {
    numbers: [u64; 3],
    prerelease: Option<&'a str>,
    build: Option<&'a str>,
}

impl Parts<'_> {
    fn read(text: &str, reading: Reading) -> Option<Parts<'_>> {
        if let Some(numbers) = plain_numbers(text) {
            return Some(Parts { numbers, prerelease: None, build: None });
        }
        if text.len() > LONGEST_TEXT && text.encode_utf16().count() > LONGEST_TEXT {
            return None;
        }
        let partial = partial(crate::text::trim(text), reading)?;
        if reading == Reading::Strict && !partial.has_plain_prefix() {
            return None;
        }
        let numbers = [number(partial.major)?, number(partial.minor?)?, number(partial.patch?)?];
        Some(Parts { numbers, prerelease: partial.prerelease, build: partial.build })
    }
}

/// The numbers of what is nothing but three of them, none longer than what surely fits and none with a zero in front: most
/// versions, which need no scanner.
fn plain_numbers(text: &str) -> Option<[u64; 3]> {
    let mut numbers = [0; 3];
    let (mut place, mut start) = (0, 0);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'0'..=b'9' => {
                let number: &mut u64 = &mut numbers[place];
                if at - start == LONGEST_PLAIN || (at > start && *number == 0) {
                    return None;
                }
                *number = *number * 10 + u64::from(byte - b'0');
            }
            b'.' if at > start && place < 2 => (place, start) = (place + 1, at + 1),
            _ => return None,
        }
    }
    (place == 2 && text.len() > start).then_some(numbers)
}

/// Reads digits; `None` for an x-part and for a number beyond [`LARGEST_NUMBER`].
pub(crate) fn number(digits: &str) -> Option<u64> {
    digits.parse().ok().filter(|number| *number <= LARGEST_NUMBER)
}

impl Identifier {
    fn new(text: &str) -> Identifier {
        if text.bytes().all(|byte| byte.is_ascii_digit())
            && let Some(number) = number(text).filter(|number| *number < LARGEST_NUMBER)
        {
            return Identifier::Number(number);
        }
        Identifier::Text(Box::from(text))
    }
}

/// How identifiers rank: digits below anything else, by the value JavaScript gives them; the rest by text.
fn compare_identifiers(left: &str, right: &str) -> Ordering {
    match (digits_value(left), digits_value(right)) {
        (Some(left), Some(right)) => left.total_cmp(&right),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => left.cmp(right),
    }
}

/// The value of a text of digits, rounded as JavaScript rounds.
fn digits_value(text: &str) -> Option<f64> {
    if text.bytes().all(|byte| byte.is_ascii_digit()) { text.parse().ok() } else { None }
}

struct Ranked<'a>(&'a Identifier);

impl Ord for Ranked<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.0, other.0) {
            (Identifier::Number(left), Identifier::Number(right)) => left.cmp(right),
            (Identifier::Text(left), Identifier::Text(right)) => compare_identifiers(left, right),
            // A number that stayed text is larger than every other number, so it ranks behind them like any text.
            (Identifier::Number(_), Identifier::Text(_)) => Ordering::Less,
            (Identifier::Text(_), Identifier::Number(_)) => Ordering::Greater,
        }
    }
}

impl PartialOrd for Ranked<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Ranked<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Ranked<'_> {}

/// `semver.compareBuild` of two build texts; missing ones are lowest.
fn compare_builds(left: &str, right: &str) -> Ordering {
    if left.is_empty() || right.is_empty() {
        return left.len().cmp(&right.len());
    }
    let (mut left, mut right) = (left.split('.'), right.split('.'));
    loop {
        let order = match (left.next(), right.next()) {
            (None, None) => return Ordering::Equal,
            (None, Some(_)) => Ordering::Less,
            (Some(_), None) => Ordering::Greater,
            (Some(left), Some(right)) => compare_identifiers(left, right),
        };
        if order != Ordering::Equal {
            return order;
        }
    }
}

impl Ord for Version {
    fn cmp(&self, other: &Self) -> Ordering {
        self.precedence(other)
            .then_with(|| compare_builds(&self.build, &other.build))
            .then_with(|| self.build.cmp(&other.build))
            // Only numbers beyond JavaScript's exact ones can still differ.
            .then_with(|| if self == other { Ordering::Equal } else { self.to_string().cmp(&other.to_string()) })
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Version {
    /// The canonical text, `semver.valid`: without prefix and without build metadata.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}.{}", self.major, self.minor, self.patch)?;
        for (index, identifier) in self.prerelease.iter().enumerate() {
            formatter.write_str(if index == 0 { "-" } else { "." })?;
            match identifier {
                Identifier::Number(number) => write!(formatter, "{number}")?,
                Identifier::Text(text) => formatter.write_str(text)?,
            }
        }
        Ok(())
    }
}

impl fmt::Debug for Version {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)?;
        if self.build.is_empty() { Ok(()) } else { write!(formatter, "+{}", self.build) }
    }
}

#[cfg(test)]
mod tests;
