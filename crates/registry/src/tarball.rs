//! Fetching one tarball and making sure that it is the right one.
//!
//! A free function over the platform's effects and a self-contained request, because in a browser it runs in an unpack
//! worker that knows nothing of registries or their configuration.

use crate::RegistryError;
use crate::retry::{RetryPolicy, ask, retrying};
use bytes::Bytes;
use gantry_archive::Integrity;
use gantry_platform::{Clock, Http, HttpRequest, Span, Work};
use std::cell::RefCell;

/// Everything needed to fetch one tarball.
#[derive(Debug, Clone)]
pub struct TarballRequest {
    /// `name@version`, for messages.
    pub package: String,
    /// Where it is.
    pub url: String,
    /// Value of the `authorization` header, if the address is to have one.
    pub authorization: Option<String>,
    /// What it must hash to; `None` where neither lock nor packument say.
    pub integrity: Option<Integrity>,
    /// Longest acceptable body, in bytes.
    pub max_bytes: u64,
    /// How patient to be.
    pub retry: RetryPolicy,
    /// Whether it may be asked for at all.
    pub offline: bool,
}

/// A verified tarball.
#[derive(Debug, Clone)]
pub struct FetchedTarball {
    /// The compressed bytes.
    pub body: Bytes,
    /// Requests it took.
    pub requests: u32,
    /// How requests and hashing went.
    pub spans: Vec<Span>,
}

/// Fetches and verifies a tarball; a body that does not verify is fetched once more (npm does the same: a proxy or cache
/// may have held a damaged copy).
pub async fn fetch_tarball<H: Http, C: Clock>(
    http: &H,
    clock: &C,
    request: &TarballRequest,
) -> Result<FetchedTarball, RegistryError> {
    if request.offline {
        return Err(RegistryError::NotCached { package: request.package.clone() });
    }
    let spans = RefCell::new(Vec::with_capacity(2));
    let mut requests = 0;
    let mut refetched = false;
    loop {
        let body = retrying(&request.retry, clock, RegistryError::is_transient, |_| {
            requests += 1;
            let mut headers = Vec::new();
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
            };
            ask(http, clock, http_request, &request.package, Work::Tarball, |span| spans.borrow_mut().push(span))
        })
        .await?
        .body;
        let began = clock.monotonic_milliseconds();
        let verdict = request.integrity.as_ref().map(|integrity| integrity.verify(&request.package, &body));
        let ended = clock.monotonic_milliseconds();
        spans.borrow_mut().push(Span::of(Work::Verify, began, ended, body.len() as u64));
        match verdict {
            None | Some(Ok(())) => return Ok(FetchedTarball { body, requests, spans: spans.into_inner() }),
            Some(Err(_)) if !refetched => refetched = true,
            Some(Err(source)) => {
                return Err(RegistryError::Tarball {
                    package: request.package.clone(),
                    url: request.url.clone(),
                    source,
                });
            }
        }
    }
}
