//! Servers whose certificates are believed, and one whose is not.

use gantry_native::{HttpSettings, NativeHttp};
use gantry_platform::{Http, HttpError, HttpErrorKind, HttpRequest};
use gantry_testkit::fixtures::basic;
use gantry_testkit::{Fault, FaultRule, ServerOptions};
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
    assert_eq!(error.kind, HttpErrorKind::Connect);
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
    assert_eq!(ask(&runtime, HttpSettings::default(), left()).unwrap_err().kind, HttpErrorKind::Connect);
}
