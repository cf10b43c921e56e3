//! The server as its clients see it: forms, tags, compression, CORS, credentials, counts.
#![expect(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test that measures time")]
use std::io::Read as _;
use std::time::Duration;

use gantry_testkit::fixtures::{Registry, basic};
use gantry_testkit::packument::ABBREVIATED;
use gantry_testkit::{FaultRule, RequestKind, Server, ServerOptions};
use reqwest::header::{
    ACCEPT, ACCEPT_ENCODING, ACCEPT_RANGES, ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_ORIGIN, AUTHORIZATION,
    CACHE_CONTROL, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, ETAG, IF_MODIFIED_SINCE,
    IF_NONE_MATCH, IF_RANGE, LAST_MODIFIED, RANGE, VARY,
};
use serde_json::Value;

fn client() -> reqwest::Client {
    let _ = rustls::crypto::ring::default_provider().install_default();
    // No decompression: these tests look at what is on the wire.
    reqwest::Client::builder().no_proxy().no_gzip().build().unwrap()
}

async fn get(url: String, headers: &[(reqwest::header::HeaderName, &str)]) -> reqwest::Response {
    let mut request = client().get(url);
    for (name, value) in headers {
        request = request.header(name, *value);
    }
    request.send().await.unwrap()
}

#[tokio::test]
async fn both_forms_have_their_own_tag_and_answer_304_to_it() {
    let server = Server::start(basic()).await.unwrap();
    let url = format!("{}@scope%2fmiddle", server.url());
    let full = get(url.clone(), &[]).await;
    let short = get(url.clone(), &[(ACCEPT, ABBREVIATED)]).await;
    assert_eq!(full.headers()[CONTENT_TYPE], "application/json");
    assert_eq!(short.headers()[CONTENT_TYPE], ABBREVIATED);
    assert_eq!(short.headers()[CACHE_CONTROL], "public, max-age=300");
    assert_eq!(short.headers()[VARY], "accept, accept-encoding");
    assert_eq!(short.headers()[ACCESS_CONTROL_ALLOW_ORIGIN], "*");
    assert_ne!(full.headers()[ETAG], short.headers()[ETAG]);
    let etag = short.headers()[ETAG].to_str().unwrap().to_owned();
    let length: usize = short.headers()[CONTENT_LENGTH].to_str().unwrap().parse().unwrap();
    let body = short.bytes().await.unwrap();
    assert_eq!(body.len(), length);
    let document: Value = serde_json::from_slice(&body).unwrap();
    let version = &document["versions"]["1.2.3"];
    assert_eq!(version["dist"]["tarball"], format!("{}@scope/middle/-/middle-1.2.3.tgz", server.url()));
    assert_eq!(version.get("license"), None);
    assert_eq!(document.get("time"), None);

    let again = get(url.clone(), &[(ACCEPT, ABBREVIATED), (IF_NONE_MATCH, &etag)]).await;
    assert_eq!(again.status(), 304);
    assert_eq!(again.headers()[ETAG].to_str().unwrap(), etag);
    assert_eq!(again.bytes().await.unwrap().len(), 0);
    let other_form = get(url, &[(IF_NONE_MATCH, &etag)]).await;
    assert_eq!(other_form.status(), 200);
    let stats = server.stats();
    assert_eq!((stats.full_packuments, stats.abbreviated_packuments, stats.not_modified), (2, 2, 1));
}

#[tokio::test]
async fn documents_tell_when_they_changed_and_answer_304_to_that_date_alone() {
    let document = serde_json::json!({"name": "aged", "versions": {}, "time": {
        "1.0.0": "2024-03-01T10:00:00.900+00:00", "1.1.0": "2024-02-01T10:00:00+00:00", "unpublished": {},
    }});
    let server = Server::start(basic().document("aged", document)).await.unwrap();
    let cases = [("right", "Mon, 01 Jan 2024 00:00:00 GMT"), ("aged", "Fri, 01 Mar 2024 10:00:00 GMT")];
    for (name, date) in cases {
        let url = format!("{}{name}", server.url());
        let answer = get(url.clone(), &[]).await;
        assert_eq!(answer.headers()[LAST_MODIFIED], date);
        for (since, status) in [
            (date, 304),
            ("Sat, 01 Mar 2025 00:00:00 GMT", 304),
            ("Sun, 31 Dec 2023 23:59:59 GMT", 200),
            ("yesterday", 200),
        ] {
            assert_eq!(get(url.clone(), &[(IF_MODIFIED_SINCE, since)]).await.status(), status, "{since}");
        }
        let both = get(url, &[(IF_MODIFIED_SINCE, date), (IF_NONE_MATCH, "\"another\"")]).await;
        assert_eq!(both.status(), 200);
    }
    let undated = get(format!("{}left/-/left-1.1.0.tgz", server.url()), &[]).await;
    assert_eq!(undated.headers().get(LAST_MODIFIED), None);
}

#[tokio::test]
async fn a_range_of_a_tarball_can_be_had_on_condition_of_its_tag() {
    let server = Server::start(basic()).await.unwrap();
    let url = format!("{}left/-/left-1.1.0.tgz", server.url());
    let whole = get(url.clone(), &[]).await;
    assert_eq!(whole.headers()[ACCEPT_RANGES], "bytes");
    let etag = whole.headers()[ETAG].to_str().unwrap().to_owned();
    let whole = whole.bytes().await.unwrap();
    let length = whole.len();
    let cases = [
        ("bytes=3-9", Some((3, 10))),
        ("bytes=10-", Some((10, length))),
        ("bytes=0-999999", Some((0, length))),
        ("bytes=9-3", None),
        ("bytes=999999-", None),
        ("bytes=-5", None),
        ("lines=1-2", None),
    ];
    for (range, expected) in cases {
        let answer = get(url.clone(), &[(RANGE, range), (IF_RANGE, &etag)]).await;
        let told = answer.headers().get(CONTENT_RANGE).map(|told| told.to_str().unwrap().to_owned());
        let status = answer.status();
        let body = answer.bytes().await.unwrap();
        match expected {
            Some((start, end)) => {
                assert_eq!((status.as_u16(), told), (206, Some(format!("bytes {start}-{}/{length}", end - 1))));
                assert_eq!(body, whole[start..end]);
            }
            None => assert_eq!((status.as_u16(), told, body), (200, None, whole.clone())),
        }
    }
    assert_eq!(get(url, &[(RANGE, "bytes=3-9"), (IF_RANGE, "\"another\"")]).await.status(), 200);
}

#[tokio::test]
async fn json_is_compressed_for_those_who_accept_it_and_tarballs_never() {
    let server = Server::start(basic()).await.unwrap();
    let plain = get(format!("{}left", server.url()), &[]).await;
    let packed = get(format!("{}left", server.url()), &[(ACCEPT_ENCODING, "br, gzip;q=0.8")]).await;
    assert_eq!(plain.headers().get(CONTENT_ENCODING), None);
    assert_eq!(packed.headers()[CONTENT_ENCODING], "gzip");
    assert_ne!(plain.headers()[ETAG], packed.headers()[ETAG]);
    let mut text = Vec::new();
    flate2::read::GzDecoder::new(packed.bytes().await.unwrap().as_ref()).read_to_end(&mut text).unwrap();
    assert_eq!(text, plain.bytes().await.unwrap());
    let refused = get(format!("{}left", server.url()), &[(ACCEPT_ENCODING, "gzip;q=0")]).await;
    assert_eq!(refused.headers().get(CONTENT_ENCODING), None);

    let tarball = get(format!("{}left/-/left-1.1.0.tgz", server.url()), &[(ACCEPT_ENCODING, "gzip")]).await;
    assert_eq!(tarball.headers().get(CONTENT_ENCODING), None);
    assert_eq!(tarball.headers()[CACHE_CONTROL], "public, immutable, max-age=31557600");
    assert_eq!(tarball.bytes().await.unwrap(), basic().tarball("left", "1.1.0").unwrap());
}

#[tokio::test]
async fn one_version_is_given_by_number_and_by_tag() {
    let server = Server::start(basic()).await.unwrap();
    for (wanted, version) in [("1.0.0", "1.0.0"), ("latest", "1.1.0"), ("next", "2.0.0-beta.1")] {
        let manifest: Value =
            serde_json::from_slice(&get(format!("{}left/{wanted}", server.url()), &[]).await.bytes().await.unwrap())
                .unwrap();
        assert_eq!(manifest["version"], version);
        assert_eq!(manifest["license"], "MIT");
    }
    assert_eq!(get(format!("{}left/9.9.9", server.url()), &[]).await.status(), 404);
    assert_eq!(server.stats().misses, 1);
}

#[tokio::test]
async fn what_is_not_there_is_404_json_and_a_miss() {
    let server = Server::start(Registry::new()).await.unwrap();
    for path in ["nothing", "@scope%2fnothing", "nothing/-/nothing-1.0.0.tgz"] {
        let response = get(format!("{}{path}", server.url()), &[]).await;
        assert_eq!(response.status(), 404);
        assert_eq!(response.bytes().await.unwrap(), "{\"error\":\"Not found\"}");
    }
    let stats = server.stats();
    assert_eq!((stats.misses, stats.upstream_fetches, stats.requests), (3, 0, 3));
    server.reset();
    assert_eq!(server.stats().requests, 0);
    assert_eq!(server.log(), []);
}

#[tokio::test]
async fn a_token_is_asked_for_and_never_logged() {
    let server = ServerOptions::new(basic()).with_token("secret").start().unwrap();
    let url = format!("{}left", server.url());
    assert_eq!(get(url.clone(), &[]).await.status(), 401);
    assert_eq!(get(url.clone(), &[(AUTHORIZATION, "Bearer wrong")]).await.status(), 401);
    assert_eq!(get(url.clone(), &[(AUTHORIZATION, "Bearer secret")]).await.status(), 200);
    assert_eq!(server.stats().unauthorized, 2);
    let preflight = client()
        .request(reqwest::Method::OPTIONS, url)
        .header("access-control-request-headers", "authorization")
        .send()
        .await
        .unwrap();
    assert_eq!(preflight.status(), 204);
    assert_eq!(preflight.headers()[ACCESS_CONTROL_ALLOW_HEADERS], "authorization");
    let log = server.log();
    assert_eq!(log.iter().map(|entry| entry.authorized).collect::<Vec<_>>(), [false, true, true, false]);
    assert_eq!(log[3].kind, RequestKind::Preflight);
    assert!(!format!("{log:?}").contains("secret"));
}

#[tokio::test]
async fn latency_and_bandwidth_slow_answers_down() {
    // About 20 kB that do not compress, at 160 kbit/s: one second.
    let noise: Vec<u8> = (0..20_000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    let registry =
        Registry::new().package("noise", "1.0.0", |p| p.file("noise.bin", noise).archive(|a| a.compression(0)));
    let server =
        ServerOptions::new(registry).with_latency(Duration::from_millis(100)).with_bandwidth(160_000).start().unwrap();
    let begin = std::time::Instant::now();
    assert_eq!(get(format!("{}-/ping", server.url()), &[]).await.status(), 200);
    assert!(begin.elapsed() >= Duration::from_millis(100));
    let begin = std::time::Instant::now();
    let body = get(format!("{}noise/-/noise-1.0.0.tgz", server.url()), &[]).await.bytes().await.unwrap();
    assert!(body.len() > 20_000);
    assert!(begin.elapsed() >= Duration::from_millis(1_000), "{:?}", begin.elapsed());
}

#[tokio::test]
async fn control_requests_are_not_counted() {
    let server = Server::start(basic()).await.unwrap();
    get(format!("{}left", server.url()), &[]).await.bytes().await.unwrap();
    let stats: Value =
        serde_json::from_slice(&get(format!("{}-/gantry/stats?log=1", server.url()), &[]).await.bytes().await.unwrap())
            .unwrap();
    assert_eq!(stats["requests"], 1);
    assert_eq!(stats["log"][0]["path"], "/left");
    assert_eq!(stats["max_in_flight"], 1);
    let rules = r#"[{"path":"/left","count":1,"kind":"status","status":429,"retry_after":"7"}]"#;
    let posted = client().post(format!("{}-/gantry/faults", server.url())).body(rules).send().await.unwrap();
    assert_eq!(posted.status(), 200);
    let limited = get(format!("{}left", server.url()), &[]).await;
    assert_eq!((limited.status().as_u16(), limited.headers()["retry-after"].to_str().unwrap()), (429, "7"));
    assert_eq!(get(format!("{}left", server.url()), &[]).await.status(), 200);
    let removed = client().delete(format!("{}-/gantry/faults", server.url())).send().await.unwrap();
    assert_eq!(removed.status(), 200);
    assert!(server.faults().list().is_empty());
    assert_eq!(client().post(format!("{}-/gantry/thaw", server.url())).send().await.unwrap().status(), 409);
}

#[tokio::test]
async fn http2_without_tls_comes_over_the_same_port() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let server = Server::start(basic()).await.unwrap();
    let client = reqwest::Client::builder().no_proxy().http2_prior_knowledge().build().unwrap();
    let response = client.get(format!("{}left", server.url())).send().await.unwrap();
    assert_eq!(response.version(), reqwest::Version::HTTP_2);
    assert_eq!(response.status(), 200);
}

#[tokio::test]
async fn http2_and_http1_come_over_tls_to_those_who_trust_the_certificate() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let server = ServerOptions::new(basic()).with_tls().start().unwrap();
    let url = format!("{}left", server.url());
    assert!(url.starts_with("https://127.0.0.1:"), "{url}");
    let trusting = || {
        let authority = reqwest::Certificate::from_pem(server.certificate().unwrap().as_bytes()).unwrap();
        reqwest::Client::builder().no_proxy().add_root_certificate(authority)
    };
    for (client, version) in
        [(trusting(), reqwest::Version::HTTP_2), (trusting().http1_only(), reqwest::Version::HTTP_11)]
    {
        let client = client.build().unwrap();
        let response = client.get(&url).header(ACCEPT, ABBREVIATED).send().await.unwrap();
        assert_eq!((response.version(), response.status().as_u16()), (version, 200));
        let document: Value = serde_json::from_slice(&response.bytes().await.unwrap()).unwrap();
        let tarball = document["versions"]["1.1.0"]["dist"]["tarball"].as_str().unwrap();
        assert_eq!(tarball, format!("{}left/-/left-1.1.0.tgz", server.url()));
        let body = client.get(tarball).send().await.unwrap().bytes().await.unwrap();
        assert_eq!(body, basic().tarball("left", "1.1.0").unwrap());
    }
    let by_name = url.replace("127.0.0.1", "localhost");
    assert_eq!(trusting().build().unwrap().get(by_name).send().await.unwrap().status(), 200);

    let stranger = get_result(&url).await.unwrap_err();
    assert!(format!("{stranger:?}").contains("UnknownIssuer"), "{stranger:?}");
    // A handshake that failed, or never begins, is in nobody's way.
    let address = server.url().trim_start_matches("https://").trim_end_matches('/').to_owned();
    let silent = tokio::net::TcpStream::connect(address).await.unwrap();
    assert_eq!(trusting().build().unwrap().get(&url).send().await.unwrap().status(), 200);
    drop(silent);
}

async fn get_result(url: &str) -> reqwest::Result<reqwest::Response> {
    client().get(url).send().await
}

#[tokio::test]
async fn a_played_reset_ends_a_connection_with_tls_too() {
    let server = ServerOptions::new(basic()).with_tls().start().unwrap();
    let _ = rustls::crypto::ring::default_provider().install_default();
    let rule: FaultRule = serde_json::from_str(r#"{"path":"/left","kind":"reset","after":10}"#).unwrap();
    server.faults().add(rule);
    let authority = reqwest::Certificate::from_pem(server.certificate().unwrap().as_bytes()).unwrap();
    let client = reqwest::Client::builder().no_proxy().http1_only().add_root_certificate(authority).build().unwrap();
    let response = client.get(format!("{}left", server.url())).send().await.unwrap();
    let error = response.bytes().await.unwrap_err();
    let reset = std::iter::successors(std::error::Error::source(&error), |cause| cause.source())
        .any(|cause| cause.to_string().contains("reset"));
    assert!(reset, "{error:?}");
}

#[tokio::test]
async fn requests_are_timed_until_their_last_byte() {
    let server = ServerOptions::new(basic()).with_latency(Duration::from_millis(50)).start().unwrap();
    let url = |name: &str| format!("{}{name}", server.url());
    let (one, other) = tokio::join!(get(url("left"), &[]), get(url("@scope%2fmiddle"), &[]));
    one.bytes().await.unwrap();
    other.bytes().await.unwrap();
    // The end of a body is seen by the client a moment before the server lets go of it.
    let stats = loop {
        let stats = server.stats();
        if stats.in_flight == 0 {
            break stats;
        }
        tokio::task::yield_now().await;
    };
    let log = server.log();
    assert_eq!(log.len(), 2);
    assert!(log.iter().all(|entry| entry.microseconds >= 50_000), "{log:?}");
    // Cut to whole microseconds, once each and once together.
    assert!(stats.request_microseconds.abs_diff(log.iter().map(|entry| entry.microseconds).sum()) <= 2, "{stats:?}");
    let end = log.iter().map(|entry| entry.started_microseconds + entry.microseconds).max().unwrap();
    let begin = log.iter().map(|entry| entry.started_microseconds).min().unwrap();
    // Both were under way at once, so the busy time is no sum.
    assert!((50_000..=end - begin + 1_000).contains(&stats.busy_microseconds), "{stats:?}");
    server.reset();
    let stats = server.stats();
    assert_eq!((stats.busy_microseconds, stats.request_microseconds), (0, 0));
}
