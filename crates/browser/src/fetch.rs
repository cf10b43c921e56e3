//! HTTP by `fetch`.
//!
//! No request header is ever one that needs a CORS preflight, but `authorization`, which cannot be had otherwise. Redirects
//! are followed by the browser, which removes credentials when they leave the origin. Tarballs bypass the HTTP cache: the
//! store keeps their contents, and a second copy would cost quota; documents use it by the browser's own rules.
//!
//! What happens between asking and the last byte is in `fetch/exchange.js`. Bodies are read piece by piece: in one go a slow
//! one could not be told from one that hangs. A module's memory never shrinks, so a body enters it when all of it is there,
//! and a large tarball not as a whole: [`TarballHttp`] keeps it in the pieces in which the browser handed it over.

use crate::error::failed;
use crate::garbage::note_request;
use bytes::Bytes;
use gantry_platform::{Http, HttpError, HttpErrorKind, HttpRequest, HttpResponse};
use js_sys::{Promise, Uint8Array};
use std::cell::RefCell;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::AbortController;

/// Tarballs up to this size, in bytes, enter the module's memory as a whole.
const WHOLE_BYTES: f64 = 512.0 * 1024.0;

#[wasm_bindgen(module = "/src/fetch/exchange.js")]
extern "C" {
    /// What `exchange` resolves to.
    type Answer;

    #[wasm_bindgen(method, getter)]
    fn status(this: &Answer) -> u16;
    #[wasm_bindgen(method, getter)]
    fn headers(this: &Answer) -> String;
    #[wasm_bindgen(method, getter, js_name = answeredAfter)]
    fn answered_after(this: &Answer) -> f64;
    #[wasm_bindgen(method, getter)]
    fn pieces(this: &Answer) -> Vec<Uint8Array>;
    #[wasm_bindgen(method, getter)]
    fn length(this: &Answer) -> f64;
    #[wasm_bindgen(method, getter, js_name = isWhole)]
    fn is_whole(this: &Answer) -> bool;

    /// What `exchange` rejects with.
    type Failed;

    #[wasm_bindgen(method, getter)]
    fn kind(this: &Failed) -> u8;
    #[wasm_bindgen(method, getter)]
    fn message(this: &Failed) -> String;

    // An object in their place would be made field by field for each request.
    fn exchange(
        controller: &AbortController,
        url: &str,
        headers: &str,
        cache: &str,
        known: &str,
        patience: f64,
        whole: f64,
        limit: f64,
    ) -> Promise;
    #[wasm_bindgen(js_name = giveBack)]
    fn give_back(pieces: Vec<Uint8Array>);
}

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
        Ok(perform(&request, f64::INFINITY).await?.0)
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
        let (response, pieces) = perform(&request, WHOLE_BYTES).await?;
        *self.0.borrow_mut() = pieces;
        Ok(response)
    }
}

/// One request. The body is in the response, or where it has more than `whole` bytes beside it, in pieces.
async fn perform(request: &HttpRequest, whole: f64) -> Result<(HttpResponse, Vec<Uint8Array>), HttpError> {
    let (mut flight, promise) = begin(request, whole)?;
    let answer = JsFuture::from(promise).await.map_err(|failure| error(request, &failure.unchecked_into()))?;
    flight.landed = true;
    Ok(landed(&answer.unchecked_into()))
}

fn begin(request: &HttpRequest, whole: f64) -> Result<(Flight, Promise), HttpError> {
    let invalid = |message: &str| HttpError {
        kind: HttpErrorKind::InvalidUrl,
        url: request.url.clone(),
        message: message.to_owned(),
    };
    let mut cache = "no-store";
    let mut known = String::new();
    let mut headers = Vec::new();
    for (name, value) in &request.headers {
        match (name.as_str(), value.as_str()) {
            ("accept", _) => cache = "default",
            // As headers these would need a preflight; as a mode of the request they do not. The browser then asks on
            // condition of what its own cache has, and gives that with status 200 where the registry says 304. An answer
            // with the header that was asked with is as good as that. Like any 304 to a date, this trusts that a registry
            // dates each change.
            ("if-none-match" | "if-modified-since", _) | ("cache-control", "max-age=0") => {
                match name.as_str() {
                    "if-none-match" if known.is_empty() => known = format!("etag:{value}"),
                    "if-modified-since" if known.is_empty() => known = format!("last-modified:{value}"),
                    _ => {}
                }
                cache = "no-cache";
                continue;
            }
            ("cache-control", _) => {
                cache = "reload";
                continue;
            }
            _ => {}
        }
        if value.contains('\n') {
            return Err(invalid(&format!("a line of its own is in the header {name}")));
        }
        headers.push(format!("{name}:{value}"));
    }
    let controller = AbortController::new().map_err(|value| invalid(&failed(&value).message))?;
    #[expect(clippy::cast_precision_loss, reason = "milliseconds of a time-out, and a limit of bytes")]
    let (patience, limit) = (request.timeout_milliseconds as f64, request.max_body_bytes as f64);
    let promise = exchange(&controller, &request.url, &headers.join("\n"), cache, &known, patience, whole, limit);
    Ok((Flight { controller, landed: false }, promise))
}

fn error(request: &HttpRequest, failure: &Failed) -> HttpError {
    let kind = match failure.kind() {
        0 => HttpErrorKind::Connect,
        2 => HttpErrorKind::Timeout,
        3 => HttpErrorKind::TooLarge,
        4 => HttpErrorKind::InvalidUrl,
        _ => HttpErrorKind::Interrupted,
    };
    HttpError { kind, url: request.url.clone(), message: failure.message() }
}

fn landed(answer: &Answer) -> (HttpResponse, Vec<Uint8Array>) {
    let lines = answer.headers();
    let headers = lines.lines().filter_map(|line| line.split_once(':'));
    let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    let response =
        |body| HttpResponse { status: answer.status(), headers, body, answered_after: answer.answered_after() };
    let pieces = answer.pieces();
    if !answer.is_whole() {
        return (response(Bytes::new()), pieces);
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bytes, at most what is in memory")]
    let mut body = Vec::with_capacity(answer.length() as usize);
    for piece in &pieces {
        let start = body.len();
        body.resize(start + piece.length() as usize, 0);
        piece.copy_to(&mut body[start..]);
    }
    give_back(pieces);
    (response(body.into()), Vec::new())
}
