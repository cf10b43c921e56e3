//! `registry-ceiling`: fetches a list of documents with no resolver, as fast as a client can. It says what a registry, a
//! network and an HTTP stack allow; nothing that resolves can be faster.
//!
//! N loops take the next entry of the list, ask for it, and wait until its body is there and decoded. Nothing is parsed,
//! stored or deduplicated. `--stack product` is the product's own client; `http2` is the same library told to multiplex,
//! for the question whether that would be faster.
#![expect(
    clippy::disallowed_methods,
    reason = "a native program of its own: it reads files and the clock and is never built for wasm"
)]

use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use clap::{Parser, ValueEnum};
use gantry_engine::Overlap;
use gantry_native::{HttpSettings, NativeHttp};
use gantry_platform::{Http, HttpRequest};
use serde::Deserialize;
use serde_json::json;
use tokio::runtime::Runtime;

const TIMEOUT_MILLISECONDS: u64 = 60_000;
const MAX_BODY_BYTES: u64 = 1 << 30;

type Failure = Box<dyn Error + Send + Sync>;

#[derive(Debug, Parser)]
#[command(version, about = "Fetches a list of documents with no resolver")]
struct Options {
    /// JSON: a list of `{"path", "accept"}`; with a `"tag"` where it is to be unchanged.
    #[arg(long, value_name = "FILE")]
    list: PathBuf,
    /// Address of the registry, ending with a slash.
    #[arg(long, value_name = "URL")]
    registry: String,
    /// Requests under way at once.
    #[arg(long, value_name = "N")]
    in_flight: usize,
    /// Which client.
    #[arg(long, default_value = "product")]
    stack: Stack,
    /// Independent clients, each with connections of its own (http2 only).
    #[arg(long, default_value_t = 1)]
    clients: usize,
    /// A certificate to trust, PEM.
    #[arg(long, value_name = "FILE")]
    certificate: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Stack {
    /// The product's own: HTTP/1.1, a pool of connections.
    Product,
    /// HTTP/2 wherever the server offers it.
    Http2,
}

#[derive(Debug, Deserialize)]
struct Wanted {
    path: String,
    accept: String,
    tag: Option<String>,
}

/// A client of either kind.
enum Client {
    Product(NativeHttp),
    Http2(Vec<reqwest::Client>),
}

impl Client {
    fn new(options: &Options, runtime: &Runtime) -> Result<Self, Failure> {
        let certificate = options.certificate.as_ref().map(std::fs::read).transpose()?;
        if options.stack == Stack::Product {
            let settings = HttpSettings {
                certificates: certificate.into_iter().collect(),
                user_agent: concat!("registry-ceiling/", env!("CARGO_PKG_VERSION")).to_owned(),
                ..HttpSettings::default()
            };
            return Ok(Self::Product(NativeHttp::new(runtime.handle().clone(), settings)));
        }
        // An error means that a provider is installed already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let build = || -> Result<reqwest::Client, Failure> {
            // Windows that no document fills: bodies that wait for one another's room come in crumbs, and the library
            // takes too many of those for an attack.
            let mut builder = reqwest::Client::builder()
                .http2_initial_stream_window_size(8 << 20)
                .http2_initial_connection_window_size(256 << 20)
                .tcp_nodelay(true);
            for certificate in certificate.iter().map(|pem| reqwest::Certificate::from_pem(pem)) {
                builder = builder.add_root_certificate(certificate?);
            }
            Ok(builder.build()?)
        };
        (0..options.clients.max(1)).map(|_| build()).collect::<Result<_, _>>().map(Self::Http2)
    }

    /// Length of the decoded body, and the protocol where it is known.
    async fn fetch(&self, number: usize, url: String, wanted: &Wanted) -> Result<(usize, String), Failure> {
        let Wanted { accept, tag, .. } = wanted;
        let (status, length, protocol) = match self {
            Self::Product(http) => {
                let mut headers = vec![("accept".to_owned(), accept.to_owned())];
                headers.extend(tag.iter().map(|tag| ("if-none-match".to_owned(), tag.clone())));
                let request = HttpRequest {
                    url: url.clone(),
                    headers,
                    timeout_milliseconds: TIMEOUT_MILLISECONDS,
                    max_body_bytes: MAX_BODY_BYTES,
                    ..HttpRequest::default()
                };
                let response = http.send(request).await?;
                (response.status, response.body.len(), "HTTP/1.1".to_owned())
            }
            Self::Http2(clients) => {
                let client = &clients[number % clients.len()];
                let response = client.get(&url).header("accept", accept).send().await?;
                let (status, protocol) = (response.status().as_u16(), format!("{:?}", response.version()));
                (status, response.bytes().await?.len(), protocol)
            }
        };
        let expected = if tag.is_some() { 304 } else { 200 };
        if status == expected { Ok((length, protocol)) } else { Err(format!("{url} answered {status}").into()) }
    }
}

/// What one loop fetched.
#[derive(Default)]
struct Part {
    spans: Vec<(f64, f64)>,
    bytes: usize,
    protocol: Option<String>,
}

fn main() -> Result<(), Failure> {
    let options = Options::parse();
    let list: Vec<Wanted> = serde_json::from_slice(&std::fs::read(&options.list)?)?;
    let runtime = Runtime::new()?;
    let client = Arc::new(Client::new(&options, &runtime)?);
    let (list, next, start) = (Arc::new(list), Arc::new(AtomicUsize::new(0)), Instant::now());
    let loops: Vec<_> = (0..options.in_flight.clamp(1, list.len().max(1)))
        .map(|_| {
            let (client, list, next) = (Arc::clone(&client), Arc::clone(&list), Arc::clone(&next));
            let registry = options.registry.clone();
            runtime.spawn(async move {
                let mut part = Part::default();
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some(wanted) = list.get(number) else { return Ok::<_, Failure>(part) };
                    let begin = start.elapsed().as_secs_f64();
                    let (bytes, protocol) = client.fetch(number, format!("{registry}{}", wanted.path), wanted).await?;
                    part.spans.push((begin, start.elapsed().as_secs_f64()));
                    part.bytes += bytes;
                    part.protocol.get_or_insert(protocol);
                }
            })
        })
        .collect();
    let mut whole = Part::default();
    for part in loops {
        let part = runtime.block_on(part)??;
        whole.spans.extend(part.spans);
        whole.bytes += part.bytes;
        whole.protocol = whole.protocol.or(part.protocol);
    }
    let mut line = json!(Overlap::of(&whole.spans));
    line["requests"] = json!(whole.spans.len());
    line["decodedBytes"] = json!(whole.bytes);
    line["protocol"] = json!(whole.protocol);
    println!("{line}");
    runtime.shutdown_background();
    Ok(())
}
