//! HTTP by `fetch`.
//!
//! No request header is ever one that needs a CORS preflight, but `authorization`, which cannot be had otherwise. Redirects
//! are followed by the browser, which removes credentials when they leave the origin. What the browser's own cache has to do
//! with it is in `fetch/caching.rs`.
//!
//! What happens between asking and the last byte is in `fetch/exchange.js`. Bodies are read piece by piece: in one go a slow
//! one could not be told from one that hangs. A module's memory never shrinks, so a body enters it when all of it is there,
//! and a [large](LargeBody) tarball not as a whole. How many of these there are at a time is seen to by `fetch/room.js`, and
//! which ones only wait for others by `fetch/progress.js`.

mod caching;

use crate::error::failed;
use crate::garbage::note_request;
use bytes::Bytes;
use caching::Question;
pub(crate) use caching::keep_in_browser;
use gantry_platform::{Http, HttpError, HttpErrorKind, HttpRequest, HttpResponse};
use js_sys::{Promise, Uint8Array};
use std::cell::RefCell;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::AbortController;

/// Tarballs up to this size, in bytes, enter the module's memory as a whole.
const WHOLE_BYTES: f64 = 512.0 * 1024.0;
/// Larger ones that a worker holds at a time, in bytes, unless it is told otherwise; one of them may go beyond that.
const HELD_BYTES: f64 = 48.0 * 1024.0 * 1024.0;

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
    #[wasm_bindgen(method, getter)]
    fn large(this: &Answer) -> Option<ComingBody>;
    #[wasm_bindgen(method, getter, js_name = isWithoutHead)]
    fn is_without_head(this: &Answer) -> Option<bool>;

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
        by_head: bool,
        patience: f64,
        whole: f64,
        limit: f64,
        progress: &Progress,
        room: Option<&Room>,
    ) -> Promise;
    #[wasm_bindgen(js_name = answerWith)]
    pub(crate) fn answer_with(url: &str, bytes: &[u8]);
    #[wasm_bindgen(js_name = giveBack)]
    fn give_back(pieces: Vec<Uint8Array>);
}

#[wasm_bindgen(module = "/src/fetch/room.js")]
extern "C" {
    #[derive(Clone)]
    type Room;

    #[wasm_bindgen(js_name = createRoom)]
    fn create_room(capacity: f64) -> Room;

    /// A large body that comes, and has room until it is ended.
    #[derive(Debug)]
    type ComingBody;

    #[wasm_bindgen(method)]
    fn next(this: &ComingBody, is_kept: bool) -> Promise;
    #[wasm_bindgen(method)]
    fn end(this: &ComingBody);
}

#[wasm_bindgen(module = "/src/fetch/progress.js")]
extern "C" {
    type Progress;

    #[wasm_bindgen(js_name = createProgress)]
    fn create_progress() -> Progress;
}

thread_local! {
    static PROGRESS: Progress = create_progress();
    static ROOM: RefCell<Room> = RefCell::new(create_room(HELD_BYTES));
}

/// Large tarballs of requests that begin after this take no more of this worker's memory than so many bytes, but for one.
pub(crate) fn set_room(bytes: f64) {
    ROOM.set(create_room(bytes));
}

/// `fetch` of this worker.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct BrowserHttp;

/// Aborts the request when dropped before the whole answer is there.
#[derive(Debug)]
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
        Ok(perform(&request, None).await?.0)
    }
}

/// A body that comes piece by piece, and does not enter the module's memory as a whole. As long as it is there it takes room.
#[derive(Debug)]
pub(crate) struct LargeBody {
    coming: ComingBody,
    flight: Flight,
    url: String,
}

impl LargeBody {
    /// The next piece; `None` after the last. One that is not kept is good until the next is asked for.
    pub async fn next(&mut self, is_kept: bool) -> Result<Option<Uint8Array>, HttpError> {
        let piece = JsFuture::from(self.coming.next(is_kept)).await;
        let piece = piece.map_err(|failure| error(&self.url, &failure.unchecked_into()))?;
        self.flight.landed = piece.is_undefined();
        Ok((!self.flight.landed).then(|| piece.unchecked_into()))
    }
}

impl Drop for LargeBody {
    fn drop(&mut self) {
        self.coming.end();
    }
}

/// One request for a tarball. The body is in the response, or if that is large it comes beside it.
pub(crate) async fn send_for_tarball(request: &HttpRequest) -> Result<(HttpResponse, Option<LargeBody>), HttpError> {
    let room = ROOM.with_borrow(Room::clone);
    perform(request, Some(&room)).await
}

/// One request. The body is in the response, or if it is large and there is a room for such beside it.
async fn perform(request: &HttpRequest, room: Option<&Room>) -> Result<(HttpResponse, Option<LargeBody>), HttpError> {
    let (mut flight, promise, question) = begin(request, room)?;
    let answer = JsFuture::from(promise).await.map_err(|failure| error(&request.url, &failure.unchecked_into()))?;
    let answer: Answer = answer.unchecked_into();
    let Some(coming) = answer.large() else {
        flight.landed = true;
        let response = landed(&answer);
        question.learn(&response, answer.is_without_head() == Some(true));
        return Ok((response, None));
    };
    let body = LargeBody { coming, flight, url: request.url.clone() };
    Ok((response(&answer, Bytes::new()), Some(body)))
}

fn begin(request: &HttpRequest, room: Option<&Room>) -> Result<(Flight, Promise, Question), HttpError> {
    let invalid = |message: &str| HttpError {
        kind: HttpErrorKind::InvalidUrl,
        url: request.url.clone(),
        message: message.to_owned(),
        has_answered: false,
    };
    let question = Question::of(request);
    let question = question.map_err(|name| invalid(&format!("a line of its own is in the header {name}")))?;
    let controller = AbortController::new().map_err(|value| invalid(&failed(&value).message))?;
    #[expect(clippy::cast_precision_loss, reason = "milliseconds of a time-out, and a limit of bytes")]
    let (patience, limit) = (request.timeout_milliseconds as f64, request.max_body_bytes as f64);
    let whole = if room.is_some() { WHOLE_BYTES } else { f64::INFINITY };
    let Question { headers, cache, known, is_by_head, .. } = &question;
    let promise = PROGRESS.with(|progress| {
        exchange(&controller, &request.url, headers, cache, known, *is_by_head, patience, whole, limit, progress, room)
    });
    Ok((Flight { controller, landed: false }, promise, question))
}

fn error(url: &str, failure: &Failed) -> HttpError {
    let (kind, has_answered) = match failure.kind() {
        0 => (HttpErrorKind::Connect, false),
        2 => (HttpErrorKind::Timeout, false),
        3 => (HttpErrorKind::TooLarge, true),
        4 => (HttpErrorKind::InvalidUrl, false),
        5 => (HttpErrorKind::Timeout, true),
        _ => (HttpErrorKind::Interrupted, true),
    };
    HttpError { kind, url: url.to_owned(), message: failure.message(), has_answered }
}

fn response(answer: &Answer, body: Bytes) -> HttpResponse {
    let lines = answer.headers();
    let headers = lines.lines().filter_map(|line| line.split_once(':'));
    let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    HttpResponse {
        status: answer.status(),
        headers,
        body,
        answered_after: answer.answered_after(),
        ..HttpResponse::default()
    }
}

/// A response with all of its body.
fn landed(answer: &Answer) -> HttpResponse {
    let pieces = answer.pieces();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bytes, at most what is in memory")]
    let mut body = Vec::with_capacity(answer.length() as usize);
    for piece in &pieces {
        let start = body.len();
        body.resize(start + piece.length() as usize, 0);
        piece.copy_to(&mut body[start..]);
    }
    give_back(pieces);
    response(answer, body.into())
}
