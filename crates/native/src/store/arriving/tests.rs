use super::*;
use gantry_archive::Integrity;
use gantry_testkit::fixtures::Registry;
use gantry_testkit::{Fault, FaultRule, ServerOptions};
use tokio::runtime::Runtime;

const PATH: &str = "/a/-/a-1.0.0.tgz";

/// What came of asking for a body.
#[derive(Debug, PartialEq)]
struct Asked {
    /// Bytes of the response; `None` if there is none.
    length: Option<usize>,
    /// Whether the body was handed on.
    is_handed_on: bool,
    /// How many bytes came to their end that way, and whether they are the right ones.
    arrived: Option<(u64, bool)>,
    requests: usize,
}

fn ask(length: u32, bits_per_second: Option<u64>, fault: Option<Fault>) -> Asked {
    let runtime = Runtime::new().unwrap();
    let expected: Vec<u8> = (0..length).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    let registry = Registry::new().package("a", "1.0.0", |package| package.tarball(expected.clone()));
    let options = bits_per_second.into_iter().fold(ServerOptions::new(registry), ServerOptions::with_bandwidth);
    let options =
        fault.map(|fault| FaultRule::always(PATH, fault)).into_iter().fold(options, ServerOptions::with_fault);
    let server = runtime.block_on(async { options.start() }).unwrap();
    let folder = tempfile::tempdir().unwrap();
    // On a busy machine loopback may be slow enough for parts.
    let parts = if bits_per_second.is_some() { 24 } else { 0 };
    let settings = crate::HttpSettings { parts, ..crate::HttpSettings::default() };
    let http = NativeHttp::new(runtime.handle().clone(), settings);
    let integrity = Some(Integrity::sha512_of(&expected));
    let destination = Destination {
        request: Arc::new(TarballRequest::of_body("a@1.0.0", Vec::new().into(), integrity)),
        temporary: folder.path().join("temporary"),
        target: folder.path().join("target"),
        clock: NativeClock::default(),
        _in_use: None,
    };
    let arriving = ArrivingHttp::new(&http, destination);
    let request = HttpRequest {
        url: format!("{}{PATH}", server.url().trim_end_matches('/')),
        timeout_milliseconds: 20_000,
        max_body_bytes: 1 << 30,
        ..HttpRequest::default()
    };
    let response = runtime.block_on(arriving.send(request)).ok();
    let arrival = arriving.arrival();
    let is_handed_on = arrival.is_some();
    let arrived = arrival.and_then(|arrival| runtime.block_on(arrival).ok());
    // They are no archive, which is only told of the right ones.
    let arrived = arrived.map(|(result, bytes)| (bytes, matches!(result, Err(Refusal::Other(_)))));
    Asked { length: response.map(|response| response.body.len()), is_handed_on, arrived, requests: server.log().len() }
}

#[test]
fn bodies_of_two_megabytes_are_handed_on_and_smaller_ones_are_not() {
    let handed_on = Asked { length: Some(0), is_handed_on: true, arrived: Some((2 << 20, true)), requests: 1 };
    assert_eq!(ask(2 << 20, None, None), handed_on);
    let whole = Asked { length: Some((2 << 20) - 1), is_handed_on: false, arrived: None, requests: 1 };
    assert_eq!(ask((2 << 20) - 1, None, None), whole);
}

#[test]
fn what_comes_in_parts_is_handed_on_in_order() {
    let Asked { length, arrived, requests, .. } = ask(3 << 20, Some(32_000_000), None);
    assert_eq!((length, arrived), (Some(0), Some((3 << 20, true))));
    assert!(requests > 1);
}

#[test]
fn what_is_of_no_known_length_is_handed_on_once_two_megabytes_of_it_are_here() {
    let handed_on = Asked { length: Some(0), is_handed_on: true, arrived: Some((3 << 20, true)), requests: 1 };
    assert_eq!(ask(3 << 20, None, Some(Fault::NoLength)), handed_on);
    let whole = Asked { length: Some((2 << 20) - 1), is_handed_on: false, arrived: None, requests: 1 };
    assert_eq!(ask((2 << 20) - 1, None, Some(Fault::NoLength)), whole);
}

#[test]
fn what_is_no_answer_is_not_handed_on() {
    assert!(!ask(3 << 20, None, Some(Fault::Status { status: 503, retry_after: None })).is_handed_on);
}

#[test]
fn of_what_breaks_off_nothing_is_told() {
    let broken_off = Asked { length: None, is_handed_on: true, arrived: None, requests: 1 };
    assert_eq!(ask(3 << 20, None, Some(Fault::Reset { after: 1 << 20 })), broken_off);
}
