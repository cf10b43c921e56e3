//! Large bodies over several connections at once.
#![expect(clippy::unwrap_used, reason = "a test")]

use gantry_native::{HttpSettings, NativeHttp};
use gantry_platform::{Http, HttpRequest};
use gantry_testkit::fixtures::Registry;
use gantry_testkit::{Fault, FaultRule, LogEntry, Server, ServerOptions};
use std::time::Duration;
use tokio::runtime::Runtime;
use tokio::time::timeout;

const PATH: &str = "/large/-/large-1.0.0.tgz";

/// Fetches a body of 3 MB, with what a connection carries limited to so many bits a second: whether it is right, and what the
/// registry saw.
fn fetch(bits_per_second: Option<u64>, header: Option<(&str, &str)>, faults: &[FaultRule]) -> (bool, Vec<LogEntry>) {
    fetch_with((3 << 20, 24), bits_per_second, header, faults)
}

/// The same of so many bytes, in at most so many parts at a time.
fn fetch_with(
    (length, parts): (u32, usize),
    bits_per_second: Option<u64>,
    header: Option<(&str, &str)>,
    faults: &[FaultRule],
) -> (bool, Vec<LogEntry>) {
    let runtime = Runtime::new().unwrap();
    let expected: Vec<u8> = (0..length).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    let registry = Registry::new().package("large", "1.0.0", |package| package.tarball(expected.clone()));
    let options = bits_per_second.into_iter().fold(ServerOptions::new(registry), ServerOptions::with_bandwidth);
    let options = faults.iter().cloned().fold(options, ServerOptions::with_fault);
    let server: Server = options.start().unwrap();
    let http = NativeHttp::new(runtime.handle().clone(), HttpSettings { parts, ..HttpSettings::default() });
    let request = HttpRequest {
        url: format!("{}{}", server.url().trim_end_matches('/'), PATH),
        headers: header.map(|(name, value)| (name.to_owned(), value.to_owned())).into_iter().collect(),
        timeout_milliseconds: 20_000,
        max_body_bytes: 1 << 30,
        ..HttpRequest::default()
    };
    // The slowest of these bodies takes four seconds, and nothing may take as long as a time-out.
    let response = runtime.block_on(async { timeout(Duration::from_secs(15), http.send(request)).await });
    let response = response.expect("nothing is waited for that does not come").unwrap();
    assert_eq!((response.status, response.header("content-range")), (200, None));
    (response.body == expected, server.log())
}

/// 4 MB a second, and 16.
const SLOW: Option<u64> = Some(32_000_000);
const FASTER: Option<u64> = Some(128_000_000);

#[test]
fn a_slow_connection_is_helped_by_others() {
    let (is_right, log) = fetch(SLOW, Some(("authorization", "Bearer abc")), &[]);
    assert!(is_right);
    let statuses: Vec<_> = log.iter().map(|entry| (entry.path.as_str(), entry.status, entry.authorized)).collect();
    assert_eq!(statuses[0], (PATH, 200, true));
    assert!((2..=6).contains(&statuses.len()), "{statuses:?}");
    assert!(statuses[1..].iter().all(|entry| *entry == (PATH, 206, true)), "{statuses:?}");
}

#[test]
fn a_fast_one_is_not() {
    let (is_right, log) = fetch(None, None, &[]);
    assert!(is_right);
    assert_eq!(log.len(), 1);
}

#[test]
fn a_body_asked_for_again_past_caches_comes_in_one_piece() {
    let (is_right, log) = fetch(SLOW, Some(("cache-control", "no-cache")), &[]);
    assert!(is_right);
    assert_eq!(log.len(), 1);
}

#[test]
fn parts_that_do_not_come_as_they_should_are_not_needed() {
    let faults = [
        Fault::Status { status: 503, retry_after: None },
        Fault::Html { status: 200 },
        Fault::Html { status: 206 },
        Fault::Truncate { after: 1000 },
        Fault::Reset { after: 1000 },
        Fault::WrongLength { by: 7 },
        Fault::HangBeforeHeaders,
        Fault::HangInBody { after: 1000 },
        Fault::Redirect { to: None, status: 302 },
    ];
    for fault in faults {
        let (is_right, log) = fetch(SLOW, None, &[FaultRule::times(PATH, 1, fault.clone()).after(1)]);
        assert!(is_right, "{fault:?}");
        assert!(log.len() > 1, "{fault:?} was played");
    }
}

#[test]
fn where_few_are_allowed_they_follow_one_another() {
    let (is_right, log) = fetch_with((9 << 20, 2), FASTER, None, &[]);
    assert!(is_right);
    let parts = log.iter().filter(|entry| entry.status == 206).count();
    assert!(parts >= 3 && log.len() == parts + 1, "{log:?}");
}

#[test]
fn where_a_later_one_is_missing_nothing_comes_twice() {
    let fault = FaultRule::times(PATH, 1, Fault::Status { status: 503, retry_after: None }).after(3);
    let (is_right, log) = fetch_with((9 << 20, 2), FASTER, None, &[fault]);
    assert!(is_right);
    let statuses: Vec<_> = log.iter().map(|entry| entry.status).collect();
    assert!(statuses.contains(&503) && statuses.iter().filter(|status| **status == 206).count() >= 2, "{statuses:?}");
}

#[test]
fn a_part_that_is_not_let_in_is_not_waited_for() {
    let rule = FaultRule::times(PATH, 8, Fault::HangBeforeHeaders).after(1);
    // Half a megabyte a second: what its first part took, times twelve, is more than it may take.
    let (is_right, log) = fetch_with((2 << 20, 24), Some(4_000_000), None, &[rule]);
    assert!(is_right);
    assert!(log.len() > 1, "parts were asked for");
}
