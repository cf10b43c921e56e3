//! When to ask again, and after how long.

use crate::RegistryError;
use crate::freshness::seconds_of_date;
use crate::lane::Held;
use crate::underway::Underway;
use core::future::Future;
use core::hash::BuildHasher;
use gantry_manifest::Config;
use gantry_platform::{Clock, Ending, Http, HttpError, HttpErrorKind, HttpRequest, HttpResponse, Span, Work};
use rustc_hash::FxBuildHasher;

/// How often and how patiently a request is repeated.
///
/// npm's `fetch-retries`, `fetch-retry-factor`, `fetch-retry-mintimeout`, `fetch-retry-maxtimeout` and `fetch-timeout`
/// where they are set. The defaults wait less than npm's ten seconds before the first repetition: somebody is looking.
#[derive(Debug, Clone, Copy)]
pub struct RetryPolicy {
    /// Repetitions after the first attempt.
    pub retries: u32,
    /// By what each wait is longer than the one before.
    pub factor: f64,
    /// The first wait, in milliseconds.
    pub min_wait_milliseconds: f64,
    /// No wait is longer, in milliseconds; also the cap on a registry's `Retry-After`.
    pub max_wait_milliseconds: f64,
    /// Longest time without progress before an attempt is given up, in milliseconds.
    pub timeout_milliseconds: u64,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            retries: 3,
            factor: 4.0,
            min_wait_milliseconds: 250.0,
            max_wait_milliseconds: 60_000.0,
            timeout_milliseconds: 30_000,
        }
    }
}

impl RetryPolicy {
    /// What is set, and of settings that are no numbers, whose defaults are used, that they are none.
    pub fn of_config(config: &Config) -> (Self, Vec<String>) {
        let mut unclear = Vec::new();
        let mut number = |key: &str| {
            let text = config.get(key).filter(|text| !text.is_empty() && *text != "null")?;
            let number = text.parse::<f64>().ok().filter(|value| *value >= 0.0);
            if number.is_none() {
                unclear.push(format!("{key}={text} is not a number: its default is used"));
            }
            number
        };
        let mut retry = Self::default();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "negative numbers are filtered out"
        )]
        {
            retry.retries = number("fetch-retries").map_or(retry.retries, |value| value as u32);
            // 0 stands for the default, as in npm-registry-fetch.
            let timeout = number("fetch-timeout").filter(|value| *value >= 1.0);
            retry.timeout_milliseconds = timeout.map_or(retry.timeout_milliseconds, |value| value as u64);
        }
        retry.factor = number("fetch-retry-factor").unwrap_or(retry.factor);
        retry.min_wait_milliseconds = number("fetch-retry-mintimeout").unwrap_or(retry.min_wait_milliseconds);
        retry.max_wait_milliseconds = number("fetch-retry-maxtimeout").unwrap_or(retry.max_wait_milliseconds);
        (retry, unclear)
    }

    /// How long to wait before repetition `attempt` (from 0). `jitter` in 0..1 spreads clients that failed together.
    pub fn wait(&self, attempt: u32, retry_after_milliseconds: Option<f64>, jitter: f64) -> f64 {
        let exponent = i32::try_from(attempt).unwrap_or(i32::MAX);
        let backoff = self.min_wait_milliseconds * self.factor.powi(exponent) * (1.0 + jitter);
        retry_after_milliseconds.map_or(backoff, |asked| asked.max(backoff)).min(self.max_wait_milliseconds)
    }
}

/// Whether a status may be different the next time (npm's `make-fetch-happen`, plus 425).
pub(crate) fn status_is_transient(status: u16) -> bool {
    matches!(status, 408 | 420 | 425 | 429) || status >= 500
}

/// `Retry-After` in milliseconds from `now`, which is milliseconds since 1970. A moment is compared with the registry's own
/// clock, where it says what that shows.
fn retry_after(response: &HttpResponse, now: f64) -> Option<f64> {
    let asked = response.header("retry-after")?.trim();
    if let Ok(seconds) = asked.parse::<f64>() {
        return (seconds >= 0.0).then_some(seconds * 1000.0);
    }
    let now = response.header("date").and_then(seconds_of_date).map_or(now, |seconds| seconds * 1000.0);
    Some((seconds_of_date(asked)? * 1000.0 - now).max(0.0))
}

/// A number in 0..1 that differs for addresses and attempts, and for clients that began at different moments: none of these
/// alone will do, since all requests of one client fail together, and clocks in browsers may show whole milliseconds only.
fn jitter(url: &str, attempt: u32, clock: &impl Clock) -> f64 {
    let now = (clock.monotonic_milliseconds().to_bits(), clock.unix_milliseconds().to_bits());
    let hash = FxBuildHasher.hash_one((url, attempt, now));
    // The lower half is the better mixed one, and on 32 bits all there is.
    #[expect(clippy::cast_possible_truncation, reason = "it is cut off on purpose")]
    let bits = hash as u32;
    f64::from(bits) / (f64::from(u32::MAX) + 1.0)
}

/// A failure after which asking again may succeed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Repeatable {
    /// How long the registry asked to wait, in milliseconds.
    pub after_milliseconds: Option<f64>,
}

/// Who repeats a request.
#[derive(Debug)]
pub struct Retries<'a, C, S> {
    /// How often and how patiently.
    pub policy: &'a RetryPolicy,
    /// What it waits by.
    pub clock: &'a C,
    /// The address that is asked.
    pub url: &'a str,
    /// What is held while it is asked, and is nobody's during the waits.
    pub slot: &'a S,
}

impl<C: Clock, S: Held> Retries<'_, C, S> {
    /// Runs `attempt` until it succeeds, fails in a way that is not worth repeating, or the policy is exhausted. `note` is
    /// told of each wait in between, those for a slot included.
    pub async fn run<T, E, F: Future<Output = Result<T, E>>>(
        &self,
        repeatable: impl Fn(&E) -> Option<Repeatable>,
        note: impl Fn(Span),
        mut attempt: impl FnMut() -> F,
    ) -> Result<T, E> {
        let Self { policy, clock, url, slot } = *self;
        let mut tried = 0;
        loop {
            let failed = match attempt().await {
                Err(error) if tried < policy.retries => error,
                other => return other,
            };
            let Some(Repeatable { after_milliseconds }) = repeatable(&failed) else { return Err(failed) };
            let wait = policy.wait(tried, after_milliseconds, jitter(url, tried, clock));
            let waiting = Underway::new(clock, Work::Backoff, &note);
            slot.given_up_during(clock.sleep(wait)).await;
            waiting.done(|_| ());
            tried += 1;
        }
    }
}

/// Sends a request once and turns what is neither a 200 (or 203) nor the 304 that was asked for into an error about `package`.
/// `note` is told how it went, also where nobody waits for it any longer.
pub(crate) async fn ask<H: Http, C: Clock>(
    http: &H,
    clock: &C,
    request: HttpRequest,
    package: &str,
    work: Work,
    note: impl Fn(Span),
) -> Result<HttpResponse, RegistryError> {
    let url = request.url.clone();
    let is_conditional = request.headers.iter().any(|(name, _)| name.starts_with("if-"));
    let underway = Underway::new(clock, work, &note);
    let answer = http.send(request).await;
    let ended = clock.monotonic_milliseconds();
    underway.done(|span| match &answer {
        Ok(HttpResponse { status, body, sent_after, answered_after, decoded_in, .. }) => {
            // What it waited here, and what was done with it here, is not the network's.
            span.queued = *sent_after;
            span.began += sent_after;
            span.answered = span.began + answered_after;
            span.ended = (span.ended - decoded_in).max(span.answered);
            (span.status, span.bytes) = (*status, body.len() as u64);
        }
        Err(error) => span.ending = Ending::Failed(error.kind),
    });
    if let Ok(HttpResponse { body, decoded_in, .. }) = &answer
        && *decoded_in > 0.0
    {
        note(Span::of(Work::Inflate, ended - decoded_in, ended, body.len() as u64));
    }
    let response = answer.map_err(|source| RegistryError::Unreachable { package: package.to_owned(), source })?;
    // npm takes all below 400.
    if response.has_content() {
        return Ok(response);
    }
    let package = package.to_owned();
    match response.status {
        404 | 405 | 410 => Err(RegistryError::NotFound { package, url, status: response.status }),
        304 if is_conditional => Ok(response),
        // It is a proxy on the way that says so, of whom nothing is known here.
        407 => {
            let message = "the proxy on the way wants a name and a password that it knows (407)".to_owned();
            let source = HttpError { kind: HttpErrorKind::Proxy, url, message, has_answered: false };
            Err(RegistryError::Unreachable { package, source })
        }
        401 | 403 => Err(RegistryError::Unauthorized { package, url, status: response.status }),
        status => {
            let retry_after_milliseconds = retry_after(&response, clock.unix_milliseconds());
            Err(RegistryError::Status { package, url, status, retry_after_milliseconds })
        }
    }
}

#[cfg(test)]
mod tests;
