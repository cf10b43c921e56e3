//! Recording from an upstream registry (another server of this crate), and replaying without it.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]
use gantry_testkit::fixtures::basic;
use gantry_testkit::{Fault, FaultRule, Recording, Server, ServerOptions};

async fn get(url: String) -> (u16, bytes::Bytes) {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let response = reqwest::Client::builder().no_proxy().build().unwrap().get(url).send().await.unwrap();
    (response.status().as_u16(), response.bytes().await.unwrap())
}

#[tokio::test]
async fn what_was_recorded_is_replayed_without_the_upstream_registry() {
    let folder = tempfile::tempdir().unwrap();
    let recording = Recording::new(folder.path());
    let upstream = Server::start(basic()).await.unwrap();
    // The first try of each fails, so recording must retry.
    upstream.faults().set(vec![FaultRule::times("/left", 1, Fault::Status { status: 503, retry_after: None })]);
    let recorder = ServerOptions::new(recording.clone()).with_record_from(upstream.url()).start().unwrap();
    let requests = (0..8).map(|_| get(format!("{}left", recorder.url())));
    for (status, body) in futures_util::future::join_all(requests).await {
        assert_eq!(status, 200);
        let text = String::from_utf8(body.to_vec()).unwrap();
        assert!(text.contains(recorder.url()) && !text.contains(upstream.url()));
    }
    assert_eq!(upstream.stats().full_packuments, 2, "one failed, one for all eight");
    let tarball = get(format!("{}left/-/left-1.0.0.tgz", recorder.url())).await.1;
    assert_eq!(tarball, basic().tarball("left", "1.0.0").unwrap());
    assert_eq!(get(format!("{}never-published", recorder.url())).await.0, 404);
    assert_eq!(recorder.stats().upstream_fetches, 3);
    recorder.freeze(true);
    assert_eq!(get(format!("{}right", recorder.url())).await.0, 404);
    drop((recorder, upstream));

    assert_eq!(recording.names().unwrap(), ["left"]);
    assert!(!recording.packument("left").unwrap().unwrap().contains("127.0.0.1"));
    let replay = Server::start(recording).await.unwrap();
    let (status, body) = get(format!("{}left", replay.url())).await;
    assert_eq!(status, 200);
    assert!(String::from_utf8(body.to_vec()).unwrap().contains(&format!("{}left/-/left-1.1.0.tgz", replay.url())));
    assert_eq!(get(format!("{}left/-/left-1.0.0.tgz", replay.url())).await.1, tarball);
    assert_eq!(get(format!("{}left/-/left-1.1.0.tgz", replay.url())).await.0, 404);
    assert_eq!(replay.stats().upstream_fetches, 0);
}

#[tokio::test]
async fn tarballs_come_from_the_configured_registry_whatever_their_address_says() {
    let folder = tempfile::tempdir().unwrap();
    let registry = gantry_testkit::fixtures::Registry::new()
        .package("a", "1.0.0", |p| p.tarball_address("https://registry.example/mirror/a/-/other-name-1.0.0.tgz?x=1"));
    let upstream = Server::start(registry).await.unwrap();
    let recorder = ServerOptions::new(Recording::new(folder.path())).with_record_from(upstream.url()).start().unwrap();
    assert_eq!(get(format!("{}a", recorder.url())).await.0, 200);
    assert_eq!(get(format!("{}a/-/other-name-1.0.0.tgz", recorder.url())).await.0, 404);
    assert_eq!(upstream.log().last().unwrap().path, "/mirror/a/-/other-name-1.0.0.tgz");
}

#[test]
fn an_upstream_address_with_credentials_is_refused_and_not_repeated() {
    let folder = tempfile::tempdir().unwrap();
    let options =
        ServerOptions::new(Recording::new(folder.path())).with_record_from("https://user:hunter2@registry.example/");
    let error = options.start().unwrap_err();
    assert_eq!(error.code(), "TESTKIT_URL");
    assert!(!error.to_string().contains("hunter2"));
}
