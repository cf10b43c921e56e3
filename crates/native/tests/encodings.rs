//! What encodings are asked for, and what becomes of those that are answered.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use bytes::Bytes;
use gantry_archive::Integrity;
use gantry_native::{HttpSettings, NativeClock, NativeHttp};
use gantry_platform::{Http, HttpRequest};
use gantry_registry::{Refusal, RegistryError, TarballRequest, fetch_tarball};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Sender, channel};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

/// Answers every connection with `answer`, and tells what was asked.
async fn serve(listener: TcpListener, answer: Vec<u8>, asked: Sender<String>) {
    while let Ok((stream, _)) = listener.accept().await {
        let mut stream = BufReader::new(stream);
        let mut request = String::new();
        while !request.ends_with("\r\n\r\n") && stream.read_line(&mut request).await.is_ok_and(|length| length > 0) {}
        let _ = asked.send(request.to_ascii_lowercase());
        let _ = stream.write_all(&answer).await;
    }
}

fn answer(status: &str, more: &str, body: &[u8]) -> Vec<u8> {
    let length = body.len();
    let head = format!("HTTP/1.1 {status}\r\n{more}content-length: {length}\r\nconnection: close\r\n\r\n");
    [head.as_bytes(), body].concat()
}

fn gzipped(plain: &[u8]) -> Vec<u8> {
    use std::io::Write;
    let mut gzip = Command::new("gzip").arg("-c").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    gzip.stdin.take().unwrap().write_all(plain).unwrap();
    gzip.wait_with_output().unwrap().stdout
}

/// Fetches a tarball that is to be `tarball` from a registry that answers so; gives what came and what was asked.
fn fetched(tarball: &[u8], answer: Vec<u8>) -> (Result<Bytes, RegistryError>, Vec<String>) {
    let runtime = Runtime::new().unwrap();
    let (asked, requests) = channel();
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
    let url = format!("http://{}/a/-/a-1.0.0.tgz", listener.local_addr().unwrap());
    runtime.spawn(serve(listener, answer, asked));
    let http = NativeHttp::new(runtime.handle().clone(), HttpSettings::default());
    let mut request = TarballRequest::of_body("a@1.0.0", Bytes::new(), Some(Integrity::sha512_of(tarball)));
    (request.url, request.body, request.max_bytes) = (url, None, 1 << 20);
    let take = async |body: Bytes| request.verify(&body).map(|()| body).map_err(Refusal::Mismatch);
    let clock = NativeClock::default();
    let result = runtime.block_on(fetch_tarball(&http, &clock, &request, &(), take));
    (result.map(|fetched| fetched.contents), requests.try_iter().collect())
}

#[test]
fn a_tarball_is_asked_for_as_it_is_and_one_compressed_twice_is_verified_as_it_was() {
    let tarball = gzipped(b"an archive");
    let twice = answer("200 OK", "content-encoding: gzip\r\n", &gzipped(&tarball));
    for answer in [answer("200 OK", "", &tarball), twice] {
        let (contents, asked) = fetched(&tarball, answer);
        assert_eq!(contents.unwrap(), tarball);
        assert_eq!(asked.len(), 1);
        assert!(asked[0].contains("accept-encoding: identity\r\n"), "{}", asked[0]);
        assert_eq!(asked[0].matches("accept-encoding").count(), 1);
    }
}

#[test]
fn what_something_on_the_way_has_changed_counts_if_it_is_what_was_promised() {
    let tarball = gzipped(b"an archive");
    let changed = "203 Non-Authoritative Information";
    assert_eq!(fetched(&tarball, answer(changed, "", &tarball)).0.unwrap(), tarball);
    let error = fetched(&tarball, answer(changed, "", b"another")).0.unwrap_err();
    assert_eq!(error.code(), "ARCHIVE_INTEGRITY");
}

#[test]
fn documents_may_come_compressed() {
    let runtime = Runtime::new().unwrap();
    let (asked, requests) = channel();
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
    let url = format!("http://{}/a", listener.local_addr().unwrap());
    runtime.spawn(serve(listener, answer("200 OK", "content-encoding: gzip\r\n", &gzipped(b"{}")), asked));
    let http = NativeHttp::new(runtime.handle().clone(), HttpSettings::default());
    let request = HttpRequest { url, timeout_milliseconds: 20_000, max_body_bytes: 1 << 20, ..HttpRequest::default() };
    assert_eq!(&runtime.block_on(http.send(request)).unwrap().body[..], b"{}");
    assert!(requests.recv().unwrap().contains("accept-encoding: gzip\r\n"));
}
