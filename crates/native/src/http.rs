//! HTTP by reqwest over rustls.
//!
//! HTTP/1.1 with a pool of connections: the systems before this one measured HTTP/2 slower for many small documents from
//! one host. The client is made at the first request, so that an install that needs no network pays nothing for it, and the
//! system's certificates are read when the first server [shows one](trust). Each request runs as a task of the runtime: bodies
//! are collected and decoded on its threads, the caller only sees the finished response; [large](body) ones go to whoever
//! wants them while they come.

mod addresses;
mod body;
mod encoding;
mod near;
mod parts;
mod proxy;
mod trust;

pub(crate) use body::{Piece, Recipient};
pub use proxy::ProxySettings;
pub use trust::ClientCertificate;

use crate::NativeError;
use addresses::Addresses;
use body::{Body, Handed};
use bytes::Bytes;
use encoding::{Undecoded, decoded};
use gantry_platform::{Http, HttpError, HttpErrorKind, HttpRequest, HttpResponse};
use near::Neighbourhood;
use parts::{Divisible, Joined, Parts, Together};
use proxy::UnusableProxy;
use reqwest::Url;
use reqwest::header::{ACCEPT_ENCODING, CONTENT_ENCODING, LOCATION};
use reqwest::redirect::Policy;
use rustls::crypto::ring;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use std::collections::BTreeMap;
use std::panic::resume_unwind;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;
use trust::Trusted;

/// Redirects followed for one request, as in [`Http`]'s contract.
const MAX_REDIRECTS: usize = 20;
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// How to reach registries.
#[derive(Debug, Clone, Default)]
pub struct HttpSettings {
    /// More trusted certificates, PEM (`ca`, `cafile`).
    pub certificates: Vec<Vec<u8>>,
    /// A file with more of them (`NODE_EXTRA_CA_CERTS`), which is read when the first server shows a certificate: it is often
    /// as long as the system's. What in it cannot be used is passed over.
    pub extra_certificates: Option<PathBuf>,
    /// Whether the environment says which certificates are the system's (`SSL_CERT_FILE`, `SSL_CERT_DIR`): then it is an error
    /// that none of them can be read. Else Mozilla's stand in for those of a system that has none.
    pub is_system_chosen: bool,
    /// What can be shown to servers, by the names that requests call it by (`certfile` and `keyfile`, `cert` and `key`). A
    /// request that calls for one that is not here shows none.
    pub client_certificates: BTreeMap<String, ClientCertificate>,
    /// `strict-ssl=false`.
    pub accept_invalid_certificates: bool,
    /// Proxies.
    pub proxy: ProxySettings,
    /// Sent with each request.
    pub user_agent: String,
    /// Parts of large bodies under way at a time, each on a connection of its own beside those of requests; with 0 no body is
    /// asked for in parts.
    pub parts: usize,
    /// Requests under way at a time, whatever they are for; `None` where whoever asks sees to that.
    pub most: Option<usize>,
}

/// Whether a PEM file can serve as more trusted certificates; the error says why not. A client is only made at the first
/// request, which is late to hear of it.
pub fn check_certificates(pem: &[u8]) -> Result<(), NativeError> {
    let failed = |message: String| NativeError::Client { message };
    let mut store = rustls::RootCertStore::empty();
    for certificate in certificates(pem) {
        store.add(certificate?).map_err(|error| failed(error.to_string()))?;
    }
    if store.is_empty() { Err(failed("there is no certificate in it".to_owned())) } else { Ok(()) }
}

fn certificates(pem: &[u8]) -> impl Iterator<Item = Result<CertificateDer<'static>, NativeError>> {
    CertificateDer::pem_slice_iter(pem)
        .map(|certificate| certificate.map_err(|error| NativeError::Client { message: error.to_string() }))
}

/// The native HTTP client; clones share connections.
#[derive(Debug, Clone)]
pub struct NativeHttp {
    runtime: Handle,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    settings: HttpSettings,
    addresses: Addresses,
    client: OnceLock<Result<reqwest::Client, String>>,
    /// Those that show a certificate.
    known: Mutex<BTreeMap<String, reqwest::Client>>,
    together: Together,
    neighbourhood: Neighbourhood,
    /// One for each request that may be under way, where their number is bounded here.
    places: Option<Semaphore>,
}

impl NativeHttp {
    /// A client whose requests run on `runtime`.
    pub fn new(runtime: Handle, settings: HttpSettings) -> Self {
        Self::with_addresses(runtime, settings, Addresses::of_system())
    }

    fn with_addresses(runtime: Handle, settings: HttpSettings, addresses: Addresses) -> Self {
        let together = Together::new(settings.parts);
        let places = settings.most.map(Semaphore::new);
        Self {
            runtime,
            shared: Arc::new(Shared {
                settings,
                addresses,
                client: OnceLock::new(),
                known: Mutex::default(),
                together,
                neighbourhood: Neighbourhood::default(),
                places,
            }),
        }
    }
}

impl Shared {
    /// The client, made for a first request to `url`.
    fn client(&self, url: &str) -> Result<&reqwest::Client, String> {
        let is_tls = url.starts_with("https:");
        self.client
            .get_or_init(|| build(&self.settings, &self.addresses, None, is_tls).map_err(|error| error.to_string()))
            .as_ref()
            .map_err(Clone::clone)
    }

    /// The client that shows the certificate of this name, if there is one: its connections are nobody else's, and it follows
    /// redirects within an origin only.
    fn known_client(&self, name: &str) -> Result<Option<reqwest::Client>, String> {
        let Some(certificate) = self.settings.client_certificates.get(name) else { return Ok(None) };
        let mut known = self.known.lock().expect("making a client does not panic");
        if let Some(client) = known.get(name) {
            return Ok(Some(client.clone()));
        }
        let client =
            build(&self.settings, &self.addresses, Some(certificate), true).map_err(|error| error.to_string())?;
        known.insert(name.to_owned(), client.clone());
        Ok(Some(client))
    }
}

fn build(
    settings: &HttpSettings,
    addresses: &Addresses,
    shown: Option<&ClientCertificate>,
    is_tls: bool,
) -> Result<reqwest::Client, NativeError> {
    let failed = |error: reqwest::Error| NativeError::Client { message: describe(&error) };
    let mut builder = reqwest::Client::builder()
        .http1_only()
        // Bodies are inflated when all of them is here, at once, which takes half as long.
        .no_gzip()
        .pool_max_idle_per_host(256)
        .connect_timeout(CONNECT_TIMEOUT)
        .dns_resolver(addresses.clone())
        .redirect(redirects(settings.proxy.clone(), shown.is_some()))
        .user_agent(&settings.user_agent)
        // The address of a private package is nobody else's business.
        .referer(false)
        .tcp_nodelay(true);
    builder = if settings.accept_invalid_certificates {
        // An error means that a provider was installed before, which is as good.
        let _ = ring::default_provider().install_default();
        if let Some(shown) = shown {
            builder = builder.identity(shown.identity().map_err(failed)?);
        }
        builder.tls_danger_accept_invalid_certs(true)
    } else {
        let added = settings.certificates.iter().flat_map(|pem| certificates(pem)).collect::<Result<_, _>>()?;
        let provider = Arc::new(ring::default_provider());
        let trusted =
            Trusted { added, extra: settings.extra_certificates.clone(), is_system_chosen: settings.is_system_chosen };
        let tls = trust::configuration(provider, trusted, shown, is_tls)
            .map_err(|error| NativeError::Client { message: error.to_string() })?;
        builder.tls_backend_preconfigured(tls)
    };
    // A proxy of one's own also keeps the client from reading the environment by other rules. That it can be used has been
    // looked at by then, of every address: an error here would mean that it is asked directly.
    let proxy = settings.proxy.clone();
    builder = builder.proxy(reqwest::Proxy::custom(move |address| proxy.for_address(address).ok().flatten()));
    builder.build().map_err(failed)
}

/// Follows redirects wherever there is a way to; those of a client that `shows_certificate` as long as they stay where it may be
/// shown.
fn redirects(proxy: ProxySettings, shows_certificate: bool) -> Policy {
    Policy::custom(move |attempt| {
        let is_here = attempt.previous().first().is_some_and(|first| first.origin() == attempt.url().origin());
        // The first of them is what was asked for.
        if attempt.previous().len() > MAX_REDIRECTS {
            attempt.error("too many redirects")
        } else if shows_certificate && !is_here {
            attempt.stop()
        } else {
            match proxy.for_address(attempt.url()) {
                Ok(_) => attempt.follow(),
                Err(error) => attempt.error(error),
            }
        }
    })
}

/// Where an answer sends on to, if that is another origin.
fn elsewhere(response: &reqwest::Response) -> Option<Url> {
    let location = response.headers().get(LOCATION).filter(|_| response.status().is_redirection())?;
    let url = response.url().join(location.to_str().ok()?).ok()?;
    (url.origin() != response.url().origin()).then_some(url)
}

/// Aborts its task when dropped before the answer.
struct Flight<T>(JoinHandle<T>);

impl<T> Drop for Flight<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl NativeHttp {
    /// As [`send`](Http::send), but a large body is handed on to `recipient` while it comes, and the response has none of it.
    pub(crate) async fn send_to(
        &self,
        request: HttpRequest,
        recipient: Option<Recipient>,
    ) -> Result<HttpResponse, HttpError> {
        let url = request.url.clone();
        let shared = Arc::clone(&self.shared);
        let mut flight = Flight(self.runtime.spawn(async move { perform(&shared, request, recipient.as_ref()).await }));
        match (&mut flight.0).await {
            Ok(result) => result,
            Err(lost) => {
                let (kind, message) = (HttpErrorKind::Interrupted, lost.to_string());
                Err(HttpError { kind, url, message, has_answered: false })
            }
        }
    }
}

impl Http for NativeHttp {
    async fn send(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        self.send_to(request, None).await
    }

    async fn aside<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> T {
        match self.runtime.spawn(async move { work() }).await {
            Ok(result) => result,
            Err(lost) => match lost.try_into_panic() {
                Ok(panic) => resume_unwind(panic),
                // The runtime has ended, and with it whoever waits.
                Err(_) => std::future::pending().await,
            },
        }
    }

    fn is_near(&self, url: &str) -> bool {
        self.shared.neighbourhood.is_near(url)
    }

    fn chooses_certificates(&self) -> bool {
        true
    }
}

async fn perform(
    shared: &Shared,
    request: HttpRequest,
    recipient: Option<&Recipient>,
) -> Result<HttpResponse, HttpError> {
    let HttpRequest { url, headers, timeout_milliseconds, max_body_bytes, certificate } = request;
    let fail = |kind, message: String| HttpError { kind, url: url.clone(), message, has_answered: false };
    let late = |_| fail(HttpErrorKind::Timeout, format!("no progress for {timeout_milliseconds} ms"));
    let patience = Duration::from_millis(timeout_milliseconds.max(1));

    let reachable = |url: &str| {
        let checked = shared.settings.proxy.check(url);
        checked.map_err(|error| fail(HttpErrorKind::Proxy, error.to_string()))
    };
    reachable(&url)?;
    let unusable = |message| fail(HttpErrorKind::Connect, message);
    let known = match &certificate {
        Some(name) => shared.known_client(name).map_err(unusable)?,
        None => None,
    };
    let client = match &known {
        Some(client) => client,
        None => shared.client(&url).map_err(unusable)?,
    };
    let began = Instant::now();
    let _place = match &shared.places {
        Some(places) => places.acquire().await.ok(),
        None => None,
    };
    let nearness = shared.neighbourhood.of(&url);
    let turn = nearness.turn().await;
    let sent = Instant::now();
    let sent_after = milliseconds(sent - began);
    let asked = headers;
    let ask = async |client: &reqwest::Client, url: &str, withheld: &[&str]| {
        let mut builder = client.get(url);
        if asked.iter().all(|(name, _)| name != ACCEPT_ENCODING.as_str()) {
            builder = builder.header(ACCEPT_ENCODING, "gzip");
        }
        for (name, value) in asked.iter().filter(|(name, _)| !withheld.contains(&name.as_str())) {
            builder = builder.header(name, value);
        }
        tokio::time::timeout(patience, builder.send())
            .await
            .map_err(late)?
            .map_err(|error| fail(kind_of(&error), shared.settings.proxy.named_for(url) + &describe(&error)))
    };
    let mut response = ask(client, &url, &[]).await?;
    if let Some(there) = elsewhere(&response).filter(|_| known.is_some()) {
        // Another origin: neither the certificate is for it nor what else says who asks.
        reachable(there.as_str())?;
        let client = shared.client(there.as_str()).map_err(unusable)?;
        response = ask(client, there.as_str(), &["authorization", "cookie"]).await?;
    }

    let fail = |kind, message: String| HttpError { has_answered: true, ..fail(kind, message) };
    let late = |elapsed| HttpError { has_answered: true, ..late(elapsed) };
    let too_large = || fail(HttpErrorKind::TooLarge, format!("the body is larger than {max_body_bytes} bytes"));
    let answered_after = sent.elapsed();
    turn.note(answered_after);
    let announced = response.content_length().unwrap_or(0);
    if announced > max_body_bytes {
        return Err(too_large());
    }
    let status = response.status().as_u16();
    let mut headers: Vec<(String, String)> = response
        .headers()
        .iter()
        .filter_map(|(name, value)| Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned())))
        .collect();
    let mut divisible = Divisible::of(&response, client, (&url, &asked), (patience, answered_after), &shared.together);
    let mut parts: Option<Parts> = None;
    let is_as_it_is = status == 200 && response.headers().get(CONTENT_ENCODING).is_none();
    let mut body = Body::new(announced, recipient.filter(|_| is_as_it_is));
    // Bytes to come that are here already, since they came in parts.
    let mut here = 0;
    loop {
        let chunk = tokio::time::timeout(patience, response.chunk()).await.map_err(late)?;
        let Some(mut chunk) = chunk.map_err(|error| fail(kind_of_body(&error), describe(&error)))? else { break };
        shared.together.count(chunk.len());
        if let Some(mut under_way) = parts.take() {
            if under_way.take(chunk, &mut body) {
                match under_way.join(&mut body).await {
                    Joined::Whole | Joined::ToNobody => break,
                    Joined::Missing(beyond, length) => (chunk, here) = (beyond, length),
                }
            } else {
                parts = Some(under_way);
                chunk = Bytes::new();
            }
        }
        let rest = chunk.split_off(chunk.len().min(here));
        here -= chunk.len();
        if (body.length() + rest.len()) as u64 > max_body_bytes {
            return Err(too_large());
        }
        body.push(&rest);
        if let Some(whole) = divisible.take() {
            match whole.divide(&body, &shared.together) {
                Ok(divided) => parts = Some(divided),
                Err(whole) => divisible = Some(whole),
            }
        }
        if body.hand_on().await == Handed::ToNobody {
            break;
        }
    }
    let body = body.finish().await;
    let is_encoded = headers.iter().any(|(name, _)| name == CONTENT_ENCODING.as_str());
    let whole = Instant::now();
    let body = decoded(body, &mut headers, max_body_bytes).map_err(|error| match error {
        Undecoded::TooLarge => too_large(),
        Undecoded::Because(reason) => fail(HttpErrorKind::Encoding, reason),
    })?;
    let decoded_in = if is_encoded { milliseconds(whole.elapsed()) } else { 0.0 };
    let answered_after = milliseconds(answered_after);
    Ok(HttpResponse { status, headers, body, sent_after, answered_after, decoded_in })
}

fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}

fn kind_of(error: &reqwest::Error) -> HttpErrorKind {
    if error.is_timeout() {
        HttpErrorKind::Timeout
    } else if chain(error).any(|cause| cause.is::<UnusableProxy>()) || is_refused_by_proxy(error) {
        HttpErrorKind::Proxy
    } else if error.is_redirect() {
        HttpErrorKind::Redirect
    } else if error.is_builder() {
        HttpErrorKind::InvalidUrl
    } else if chain(error).any(trust::is_refusal) {
        HttpErrorKind::Certificate
    } else if error.is_connect() {
        HttpErrorKind::Connect
    } else {
        HttpErrorKind::Interrupted
    }
}

/// Whether a proxy opens no tunnel for who asks (407). The type of that error is nobody's to name, only its text.
fn is_refused_by_proxy(error: &reqwest::Error) -> bool {
    chain(error).any(|cause| cause.to_string() == "tunnel error: proxy authorization required")
}

fn kind_of_body(error: &reqwest::Error) -> HttpErrorKind {
    if error.is_timeout() {
        HttpErrorKind::Timeout
    } else if error.is_decode() && !chain(error).any(|cause| cause.to_string().contains("connection")) {
        HttpErrorKind::Encoding
    } else {
        HttpErrorKind::Interrupted
    }
}

fn chain(error: &reqwest::Error) -> impl Iterator<Item = &(dyn std::error::Error + 'static)> {
    std::iter::successors(std::error::Error::source(error), |cause| cause.source())
}

/// The innermost cause, which is the part that tells something; reqwest's own text repeats the address.
fn describe(error: &reqwest::Error) -> String {
    match chain(error).last().map(ToString::to_string) {
        // Whether it may not or cannot, that error does not tell.
        Some(cause) if cause == "tunnel error: unsuccessful" => {
            "the proxy on the way opens no connection to this host (CONNECT)".to_owned()
        }
        Some(cause) => cause,
        None => error.to_string(),
    }
}
