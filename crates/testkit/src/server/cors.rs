//! What lets pages of other origins ask.

use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_MAX_AGE,
    ACCESS_CONTROL_REQUEST_HEADERS,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};

use super::reply::Reply;

/// The answer to a question whether a request may be made.
pub(super) fn preflight(headers: &HeaderMap) -> Reply {
    let mut reply = Reply::new(StatusCode::NO_CONTENT);
    // Named one by one: `*` does not cover `Authorization`.
    let asked = headers.get(ACCESS_CONTROL_REQUEST_HEADERS).cloned();
    reply.headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, asked.unwrap_or(HeaderValue::from_static("*")));
    reply.headers.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET, HEAD, OPTIONS, POST, DELETE"));
    reply.headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
    let private = HeaderName::from_static("access-control-allow-private-network");
    reply.headers.insert(private, HeaderValue::from_static("true"));
    reply
}

/// Lets pages of any origin read an answer.
pub(super) fn allow_origins(headers: &mut HeaderMap) {
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
}
