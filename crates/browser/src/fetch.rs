//! HTTP by `fetch`.
//!
//! No request header is ever one that needs a CORS preflight, but `authorization`, which cannot be had otherwise. Redirects
//! are followed by the browser, which removes credentials when they leave the origin. Tarballs bypass the HTTP cache: the
//! store keeps their contents, and a second copy would cost quota; documents use it by the browser's own rules.
//!
//! A module's memory never shrinks, so a large tarball does not enter it as a whole: [`TarballHttp`] keeps it in the pieces
//! in which the browser handed it over.

use crate::clock::BrowserClock;
use crate::error::failed;
use crate::javascript::scope;
use bytes::Bytes;
use futures_util::future::{Either, select};
use gantry_platform::{Clock, Http, HttpError, HttpErrorKind, HttpRequest, HttpResponse};
use js_sys::{Array, ArrayBuffer, IteratorNext, Promise, Uint8Array};
use std::cell::RefCell;
use std::pin::pin;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::{
    AbortController, Headers, ReadableStream, ReadableStreamByobReader, ReadableStreamDefaultReader,
    ReadableStreamGetReaderOptions, ReadableStreamReaderMode, RequestCache, RequestInit, Response,
};

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
    }
}

impl Http for BrowserHttp {
    async fn send(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        match exchange(&request, u64::MAX).await? {
            (response, Body::Here(body)) => Ok(HttpResponse { body: body.into(), ..response }),
            (response, Body::Pieces(pieces)) => Ok(HttpResponse { body: joined(&pieces).into(), ..response }),
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

/// A body, in the module's memory or still in the browser's.
enum Body {
    Here(Vec<u8>),
    Pieces(Vec<Uint8Array>),
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
    async fn wait(&self, promise: Promise, on_rejection: HttpErrorKind) -> Result<JsValue, HttpError> {
        let fail = |kind, message: String| HttpError { kind, url: self.url.to_owned(), message };
        #[expect(clippy::cast_precision_loss, reason = "milliseconds of a time-out")]
        let timer = BrowserClock.sleep(self.milliseconds as f64);
        match select(JsFuture::from(promise), pin!(timer)).await {
            Either::Left((Ok(value), _)) => Ok(value),
            Either::Left((Err(value), _)) => Err(fail(on_rejection, failed(&value).message)),
            Either::Right(_) => Err(fail(HttpErrorKind::Timeout, format!("no progress for {} ms", self.milliseconds))),
        }
    }
}

/// A body, read piece by piece: in one go a slow one could not be told from one that hangs. `None` if there is more than
/// `limit`.
async fn body(
    response: &Response,
    patience: &Patience<'_>,
    (whole, announced, limit): (u64, Option<u64>, u64),
) -> Result<Option<Body>, HttpError> {
    let Some(stream) = response.body() else { return Ok(Some(Body::Here(Vec::new()))) };
    let is_small = whole == u64::MAX || announced.is_some_and(|length| length <= whole);
    if is_small && let Ok(reader) = stream.unchecked_ref::<ByteStream>().byte_reader(&byte_reader_options()) {
        return Ok(copied(&reader, patience, limit).await?.map(Body::Here));
    }
    let Some(pieces) = pieces(&stream, patience, limit).await? else { return Ok(None) };
    let length: u64 = pieces.iter().map(|piece| u64::from(piece.length())).sum();
    Ok(Some(if length <= whole { Body::Here(joined(&pieces)) } else { Body::Pieces(pieces) }))
}

/// How much is read at once into memory that is used again.
const BUFFER_BYTES: u32 = 64 << 10;

thread_local! {
    /// Buffers that nobody reads into.
    static BUFFERS: RefCell<Vec<ArrayBuffer>> = RefCell::default();
}

#[wasm_bindgen]
extern "C" {
    /// A stream that may be one of bytes.
    type ByteStream;

    /// Fails where the browser has no such readers for bodies.
    #[wasm_bindgen(method, catch, js_name = getReader)]
    fn byte_reader(
        this: &ByteStream,
        options: &ReadableStreamGetReaderOptions,
    ) -> Result<ReadableStreamByobReader, JsValue>;
}

fn byte_reader_options() -> ReadableStreamGetReaderOptions {
    let options = ReadableStreamGetReaderOptions::new();
    options.set_mode(ReadableStreamReaderMode::Byob);
    options
}

/// The body, read through buffers that are used again: of pieces that the browser allocates a worker holds tens of megabytes
/// until its garbage is collected.
async fn copied(
    reader: &ReadableStreamByobReader,
    patience: &Patience<'_>,
    limit: u64,
) -> Result<Option<Vec<u8>>, HttpError> {
    let mut body = Vec::new();
    let spare = BUFFERS.with_borrow_mut(Vec::pop);
    let mut buffer = spare.unwrap_or_else(|| ArrayBuffer::new(BUFFER_BYTES));
    loop {
        let view = Uint8Array::new(&buffer);
        let piece = patience.wait(reader.read_with_array_buffer_view(&view), HttpErrorKind::Interrupted).await?;
        // It looks like what an iterator gives. The buffer is another object after each reading.
        let piece: IteratorNext = piece.unchecked_into();
        let is_last = piece.done();
        let Ok(bytes) = piece.value().dyn_into::<Uint8Array>() else { break };
        buffer = bytes.buffer();
        let start = body.len();
        body.resize(start + bytes.length() as usize, 0);
        bytes.copy_to(&mut body[start..]);
        if is_last || body.len() as u64 > limit {
            break;
        }
    }
    if buffer.byte_length() == BUFFER_BYTES {
        BUFFERS.with_borrow_mut(|buffers| buffers.push(buffer));
    }
    body.shrink_to_fit();
    Ok((body.len() as u64 <= limit).then_some(body))
}

/// The body in pieces that the browser allocates. `None` if there is more than `limit`.
async fn pieces(
    stream: &ReadableStream,
    patience: &Patience<'_>,
    limit: u64,
) -> Result<Option<Vec<Uint8Array>>, HttpError> {
    let mut pieces = Vec::new();
    let reader: ReadableStreamDefaultReader = stream.get_reader().unchecked_into();
    let mut length = 0;
    loop {
        let piece = patience.wait(reader.read(), HttpErrorKind::Interrupted).await?;
        let piece: IteratorNext = piece.unchecked_into();
        if piece.done() {
            return Ok(Some(pieces));
        }
        let bytes: Uint8Array = piece.value().unchecked_into();
        length += u64::from(bytes.length());
        if length > limit {
            return Ok(None);
        }
        pieces.push(bytes);
    }
}

fn joined(pieces: &[Uint8Array]) -> Vec<u8> {
    let mut body = vec![0; pieces.iter().map(|piece| piece.length() as usize).sum()];
    let mut rest = body.as_mut_slice();
    for piece in pieces {
        let (place, after) = rest.split_at_mut(piece.length() as usize);
        piece.copy_to(place);
        rest = after;
    }
    body
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
