//! A request through a proxy, and one past it.

use gantry_native::{HttpSettings, NativeHttp, ProxySettings};
use gantry_platform::{Http, HttpRequest};
use gantry_testkit::Server;
use gantry_testkit::fixtures::basic;
use std::collections::BTreeMap;
use tokio::runtime::Runtime;

#[test]
fn a_proxy_is_asked_for_hosts_that_only_it_knows_and_not_for_exceptions() {
    let runtime = Runtime::new().unwrap();
    // The replay registry answers whatever host it is asked for, as a proxy does.
    let server = runtime.block_on(Server::start(basic())).unwrap();
    let ask = |exceptions: &str, url: &str| {
        let proxy = ProxySettings::new(Some(server.url()), Some(exceptions), &BTreeMap::new()).unwrap();
        let http = NativeHttp::new(runtime.handle().clone(), HttpSettings { proxy, ..HttpSettings::default() });
        let request = HttpRequest {
            url: url.to_owned(),
            timeout_milliseconds: 20_000,
            max_body_bytes: 1 << 20,
            ..HttpRequest::default()
        };
        runtime.block_on(http.send(request)).map(|response| response.status)
    };
    assert_eq!(ask("", "http://registry.invalid/left").unwrap(), 200);
    assert_eq!(server.log().last().unwrap().path, "/left");
    assert!(ask("invalid", "http://registry.invalid/left").is_err(), "asked directly, and nobody has that name");
}
