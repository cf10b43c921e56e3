//! What goes along when a server sends on to another.

use gantry_native::{HttpSettings, NativeHttp};
use gantry_platform::{Http, HttpRequest};
use std::sync::mpsc::{Sender, channel};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

/// Answers each connection once with `answer`, and tells what was asked.
async fn serve(listener: TcpListener, answer: String, asked: Sender<String>) {
    while let Ok((stream, _)) = listener.accept().await {
        let mut stream = BufReader::new(stream);
        let mut request = String::new();
        while !request.ends_with("\r\n\r\n") && stream.read_line(&mut request).await.is_ok_and(|length| length > 0) {}
        let _ = asked.send(request);
        let _ = stream.write_all(answer.as_bytes()).await;
    }
}

#[test]
fn the_first_address_is_not_told_to_the_second_and_credentials_stay_within_the_origin() {
    let runtime = Runtime::new().unwrap();
    let (asked, requests) = channel();
    let listen = || runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
    let (first, second) = (listen(), listen());
    let address = first.local_addr().unwrap();
    let to = format!("http://{}/moved", second.local_addr().unwrap());
    let answer =
        |status: &str, more: &str| format!("HTTP/1.1 {status}\r\n{more}content-length: 0\r\nconnection: close\r\n\r\n");
    runtime.spawn(serve(first, answer("302 Found", &format!("location: {to}\r\n")), asked.clone()));
    runtime.spawn(serve(second, answer("200 OK", ""), asked));

    let http = NativeHttp::new(runtime.handle().clone(), HttpSettings::default());
    let request = HttpRequest {
        url: format!("http://{address}/@secret%2fproject"),
        headers: vec![("authorization".to_owned(), "Bearer abc".to_owned())],
        timeout_milliseconds: 20_000,
        max_body_bytes: 1 << 20,
        ..HttpRequest::default()
    };
    assert_eq!(runtime.block_on(http.send(request)).unwrap().status, 200);
    let (before, after) = (requests.recv().unwrap(), requests.recv().unwrap());
    assert!(before.starts_with("GET /@secret%2fproject ") && before.contains("authorization: Bearer abc"), "{before}");
    assert!(after.starts_with("GET /moved "), "{after}");
    let after = after.to_ascii_lowercase();
    assert!(!after.contains("referer") && !after.contains("secret") && !after.contains("authorization"), "{after}");
}
