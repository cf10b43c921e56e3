//! Fetching one tarball and making sure that it is the right one.
//!
//! A free function over the platform's effects and a self-contained request, because in a browser it runs in an unpack
//! worker that knows nothing of registries or their configuration.

use crate::RegistryError;
use crate::lane::Held;
use crate::retry::{Retries, RetryPolicy, ask};
use bytes::Bytes;
use gantry_archive::{ArchiveError, Integrity};
use gantry_platform::{Clock, Http, HttpRequest, Span, Work};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Everything needed to fetch one tarball.
#[derive(Debug, Clone)]
pub struct TarballRequest {
    /// `name@version`, for messages.
    pub package: String,
    /// Where it is.
    pub url: String,
    /// Value of the `authorization` header, if the address is to have one.
    pub authorization: Option<String>,
    /// The client certificate to show, as in [`HttpRequest`].
    pub certificate: Option<String>,
    /// What it must hash to; `None` where neither lock nor packument say.
    pub integrity: Option<Integrity>,
    /// Longest acceptable body, in bytes.
    pub max_bytes: u64,
    /// How patient to be.
    pub retry: RetryPolicy,
    /// Whether it may be asked for at all.
    pub offline: bool,
    /// Its bytes, where they are at hand already: then nothing is fetched.
    pub body: Option<Bytes>,
    /// Where it is noted how the requests went.
    pub log: RequestLog,
}

/// How requests for a tarball went. Clones share it: who keeps one knows also of requests that failed or were given up.
#[derive(Debug, Clone, Default)]
pub struct RequestLog(Arc<Mutex<Vec<Span>>>);

impl RequestLog {
    /// Notes something.
    pub fn note(&self, span: Span) {
        self.spans().push(span);
    }

    /// What was noted since the last call.
    pub fn take(&self) -> Vec<Span> {
        std::mem::take(&mut self.spans())
    }

    fn spans(&self) -> MutexGuard<'_, Vec<Span>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A tarball that was used, and what it took.
#[derive(Debug, Clone)]
pub struct FetchedTarball<T> {
    /// What became of its contents.
    pub contents: T,
    /// Compressed bytes received.
    pub bytes: u64,
    /// Requests it took.
    pub requests: u32,
    /// How the requests went.
    pub spans: Vec<Span>,
}

/// Why a body was of no use.
#[derive(Debug)]
pub enum Refusal<E> {
    /// It is not the one that was asked for: another copy may be.
    Mismatch(ArchiveError),
    /// Something else, which asking again does not change.
    Other(E),
}

impl TarballRequest {
    /// For a tarball whose bytes are at hand; `package` is `name@version`.
    pub fn of_body(package: &str, body: Bytes, integrity: Option<Integrity>) -> Self {
        Self {
            package: package.to_owned(),
            url: String::new(),
            authorization: None,
            certificate: None,
            integrity,
            max_bytes: body.len() as u64,
            retry: RetryPolicy::default(),
            offline: false,
            body: Some(body),
            log: RequestLog::default(),
        }
    }

    /// Whether `body` is what the lock or packument promised; where neither says, any is.
    pub fn verify(&self, body: &[u8]) -> Result<(), ArchiveError> {
        self.integrity.as_ref().map_or(Ok(()), |integrity| integrity.verify(&self.package, body))
    }

    /// [`verify`](Self::verify) of many bodies, which may take a fraction of the time: gives `done` the position and the
    /// result of each as soon as it is known.
    pub fn verify_many(bodies: &[(&TarballRequest, &[u8])], mut done: impl FnMut(usize, Result<(), ArchiveError>)) {
        let (mut promised, mut checks) = (Vec::new(), Vec::new());
        for (position, (request, body)) in bodies.iter().enumerate() {
            match &request.integrity {
                Some(integrity) => {
                    promised.push(position);
                    checks.push((integrity, request.package.as_str(), *body));
                }
                None => done(position, Ok(())),
            }
        }
        Integrity::verify_many(&checks, |check, result| done(promised[check], result));
    }
}

/// Fetches a tarball and gives it to `take`, which [verifies](TarballRequest::verify) it before it uses it, on whatever
/// thread it likes. A body that does not verify is fetched once more (npm does the same: a proxy or cache may have held a
/// damaged copy). `slot` is given up while it waits to ask again. Where it fails, or is dropped before it is done, the
/// [log](TarballRequest::log) has what was done until then.
pub async fn fetch_tarball<H: Http, C: Clock, T, E: From<RegistryError>>(
    http: &H,
    clock: &C,
    request: &TarballRequest,
    slot: &impl Held,
    take: impl AsyncFn(Bytes) -> Result<T, Refusal<E>>,
) -> Result<FetchedTarball<T>, E> {
    if let Some(body) = &request.body {
        return match take(body.clone()).await {
            Ok(contents) => Ok(FetchedTarball { contents, bytes: 0, requests: 0, spans: Vec::new() }),
            Err(Refusal::Mismatch(source)) => {
                let (package, url) = (request.package.clone(), "a file of the project".to_owned());
                Err(RegistryError::Tarball { package, url, source }.into())
            }
            Err(Refusal::Other(error)) => Err(error),
        };
    }
    if request.offline {
        return Err(RegistryError::NotCached { package: request.package.clone() }.into());
    }
    let note = |span| request.log.note(span);
    let retries = Retries { policy: &request.retry, clock, url: &request.url, slot };
    let mut requests = 0;
    let mut refetched = false;
    loop {
        let attempt = || {
            requests += 1;
            // What is compressed already gains nothing, and would have to be inflated twice.
            let mut headers = vec![("accept-encoding".to_owned(), "identity".to_owned())];
            if let Some(authorization) = &request.authorization {
                headers.push(("authorization".to_owned(), authorization.clone()));
            }
            if refetched {
                headers.push(("cache-control".to_owned(), "no-cache".to_owned()));
            }
            let http_request = HttpRequest {
                url: request.url.clone(),
                headers,
                timeout_milliseconds: request.retry.timeout_milliseconds,
                max_body_bytes: request.max_bytes,
                certificate: request.certificate.clone(),
            };
            ask(http, clock, http_request, &request.package, Work::Tarball, note)
        };
        let body = retries.run(RegistryError::repeatable, note, attempt).await?.body;
        let bytes = body.len() as u64;
        match take(body).await {
            Ok(contents) => return Ok(FetchedTarball { contents, bytes, requests, spans: request.log.take() }),
            Err(Refusal::Mismatch(_)) if !refetched => refetched = true,
            Err(Refusal::Mismatch(source)) => {
                let (package, url) = (request.package.clone(), request.url.clone());
                return Err(RegistryError::Tarball { package, url, source }.into());
            }
            Err(Refusal::Other(error)) => return Err(error),
        }
    }
}
