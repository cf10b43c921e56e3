//! Every fault does on the wire what its name says.
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "a test that speaks to the socket itself"
)]
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use gantry_testkit::fixtures::{Registry, basic};
use gantry_testkit::{Fault, FaultRule, Server, ServerOptions};

const TARBALL: &str = "left/-/left-1.0.0.tgz";

fn serve(fault: Fault) -> Server {
    ServerOptions::new(basic()).with_fault(FaultRule::always("/left", fault)).start().unwrap()
}

/// What a busy machine may need for an answer.
const PATIENCE: Duration = Duration::from_secs(60);
/// Nothing for as long counts as a hang, once everything has come that will.
const SILENCE: Duration = Duration::from_millis(300);

/// Speaks HTTP/1.1 by hand: gives back the head, the body bytes that came, and how the connection ended.
fn raw_get(server: &Server, path: &str) -> (String, Vec<u8>, Result<(), ErrorKind>) {
    raw_get_until(server, path, |_| false)
}

/// As `raw_get`, of a server that hangs when `is_all` finds that what was received is all it sends.
fn raw_get_until(
    server: &Server,
    path: &str,
    is_all: impl Fn(&[u8]) -> bool,
) -> (String, Vec<u8>, Result<(), ErrorKind>) {
    let address = server.url().trim_start_matches("http://").trim_end_matches('/');
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET /{path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n").unwrap();
    let mut received = Vec::new();
    let mut buffer = [0; 65536];
    let end = loop {
        stream.set_read_timeout(Some(if is_all(&received) { SILENCE } else { PATIENCE })).unwrap();
        match stream.read(&mut buffer) {
            Ok(0) => break Ok(()),
            Ok(count) => received.extend_from_slice(&buffer[..count]),
            Err(error) => break Err(error.kind()),
        }
    };
    let split = received.windows(4).position(|window| window == b"\r\n\r\n").map_or(received.len(), |at| at + 4);
    let body = received.split_off(split);
    (String::from_utf8(received).unwrap().to_ascii_lowercase(), body, end)
}

fn announced(head: &str) -> Option<usize> {
    head.lines().find_map(|line| line.strip_prefix("content-length: ")).map(|text| text.trim().parse().unwrap())
}

fn whole() -> bytes::Bytes {
    basic().tarball("left", "1.0.0").unwrap()
}

#[test]
fn a_hang_before_headers_sends_nothing() {
    let server = serve(Fault::HangBeforeHeaders);
    let (head, body, end) = raw_get_until(&server, TARBALL, |_| {
        while server.stats().faults == 0 {
            std::thread::yield_now();
        }
        true
    });
    assert_eq!((head.as_str(), body.len(), end), ("", 0, Err(ErrorKind::WouldBlock)));
}

#[test]
fn a_hang_in_the_body_sends_some_bytes_and_keeps_the_connection() {
    let server = serve(Fault::HangInBody { after: 25 });
    let (head, body, end) = raw_get_until(&server, TARBALL, |received| received.ends_with(&whole()[..25]));
    assert_eq!(announced(&head), Some(whole().len()));
    assert_eq!((&body[..], end), (&whole()[..25], Err(ErrorKind::WouldBlock)));
    assert_eq!(server.stats().faults, 1);
}

#[test]
fn a_reset_ends_the_connection_with_an_error() {
    let (_, body, end) = raw_get(&serve(Fault::Reset { after: 25 }), TARBALL);
    assert_eq!((body.len(), end), (25, Err(ErrorKind::ConnectionReset)));
}

#[test]
fn a_close_ends_the_connection_before_the_announced_length() {
    let (head, body, end) = raw_get(&serve(Fault::Close { after: 25 }), TARBALL);
    assert_eq!((announced(&head), body.len(), end), (Some(whole().len()), 25, Ok(())));
}

#[test]
fn a_truncated_body_has_a_length_that_agrees() {
    let (head, body, end) = raw_get(&serve(Fault::Truncate { after: 25 }), TARBALL);
    assert_eq!((announced(&head), body.len(), end), (Some(25), 25, Ok(())));
}

#[test]
fn a_wrong_length_is_longer_or_shorter_than_the_body() {
    let (head, body, end) = raw_get(&serve(Fault::WrongLength { by: 10 }), TARBALL);
    assert_eq!((announced(&head), body.len(), end), (Some(whole().len() + 10), whole().len(), Ok(())));
    let (head, body, _) = raw_get(&serve(Fault::WrongLength { by: -10 }), TARBALL);
    assert_eq!((announced(&head), body.len()), (Some(whole().len() - 10), whole().len() - 10));
}

#[test]
fn a_body_without_length_is_still_whole() {
    let (head, body, end) = raw_get(&serve(Fault::NoLength), TARBALL);
    assert_eq!((announced(&head), end), (None, Ok(())));
    assert!(head.contains("transfer-encoding: chunked") && body.len() > whole().len());
}

#[test]
fn garbled_and_corrupt_bodies_keep_their_framing() {
    let (head, body, end) = raw_get(&serve(Fault::GzipGarbage), "left");
    assert!(head.contains("content-encoding: gzip"));
    assert_eq!((announced(&head), end), (Some(body.len()), Ok(())));
    assert!(flate2::read::GzDecoder::new(body.as_slice()).read_to_end(&mut Vec::new()).is_err());
    let (_, body, _) = raw_get(&serve(Fault::Corrupt { at: Some(3) }), TARBALL);
    let whole = whole();
    let different: Vec<usize> = (0..body.len()).filter(|&at| body[at] != whole[at]).collect();
    assert_eq!((different, body.len()), (vec![3], whole.len()));
}

#[test]
fn pages_statuses_and_redirects_replace_the_answer() {
    let (head, body, _) = raw_get(&serve(Fault::Html { status: 200 }), "left");
    assert!(head.starts_with("http/1.1 200") && head.contains("text/html") && body.starts_with(b"<!DOCTYPE html>"));
    let (head, _, _) = raw_get(&serve(Fault::Status { status: 503, retry_after: Some("3".into()) }), "left");
    assert!(head.starts_with("http/1.1 503") && head.contains("retry-after: 3"));
    let (head, _, _) = raw_get(&serve(Fault::Redirect { to: None, status: 302 }), "left");
    assert!(head.starts_with("http/1.1 302") && head.contains("location: /left\r\n"));
}

#[test]
fn a_drip_takes_its_time_and_a_delay_comes_first() {
    let begin = std::time::Instant::now();
    let (_, body, end) = raw_get(&serve(Fault::Drip { bytes: whole().len() / 4, every_ms: 50 }), TARBALL);
    assert_eq!((body.len(), end), (whole().len(), Ok(())));
    assert!(begin.elapsed() >= Duration::from_millis(200));
    let begin = std::time::Instant::now();
    let _ = raw_get(&serve(Fault::Delay { ms: 100 }), TARBALL);
    assert!(begin.elapsed() >= Duration::from_millis(100));
}

#[test]
fn huge_and_deep_bodies_are_as_big_as_asked() {
    let server = serve(Fault::Huge { bytes: 3_000_000 });
    let (head, body, end) = raw_get(&server, "left");
    assert_eq!((announced(&head), end), (None, Ok(())));
    assert!(body.len() >= 3_000_000 && server.stats().bytes == 3_000_000);
    let (_, body, _) = raw_get(&serve(Fault::DeepJson { depth: 1_000 }), "left");
    assert_eq!(body.iter().filter(|&&byte| byte == b'[').count(), 1_000);
}

#[test]
fn a_big_packument_is_a_right_one_with_more_versions() {
    let server = serve(Fault::BigPackument { bytes: 1_000_000, versions: 100 });
    let (head, body, end) = raw_get(&server, "left");
    assert_eq!((announced(&head), end), (None, Ok(())));
    assert!(head.contains("transfer-encoding: chunked") && !head.contains("content-encoding"));
    assert!(server.stats().bytes > 900_000 && body.len() > 900_000, "{} bytes", body.len());
    let text = String::from_utf8(body).unwrap();
    assert_eq!(text.matches("\"version\":\"0.0.0-big.").count(), 100);
    assert!(text.contains("\"version\":\"1.1.0\""), "its own are there too");
}

#[test]
fn a_rule_with_a_count_stops_after_its_turns() {
    let registry = Registry::new().package("a", "1.0.0", |p| p).fault(FaultRule::times(
        "/a$",
        2,
        Fault::Status { status: 500, retry_after: None },
    ));
    let server = ServerOptions::new(registry).start().unwrap();
    let statuses: Vec<bool> = (0..3).map(|_| raw_get(&server, "a").0.starts_with("http/1.1 500")).collect();
    assert_eq!(statuses, [true, true, false]);
}

#[test]
fn dropping_a_server_ends_the_connections_it_holds() {
    let server = serve(Fault::HangBeforeHeaders);
    let address = server.url().trim_start_matches("http://").trim_end_matches('/').to_owned();
    let mut stream = TcpStream::connect(&address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    write!(stream, "GET /left HTTP/1.1\r\nhost: {address}\r\n\r\n").unwrap();
    while server.stats().in_flight == 0 {
        std::thread::yield_now();
    }
    drop(server);
    let mut buffer = [0; 16];
    let ended = match stream.read(&mut buffer) {
        Ok(count) => count == 0,
        Err(error) => error.kind() == ErrorKind::ConnectionReset,
    };
    assert!(ended);
}
