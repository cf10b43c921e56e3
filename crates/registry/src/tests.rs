//! Addresses, credentials and the retry rules, against a scripted HTTP and a clock that only counts.

use crate::{
    CacheMode, FetchedTarball, Refusal, RegistryClient, RegistryError, RegistrySettings, ReplaceHost, RetryPolicy,
    TarballRequest, fetch_tarball,
};
use bytes::Bytes;
use futures_util::FutureExt;
use gantry_archive::Integrity;
use gantry_manifest::{Config, NpmrcValue};
use gantry_platform::{Clock, Ending, Http, HttpError, HttpErrorKind, HttpRequest, HttpResponse, Span, Work};
use std::cell::RefCell;
use std::rc::Rc;

/// Answers in order, and remembers what was asked.
#[derive(Clone, Default)]
pub(crate) struct Script {
    answers: Rc<RefCell<Vec<Result<HttpResponse, HttpErrorKind>>>>,
    asked: Rc<RefCell<Vec<HttpRequest>>>,
}

impl Script {
    pub(crate) fn new(answers: Vec<Result<HttpResponse, HttpErrorKind>>) -> Self {
        let mut answers = answers;
        answers.reverse();
        Self { answers: Rc::new(RefCell::new(answers)), asked: Rc::default() }
    }

    pub(crate) fn asked(&self) -> Vec<HttpRequest> {
        self.asked.borrow().clone()
    }
}

impl Http for Script {
    async fn send(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let url = request.url.clone();
        self.asked.borrow_mut().push(request);
        let answer = self.answers.borrow_mut().pop().expect("no more requests than the script has answers");
        answer.map_err(|kind| HttpError { kind, url, message: "scripted".to_owned(), has_answered: false })
    }
}

/// Time passes only by sleeping.
#[derive(Clone, Default)]
pub(crate) struct Sleeps(Rc<RefCell<Vec<f64>>>);

impl Clock for Sleeps {
    fn monotonic_milliseconds(&self) -> f64 {
        self.0.borrow().iter().sum::<f64>().floor()
    }

    fn unix_milliseconds(&self) -> f64 {
        self.monotonic_milliseconds()
    }

    async fn sleep(&self, milliseconds: f64) {
        self.0.borrow_mut().push(milliseconds);
    }
}

fn answer(status: u16, body: &str) -> Result<HttpResponse, HttpErrorKind> {
    Ok(HttpResponse {
        status,
        headers: Vec::new(),
        body: Bytes::copy_from_slice(body.as_bytes()),
        ..HttpResponse::default()
    })
}

pub(crate) fn client(
    script: &Script,
    clock: &Sleeps,
    settings: &[(&str, &str)],
    replace_host: ReplaceHost,
) -> RegistryClient<Script, Sleeps> {
    let mut config = Config::new();
    let layer = settings.iter().map(|(key, value)| ((*key).to_owned(), NpmrcValue::Text((*value).to_owned())));
    config.push_layer(layer.collect());
    let settings = RegistrySettings {
        config,
        default_registry: "https://registry.example/npm/".to_owned(),
        replace_host,
        retry: RetryPolicy { retries: 2, min_wait_milliseconds: 100.0, factor: 10.0, ..RetryPolicy::default() },
        cache_mode: CacheMode::Default,
    };
    RegistryClient::new(script.clone(), clock.clone(), settings)
}

pub(crate) fn now<T>(future: impl Future<Output = T>) -> T {
    future.now_or_never().expect("scripted answers never wait")
}

/// Fetches and verifies a tarball; its contents are its body.
pub(crate) fn fetch(
    http: &impl Http,
    clock: &impl Clock,
    request: &TarballRequest,
) -> Result<FetchedTarball<Bytes>, RegistryError> {
    let take = async |body: Bytes| request.verify(&body).map(|()| body).map_err(Refusal::Mismatch);
    now(fetch_tarball(http, clock, request, &(), take))
}

pub(crate) const PACKUMENT: &str =
    r#"{"name":"a","dist-tags":{"latest":"1.0.0"},"versions":{"1.0.0":{"name":"a","version":"1.0.0"}}}"#;

#[test]
fn a_scoped_name_is_one_path_segment_and_the_abbreviated_form_is_asked_for() {
    let (script, clock) = (Script::new(vec![answer(200, PACKUMENT)]), Sleeps::default());
    let packument = now(client(&script, &clock, &[], ReplaceHost::Never).packument("@scope/a")).unwrap();
    assert!(packument.has_version("1.0.0"));
    let asked = script.asked();
    assert_eq!(asked[0].url, "https://registry.example/npm/@scope%2fa");
    assert!(asked[0].headers.iter().any(|(name, value)| name == "accept" && value.contains("install-v1+json")));
}

#[test]
fn a_scope_has_its_own_registry_and_credentials_stay_with_theirs() {
    let settings = [
        ("registry", "https://registry.example/npm/"),
        ("@own:registry", "https://own.example/"),
        ("//own.example/:_authToken", "secret"),
    ];
    let (script, clock) = (Script::new(vec![answer(200, PACKUMENT), answer(200, PACKUMENT)]), Sleeps::default());
    let client = client(&script, &clock, &settings, ReplaceHost::Never);
    now(client.packument("@own/a")).unwrap();
    now(client.packument("a")).unwrap();
    let authorized = |request: &HttpRequest| request.headers.iter().any(|(name, _)| name == "authorization");
    let asked = script.asked();
    assert!(asked[0].url.starts_with("https://own.example/") && authorized(&asked[0]));
    assert!(asked[1].url.starts_with("https://registry.example/") && !authorized(&asked[1]));
}

#[test]
fn what_is_transient_is_repeated_with_growing_waits_and_what_is_not_fails_at_once() {
    for transient in [answer(429, ""), answer(503, ""), Err(HttpErrorKind::Interrupted), Err(HttpErrorKind::Timeout)] {
        let (script, clock) =
            (Script::new(vec![transient.clone(), transient, answer(200, PACKUMENT)]), Sleeps::default());
        now(client(&script, &clock, &[], ReplaceHost::Never).packument("a")).unwrap();
        let waits = clock.0.borrow().clone();
        assert!(waits.len() == 2 && waits[0] >= 100.0 && waits[1] >= 1000.0, "{waits:?}");
    }
    for (permanent, code) in [(401, "REGISTRY_UNAUTHORIZED"), (400, "REGISTRY_STATUS")] {
        let (script, clock) = (Script::new(vec![answer(permanent, "")]), Sleeps::default());
        let error = now(client(&script, &clock, &[], ReplaceHost::Never).packument("a")).unwrap_err();
        assert_eq!((error.code(), error.package()), (code, "a"));
        assert!(clock.0.borrow().is_empty());
    }
}

#[test]
fn a_registry_without_the_abbreviated_form_is_asked_for_the_full_one() {
    for refusal in [404, 406] {
        let (script, clock) = (Script::new(vec![answer(refusal, ""), answer(200, PACKUMENT)]), Sleeps::default());
        now(client(&script, &clock, &[], ReplaceHost::Never).packument("a")).unwrap();
        let asked = script.asked();
        assert_eq!(asked[0].url, asked[1].url);
        assert!(asked[1].headers.contains(&("accept".to_owned(), "application/json".to_owned())));
        assert!(clock.0.borrow().is_empty(), "at once");
    }
    for (status, code) in [(404, "REGISTRY_NOT_FOUND"), (410, "REGISTRY_NOT_FOUND"), (406, "REGISTRY_STATUS")] {
        let (script, clock) = (Script::new(vec![answer(status, ""), answer(status, "")]), Sleeps::default());
        let error = now(client(&script, &clock, &[], ReplaceHost::Never).packument("a")).unwrap_err();
        assert_eq!((error.code(), error.package()), (code, "a"));
        assert!(error.to_string().ends_with(&format!("answered {status}")), "{error}");
    }
}

#[test]
fn a_version_without_a_document_of_its_own_is_looked_up_in_the_full_packument() {
    let version = r#"{"name":"a","version":"1.0.0","license":"MIT"}"#;
    let full = format!(r#"{{"name":"a","dist-tags":{{"latest":"1.0.0"}},"versions":{{"1.0.0":{version}}}}}"#);
    let facts = |answers: Vec<Result<HttpResponse, HttpErrorKind>>| {
        let (script, clock) = (Script::new(answers), Sleeps::default());
        let facts = now(client(&script, &clock, &[], ReplaceHost::Never).version_facts("a", "1.0.0", None));
        (facts.map(|facts| facts.lock_members.unwrap_or_default()), script.asked())
    };
    let license = r#"{"license":"MIT"}"#;
    let (members, asked) = facts(vec![answer(200, version)]);
    assert_eq!((members.unwrap(), asked.len()), (license.to_owned(), 1));
    let unusable = [answer(404, ""), answer(403, ""), answer(400, ""), answer(200, "<html>"), answer(200, "{}")];
    for first in unusable {
        let (members, asked) = facts(vec![first, answer(200, &full)]);
        assert_eq!(members.unwrap(), license);
        assert_eq!(asked[1].url, "https://registry.example/npm/a");
        assert!(asked[1].headers.contains(&("accept".to_owned(), "application/json".to_owned())));
    }
    let (members, _) = facts(vec![answer(404, ""), answer(200, PACKUMENT)]);
    assert_eq!(members.unwrap(), "", "a package without a license");
    let (error, _) = facts(vec![answer(404, ""), answer(200, &full.replace("1.0.0", "2.0.0"))]);
    assert_eq!((error.as_ref().unwrap_err().code(), error.unwrap_err().package()), ("REGISTRY_NOT_FOUND", "a@1.0.0"));
    let (error, _) = facts(vec![answer(404, ""), answer(200, "<html>"), answer(200, "<html>")]);
    assert_eq!(error.unwrap_err().code(), "REGISTRY_PACKUMENT");
}

#[test]
fn retries_end() {
    let (script, clock) = (Script::new(vec![answer(500, ""), answer(500, ""), answer(500, "")]), Sleeps::default());
    let error = now(client(&script, &clock, &[], ReplaceHost::Never).packument("a")).unwrap_err();
    assert_eq!(error.code(), "REGISTRY_STATUS");
    assert_eq!(script.asked().len(), 3);
}

#[test]
fn retry_after_is_waited_for_up_to_the_longest_wait() {
    let policy = RetryPolicy { max_wait_milliseconds: 5000.0, ..RetryPolicy::default() };
    assert!((policy.wait(0, Some(2000.0), 0.0) - 2000.0).abs() < 0.1);
    assert!((policy.wait(0, Some(9000.0), 0.0) - 5000.0).abs() < 0.1);
    assert!(policy.wait(0, Some(0.0), 0.5) > policy.wait(0, Some(0.0), 0.0));
}

#[test]
fn something_that_is_no_packument_is_said_to_be_so() {
    for body in ["<!doctype html><title>Sign in</title>", "[1]", "{}"] {
        let (script, clock) = (Script::new(vec![answer(200, body), answer(200, body)]), Sleeps::default());
        let error = now(client(&script, &clock, &[], ReplaceHost::Never).packument("a")).unwrap_err();
        assert_eq!(error.code(), "REGISTRY_PACKUMENT");
        assert!(error.to_string().contains("https://registry.example/npm/a"), "{error}");
    }
}

#[test]
fn a_document_that_cannot_be_read_is_asked_for_once_more_past_any_cache() {
    let half = &PACKUMENT[..PACKUMENT.len() / 2];
    let (script, clock) = (Script::new(vec![answer(200, half), answer(200, PACKUMENT)]), Sleeps::default());
    assert!(now(client(&script, &clock, &[], ReplaceHost::Never).packument("a")).unwrap().has_version("1.0.0"));
    let past_caches = |request: &HttpRequest| {
        request.headers.iter().any(|(name, value)| name == "cache-control" && value == "no-cache")
    };
    assert_eq!(script.asked().iter().map(past_caches).collect::<Vec<_>>(), [false, true]);
    assert!(clock.0.borrow().is_empty(), "at once");
}

#[test]
fn tarball_addresses_of_the_replaced_host_go_to_the_configured_registry() {
    let (script, clock) = (Script::default(), Sleeps::default());
    let address = |replace: ReplaceHost, resolved: &str| {
        client(&script, &clock, &[], replace).tarball_request("a", "1.0.0", Some(resolved), None).unwrap().url
    };
    let public = "https://public.example/a/-/a-1.0.0.tgz";
    assert_eq!(address(ReplaceHost::Never, public), public);
    assert_eq!(
        address(ReplaceHost::Host("public.example".to_owned()), public),
        "https://registry.example/npm/a/-/a-1.0.0.tgz"
    );
    let elsewhere = "http://other.example:8080/npm/a/-/a-1.0.0.tgz";
    assert_eq!(address(ReplaceHost::Host("public.example".to_owned()), elsewhere), elsewhere);
    assert_eq!(address(ReplaceHost::Always, elsewhere), "https://registry.example/npm/a/-/a-1.0.0.tgz");
}

#[test]
fn addresses_that_are_moved_go_to_the_registry_of_packages_without_a_scope() {
    let settings = [
        ("registry", "https://registry.example/npm/"),
        ("@own:registry", "https://own.example/"),
        ("//own.example/:_authToken", "secret"),
    ];
    let (script, clock) = (Script::default(), Sleeps::default());
    let asked = |replace: ReplaceHost, resolved: Option<&str>| {
        let request = client(&script, &clock, &settings, replace).tarball_request("@own/a", "1.0.0", resolved, None);
        let request = request.unwrap();
        (request.url, request.authorization.is_some())
    };
    let (public, own) = ("https://public.example/@own/a/-/a-1.0.0.tgz", "https://own.example/@own/a/-/a-1.0.0.tgz");
    let moved = ("https://registry.example/npm/@own/a/-/a-1.0.0.tgz".to_owned(), false);
    let host = || ReplaceHost::Host("public.example".to_owned());
    assert_eq!(asked(host(), Some(public)), moved, "what the scope's registry is told is not for others");
    assert_eq!(asked(ReplaceHost::Always, Some(own)), moved);
    let of_scope = (own.to_owned(), true);
    assert_eq!(asked(host(), Some(own)), of_scope);
    assert_eq!(asked(host(), None), of_scope, "an address that is made up is the scope's");
    assert_eq!(asked(ReplaceHost::Proxied, Some(public)), of_scope);
}

#[test]
fn an_address_left_out_of_the_lock_is_the_registrys_conventional_one() {
    let (script, clock) = (Script::default(), Sleeps::default());
    let client = client(&script, &clock, &[], ReplaceHost::Never);
    let url = client.tarball_request("@scope/a", "1.0.0", None, None).unwrap().url;
    assert_eq!(url, "https://registry.example/npm/@scope/a/-/a-1.0.0.tgz");
}

#[test]
fn an_address_that_is_not_http_is_refused_without_its_credentials() {
    let (script, clock) = (Script::default(), Sleeps::default());
    let client = client(&script, &clock, &[], ReplaceHost::Never);
    let error = client.tarball_request("a", "1.0.0", Some("ftp://me:secret@host/a.tgz"), None).unwrap_err();
    assert!(matches!(error, RegistryError::Url { .. }));
    assert!(!error.to_string().contains("secret"), "{error}");
}

#[test]
fn a_password_in_a_registrys_address_is_sent_as_a_credential_and_never_told() {
    let address = "https://user:secret@registry.example/npm/";
    // user:secret
    let basic = ("authorization".to_owned(), "Basic dXNlcjpzZWNyZXQ=".to_owned());
    let packument = |answer: Result<HttpResponse, HttpErrorKind>, settings: &[(&str, &str)], name: &str| {
        let answers = std::iter::repeat_n(answer, 8).collect();
        let (script, clock) = (Script::new(answers), Sleeps::default());
        let mut client = client(&script, &clock, settings, ReplaceHost::Never);
        if settings.is_empty() {
            let http = script.clone();
            let retry = RetryPolicy { retries: 0, ..RetryPolicy::default() };
            let with_default = RegistrySettings { retry, ..plain(address) };
            client = RegistryClient::new(http, clock.clone(), with_default);
        }
        let error = now(client.packument(name)).unwrap_err();
        for request in script.asked() {
            assert!(request.url.starts_with("https://registry.example/npm/"), "{}", request.url);
            assert!(request.headers.contains(&basic), "{:?}", request.headers);
        }
        error
    };
    let answers = [
        (answer(404, ""), "REGISTRY_NOT_FOUND"),
        (answer(401, ""), "REGISTRY_UNAUTHORIZED"),
        (answer(400, ""), "REGISTRY_STATUS"),
        (Err(HttpErrorKind::Connect), "REGISTRY_UNREACHABLE"),
        (Err(HttpErrorKind::Timeout), "REGISTRY_TIMEOUT"),
        (Err(HttpErrorKind::TooLarge), "REGISTRY_TOO_LARGE"),
        (Err(HttpErrorKind::Proxy), "REGISTRY_PROXY"),
        // Only a proxy answers so, and asking again does not change it.
        (answer(407, ""), "REGISTRY_PROXY"),
        (answer(200, "<html>"), "REGISTRY_PACKUMENT"),
    ];
    let mut errors = Vec::new();
    for (answer, code) in answers {
        for (settings, name) in [
            (&[][..], "a"),
            (&[("registry", address)][..], "a"),
            (&[("@own:registry", address), ("registry", "https://other.example/")][..], "@own/a"),
        ] {
            let error = packument(answer.clone(), settings, name);
            assert_eq!(error.code(), code);
            errors.push(error);
        }
    }
    let script = Script::new(vec![answer(200, "wrong"), answer(200, "wrong"), answer(404, "")]);
    let client = client(&script, &Sleeps::default(), &[("registry", address)], ReplaceHost::Never);
    let wanted = Some(Integrity::sha512_of(b"right"));
    let elsewhere = Some("https://me:secret@files.example/a.tgz");
    for (resolved, credential) in [(None, &basic.1[..]), (elsewhere, "Basic bWU6c2VjcmV0")] {
        let request = client.tarball_request("a", "1.0.0", resolved, wanted.clone()).unwrap();
        assert_eq!(request.authorization.as_deref(), Some(credential));
        errors.push(fetch(&script, &Sleeps::default(), &request).unwrap_err());
    }
    errors.push(client.tarball_request("a", "1.0.0", Some("ftp://me:secret@host/a.tgz"), None).unwrap_err());
    client.set_cache_mode(CacheMode::Offline);
    errors.push(now(client.packument("a")).unwrap_err());
    let codes: std::collections::BTreeSet<&str> = errors.iter().map(RegistryError::code).collect();
    for code in crate::CODES.iter().filter(|code| !matches!(**code, "REGISTRY_TARBALL" | "REGISTRY_CERTIFICATE")) {
        assert!(codes.contains(code), "{code} is among the cases");
    }
    for error in errors {
        let told = format!("{error} {error:?} {:?}", error.hint());
        assert!(!told.contains("secret") && !told.contains("user"), "{told}");
    }
}

#[test]
fn a_client_certificate_that_nobody_can_choose_is_refused_before_anybody_is_asked() {
    let (script, clock) = (Script::default(), Sleeps::default());
    let settings = [("//registry.example/:certfile", "cert.pem"), ("//registry.example/:keyfile", "key.pem")];
    let client = client(&script, &clock, &settings, ReplaceHost::Never);
    let error = now(client.packument("a")).unwrap_err();
    assert_eq!((error.code(), error.package(), error.hint().is_some()), ("REGISTRY_CERTIFICATE", "a", true));
    assert_eq!(client.tarball_request("a", "1.0.0", None, None).unwrap_err().code(), "REGISTRY_CERTIFICATE");
    client.tarball_request("a", "1.0.0", Some("https://files.example/a.tgz"), None).unwrap();
}

#[test]
fn a_password_in_an_address_stays_with_that_address() {
    let (script, clock) = (Script::default(), Sleeps::default());
    let settings = [("registry", "https://registry.example/npm/")];
    let client = client(&script, &clock, &settings, ReplaceHost::Always);
    let request = client.tarball_request("a", "1.0.0", Some("https://me:secret@files.example/a.tgz"), None).unwrap();
    assert_eq!((&request.url[..], request.authorization), ("https://registry.example/npm/a.tgz", None));
}

#[test]
fn a_damaged_tarball_is_fetched_once_more_past_any_cache() {
    let integrity = Integrity::sha512_of(b"right");
    let request = |script: &Script| {
        let settings = client(script, &Sleeps::default(), &[], ReplaceHost::Never);
        settings.tarball_request("a", "1.0.0", None, Some(integrity.clone())).unwrap()
    };
    let script = Script::new(vec![answer(200, "wrong"), answer(200, "right")]);
    let fetched = fetch(&script, &Sleeps::default(), &request(&script)).unwrap();
    assert_eq!((&fetched.contents[..], fetched.bytes, fetched.requests), (&b"right"[..], 5, 2));
    assert_eq!(fetched.spans.iter().map(|span| span.bytes).collect::<Vec<_>>(), [5, 5]);
    assert!(script.asked()[1].headers.iter().any(|(name, value)| name == "cache-control" && value == "no-cache"));

    let script = Script::new(vec![answer(200, "wrong"), answer(200, "wrong")]);
    let error = fetch(&script, &Sleeps::default(), &request(&script)).unwrap_err();
    assert_eq!((error.code(), error.package()), ("ARCHIVE_INTEGRITY", "a@1.0.0"));
}

/// Never answers.
struct Silence;

impl Http for Silence {
    async fn send(&self, _: HttpRequest) -> Result<HttpResponse, HttpError> {
        std::future::pending().await
    }
}

fn kinds(spans: &[Span]) -> Vec<(Work, Ending)> {
    spans.iter().map(|span| (span.work, span.ending)).collect()
}

#[test]
fn waits_between_requests_are_noted_and_so_is_what_failed() {
    let (script, clock) =
        (Script::new(vec![answer(503, ""), Err(HttpErrorKind::Timeout), answer(200, PACKUMENT)]), Sleeps::default());
    let client = client(&script, &clock, &[], ReplaceHost::Never);
    client.note_spans(true);
    now(client.packument("a")).unwrap();
    let spans: Vec<Span> = client.take_spans().into_iter().map(|(_, span)| span).collect();
    let done = |work| (work, Ending::Done);
    let timeout = (Work::Packument, Ending::Failed(HttpErrorKind::Timeout));
    let (packument, wait) = (done(Work::Packument), done(Work::Backoff));
    assert_eq!(kinds(&spans), [packument, wait, timeout, wait, packument, done(Work::Scan)]);
    assert!(spans[1].ended - spans[1].began >= 99.0, "{:?}", spans[1]);

    let script = Script::new(vec![Err(HttpErrorKind::Timeout), Err(HttpErrorKind::Timeout), answer(403, "")]);
    let request = client.tarball_request("a", "1.0.0", None, None).unwrap();
    fetch(&script, &clock, &request).unwrap_err();
    let timeout = (Work::Tarball, Ending::Failed(HttpErrorKind::Timeout));
    assert_eq!(kinds(&request.log.take()), [timeout, wait, timeout, wait, done(Work::Tarball)]);
}

/// Nothing is configured but the registry.
fn plain(registry: &str) -> RegistrySettings {
    RegistrySettings {
        config: Config::new(),
        default_registry: registry.to_owned(),
        replace_host: ReplaceHost::Never,
        retry: RetryPolicy::default(),
        cache_mode: CacheMode::Default,
    }
}

#[test]
fn what_nobody_waits_for_any_longer_is_noted_as_such() {
    let clock = Sleeps::default();
    let client = RegistryClient::new(Silence, clock.clone(), plain("https://registry.example/"));
    client.note_spans(true);
    assert!(client.packument("a").now_or_never().is_none());
    let spans: Vec<Span> = client.take_spans().into_iter().map(|(_, span)| span).collect();
    assert_eq!(kinds(&spans), [(Work::Packument, Ending::Abandoned)]);

    let request = client.tarball_request("a", "1.0.0", None, None).unwrap();
    let take = async |body: Bytes| Ok::<Bytes, Refusal<RegistryError>>(body);
    assert!(fetch_tarball(&Silence, &clock, &request, &(), take).now_or_never().is_none());
    assert_eq!(kinds(&request.log.take()), [(Work::Tarball, Ending::Abandoned)]);
}

#[test]
fn what_a_request_waits_for_in_the_client_and_is_inflated_there_is_not_the_networks() {
    let clock = Sleeps::default();
    clock.0.borrow_mut().push(100.0);
    let slow = HttpResponse {
        status: 200,
        body: Bytes::from_static(PACKUMENT.as_bytes()),
        sent_after: 40.0,
        answered_after: 20.0,
        decoded_in: 10.0,
        ..HttpResponse::default()
    };
    /// Takes a hundred milliseconds for an answer.
    struct Slow(HttpResponse, Sleeps);
    impl Http for Slow {
        async fn send(&self, _: HttpRequest) -> Result<HttpResponse, HttpError> {
            self.1.sleep(100.0).await;
            Ok(self.0.clone())
        }
    }
    let client = RegistryClient::new(Slow(slow, clock.clone()), clock.clone(), plain("https://registry.example/"));
    client.note_spans(true);
    now(client.packument("a")).unwrap();
    let spans: Vec<Span> = client.take_spans().into_iter().map(|(_, span)| span).collect();
    let of = |work: Work| spans.iter().find(|span| span.work == work).unwrap();
    let asked = of(Work::Packument);
    assert_eq!([asked.queued, asked.began, asked.answered, asked.ended], [40.0, 140.0, 160.0, 190.0]);
    assert_eq!([of(Work::Inflate).began, of(Work::Inflate).ended], [190.0, 200.0]);
}
