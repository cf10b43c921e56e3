//! Servers whose certificates are believed, one whose is not, and those that want to see a client's.

use gantry_native::{ClientCertificate, HttpSettings, NativeHttp};
use gantry_platform::{Http, HttpError, HttpErrorKind, HttpRequest};
use gantry_testkit::fixtures::basic;
use gantry_testkit::{ClientCertificates, Fault, FaultRule, Server, ServerOptions};
use std::collections::BTreeMap;
use tokio::runtime::Runtime;

fn ask(runtime: &Runtime, settings: HttpSettings, url: String) -> Result<u16, HttpError> {
    let http = NativeHttp::new(runtime.handle().clone(), settings);
    let request = HttpRequest { url, timeout_milliseconds: 20_000, max_body_bytes: 1 << 20, ..HttpRequest::default() };
    runtime.block_on(http.send(request)).map(|response| response.status)
}

#[test]
fn a_server_is_believed_by_an_added_certificate_or_by_all_who_do_not_care() {
    let runtime = Runtime::new().unwrap();
    let server = runtime.block_on(async { ServerOptions::new(basic()).with_tls().start() }).unwrap();
    let left = || format!("{}left", server.url());
    let added = HttpSettings { certificates: vec![server.certificate().unwrap().into()], ..HttpSettings::default() };
    assert_eq!(ask(&runtime, added, left()).unwrap(), 200);
    let careless = HttpSettings { accept_invalid_certificates: true, ..HttpSettings::default() };
    assert_eq!(ask(&runtime, careless, left()).unwrap(), 200);
    let error = ask(&runtime, HttpSettings::default(), left()).unwrap_err();
    assert_eq!(error.kind, HttpErrorKind::Certificate);
    assert!(error.message.contains("certificate"), "{error}");
}

#[test]
fn a_certificate_is_looked_at_where_a_server_without_one_sends_there() {
    let runtime = Runtime::new().unwrap();
    let start = |options: ServerOptions| runtime.block_on(async { options.start() }).unwrap();
    let safe = start(ServerOptions::new(basic()).with_tls());
    let to = Some(format!("{}left", safe.url()));
    let plain =
        start(ServerOptions::new(basic()).with_fault(FaultRule::always("/left", Fault::Redirect { to, status: 302 })));
    let left = || format!("{}left", plain.url());
    let added = HttpSettings { certificates: vec![safe.certificate().unwrap().into()], ..HttpSettings::default() };
    assert_eq!(ask(&runtime, added, left()).unwrap(), 200);
    assert_eq!(ask(&runtime, HttpSettings::default(), left()).unwrap_err().kind, HttpErrorKind::Certificate);
}

/// Asks with `client.pem` shown, by the settings that trust these servers.
fn ask_known(runtime: &Runtime, servers: &[&Server], careless: bool, url: String) -> Result<u16, HttpError> {
    let client = servers[0].client().expect("the first server hands one out");
    let shown = ClientCertificate::from_pem(client.certificate.as_bytes(), client.key.as_bytes())
        .expect("what a server hands out can be used");
    let settings = HttpSettings {
        certificates: servers.iter().filter_map(|server| Some(server.certificate()?.into())).collect(),
        client_certificates: BTreeMap::from([("known".to_owned(), shown)]),
        accept_invalid_certificates: careless,
        ..HttpSettings::default()
    };
    let http = NativeHttp::new(runtime.handle().clone(), settings);
    let certificate = Some("known".to_owned());
    let headers = vec![("authorization".to_owned(), "Bearer secret".to_owned())];
    let (timeout_milliseconds, max_body_bytes) = (20_000, 1 << 20);
    let request = HttpRequest { url, headers, timeout_milliseconds, max_body_bytes, certificate };
    runtime.block_on(http.send(request)).map(|response| response.status)
}

#[test]
fn a_client_certificate_is_shown_to_who_is_to_see_it() {
    let runtime = Runtime::new().unwrap();
    let start = |options: ServerOptions| runtime.block_on(async { options.start() }).unwrap();
    let wants = || ServerOptions::new(basic()).with_tls().with_client_certificates(ClientCertificates::Required);
    let server = start(wants());
    let left = format!("{}left", server.url());
    for careless in [false, true] {
        assert_eq!(ask_known(&runtime, &[&server], careless, left.clone()).unwrap(), 200);
    }
    let settings = HttpSettings { certificates: vec![server.certificate().unwrap().into()], ..HttpSettings::default() };
    let error = ask(&runtime, settings, left.clone()).unwrap_err();
    // The server ends the connection, too: that may be heard of first.
    assert!(matches!(error.kind, HttpErrorKind::Certificate | HttpErrorKind::Interrupted), "{error:?}");
    // Somebody else's certificate.
    let other = start(wants());
    let error = ask_known(&runtime, &[&other, &server], false, left).unwrap_err();
    assert!(matches!(error.kind, HttpErrorKind::Certificate | HttpErrorKind::Interrupted), "{error:?}");
}

#[test]
fn redirects_to_another_origin_are_followed_without_the_client_certificate() {
    let runtime = Runtime::new().unwrap();
    let start = |options: ServerOptions| runtime.block_on(async { options.start() }).unwrap();
    // Turns away who shows a certificate that another server gave out.
    let asks = start(ServerOptions::new(basic()).with_tls().with_client_certificates(ClientCertificates::Asked));
    let redirect = |path: &str, to: String| FaultRule::always(path, Fault::Redirect { to: Some(to), status: 302 });
    let requires = ServerOptions::new(basic())
        .with_tls()
        .with_client_certificates(ClientCertificates::Required)
        .with_fault(redirect("/left", format!("{}left", asks.url())))
        .with_fault(redirect("/right", "/executable".to_owned()));
    let requires = start(requires);
    for (name, careless) in [("left", false), ("left", true), ("right", false)] {
        let url = format!("{}{name}", requires.url());
        assert_eq!(ask_known(&runtime, &[&requires, &asks], careless, url).unwrap(), 200, "{name}");
    }
    let log = asks.log();
    assert_eq!(log.len(), 2, "left, twice");
    // The other way round it would have been turned away.
    assert!(ask_known(&runtime, &[&requires, &asks], false, format!("{}left", asks.url())).is_err());
}

#[test]
fn a_client_certificate_that_cannot_be_used_is_an_error_without_its_key() {
    let runtime = Runtime::new().unwrap();
    let options = || ServerOptions::new(basic()).with_tls().with_client_certificates(ClientCertificates::Asked);
    let [one, other] = [(), ()].map(|()| runtime.block_on(async { options().start() }).unwrap());
    let [one, other] = [one.client().unwrap(), other.client().unwrap()];
    let refused = |certificate: &str, key: &str| {
        let error = ClientCertificate::from_pem(certificate.as_bytes(), key.as_bytes()).unwrap_err().to_string();
        assert!(key.lines().skip(1).take(2).all(|line| line.is_empty() || !error.contains(line)), "{error}");
        error
    };
    assert!(refused("", &one.key).contains("no certificate"));
    assert!(refused(&one.certificate, "").contains("key"));
    assert!(refused(&one.certificate, &other.key).contains("key"), "another's key");
    let shown = ClientCertificate::from_pem(one.certificate.as_bytes(), one.key.as_bytes()).unwrap();
    assert_eq!(format!("{shown:?}"), "ClientCertificate { .. }");
}
