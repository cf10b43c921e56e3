//! How long an answer may be used, as npm's cache reckons (`http-cache-semantics` for a cache of one user).

use gantry_platform::HttpResponse;
use gantry_store::mirror::{Freshness, Validators};

/// For how long what is called immutable and says nothing else is fresh.
const IMMUTABLE_SECONDS: f64 = 24.0 * 3600.0;
/// How much younger than its last change an answer must be for the date of that change to tell this state from the next, in
/// milliseconds: dates have seconds only, and two clocks are compared (RFC 9110, section 8.8.2.2).
const DATE_PRECISION: u64 = 60_000;
/// Which part of its age a document that only says when it was changed is expected to stay as it is.
const HEURISTIC_PART: f64 = 0.1;

/// What an answer's headers say; `None` if it must not be kept. `now` is in milliseconds since 1970.
pub(crate) fn freshness_of(response: &HttpResponse, now: f64) -> Option<Freshness> {
    let directives = Directives(list(response, "cache-control"));
    if directives.has("no-store") {
        return None;
    }
    let age = response.header("age").and_then(|age| age.trim().parse::<f64>().ok()).unwrap_or(0.0);
    Some(Freshness {
        answered: milliseconds(now - age.max(0.0) * 1000.0),
        lifetime: milliseconds(lifetime_seconds(response, &directives, now) * 1000.0),
        must_revalidate: directives.has("must-revalidate"),
    })
}

/// Whether the headers say anything about how long the answer is good for.
pub(crate) fn says_freshness(response: &HttpResponse) -> bool {
    ["cache-control", "expires"].iter().any(|name| response.header(name).is_some())
}

/// Whether an answer is still good. What must be revalidated never is: so npm takes that word, and registries that send it
/// count on it.
pub(crate) fn is_fresh(freshness: &Freshness, now: f64) -> bool {
    // A clock that was set back makes answers of the future: those are asked for again.
    let age = milliseconds(now).checked_sub(freshness.answered);
    !freshness.must_revalidate && age.is_some_and(|age| age < freshness.lifetime)
}

/// Whether a document with this `last-modified`, answered then, is still the same while it has that date: one that had been
/// changed just before may have been changed again within the second.
pub(crate) fn tells_change(last_modified: &str, freshness: &Freshness) -> bool {
    let changed = seconds_of_date(last_modified).map(|seconds| milliseconds(seconds * 1000.0));
    changed.is_some_and(|changed| freshness.answered.saturating_sub(changed) >= DATE_PRECISION)
}

/// What an answer offers for asking again.
pub(crate) fn validators_of(response: &HttpResponse) -> Validators {
    let header = |name: &str| response.header(name).filter(|value| !value.is_empty()).map(str::to_owned);
    Validators { etag: header("etag"), last_modified: header("last-modified") }
}

/// A header that is a list, which may come in several lines.
fn list(response: &HttpResponse, name: &str) -> String {
    response.header_lines(name).collect::<Vec<_>>().join(", ")
}

fn lifetime_seconds(response: &HttpResponse, directives: &Directives, now: f64) -> f64 {
    let varies_by_anything = || list(response, "vary").split(',').any(|name| name.trim() == "*");
    if directives.has("no-cache") || varies_by_anything() {
        return 0.0;
    }
    if directives.has("max-age") {
        return directives.value("max-age").unwrap_or(0.0).max(0.0);
    }
    let least = if directives.has("immutable") { IMMUTABLE_SECONDS } else { 0.0 };
    let date = |name: &str| response.header(name).and_then(seconds_of_date);
    let answered = date("date").unwrap_or(now / 1000.0);
    if response.header("expires").is_some() {
        return date("expires")
            .filter(|expires| *expires >= answered)
            .map_or(0.0, |expires| least.max(expires - answered));
    }
    let unchanged = date("last-modified").map_or(0.0, |changed| answered - changed);
    least.max(unchanged * HEURISTIC_PART)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "times after 1970, far below 2^53")]
fn milliseconds(value: f64) -> u64 {
    value.max(0.0) as u64
}

/// The directives of `Cache-Control`.
struct Directives(String);

impl Directives {
    fn find(&self, name: &str) -> Option<&str> {
        let mut directives = self.0.split(',').map(|directive| directive.split_once('=').unwrap_or((directive, "")));
        directives
            .find(|(key, _)| key.trim().eq_ignore_ascii_case(name))
            .map(|(_, value)| value.trim().trim_matches('"'))
    }

    fn has(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    fn value(&self, name: &str) -> Option<f64> {
        self.find(name)?.parse().ok()
    }
}

/// Seconds since 1970 of `Sun, 06 Nov 1994 08:49:37 GMT`, the one form that is still sent.
pub(crate) fn seconds_of_date(text: &str) -> Option<f64> {
    const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let mut words = text.trim().strip_suffix(" GMT")?.split_once(", ")?.1.split(' ');
    let day: i64 = words.next()?.parse().ok()?;
    let month = words.next()?;
    let month = 1 + MONTHS.iter().position(|name| *name == month)? as i64;
    let year: i64 = words.next()?.parse().ok().filter(|year| (1970..10_000).contains(year))?;
    let mut clock = words.next()?.split(':').map(str::parse::<i64>);
    let mut part = || clock.next()?.ok();
    let (hours, minutes, seconds) = (part()?, part()?, part()?);
    // Years begin in March here, so that the leap day is the last.
    let (year, month) = if month <= 2 { (year - 1, month + 9) } else { (year, month - 3) };
    let days = year * 365 + year / 4 - year / 100 + year / 400 + (month * 153 + 2) / 5 + day - 719_469;
    #[expect(clippy::cast_precision_loss, reason = "a time before the year 10000")]
    Some((((days * 24 + hours) * 60 + minutes) * 60 + seconds) as f64)
}

#[cfg(test)]
mod tests;
