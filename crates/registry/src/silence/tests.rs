//! When a registry is taken for silent, with requests whose answers come in an order of the test's choice.

use super::{Listening, Silences};
use crate::RegistryError;
use crate::tests::Sleeps;
use futures_util::FutureExt;
use gantry_platform::{Clock, HttpError, HttpErrorKind};

const REGISTRY: &str = "https://registry.example/";

fn failed(kind: HttpErrorKind, has_answered: bool) -> Result<(), RegistryError> {
    let source = HttpError { kind, url: REGISTRY.to_owned(), message: "scripted".to_owned(), has_answered };
    Err(RegistryError::Unreachable { package: "a".to_owned(), source })
}

fn no_connection() -> Result<(), RegistryError> {
    failed(HttpErrorKind::Connect, false)
}

fn is_silent(silences: &Silences) -> bool {
    silences.reason(REGISTRY).is_some()
}

#[test]
fn of_many_requests_the_last_failure_makes_a_registry_silent_and_an_answer_ends_it() {
    let silences = Silences::default();
    let requests: Vec<_> = (0..3).map(|_| silences.begin(REGISTRY)).collect();
    for request in requests {
        assert!(!is_silent(&silences), "others are under way");
        request.end(&no_connection(), true);
    }
    assert!(is_silent(&silences));
    assert!(silences.reason("https://other.example/").is_none());
    let request = silences.begin(REGISTRY);
    request.end(&Ok(()), false);
    assert!(!is_silent(&silences));
    silences.begin(REGISTRY).end(&no_connection(), true);
    assert!(!is_silent(&silences), "it has answered in this run");
    silences.forget();
    silences.begin(REGISTRY).end(&no_connection(), true);
    assert!(is_silent(&silences), "it has not in the next one");
    silences.forget();
    assert!(!is_silent(&silences));
}

#[test]
fn what_came_before_a_failure_is_an_answer() {
    let answers = [
        failed(HttpErrorKind::Timeout, true),
        failed(HttpErrorKind::Interrupted, true),
        Err(RegistryError::NotFound { package: "a".to_owned(), url: REGISTRY.to_owned(), status: 404 }),
    ];
    for answer in answers {
        let silences = Silences::default();
        silences.begin(REGISTRY).end(&answer, true);
        silences.begin(REGISTRY).end(&no_connection(), true);
        assert!(!is_silent(&silences), "{answer:?}");
    }
    let silences = Silences::default();
    silences.begin(REGISTRY).end(&failed(HttpErrorKind::Interrupted, false), true);
    assert!(!is_silent(&silences), "somebody was there");
    for kind in [HttpErrorKind::Connect, HttpErrorKind::Timeout, HttpErrorKind::Certificate] {
        let silences = Silences::default();
        silences.begin(REGISTRY).end(&failed(kind, false), true);
        assert!(is_silent(&silences), "{kind:?}");
    }
}

#[test]
fn who_has_no_copy_takes_nobody_for_silent_alone() {
    let silences = Silences::default();
    silences.begin(REGISTRY).end(&no_connection(), false);
    assert!(!is_silent(&silences));
    let (copied, new) = (silences.begin(REGISTRY), silences.begin(REGISTRY));
    copied.end(&no_connection(), true);
    new.end(&no_connection(), false);
    assert!(is_silent(&silences));
}

#[test]
fn a_request_that_is_given_up_is_waited_for_by_nobody() {
    let silences = Silences::default();
    drop(silences.begin(REGISTRY));
    silences.begin(REGISTRY).end(&no_connection(), true);
    assert!(is_silent(&silences));
}

/// Waits without end.
struct Endless(Sleeps);

impl Clock for Endless {
    fn monotonic_milliseconds(&self) -> f64 {
        self.0.monotonic_milliseconds()
    }

    fn unix_milliseconds(&self) -> f64 {
        self.0.unix_milliseconds()
    }

    async fn sleep(&self, _: f64) {
        std::future::pending().await
    }
}

#[test]
fn waits_end_when_a_registry_turns_out_to_be_silent() {
    let (silences, clock) = (Silences::default(), Endless(Sleeps::default()));
    let listening = |registry| Listening { clock: &clock, silences: &silences, registry };
    let (patient, impatient) = (listening(None), listening(Some(REGISTRY)));
    let (mut to_the_end, mut until_silent) = (Box::pin(patient.sleep(1e9)), Box::pin(impatient.sleep(1e9)));
    assert!((&mut to_the_end).now_or_never().is_none() && (&mut until_silent).now_or_never().is_none());
    silences.begin(REGISTRY).end(&no_connection(), true);
    assert!((&mut to_the_end).now_or_never().is_none());
    assert!(until_silent.now_or_never().is_some());
}
