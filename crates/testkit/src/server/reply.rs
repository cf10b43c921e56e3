//! From a decided answer to bytes on the connection, with faults played on the way.
//!
//! Every body is a stream that announces its length itself: a server library that knew the true length would refuse to
//! send a wrong one. A guard travels with the body, so that a request counts as under way until its last bytes are handed over.
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::body::Body;
use axum::http::header::{CACHE_CONTROL, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, ETAG, LOCATION, RETRY_AFTER};
use axum::http::{HeaderMap, HeaderValue, Response, StatusCode};
use bytes::Bytes;
use futures_util::stream;

use super::State;
use super::big::BigPackument;
use super::connection::ConnectionHandle;
use crate::stats::Underway;
use crate::{Fault, LogEntry};

/// Long enough for the head and the pieces of a body to reach the socket on a busy machine.
const FLUSH_PAUSE: Duration = Duration::from_millis(40);

/// An answer before any fault.
#[derive(Clone, Debug)]
pub(super) struct Reply {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
}

impl Reply {
    pub(super) fn new(status: StatusCode) -> Self {
        Self { status, headers: HeaderMap::new(), body: Bytes::new() }
    }

    pub(super) fn json(status: StatusCode, body: impl Into<Bytes>) -> Self {
        let mut reply = Self::new(status);
        reply.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        reply.body = body.into();
        reply
    }
}

/// Counts a request as under way while it lives.
#[derive(Debug)]
pub(super) struct InFlight {
    state: Arc<State>,
    /// `None` for requests that are not counted.
    underway: Option<Underway>,
}

impl InFlight {
    pub(super) fn new(state: Arc<State>) -> Self {
        let underway = Some(state.counters.begin());
        Self { state, underway }
    }

    /// For requests that are no traffic of the registry.
    pub(super) fn uncounted(state: Arc<State>) -> Self {
        Self { state, underway: None }
    }

    /// Writes the request into the log; how long it took follows when it ends.
    pub(super) fn record(&mut self, entry: LogEntry) {
        if let Some(underway) = &mut self.underway {
            self.state.counters.record(entry, underway);
        }
    }

    fn add_bytes(&self, bytes: u64) {
        if self.underway.is_some() {
            self.state.counters.bytes.fetch_add(bytes, Ordering::Relaxed);
        }
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        if let Some(underway) = self.underway {
            self.state.counters.end(underway);
        }
    }
}

/// How a body leaves.
#[derive(Debug)]
struct Delivery {
    body: Bytes,
    /// Bytes to send before the end; the rest is kept back.
    limit: usize,
    end: End,
    /// Size of pieces and the pause before each.
    drip: Option<(usize, Duration)>,
    connection: ConnectionHandle,
    guard: InFlight,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Proper,
    Hang,
    /// Fail the stream, which makes the library drop the connection.
    Break,
}

/// Sends a reply, playing the fault.
pub(super) async fn send(
    reply: Reply,
    fault: Option<Fault>,
    connection: ConnectionHandle,
    guard: InFlight,
) -> Response<Body> {
    let Reply { status, mut headers, body } = reply;
    let mut delivery = Delivery { limit: usize::MAX, end: End::Proper, drip: None, connection, guard, body };
    let mut announced = Some(delivery.body.len() as u64);
    let mut status = status;
    match fault {
        None => {}
        Some(Fault::HangBeforeHeaders) => std::future::pending().await,
        Some(Fault::Delay { ms }) => tokio::time::sleep(Duration::from_millis(ms)).await,
        Some(Fault::HangInBody { after }) => (delivery.limit, delivery.end) = (after, End::Hang),
        Some(Fault::Close { after }) => (delivery.limit, delivery.end) = (after, End::Break),
        Some(Fault::Reset { after }) => {
            (delivery.limit, delivery.end) = (after, End::Break);
            delivery.connection.reset_at_end();
        }
        Some(Fault::Truncate { after }) => {
            delivery.body.truncate(after);
            announced = Some(delivery.body.len() as u64);
        }
        Some(Fault::WrongLength { by }) => {
            announced = announced.map(|length| length.saturating_add_signed(by));
            delivery.end = if by > 0 { End::Break } else { End::Proper };
        }
        Some(Fault::NoLength) => announced = None,
        Some(Fault::GzipGarbage) => {
            headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
            delivery.body = Bytes::from_static(b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03this is not a deflate stream");
            announced = Some(delivery.body.len() as u64);
        }
        Some(Fault::Corrupt { at }) => {
            let mut bytes = delivery.body.to_vec();
            let position = at.unwrap_or(bytes.len() / 2);
            if let Some(byte) = bytes.get_mut(position) {
                *byte ^= 0xff;
            }
            delivery.body = Bytes::from(bytes);
        }
        Some(Fault::Drip { bytes, every_ms }) => delivery.drip = Some((bytes.max(1), Duration::from_millis(every_ms))),
        Some(Fault::Huge { bytes }) => return huge(status, headers, bytes, delivery),
        Some(Fault::BigPackument { bytes, versions }) => {
            let pieces = BigPackument::new(delivery.body.clone(), bytes, versions);
            return generated(status, headers, pieces, delivery);
        }
        Some(other) => {
            (status, headers, delivery.body) = substitute(other, headers);
            announced = Some(delivery.body.len() as u64);
        }
    }
    if status != StatusCode::NOT_MODIFIED && status != StatusCode::NO_CONTENT {
        headers.extend(announced.map(|length| (CONTENT_LENGTH, HeaderValue::from(length))));
    }
    response(status, headers, Body::from_stream(stream::unfold(Some((delivery, 0)), next_piece)))
}

/// Faults that are another answer altogether.
fn substitute(fault: Fault, mut headers: HeaderMap) -> (StatusCode, HeaderMap, Bytes) {
    let valid = |status| StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    for own in [CONTENT_ENCODING, CACHE_CONTROL, ETAG] {
        headers.remove(own);
    }
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    match fault {
        Fault::Html { status } => {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
            let page = "<!DOCTYPE html>\n<html><head><title>Sign in</title></head><body><p>Please sign in.</p></body></html>\n";
            (valid(status), headers, Bytes::from_static(page.as_bytes()))
        }
        Fault::Status { status, retry_after } => {
            let pause = retry_after.and_then(|text| HeaderValue::from_str(&text).ok());
            headers.extend(pause.map(|pause| (RETRY_AFTER, pause)));
            (valid(status), headers, Bytes::from(format!("{{\"error\":\"played status {status}\"}}")))
        }
        Fault::Redirect { to, status } => {
            let target = HeaderValue::from_str(&to.unwrap_or_default()).unwrap_or(HeaderValue::from_static(""));
            headers.insert(LOCATION, target);
            (valid(status), headers, Bytes::new())
        }
        Fault::DeepJson { depth } => (StatusCode::OK, headers, Bytes::from("[".repeat(depth) + &"]".repeat(depth))),
        other => unreachable!("{other:?} is played by the caller"),
    }
}

fn huge(status: StatusCode, mut headers: HeaderMap, bytes: u64, delivery: Delivery) -> Response<Body> {
    static SPACES: [u8; 64 * 1024] = [b' '; 64 * 1024];
    headers.remove(CONTENT_ENCODING);
    let body = stream::unfold((bytes, delivery), |(left, delivery)| async move {
        let size = left.min(SPACES.len() as u64);
        delivery.connection.pace(size as usize).await;
        delivery.guard.add_bytes(size);
        (size > 0).then(|| (Ok::<_, io::Error>(Bytes::from_static(&SPACES[..size as usize])), (left - size, delivery)))
    });
    response(status, headers, Body::from_stream(body))
}

/// Sends pieces as they are made, without announcing how many there are.
fn generated(status: StatusCode, headers: HeaderMap, pieces: BigPackument, delivery: Delivery) -> Response<Body> {
    let body = stream::unfold((pieces, delivery), |(mut pieces, delivery)| async move {
        let piece = pieces.next()?;
        delivery.connection.pace(piece.len()).await;
        delivery.guard.add_bytes(piece.len() as u64);
        Some((Ok::<_, io::Error>(piece), (pieces, delivery)))
    });
    response(status, headers, Body::from_stream(body))
}

fn response(status: StatusCode, headers: HeaderMap, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    response
}

type Progress = Option<(Delivery, usize)>;

/// One piece of a body. Without faults and limits the whole body is one piece.
async fn next_piece(progress: Progress) -> Option<(io::Result<Bytes>, Progress)> {
    let (delivery, sent) = progress?;
    let until = delivery.limit.min(delivery.body.len());
    if sent >= until {
        return match delivery.end {
            End::Proper => None,
            End::Hang => std::future::pending().await,
            End::Break => {
                // A failed body drops what the library still buffers; a pause first lets it out.
                tokio::time::sleep(FLUSH_PAUSE).await;
                Some((Err(io::ErrorKind::ConnectionReset.into()), None))
            }
        };
    }
    let mut size = until - sent;
    if let Some(piece) = delivery.connection.piece() {
        size = size.min(piece);
    }
    if let Some((bytes, pause)) = delivery.drip {
        size = size.min(bytes);
        tokio::time::sleep(pause).await;
    }
    delivery.connection.pace(size).await;
    delivery.guard.add_bytes(size as u64);
    let piece = delivery.body.slice(sent..sent + size);
    let is_last = sent + size == until && delivery.end == End::Proper;
    // With the last piece the request has ended: whoever has read all of it may ask for something else at once.
    let rest = if is_last { None } else { Some((delivery, sent + size)) };
    Some((Ok(piece), rest))
}
