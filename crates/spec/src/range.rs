//! Ranges as npm's `semver` 7.8 reads them: alternatives (`||`) of comparators that must all hold.
//!
//! A range is read once into comparators with full versions; asking it allocates nothing. With prereleases included the
//! comparators are others (`^1.2` starts at `1.2.0-0`), so that form is read from the kept text when it is first needed.
//! How this was checked against npm's own package is told in [`crate::Version`]'s module and in `tests/vectors.rs`.

mod parse;
mod relation;

use std::{fmt, sync::OnceLock};

use crate::version::{Reading, Version};

/// A range of versions such as `^1.2.3 || >=3 <5`.
#[derive(Clone)]
pub struct Range {
    text: Box<str>,
    reading: Reading,
    alternatives: Alternatives,
    /// The least and the greatest first number of a version that satisfies it.
    majors: (u64, u64),
    /// `None` inside if the text is no range when prereleases are included.
    including: OnceLock<Option<Alternatives>>,
}

/// At least one; a version must satisfy one of them.
type Alternatives = Box<[Comparators]>;

/// All must hold; an empty list is `*`.
type Comparators = Box<[Comparator]>;

#[derive(Clone, Debug, PartialEq, Eq)]
struct Comparator {
    operator: Operator,
    version: Version,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Equal,
    Greater,
    GreaterOrEqual,
    Less,
    LessOrEqual,
}

/// Whether versions with a prerelease are ordinary members of a range (`includePrerelease`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Prereleases {
    /// Only where a comparator names a prerelease of the same three numbers.
    Named,
    /// Wherever they lie within the bounds.
    Included,
}

impl Range {
    /// Reads a range as `new Range(text, { loose: true })` does. Loose reading drops what it does not understand next
    /// to something it does (`>=4 node` is `>=4`); `None` if nothing is understood.
    pub fn parse(text: &str) -> Option<Range> {
        Range::parse_reading(text, Reading::Loose)
    }

    /// Reads a range as `new Range(text)` does: whatever is not a comparator makes it `None`. npm checks `engines` and
    /// the keys of `overrides` so.
    pub fn parse_strict(text: &str) -> Option<Range> {
        Range::parse_reading(text, Reading::Strict)
    }

    fn parse_reading(text: &str, reading: Reading) -> Option<Range> {
        let alternatives = parse::alternatives(text, reading, Prereleases::Named)?;
        let majors = majors(&alternatives);
        Some(Range { text: Box::from(text), reading, alternatives, majors, including: OnceLock::new() })
    }

    /// Whether a version of this text may satisfy the range, told by its first number alone; true where that says nothing.
    /// Who looks for one of hundreds of versions need not read those of which this is false.
    pub fn may_hold(&self, version: &str) -> bool {
        let (least, greatest) = self.majors;
        let mut major: u64 = 0;
        for (position, byte) in version.bytes().enumerate() {
            match byte {
                b'0'..=b'9' if position < 16 => major = major * 10 + u64::from(byte - b'0'),
                b'.' if position > 0 => return (least..=greatest).contains(&major),
                _ => return true,
            }
        }
        true
    }

    /// `semver.satisfies`: a prerelease satisfies only where a comparator names a prerelease of the same three numbers.
    pub fn satisfied_by(&self, version: &Version) -> bool {
        self.alternatives.iter().any(|comparators| holds(comparators, version, Prereleases::Named))
    }

    /// `semver.satisfies` with `includePrerelease: true`.
    pub fn satisfied_by_including_prerelease(&self, version: &Version) -> bool {
        self.including().is_some_and(|alternatives| {
            alternatives.iter().any(|comparators| holds(comparators, version, Prereleases::Included))
        })
    }

    /// `semver.intersects`: whether the bounds of some alternative of each overlap.
    pub fn intersects(&self, other: &Range) -> bool {
        relation::intersects(&self.alternatives, &other.alternatives, Prereleases::Named)
    }

    /// [`Range::intersects`] with `includePrerelease: true`.
    pub fn intersects_including_prerelease(&self, other: &Range) -> bool {
        match (self.including(), other.including()) {
            (Some(left), Some(right)) => relation::intersects(left, right, Prereleases::Included),
            _ => false,
        }
    }

    /// `semver.subset(self, other)`: whether every version this range allows is allowed by the other.
    pub fn is_subset_of(&self, other: &Range) -> bool {
        relation::is_subset(&self.alternatives, &other.alternatives, Prereleases::Named)
    }

    /// [`Range::is_subset_of`] with `includePrerelease: true`.
    pub fn is_subset_of_including_prerelease(&self, other: &Range) -> bool {
        match (self.including(), other.including()) {
            (Some(left), Some(right)) => relation::is_subset(left, right, Prereleases::Included),
            _ => false,
        }
    }

    /// Whether the range was written `*` or left empty. npm lets only these two take a prerelease that is tagged
    /// `latest`; `x` or `>=0.0.0`, which have the same canonical text, are ordinary ranges to it.
    pub fn is_any(&self) -> bool {
        matches!(crate::text::trim(&self.text), "" | "*")
    }

    /// The one version the range names, if it is nothing but that version.
    pub fn exact(&self) -> Option<&Version> {
        match &*self.alternatives {
            [only] => match &**only {
                [Comparator { operator: Operator::Equal, version }] => Some(version),
                _ => None,
            },
            _ => None,
        }
    }

    /// `semver.validRange`: the comparators in full, such as `>=1.2.3 <2.0.0-0`.
    pub fn to_canonical(&self) -> String {
        canonical(&self.alternatives)
    }

    /// [`Range::to_canonical`] with `includePrerelease: true`; `None` in the rare case that the text is a range only
    /// without it.
    pub fn to_canonical_including_prerelease(&self) -> Option<String> {
        self.including().map(canonical)
    }

    /// The text the range was read from.
    pub fn text(&self) -> &str {
        &self.text
    }

    fn including(&self) -> Option<&[Comparators]> {
        self.including.get_or_init(|| parse::alternatives(&self.text, self.reading, Prereleases::Included)).as_deref()
    }
}

/// The bounds of the first number over all alternatives. A range that nothing satisfies may have any.
fn majors(alternatives: &[Comparators]) -> (u64, u64) {
    let (mut least, mut greatest) = (u64::MAX, 0);
    for comparators in alternatives {
        let (mut low, mut high) = (0, u64::MAX);
        for Comparator { operator, version } in comparators {
            let major = version.major();
            if *operator == Operator::Equal || operator.is_lower_bound() {
                low = low.max(major);
            }
            // Nothing with the same first number lies below `2.0.0-0`.
            let is_first = version.has_lowest_prerelease() && (version.minor(), version.patch()) == (0, 0);
            if *operator == Operator::Less && is_first {
                high = high.min(major.saturating_sub(1));
            } else if *operator == Operator::Equal || operator.is_upper_bound() {
                high = high.min(major);
            }
        }
        (least, greatest) = (least.min(low), greatest.max(high));
    }
    (least, greatest)
}

/// Whether the version satisfies every comparator and is not a prerelease that none of them names.
fn holds(comparators: &[Comparator], version: &Version, prereleases: Prereleases) -> bool {
    comparators.iter().all(|comparator| comparator.accepts(version))
        && (prereleases == Prereleases::Included
            || !version.is_prerelease()
            || comparators
                .iter()
                .any(|comparator| comparator.version.is_prerelease() && comparator.version.has_same_numbers(version)))
}

impl Comparator {
    /// Compares only; whether a prerelease is wanted at all is for [`holds`].
    fn accepts(&self, version: &Version) -> bool {
        let order = version.precedence(&self.version);
        match self.operator {
            Operator::Equal => order.is_eq(),
            Operator::Greater => order.is_gt(),
            Operator::GreaterOrEqual => order.is_ge(),
            Operator::Less => order.is_lt(),
            Operator::LessOrEqual => order.is_le(),
        }
    }

    /// `<0.0.0-0`, which nothing satisfies.
    fn is_nothing(&self) -> bool {
        self.operator == Operator::Less
            && (self.version.major(), self.version.minor(), self.version.patch()) == (0, 0, 0)
            && self.version.has_lowest_prerelease()
    }
}

impl Operator {
    fn is_lower_bound(self) -> bool {
        matches!(self, Operator::Greater | Operator::GreaterOrEqual)
    }

    fn is_upper_bound(self) -> bool {
        matches!(self, Operator::Less | Operator::LessOrEqual)
    }

    fn text(self) -> &'static str {
        match self {
            Operator::Equal => "",
            Operator::Greater => ">",
            Operator::GreaterOrEqual => ">=",
            Operator::Less => "<",
            Operator::LessOrEqual => "<=",
        }
    }
}

fn canonical(alternatives: &[Comparators]) -> String {
    use fmt::Write;
    let mut text = String::new();
    for (index, comparators) in alternatives.iter().enumerate() {
        if index > 0 {
            text.push_str("||");
        }
        for (index, comparator) in comparators.iter().enumerate() {
            let space = if index > 0 { " " } else { "" };
            write!(text, "{space}{}{}", comparator.operator.text(), comparator.version)
                .expect("a String accepts all text");
        }
    }
    if text.is_empty() {
        text.push('*');
    }
    text
}

impl PartialEq for Range {
    /// Ranges are equal if they have the same comparators in the same order and were read the same way.
    fn eq(&self, other: &Self) -> bool {
        self.reading == other.reading
            && self.alternatives == other.alternatives
            && self.including() == other.including()
    }
}

impl Eq for Range {}

impl fmt::Display for Range {
    /// The canonical text, [`Range::to_canonical`].
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.to_canonical())
    }
}

impl fmt::Debug for Range {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.text, formatter)
    }
}

#[cfg(test)]
mod tests;
