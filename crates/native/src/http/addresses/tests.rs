use super::{Addresses, Found};
use crate::http::{HttpSettings, NativeHttp};
use futures_util::FutureExt;
use futures_util::future::join_all;
use gantry_platform::{Http, HttpErrorKind, HttpRequest};
use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::runtime::Handle;

fn addresses(texts: &[&str]) -> Vec<IpAddr> {
    texts.iter().map(|text| text.parse().unwrap()).collect()
}

/// A host that is at these addresses: its port, and how many connections each has had. It answers each request with an
/// empty body and closes the connection.
async fn host(texts: &[&str]) -> (u16, Vec<Arc<AtomicUsize>>) {
    let listeners = 'ports: loop {
        let first = TcpListener::bind((addresses(texts)[0], 0)).await.unwrap();
        let port = first.local_addr().unwrap().port();
        let mut listeners = vec![first];
        for address in &addresses(texts)[1..] {
            match TcpListener::bind((*address, port)).await {
                Ok(listener) => listeners.push(listener),
                Err(error) if error.kind() == io::ErrorKind::AddrInUse => continue 'ports,
                Err(error) => panic!("{address}: {error}"),
            }
        }
        break listeners;
    };
    let port = listeners[0].local_addr().unwrap().port();
    let serve = |listener: TcpListener| {
        let count = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&count);
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                counted.fetch_add(1, Ordering::Relaxed);
                tokio::spawn(async move {
                    let mut request = Vec::new();
                    while !request.ends_with(b"\r\n\r\n")
                        && stream.read_buf(&mut request).await.is_ok_and(|read| read > 0)
                    {}
                    let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
                    let _ = stream.write_all(answer).await;
                });
            }
        });
        count
    };
    (port, listeners.into_iter().map(serve).collect())
}

/// A client that is told these addresses for every name, after `failures` failures; and how often it has asked.
fn client(texts: &[&str], failures: usize) -> (NativeHttp, Arc<AtomicUsize>) {
    let (found, asked) = (addresses(texts), Arc::new(AtomicUsize::new(0)));
    let counted = Arc::clone(&asked);
    let lookup = move |_: String| {
        let fails = counted.fetch_add(1, Ordering::Relaxed) < failures;
        let found = found.clone();
        async move {
            tokio::task::yield_now().await;
            if fails { Err(io::Error::other("nobody knows")) } else { Ok(found) }
        }
        .boxed()
    };
    let addresses = Addresses::new(Arc::new(lookup));
    (NativeHttp::with_addresses(Handle::current(), HttpSettings::default(), addresses), asked)
}

async fn ask(http: &NativeHttp, port: u16) -> Result<u16, HttpErrorKind> {
    let url = format!("http://registry.test:{port}/");
    let request = HttpRequest { url, timeout_milliseconds: 60_000, max_body_bytes: 1, ..HttpRequest::default() };
    http.send(request).await.map(|response| response.status).map_err(|error| error.kind)
}

fn counts(connections: &[Arc<AtomicUsize>]) -> Vec<usize> {
    connections.iter().map(|count| count.load(Ordering::Relaxed)).collect()
}

#[test]
fn each_connection_begins_at_the_next_address_of_its_family() {
    let found = Found::new(addresses(&["::1", "127.0.0.1", "::2", "127.0.0.2", "127.0.0.3"])).unwrap();
    let next = || found.next().iter().map(|address| address.ip().to_string()).collect::<Vec<_>>().join(" ");
    assert_eq!(next(), "::1 ::2 127.0.0.1 127.0.0.2 127.0.0.3");
    assert_eq!(next(), "::2 ::1 127.0.0.2 127.0.0.3 127.0.0.1");
    assert_eq!(next(), "::1 ::2 127.0.0.3 127.0.0.1 127.0.0.2");
    assert!(Found::new(Vec::new()).is_none());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_at_once_wait_for_one_lookup() {
    let (port, connections) = host(&["127.0.0.1"]).await;
    let (http, asked) = client(&["127.0.0.1"], 0);
    let answers = join_all((0..16).map(|_| ask(&http, port))).await;
    assert!(answers.iter().all(|answer| *answer == Ok(200)), "{answers:?}");
    assert_eq!((asked.load(Ordering::Relaxed), counts(&connections)), (1, vec![16]));
}

// Other systems have one loopback address.
#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_are_spread_over_the_addresses_that_answer_whichever_family_comes_first() {
    for told in [
        &["127.0.0.1", "127.0.0.2", "::1"][..],
        // Nobody listens there: refused, a connection goes on to the next.
        &["::1", "127.0.0.1", "127.0.0.2"][..],
        &["127.0.0.3", "127.0.0.1", "127.0.0.4", "127.0.0.2"][..],
    ] {
        let (port, connections) = host(&["127.0.0.1", "127.0.0.2"]).await;
        let (http, asked) = client(told, 0);
        for _ in 0..8 {
            assert_eq!(ask(&http, port).await, Ok(200));
        }
        assert_eq!((asked.load(Ordering::Relaxed), counts(&connections)), (1, vec![4, 4]), "{told:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dead_address_is_passed_over() {
    let (port, connections) = host(&["127.0.0.1"]).await;
    for told in [["::1", "127.0.0.1"], ["127.0.0.1", "::1"]] {
        let (http, _) = client(&told, 0);
        for _ in 0..2 {
            assert_eq!(ask(&http, port).await, Ok(200));
        }
    }
    assert_eq!(counts(&connections), [4]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lookup_that_failed_is_made_again() {
    let (port, _) = host(&["127.0.0.1"]).await;
    let (http, asked) = client(&["127.0.0.1"], 1);
    assert_eq!(ask(&http, port).await, Err(HttpErrorKind::Connect));
    assert_eq!(ask(&http, port).await, Ok(200));
    assert_eq!(asked.load(Ordering::Relaxed), 2);
}
