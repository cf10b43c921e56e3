//! Which version of a package is meant: npm's choice.
//!
//! A tag or an exact version is what it says. For a range, the default tag's version wins when it fits and nothing speaks
//! against it; else the highest version, where one that is not deprecated and accepts this Node and npm comes before one
//! that is or does not. Operating system and processor never steer the choice.

#[cfg(test)]
mod tests;

use crate::error::ResolveError;
use crate::options::ResolveOptions;
use fast_glob::glob_match;
use gantry_manifest::{Packument, Text};
use gantry_spec::{Range, Spec, SpecKind, Version};
use rustc_hash::FxHashMap;
use std::cell::{OnceCell, RefCell};
use std::sync::Arc;

/// A packument and what was worked out about its versions.
#[derive(Debug)]
pub(crate) struct Versions {
    pub(crate) packument: Arc<Packument>,
    /// Milliseconds since 1970; younger versions do not exist.
    before: Option<i64>,
    /// The default tag's version, where nothing but its number can speak against it.
    default: OnceCell<Option<(Box<str>, Option<Version>)>>,
}

impl Versions {
    fn is_old_enough(&self, version: &str) -> bool {
        let Some(before) = self.before else { return true };
        // A version without a date counts as old.
        self.packument.published(version).and_then(milliseconds).is_none_or(|published| published <= before)
    }
}

/// What the choice depends on.
#[derive(Debug)]
pub(crate) struct Picker {
    node: Engine,
    npm: Engine,
    default_tag: String,
    /// Milliseconds since 1970; younger versions do not exist.
    before: Option<i64>,
    /// Names of packages, and patterns of names, of which all versions exist.
    ageless: Vec<String>,
}

/// What packages run on, and what is known of the ranges that they name.
#[derive(Debug)]
struct Engine {
    version: Option<Version>,
    fits: RefCell<FxHashMap<String, bool>>,
}

impl Engine {
    fn new(version: &str) -> Self {
        Self { version: Version::parse(version), fits: RefCell::default() }
    }

    /// Whether it fits the range; an unknown version fits every range, no version an invalid one.
    fn is_accepted_by(&self, range: &str) -> bool {
        let Some(version) = &self.version else { return true };
        if range.is_empty() {
            return true;
        }
        let mut known = self.fits.borrow_mut();
        if let Some(&fits) = known.get(range) {
            return fits;
        }
        let fits = Range::parse(range).is_some_and(|range| range.satisfied_by_including_prerelease(version));
        known.insert(range.to_owned(), fits);
        fits
    }
}

/// Why there is no choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoPick {
    /// No version is what was asked for.
    Target,
    /// There are no versions at all.
    Empty,
}

/// The version that a tag, version or range of `name` means, by npm's choice; `None` where there is none.
///
/// # Errors
/// A `before` that is no date.
pub fn pick_version(
    packument: Arc<Packument>,
    name: &str,
    spec: &Spec,
    options: &ResolveOptions,
) -> Result<Option<String>, ResolveError> {
    let picker = Picker::new(options, cutoff(options)?);
    Ok(picker.pick(&picker.versions(name, packument), spec).ok())
}

/// `before` in milliseconds since 1970.
pub(crate) fn cutoff(options: &ResolveOptions) -> Result<Option<i64>, ResolveError> {
    let Some(text) = &options.before else { return Ok(None) };
    milliseconds(text).map(Some).ok_or_else(|| ResolveError::InvalidDate { text: text.clone() })
}

/// Whether a version accepts this Node and npm, and whether it is not deprecated.
type Rank = (bool, bool);

/// The best of versions looked at from the highest down.
#[derive(Debug, Default)]
struct Best<'a>(Option<(Rank, &'a str)>);

impl<'a> Best<'a> {
    /// Takes a version into account; true if none after it can be better.
    fn is_settled_by(&mut self, text: &'a str, rank: Rank) -> bool {
        if self.0.is_none_or(|(known, _)| rank > known) {
            self.0 = Some((rank, text));
        }
        rank == (true, true)
    }

    fn text(self) -> Option<&'a str> {
        self.0.map(|(_, text)| text)
    }
}

impl Picker {
    pub(crate) fn new(options: &ResolveOptions, before: Option<i64>) -> Self {
        Self {
            node: Engine::new(&options.target.node_version),
            npm: Engine::new(&options.target.npm_version),
            default_tag: options.default_tag.clone(),
            before,
            ageless: options.before_exclude.clone(),
        }
    }

    /// Whether it depends on when versions were published.
    pub(crate) fn has_before(&self) -> bool {
        self.before.is_some()
    }

    /// The version that a specifier names, as registries write it; `None` of a tag or range.
    pub(crate) fn exact_version(spec: &Spec) -> Option<String> {
        let SpecKind::Version(version) = &spec.kind else { return None };
        let text = version.to_string();
        Some(text.split('+').next().unwrap_or(&text).to_owned())
    }

    /// A packument to pick from; `name` is the one that the registry was asked for, whatever the dependency is called.
    pub(crate) fn versions(&self, name: &str, packument: Arc<Packument>) -> Versions {
        // A pattern never takes in what it does not name: an exclamation mark in front is only that.
        let names = |pattern: &String| pattern == name || (!pattern.starts_with('!') && glob_match(pattern, name));
        let before = self.before.filter(|_| !self.ageless.iter().any(names));
        Versions { packument, before, default: OnceCell::new() }
    }

    /// Chooses; `spec` is a tag, version or range.
    pub(crate) fn pick(&self, versions: &Versions, spec: &Spec) -> Result<String, NoPick> {
        let packument = &*versions.packument;
        let known = |text: &str| packument.has_version(text).then(|| text.to_owned()).ok_or(NoPick::Target);
        match &spec.kind {
            SpecKind::Tag(tag) => {
                let version = packument.dist_tag(tag).ok_or(NoPick::Target)?;
                if versions.is_old_enough(version) {
                    return known(version);
                }
                let range = Range::parse(&format!("<={version}")).ok_or(NoPick::Target)?;
                self.pick_from_range(versions, &range, false)
            }
            SpecKind::Version(_) => {
                let text = Self::exact_version(spec).filter(|text| versions.is_old_enough(text));
                text.map_or(Err(NoPick::Target), |text| known(&text))
            }
            SpecKind::Range(range) => self.pick_from_range(versions, range, matches!(spec.raw.trim(), "" | "*")),
            _ => Err(NoPick::Target),
        }
    }

    fn pick_from_range(&self, versions: &Versions, range: &Range, any: bool) -> Result<String, NoPick> {
        let packument = &*versions.packument;
        if let Some((text, version)) = versions.default.get_or_init(|| self.default_version(versions))
            && (any || version.as_ref().is_some_and(|version| range.satisfied_by(version)))
        {
            return Ok(text.to_string());
        }
        if !packument.versions().any(|version| versions.is_old_enough(version)) {
            return Err(NoPick::Empty);
        }
        match packument.versions_by_precedence() {
            Some(ordered) => self.first_in_order(versions, ordered, range),
            None => self.highest_of_all(versions, range),
        }
        .map(str::to_owned)
        .ok_or(NoPick::Target)
    }

    /// Looks from the highest version down, and no further than needed.
    fn first_in_order<'a>(
        &self,
        versions: &Versions,
        ordered: impl Iterator<Item = &'a str>,
        range: &Range,
    ) -> Option<&'a str> {
        let mut best = Best::default();
        for text in ordered.filter(|text| range.may_hold(text)) {
            let fits = range.satisfied_by(&Version::parse(text)?) && versions.is_old_enough(text);
            if fits && best.is_settled_by(text, self.rank(&versions.packument, text)) {
                break;
            }
        }
        best.text()
    }

    /// Looks at all versions of a packument that does not know their order.
    fn highest_of_all<'a>(&self, versions: &'a Versions, range: &Range) -> Option<&'a str> {
        let packument = &*versions.packument;
        let fits = |version: &Version, text: &str| range.satisfied_by(version) && versions.is_old_enough(text);
        let possible = || packument.versions().filter(|text| range.may_hold(text));
        // Mostly the highest will do: of the others no more is read than tells that they are lower. Registries list versions
        // in order of their publication, so going backwards the first that fits is rarely far from the highest.
        let mut highest: Option<(Version, &'a str)> = None;
        for text in possible().rev() {
            if highest.as_ref().is_some_and(|(known, _)| known.is_surely_above(text)) {
                continue;
            }
            let Some(version) = Version::parse(text) else { continue };
            // Of versions of equal precedence the one that is listed first is taken.
            let is_higher = highest.as_ref().is_none_or(|(known, _)| version.precedence(known).is_ge());
            if is_higher && fits(&version, text) {
                highest = Some((version, text));
            }
        }
        let (_, highest) = highest?;
        let mut best = Best::default();
        if best.is_settled_by(highest, self.rank(packument, highest)) {
            return best.text();
        }
        let parsed = possible().filter_map(|text| Some((Version::parse(text)?, text)));
        let mut fitting: Vec<(Version, &str)> = parsed.filter(|(version, text)| fits(version, text)).collect();
        fitting.sort_by(|a, b| b.0.precedence(&a.0));
        for (_, text) in fitting {
            if best.is_settled_by(text, self.rank(packument, text)) {
                break;
            }
        }
        best.text()
    }

    /// What speaks for a version besides its number.
    fn rank(&self, packument: &Packument, version: &str) -> Rank {
        let (engines, is_deprecated) = packument.engines_and_deprecation(version);
        (self.accepts_all(&engines), !is_deprecated)
    }

    /// The default tag's version, unless it is too young, deprecated or for other engines.
    fn default_version(&self, versions: &Versions) -> Option<(Box<str>, Option<Version>)> {
        let packument = &*versions.packument;
        let text = packument.dist_tag(&self.default_tag)?;
        let fine =
            packument.has_version(text) && versions.is_old_enough(text) && self.rank(packument, text) == (true, true);
        fine.then(|| (text.into(), Version::parse(text)))
    }

    /// Whether a manifest's `engines` accept this Node and npm.
    pub(crate) fn accepts_all(&self, engines: &[(Text, Text)]) -> bool {
        engines.iter().all(|(name, range)| match name.as_str() {
            "node" => self.node.is_accepted_by(range),
            "npm" => self.npm.is_accepted_by(range),
            _ => true,
        })
    }
}

/// Milliseconds since 1970 of `2025-01-31`, with or without a time, fractions and an offset.
pub(crate) fn milliseconds(text: &str) -> Option<i64> {
    let text = text.trim();
    let (date, time) = match text.split_once(['T', ' ']) {
        Some((date, time)) => (date, Some(time)),
        None => (text, None),
    };
    let mut parts = date.split('-').map(str::parse::<i64>);
    let (year, month, day) = (parts.next()?.ok()?, parts.next()?.ok()?, parts.next()?.ok()?);
    if parts.next().is_some() || !(1..=12).contains(&month) || !(1..=31).contains(&day) || !(0..=9999).contains(&year) {
        return None;
    }
    let mut result = days_since_1970(year, month, day) * 86_400_000;
    if let Some(time) = time {
        let (clock, offset) = match time.find(['Z', 'z', '+', '-']) {
            Some(position) => (&time[..position], offset_minutes(&time[position..])?),
            None => (time, 0),
        };
        let mut parts = clock.split(':');
        let hours = parts.next()?.parse::<i64>().ok().filter(|hours| (0..=24).contains(hours))?;
        let minutes = parts.next()?.parse::<i64>().ok().filter(|minutes| (0..60).contains(minutes))?;
        let seconds =
            parts.next().unwrap_or("0").parse::<f64>().ok().filter(|seconds| (0.0..61.0).contains(seconds))?;
        result += (hours * 60 + minutes - offset) * 60_000 + (seconds * 1000.0).round() as i64;
    }
    Some(result)
}

fn offset_minutes(text: &str) -> Option<i64> {
    let sign = match text.chars().next()? {
        '+' => 1,
        '-' => -1,
        _ => return (text.len() == 1).then_some(0),
    };
    let digits: String = text[1..].chars().filter(|character| *character != ':').collect();
    let number = digits.parse::<i64>().ok().filter(|_| digits.len() == 4)?;
    Some(sign * (number / 100 * 60 + number % 100))
}

/// Days of the Gregorian calendar, counted in years that start in March so that leap days come last.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}
