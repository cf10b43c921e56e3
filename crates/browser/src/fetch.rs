//! HTTP by `fetch`.
//!
//! No request header is ever one that needs a CORS preflight, but `authorization`, which cannot be had otherwise. Redirects
//! are followed by the browser, which removes credentials when they leave the origin. Tarballs bypass the HTTP cache: the
//! store keeps their contents, and a second copy would cost quota; documents use it by the browser's own rules.
//!
//! A module's memory never shrinks, so a large tarball does not enter it as a whole: [`TarballHttp`] keeps it in the pieces
//! in which the browser handed it over.

use self::body::{Body, body, joined};
use crate::clock::BrowserClock;
use crate::error::failed;
use crate::garbage::note_request;
use crate::javascript::scope;
use bytes::Bytes;
use futures_util::future::{Either, select};
use gantry_platform::{Clock, Http, HttpError, HttpErrorKind, HttpRequest, HttpResponse};
use js_sys::{Array, Promise, Uint8Array};
use std::cell::RefCell;
use std::pin::pin;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::{AbortController, Headers, RequestCache, RequestInit, Response};

mod body;

const NOT_MODIFIED: u16 = 304;
/// Tarballs up to this size enter the module's memory as a whole.
const WHOLE_BYTES: u32 = 512 << 10;

/// `fetch` of this worker.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct BrowserHttp;

/// Aborts the request when dropped before the whole answer is there.
struct Flight {
    controller: AbortController,
    landed: bool,
}

impl Drop for Flight {
    fn drop(&mut self) {
        if !self.landed {
            self.controller.abort();
        }
        note_request();
    }
}

impl Http for BrowserHttp {
    async fn send(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        match exchange(&request, u64::MAX).await? {
            (response, Body::Here(body)) => Ok(HttpResponse { body: body.into(), ..response }),
            (response, Body::Pieces(pieces)) => Ok(HttpResponse { body: joined(&[], &pieces).into(), ..response }),
        }
    }
}

/// `fetch` for one tarball. The body of a response is empty where it is kept in pieces.
#[derive(Debug, Default)]
pub(crate) struct TarballHttp(RefCell<Vec<Uint8Array>>);

impl TarballHttp {
    /// The pieces of the last response; none if it was small.
    pub fn take_pieces(&self) -> Vec<Uint8Array> {
        self.0.take()
    }
}

impl Http for TarballHttp {
    async fn send(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        self.0.take();
        match exchange(&request, WHOLE_BYTES.into()).await? {
            (response, Body::Here(body)) => Ok(HttpResponse { body: body.into(), ..response }),
            (response, Body::Pieces(pieces)) => {
                *self.0.borrow_mut() = pieces;
                Ok(response)
            }
        }
    }
}

/// One request. The body is beside the response; in the module's memory unless it has more than `whole` bytes.
async fn exchange(request: &HttpRequest, whole: u64) -> Result<(HttpResponse, Body), HttpError> {
    let fail = |kind, message: String| HttpError { kind, url: request.url.clone(), message };
    let invalid = |value: JsValue| fail(HttpErrorKind::InvalidUrl, failed(&value).message);
    let controller = AbortController::new().map_err(invalid)?;
    let init = RequestInit::new();
    init.set_signal(Some(&controller.signal()));
    let headers = Headers::new().map_err(invalid)?;
    let mut cache = RequestCache::NoStore;
    let mut condition = None;
    for (name, value) in &request.headers {
        match (name.as_str(), value.as_str()) {
            ("accept", _) => cache = RequestCache::Default,
            // As headers these would need a preflight; as a mode of the request they do not. The browser then asks on
            // condition of what its own cache has, and gives that with status 200 where the registry says 304.
            ("if-none-match" | "if-modified-since", _) | ("cache-control", "max-age=0") => {
                condition = condition.or(match name.as_str() {
                    "if-none-match" => Some(("etag", value.as_str())),
                    "if-modified-since" => Some(("last-modified", value.as_str())),
                    _ => None,
                });
                cache = RequestCache::NoCache;
                continue;
            }
            ("cache-control", _) => {
                cache = RequestCache::Reload;
                continue;
            }
            _ => {}
        }
        headers.append(name, value).map_err(invalid)?;
    }
    init.set_headers(&headers);
    init.set_cache(cache);

    let mut flight = Flight { controller, landed: false };
    let patience = Patience { milliseconds: request.timeout_milliseconds, url: &request.url };
    let sent = BrowserClock.monotonic_milliseconds();
    let response = patience.wait(scope().fetch_with_str_and_init(&request.url, &init), HttpErrorKind::Connect).await?;
    let answered_after = BrowserClock.monotonic_milliseconds() - sent;
    let response: Response = response.unchecked_into();
    let headers = collect_headers(&response.headers());
    let announced =
        headers.iter().find(|(name, _)| name == "content-length").and_then(|(_, value)| value.parse::<u64>().ok());
    let is_unchanged = condition.is_some_and(|condition| {
        response.status() == 200 && headers.iter().any(|(name, value)| (name.as_str(), value.as_str()) == condition)
    });
    if is_unchanged {
        // As good as the registry's own 304, which the browser hides. The flight ends here: the body, which would be read and
        // decompressed from the browser's cache, is not wanted. Like any 304 to a date, it trusts that a registry dates each
        // change.
        let response = HttpResponse { status: NOT_MODIFIED, headers, body: Bytes::new(), answered_after };
        return Ok((response, Body::Here(Vec::new())));
    }
    let too_large =
        || fail(HttpErrorKind::TooLarge, format!("the body is larger than {} bytes", request.max_body_bytes));
    if announced.is_some_and(|length| length > request.max_body_bytes) {
        return Err(too_large());
    }
    let body = body(&response, &patience, (whole, announced, request.max_body_bytes)).await?.ok_or_else(too_large)?;
    flight.landed = true;
    let response = HttpResponse { status: response.status(), headers, body: Bytes::new(), answered_after };
    Ok((response, body))
}

/// How long to wait for the next sign of life.
struct Patience<'r> {
    milliseconds: u64,
    url: &'r str,
}

impl Patience<'_> {
    fn error(&self, kind: HttpErrorKind, message: String) -> HttpError {
        HttpError { kind, url: self.url.to_owned(), message }
    }

    async fn wait(&self, promise: Promise, on_rejection: HttpErrorKind) -> Result<JsValue, HttpError> {
        #[expect(clippy::cast_precision_loss, reason = "milliseconds of a time-out")]
        let timer = BrowserClock.sleep(self.milliseconds as f64);
        match select(JsFuture::from(promise), pin!(timer)).await {
            Either::Left((Ok(value), _)) => Ok(value),
            Either::Left((Err(value), _)) => Err(self.error(on_rejection, failed(&value).message)),
            Either::Right(_) => {
                Err(self.error(HttpErrorKind::Timeout, format!("no progress for {} ms", self.milliseconds)))
            }
        }
    }
}

fn collect_headers(headers: &Headers) -> Vec<(String, String)> {
    let pairs = js_sys::try_iter(headers).ok().flatten();
    let pairs = pairs.into_iter().flatten().flatten();
    pairs
        .filter_map(|pair| {
            let pair: Array = pair.dyn_into().ok()?;
            Some((pair.get(0).as_string()?, pair.get(1).as_string()?))
        })
        .collect()
}
