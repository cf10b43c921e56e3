//! From text to comparators. `semver` rewrites the text step by step: hyphen ranges, spaces behind operators, carets,
//! tildes, x-parts, stars. Here the text is cut into tokens at once and each token becomes comparators directly; only
//! the rare forms whose meaning hangs on the rewritten text itself (hyphens, spaces behind operators) are rewritten.

mod rewrite;
mod token;

use std::borrow::Cow;

use super::{Alternatives, Comparator, Comparators, Prereleases};
use crate::{text::is_space, version::Reading};

/// How a range is read.
#[derive(Clone, Copy, Debug)]
struct Options {
    reading: Reading,
    prereleases: Prereleases,
}

/// The text is no range: a number is too large, or strict reading met something that is no comparator.
#[derive(Debug)]
struct NotARange;

/// Reads a whole range; `None` if it is not one.
pub(super) fn alternatives(text: &str, reading: Reading, prereleases: Prereleases) -> Option<Alternatives> {
    let options = Options { reading, prereleases };
    let text = single_spaces(text);
    let mut found: Vec<Comparators> = Vec::with_capacity(1);
    for part in text.split("||") {
        found.extend(alternative(part.trim_matches(' '), options).ok()?);
    }
    if found.len() > 1 {
        let is_nothing = |comparators: &Comparators| comparators.first().is_some_and(Comparator::is_nothing);
        if found.iter().all(is_nothing) {
            found.truncate(1);
        } else {
            found.retain(|comparators| !is_nothing(comparators));
        }
        if let Some(any) = found.iter().position(|comparators| comparators.is_empty()) {
            found = vec![found.swap_remove(any)];
        }
    }
    (!found.is_empty()).then(|| found.into_boxed_slice())
}

/// Trims, and makes every run of white space one space.
fn single_spaces(text: &str) -> Cow<'_, str> {
    let text = crate::text::trim(text);
    let is_plain =
        |bytes: &[u8]| bytes[0] >= b' ' && bytes[0] < 0x80 && !(bytes[0] == b' ' && bytes.get(1) == Some(&b' '));
    if (0..text.len()).all(|index| is_plain(&text.as_bytes()[index..])) {
        return Cow::Borrowed(text);
    }
    let mut joined = String::with_capacity(text.len());
    for word in text.split(is_space).filter(|word| !word.is_empty()) {
        if !joined.is_empty() {
            joined.push(' ');
        }
        joined.push_str(word);
    }
    Cow::Owned(joined)
}

/// Reads what stands between two `||`; `Ok(None)` if loose reading drops all of it.
fn alternative(text: &str, options: Options) -> Result<Option<Comparators>, NotARange> {
    let text = rewrite::without_build(text);
    let text = rewrite::hyphen(text, options);
    let text = rewrite::joined_operators(text);
    let mut collected = Collected { comparators: Vec::with_capacity(2), any: false };
    let last = text.bytes().filter(|byte| *byte == b' ').count();
    for (index, token) in text.split(' ').enumerate() {
        match token::read(token, options, &mut collected)? {
            // A star leaves nothing behind, and nothing between two other tokens disappears with its spaces.
            token::Outcome::Blank => collected.any |= index == 0 || index == last,
            token::Outcome::Comparators => {}
            token::Outcome::Unreadable if options.reading == Reading::Strict => return Err(NotARange),
            token::Outcome::Unreadable => {}
        }
    }
    Ok(collected.finish())
}

/// The comparators of one alternative while it is read.
struct Collected {
    comparators: Vec<Comparator>,
    /// Whether something stood for "any version".
    any: bool,
}

impl Collected {
    fn push(&mut self, comparator: Comparator) {
        if !self.comparators.contains(&comparator) {
            self.comparators.push(comparator);
        }
    }

    fn finish(mut self) -> Option<Comparators> {
        if let Some(nothing) = self.comparators.iter().position(Comparator::is_nothing) {
            return Some(Box::new([self.comparators.swap_remove(nothing)]));
        }
        (self.any || !self.comparators.is_empty()).then(|| self.comparators.into_boxed_slice())
    }
}
