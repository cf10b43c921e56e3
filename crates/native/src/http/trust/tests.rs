//! Whom a system without certificates trusts.

use super::{Trust, Trusted, configured, mozillas};
use crate::http::{certificates, kind_of};
use gantry_platform::HttpErrorKind;
use gantry_testkit::fixtures::basic;
use gantry_testkit::{Server, ServerOptions};
use rustls::crypto::{CryptoProvider, ring};
use rustls::{Error, RootCertStore};
use rustls_platform_verifier::Verifier;
use std::io::Write;
use std::sync::Arc;
use tokio::runtime::Runtime;

fn bare(_: Arc<CryptoProvider>) -> Result<Verifier, Error> {
    Err(Error::General("there are none".to_owned()))
}

fn nobody() -> Trusted {
    Trusted { added: Vec::new(), extra: None, is_system_chosen: false }
}

/// Asks a server, on a system without certificates.
fn ask(runtime: &Runtime, trusted: Trusted, server: &Server) -> Result<u16, HttpErrorKind> {
    let trust = Trust::new(trusted, bare, Arc::new(ring::default_provider()));
    let tls = configured(Arc::new(trust), None).expect("the versions of the protocol are the usual ones");
    let client = reqwest::Client::builder().no_proxy().tls_backend_preconfigured(tls).build().expect("it can be used");
    let answer = runtime.block_on(client.get(format!("{}left", server.url())).send());
    answer.map(|response| response.status().as_u16()).map_err(|error| kind_of(&error))
}

#[test]
fn what_comes_along_can_all_be_used() {
    let mut store = RootCertStore::empty();
    let (used, unusable) = store.add_parsable_certificates(mozillas());
    assert!(used > 100, "{used}");
    assert_eq!(unusable, 0);
}

#[test]
fn on_a_system_without_certificates_a_server_that_none_vouches_for_is_refused_for_its_certificate() {
    let runtime = Runtime::new().expect("a runtime");
    let server = runtime.block_on(async { ServerOptions::new(basic()).with_tls().start() }).expect("a server");
    assert_eq!(ask(&runtime, nobody(), &server), Err(HttpErrorKind::Certificate));

    let pem = server.certificate().expect("it has one");
    let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
    file.write_all(pem.as_bytes()).expect("there is room");
    let extra = Some(file.path().to_owned());
    assert_eq!(ask(&runtime, Trusted { extra, ..nobody() }, &server), Ok(200));
    let added = || certificates(pem.as_bytes()).collect::<Result<Vec<_>, _>>().expect("it is PEM");
    assert_eq!(ask(&runtime, Trusted { added: added(), ..nobody() }, &server), Ok(200));
}

#[test]
fn what_comes_along_takes_no_place_that_was_given_to_others() {
    let has_verifier = |trusted| Trust::new(trusted, bare, Arc::new(ring::default_provider())).verifier().is_ok();
    assert!(has_verifier(nobody()));
    assert!(!has_verifier(Trusted { is_system_chosen: true, ..nobody() }));
}
