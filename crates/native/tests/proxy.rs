//! A request through a proxy, and one past it.
#![expect(clippy::unwrap_used, reason = "a test")]

use gantry_native::{HttpSettings, NativeHttp, ProxySettings};
use gantry_platform::{Http, HttpError, HttpErrorKind, HttpRequest};
use gantry_testkit::fixtures::basic;
use gantry_testkit::{Fault, FaultRule, Server, ServerOptions};
use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::sync::mpsc::{Receiver, Sender, channel};
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;

#[test]
fn a_proxy_is_asked_for_hosts_that_only_it_knows_and_not_for_exceptions() {
    let runtime = Runtime::new().unwrap();
    // The replay registry answers whatever host it is asked for, as a proxy does.
    let server = runtime.block_on(Server::start(basic())).unwrap();
    let ask = |exceptions: &str, url: &str| {
        let proxy = ProxySettings::new(Some(server.url()), Some(exceptions), &BTreeMap::new());
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

/// A proxy of both kinds that has everybody reach one server, whatever they ask for, and tells what it was asked: the head of a
/// request, or what a client of SOCKS said.
struct Proxy {
    address: SocketAddr,
    asked: Receiver<String>,
}

impl Proxy {
    /// Turns away who does not show these in a `Proxy-Authorization`, if there are any.
    fn start(runtime: &Runtime, server: &Server, credentials: Option<&'static str>) -> Self {
        let to = server.url().split_once("://").unwrap().1.trim_end_matches('/').replace("localhost", "127.0.0.1");
        let to: SocketAddr = to.parse().unwrap();
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = listener.local_addr().unwrap();
        let (tell, asked) = channel();
        runtime.spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(serve(client, to, credentials, tell.clone()));
            }
        });
        Self { address, asked }
    }

    /// What was asked since the last call.
    fn asked(&self) -> Vec<String> {
        self.asked.try_iter().collect()
    }
}

async fn serve(
    mut client: TcpStream,
    to: SocketAddr,
    credentials: Option<&str>,
    tell: Sender<String>,
) -> io::Result<()> {
    let mut head = vec![client.read_u8().await?];
    if head == [5] {
        let _ = tell.send(greet(&mut client).await?);
        let mut server = TcpStream::connect(to).await?;
        return copy_bidirectional(&mut client, &mut server).await.map(drop);
    }
    while !head.ends_with(b"\r\n\r\n") {
        head.push(client.read_u8().await?);
    }
    let text = String::from_utf8_lossy(&head).into_owned();
    let _ = tell.send(text.clone());
    let is_known = credentials.is_none_or(|credentials| {
        text.lines()
            .any(|line| line.to_ascii_lowercase().starts_with("proxy-authorization: ") && line.ends_with(credentials))
    });
    if !is_known {
        let refusal = "HTTP/1.1 407 Who are you?\r\nproxy-authenticate: Basic\r\ncontent-length: 0\r\n\r\n";
        return client.write_all(refusal.as_bytes()).await;
    }
    if text.starts_with("CONNECT forbidden.") {
        return client.write_all(b"HTTP/1.1 403 Not there\r\ncontent-length: 0\r\n\r\n").await;
    }
    let mut server = TcpStream::connect(to).await?;
    if text.starts_with("CONNECT ") {
        client.write_all(b"HTTP/1.1 200 Go on\r\n\r\n").await?;
    } else {
        server.write_all(&head).await?;
    }
    copy_bidirectional(&mut client, &mut server).await.map(drop)
}

/// The greeting of SOCKS 5 (RFC 1928 and 1929), of which the first byte was read; gives what the client said.
async fn greet(client: &mut TcpStream) -> io::Result<String> {
    async fn text(client: &mut TcpStream) -> io::Result<String> {
        let mut bytes = vec![0; client.read_u8().await?.into()];
        client.read_exact(&mut bytes).await?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
    let methods = text(client).await?;
    let method = if methods.contains('\u{2}') { 2 } else { 0 };
    client.write_all(&[5, method]).await?;
    let mut who = String::new();
    if method == 2 {
        assert_eq!(client.read_u8().await?, 1);
        who = format!("{}:{}@", text(client).await?, text(client).await?);
        client.write_all(&[1, 0]).await?;
    }
    let mut request = [0; 4];
    client.read_exact(&mut request).await?;
    assert_eq!(request[..3], [5, 1, 0]);
    let host = match request[3] {
        3 => text(client).await?,
        _ => std::net::Ipv4Addr::from(client.read_u32().await?).to_string(),
    };
    let port = client.read_u16().await?;
    client.write_all(&[5, 0, 0, 1, 0, 0, 0, 0, 0, 0]).await?;
    Ok(format!("{who}{host}:{port}"))
}

/// Asks for `url` through a proxy, with a token for whoever is there.
fn ask(runtime: &Runtime, proxy: &str, url: &str, server: &Server) -> Result<u16, HttpError> {
    let proxy = ProxySettings::new(Some(proxy), None, &BTreeMap::new());
    let certificates = server.certificate().into_iter().map(Into::into).collect();
    let settings = HttpSettings { proxy, certificates, ..HttpSettings::default() };
    let http = NativeHttp::new(runtime.handle().clone(), settings);
    let request = HttpRequest {
        url: url.to_owned(),
        headers: vec![("authorization".to_owned(), "Bearer secret".to_owned())],
        timeout_milliseconds: 20_000,
        max_body_bytes: 1 << 20,
        ..HttpRequest::default()
    };
    runtime.block_on(http.send(request)).map(|response| response.status)
}

#[test]
fn who_would_be_asked_through_a_proxy_that_cannot_be_used_is_not_asked_at_all() {
    let runtime = Runtime::new().unwrap();
    let safe = runtime.block_on(async { ServerOptions::new(basic()).with_tls().start() }).unwrap();
    let to = |to: String| FaultRule::always("/left", Fault::Redirect { to: Some(to), status: 302 });
    let environment = BTreeMap::from([("HTTPS_PROXY".to_owned(), "proxy.test:3128".to_owned())]);
    let start = |options: ServerOptions| runtime.block_on(async { options.start() }).unwrap();
    let plain = start(ServerOptions::new(basic()).with_fault(to(format!("{}left", safe.url()))));
    let http = |exceptions| {
        let proxy = ProxySettings::new(None, exceptions, &environment);
        let certificates = safe.certificate().into_iter().map(Into::into).collect();
        NativeHttp::new(runtime.handle().clone(), HttpSettings { proxy, certificates, ..HttpSettings::default() })
    };
    let get = |http: &NativeHttp, url: String| {
        let (timeout_milliseconds, max_body_bytes) = (20_000, 1 << 20);
        let request = HttpRequest { url, timeout_milliseconds, max_body_bytes, ..HttpRequest::default() };
        runtime.block_on(http.send(request)).map(|response| response.status)
    };
    // `https_proxy` is for both schemes.
    for url in [format!("{}left", plain.url()), format!("{}left", safe.url())] {
        let error = get(&http(None), url).unwrap_err();
        assert_eq!((error.kind, error.message.contains("proxy.test:3128")), (HttpErrorKind::Proxy, true), "{error}");
    }
    let excepted = Some("127.0.0.1,localhost");
    assert_eq!(get(&http(excepted), format!("{}left", plain.url())).unwrap(), 200);
    assert_eq!((plain.log().len(), safe.log().len()), (1, 1));
}

#[test]
fn a_redirect_to_who_would_be_asked_through_a_proxy_that_cannot_be_used_is_not_followed() {
    let runtime = Runtime::new().unwrap();
    let server = runtime.block_on(Server::start(basic())).unwrap();
    let to = Some(server.url().replace("127.0.0.1", "localhost") + "right");
    let redirect = FaultRule::always("/left", Fault::Redirect { to, status: 302 });
    let first = runtime.block_on(async { ServerOptions::new(basic()).with_fault(redirect).start() }).unwrap();
    assert!(first.url().contains("127.0.0.1"), "{}", first.url());
    let environment = BTreeMap::from([("http_proxy".to_owned(), "proxy.test:3128".to_owned())]);
    let proxy = ProxySettings::new(None, Some("127.0.0.1"), &environment);
    let http = NativeHttp::new(runtime.handle().clone(), HttpSettings { proxy, ..HttpSettings::default() });
    let (url, timeout_milliseconds, max_body_bytes) = (format!("{}left", first.url()), 20_000, 1 << 20);
    let request = HttpRequest { url, timeout_milliseconds, max_body_bytes, ..HttpRequest::default() };
    let error = runtime.block_on(http.send(request)).unwrap_err();
    assert_eq!(error.kind, HttpErrorKind::Proxy, "{error}");
    assert!(server.log().is_empty());
}

/// `me@work:pass:word`.
const CREDENTIALS: &str = "Basic bWVAd29yazpwYXNzOndvcmQ=";

#[test]
fn a_registry_over_tls_is_reached_by_connect_and_the_proxy_sees_nothing_of_it() {
    let runtime = Runtime::new().unwrap();
    let server = runtime.block_on(async { ServerOptions::new(basic()).with_tls().start() }).unwrap();
    let left = format!("{}left", server.url());
    let host = server.url().trim_start_matches("https://").trim_end_matches('/');
    let open = Proxy::start(&runtime, &server, None);
    assert_eq!(ask(&runtime, &format!("http://{}", open.address), &left, &server).unwrap(), 200);
    let asked = open.asked();
    assert_eq!(asked.len(), 1);
    assert!(asked[0].starts_with(&format!("CONNECT {host} HTTP/1.1\r\n")), "{asked:?}");
    let head = asked[0].to_ascii_lowercase();
    assert!(!head.contains("secret") && !head.contains("left") && !head.contains("authorization"), "{head}");
    assert!(server.log().iter().all(|entry| entry.authorized && entry.path == "/left"));

    let error = ask(&runtime, &format!("http://{}", open.address), "https://forbidden.invalid/left", &server);
    let error = error.unwrap_err();
    assert_eq!(error.kind, HttpErrorKind::Connect, "it may be so for now");
    assert!(error.message.contains("the proxy on the way opens no connection"), "{error}");

    let closed = Proxy::start(&runtime, &server, Some(CREDENTIALS));
    let proxy = format!("http://me%40work:pass%3Aword@{}", closed.address);
    assert_eq!(ask(&runtime, &proxy, &left, &server).unwrap(), 200);
    let error = ask(&runtime, &format!("http://me:wrong@{}", closed.address), &left, &server).unwrap_err();
    assert!(!error.to_string().contains("wrong"), "{error}");
    assert_eq!(error.kind, HttpErrorKind::Proxy, "{error}");
    assert_eq!(server.log().len(), 2);
}

#[test]
fn a_proxy_is_shown_the_user_and_password_of_its_address_for_plain_requests_too() {
    let runtime = Runtime::new().unwrap();
    let server = runtime.block_on(Server::start(basic())).unwrap();
    let closed = Proxy::start(&runtime, &server, Some(CREDENTIALS));
    let through =
        |who: &str| ask(&runtime, &format!("http://{who}{}", closed.address), "http://registry.invalid/left", &server);
    assert_eq!(through("me%40work:pass%3Aword@").unwrap(), 200);
    let asked = closed.asked();
    assert!(asked[0].starts_with("GET http://registry.invalid/left HTTP/1.1\r\n"), "{asked:?}");
    assert!(
        asked[0].to_ascii_lowercase().contains("\r\nauthorization: bearer secret\r\n"),
        "the registry's own beside it"
    );
    assert_eq!(through("").unwrap(), 407);
    assert_eq!(server.log().len(), 1);
}

#[test]
fn a_socks_proxy_is_told_who_asks_and_what_for() {
    let runtime = Runtime::new().unwrap();
    let plain = runtime.block_on(Server::start(basic())).unwrap();
    let proxy = Proxy::start(&runtime, &plain, None);
    let at = |scheme: &str, who: &str| format!("{scheme}://{who}{}", proxy.address);
    // With `socks5h` the proxy looks names up, with `socks5` the client does.
    assert_eq!(ask(&runtime, &at("socks5h", ""), "http://registry.invalid/left", &plain).unwrap(), 200);
    assert_eq!(proxy.asked(), ["registry.invalid:80"]);
    let known = at("socks5h", "me%40work:pass%3Aword@");
    assert_eq!(ask(&runtime, &known, "http://registry.invalid:8080/left", &plain).unwrap(), 200);
    assert_eq!(proxy.asked(), ["me@work:pass:word@registry.invalid:8080"]);
    assert_eq!(ask(&runtime, &at("socks5", ""), "http://127.0.0.1:81/left", &plain).unwrap(), 200);
    assert_eq!(proxy.asked(), ["127.0.0.1:81"]);
    assert!(ask(&runtime, &at("socks5", ""), "http://registry.invalid/left", &plain).is_err());

    let safe = runtime.block_on(async { ServerOptions::new(basic()).with_tls().start() }).unwrap();
    let proxy = Proxy::start(&runtime, &safe, None);
    let left = format!("{}left", safe.url());
    assert_eq!(ask(&runtime, &format!("socks5h://{}", proxy.address), &left, &safe).unwrap(), 200);
}
