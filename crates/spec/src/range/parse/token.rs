//! One token of a range (no spaces in it) becomes none, one or two comparators.

use super::{Collected, NotARange, Options};
use crate::{
    range::{Comparator, Operator, Prereleases},
    version::{LARGEST_NUMBER, LONGEST_TEXT, Partial, Reading, Version, number, partial},
};

/// What became of a token.
pub(super) enum Outcome {
    /// It was added to what is collected.
    Comparators,
    /// It allows everything and leaves no text.
    Blank,
    /// It is no comparator.
    Unreadable,
}

/// One number of a comparator's version.
#[derive(Clone, Copy)]
enum Digits<'a> {
    /// As written.
    Written(&'a str),
    /// One more than what is written.
    Next(&'a str),
    Zero,
}

use Digits::{Next, Written, Zero};

/// Reads a token into `collected`.
pub(super) fn read(token: &str, options: Options, collected: &mut Collected) -> Result<Outcome, NotARange> {
    let Some(&first) = token.as_bytes().first() else { return Ok(Outcome::Blank) };
    let mut target = Target { options, collected };
    match first {
        b'^' => match partial(&token[1..], options.reading) {
            Some(found) => target.caret(found),
            None => Ok(Outcome::Unreadable),
        },
        b'~' => {
            let rest = &token[1..];
            match partial(rest.strip_prefix('>').unwrap_or(rest), options.reading) {
                Some(found) => target.tilde(found),
                None => Ok(Outcome::Unreadable),
            }
        }
        _ => {
            let (operator, rest) = split_operator(token);
            match partial(rest, options.reading) {
                Some(found) => target.comparison(operator, found, rest.len()),
                None => target.without_star(token),
            }
        }
    }
}

/// `<`, `>`, `<=`, `>=` and `=` (also none) at the start of a token.
fn split_operator(token: &str) -> (Operator, &str) {
    match token.as_bytes() {
        [b'>', b'=', ..] => (Operator::GreaterOrEqual, &token[2..]),
        [b'<', b'=', ..] => (Operator::LessOrEqual, &token[2..]),
        [b'>', ..] => (Operator::Greater, &token[1..]),
        [b'<', ..] => (Operator::Less, &token[1..]),
        [b'=', ..] => (Operator::Equal, &token[1..]),
        _ => (Operator::Equal, token),
    }
}

/// A part that is written and is no placeholder.
fn written(part: Option<&str>) -> Option<&str> {
    part.filter(|part| !is_placeholder(part))
}

fn is_placeholder(part: &str) -> bool {
    matches!(part, "x" | "X" | "*")
}

struct Target<'a> {
    options: Options,
    collected: &'a mut Collected,
}

impl Target<'_> {
    fn includes_prereleases(&self) -> bool {
        self.options.prereleases == Prereleases::Included
    }

    /// The prerelease of a lower bound that was written without one: the lowest, if prereleases are included.
    fn lowest(&self) -> Option<&'static str> {
        self.includes_prereleases().then_some("0")
    }

    fn caret(&mut self, found: Partial<'_>) -> Result<Outcome, NotARange> {
        let lowest = self.lowest();
        let Some(major) = written(Some(found.major)) else { return Ok(Outcome::Blank) };
        let next_major = [Next(major), Zero, Zero];
        let Some(minor) = written(found.minor) else {
            return self.between([Written(major), Zero, Zero], lowest, next_major);
        };
        // Only the text "0" is zero here: `^00.1.2` goes up to `1.0.0`.
        let next_minor = [Written(major), Next(minor), Zero];
        let Some(patch) = written(found.patch) else {
            let upper = if major == "0" { next_minor } else { next_major };
            return self.between([Written(major), Written(minor), Zero], lowest, upper);
        };
        let upper = match (major, minor) {
            ("0", "0") => [Written(major), Written(minor), Next(patch)],
            ("0", _) => next_minor,
            _ => next_major,
        };
        self.between([Written(major), Written(minor), Written(patch)], found.prerelease, upper)
    }

    fn tilde(&mut self, found: Partial<'_>) -> Result<Outcome, NotARange> {
        let lowest = self.lowest();
        let Some(major) = written(Some(found.major)) else { return Ok(Outcome::Blank) };
        let Some(minor) = written(found.minor) else {
            return self.between([Written(major), Zero, Zero], lowest, [Next(major), Zero, Zero]);
        };
        let upper = [Written(major), Next(minor), Zero];
        match written(found.patch) {
            None => self.between([Written(major), Written(minor), Zero], lowest, upper),
            Some(patch) => self.between([Written(major), Written(minor), Written(patch)], found.prerelease, upper),
        }
    }

    /// A version or a partial one behind an operator or none; `length` is that of the text without the operator.
    fn comparison(&mut self, operator: Operator, found: Partial<'_>, length: usize) -> Result<Outcome, NotARange> {
        let lowest = self.lowest();
        let minor = written(found.minor);
        let patch = written(found.patch);
        let has_placeholder_before_number =
            (is_placeholder(found.major) && minor.is_some()) || (minor.is_none() && patch.is_some());
        if has_placeholder_before_number {
            return Ok(Outcome::Unreadable);
        }
        let Some(major) = written(Some(found.major)) else {
            return match operator {
                Operator::Greater | Operator::Less => self.add(Operator::Less, [Zero; 3], Some("0"), 0),
                _ => Ok(Outcome::Blank),
            };
        };
        let (Some(minor), Some(patch)) = (minor, patch) else {
            let here = [Written(major), minor.map_or(Zero, Written), Zero];
            let next = match minor {
                Some(minor) => [Written(major), Next(minor), Zero],
                None => [Next(major), Zero, Zero],
            };
            return match operator {
                Operator::Equal => self.between(here, lowest, next),
                Operator::Greater => self.add(Operator::GreaterOrEqual, next, lowest, 0),
                Operator::GreaterOrEqual => self.add(Operator::GreaterOrEqual, here, lowest, 0),
                Operator::Less => self.add(Operator::Less, here, Some("0"), 0),
                Operator::LessOrEqual => self.add(Operator::Less, next, Some("0"), 0),
            };
        };
        if self.options.reading == Reading::Strict && !found.has_plain_prefix() {
            return Ok(Outcome::Unreadable);
        }
        let numbers = [Written(major), Written(minor), Written(patch)];
        if found.prefix.is_empty() {
            return self.add(operator, numbers, found.prerelease, length);
        }
        // `>=v0.0.0` is not the text that stands for everything.
        self.add_comparator(operator, numbers, found.prerelease, length)
    }

    /// A token that is no partial version may become a full one when its first star is taken out.
    fn without_star(&mut self, token: &str) -> Result<Outcome, NotARange> {
        let Some(star) = token.find('*') else { return Ok(Outcome::Unreadable) };
        let mut start = token[..star].strip_suffix('=').map_or(star, str::len);
        start = token[..start].strip_suffix(['<', '>']).map_or(start, str::len);
        let rest = [&token[..start], &token[star + 1..]].concat();
        let (operator, version) = split_operator(&rest);
        match partial(version, self.options.reading) {
            Some(found) if written(Some(found.major)).and(written(found.minor)).and(written(found.patch)).is_some() => {
                self.comparison(operator, found, version.len())
            }
            _ => Ok(Outcome::Unreadable),
        }
    }

    fn between(
        &mut self,
        lower: [Digits<'_>; 3],
        prerelease: Option<&str>,
        upper: [Digits<'_>; 3],
    ) -> Result<Outcome, NotARange> {
        self.add(Operator::GreaterOrEqual, lower, prerelease, 0)?;
        self.add(Operator::Less, upper, Some("0"), 0)
    }

    /// Adds a comparator, unless it is the lower bound that everything satisfies.
    fn add(
        &mut self,
        operator: Operator,
        numbers: [Digits<'_>; 3],
        prerelease: Option<&str>,
        length: usize,
    ) -> Result<Outcome, NotARange> {
        let is_zero = |digits: &Digits<'_>| matches!(digits, Zero | Written("0"));
        if operator == Operator::GreaterOrEqual && prerelease == self.lowest() && numbers.iter().all(is_zero) {
            self.collected.any = true;
            return Ok(Outcome::Comparators);
        }
        self.add_comparator(operator, numbers, prerelease, length)
    }

    fn add_comparator(
        &mut self,
        operator: Operator,
        numbers: [Digits<'_>; 3],
        prerelease: Option<&str>,
        length: usize,
    ) -> Result<Outcome, NotARange> {
        // JavaScript writes such a number with an exponent, and the text is no version any more. (With luck it is one
        // of another kind: `>1.1234567890123456789012` is `>=1.1.234567890123457-e` to npm. That is not followed.)
        if numbers.iter().any(|digits| matches!(digits, Next(text) if next(text) >= 1e21)) {
            return Ok(Outcome::Unreadable);
        }
        if length > LONGEST_TEXT || prerelease.is_some_and(|text| text.len() + written_length(&numbers) > LONGEST_TEXT)
        {
            return Err(NotARange);
        }
        let mut values = [0; 3];
        for (value, digits) in values.iter_mut().zip(numbers) {
            *value = match digits {
                Written(text) => number(text).ok_or(NotARange)?,
                Next(text) => number(text).filter(|number| *number < LARGEST_NUMBER).ok_or(NotARange)? + 1,
                Zero => 0,
            };
        }
        self.collected.push(Comparator { operator, version: Version::new(values, prerelease) });
        Ok(Outcome::Comparators)
    }
}

/// The number behind the written one, as JavaScript computes it.
pub(super) fn next(digits: &str) -> f64 {
    digits.parse::<f64>().map_or(f64::INFINITY, |value| value + 1.0)
}

/// The length of `1.2.3-` with these numbers.
fn written_length(numbers: &[Digits<'_>; 3]) -> usize {
    numbers.iter().map(|digits| if let Written(text) = digits { text.len() + 1 } else { 2 }).sum()
}
