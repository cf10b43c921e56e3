//! What a registry answers: routes, negotiation, headers.
use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::body::Body;
use axum::extract::{ConnectInfo, State as Shared};
use axum::http::header::{
    ACCEPT, ACCEPT_ENCODING, ACCEPT_RANGES, AUTHORIZATION, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_RANGE,
    CONTENT_TYPE, ETAG, IF_MODIFIED_SINCE, IF_NONE_MATCH, IF_RANGE, LAST_MODIFIED, RANGE, VARY, WWW_AUTHENTICATE,
};
use axum::http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode};
use httpdate::HttpDate;

use super::State;
use super::connection::ConnectionHandle;
use super::control;
use super::cors::{allow_origins, preflight};
use super::reply::{InFlight, Reply, send};
use crate::catalog::{Absent, Form};
use crate::encoded::{Encoded, Variant, names_tag};
use crate::names::Target;
use crate::packument::ABBREVIATED;
use crate::stats::{LogEntry, RequestKind};
use crate::{Fault, TestkitError};

/// How long documents may be kept, as the public registry says.
const DOCUMENT_AGE: HeaderValue = HeaderValue::from_static("public, max-age=300");
/// How long tarballs may be kept.
const TARBALL_AGE: HeaderValue = HeaderValue::from_static("public, immutable, max-age=31557600");

/// Answers one request.
pub(super) async fn respond(
    Shared(state): Shared<Arc<State>>,
    ConnectInfo(connection): ConnectInfo<ConnectionHandle>,
    request: Request<Body>,
) -> Response<Body> {
    let target = Target::parse(request.uri().path());
    if let Target::Other(path) = &target
        && let Some(action) = path.strip_prefix("/-/gantry/")
    {
        // Control requests are no traffic of the registry: no faults, no counts, not even as under way.
        let action = action.to_owned();
        let mut reply = control::control(&state, &action, request).await;
        allow_origins(&mut reply.headers);
        let guard = InFlight::uncounted(state);
        return send(reply, None, connection, guard).await;
    }
    let mut guard = InFlight::new(state.clone());
    let path = decoded_path(&target);
    let mut entry = LogEntry {
        method: request.method().to_string(),
        kind: kind(request.method(), &target, request.headers()),
        authorized: request.headers().contains_key(AUTHORIZATION),
        status: 0,
        miss: false,
        started_microseconds: 0,
        microseconds: 0,
        path,
    };
    if let Some(latency) = state.latency {
        tokio::time::sleep(latency).await;
    }
    let fault = match entry.kind {
        RequestKind::Preflight => None,
        _ => take_fault(&state, &entry.path).map(|fault| aim_at_itself(fault, &request)),
    };
    let mut headers = request.headers().clone();
    if matches!(fault, Some(Fault::BigPackument { .. })) {
        // Compressed, nothing could be put into it.
        headers.remove(ACCEPT_ENCODING);
    }
    let mut reply = match entry.kind {
        RequestKind::Preflight => preflight(&headers),
        _ if !is_allowed(&state, &headers) => unauthorized(&state),
        _ => answer(&state, &target, request.method(), &headers, &mut entry.miss).await,
    };
    allow_origins(&mut reply.headers);
    if fault.is_some() {
        state.counters.faults.fetch_add(1, Ordering::Relaxed);
    }
    if entry.miss {
        state.counters.misses.fetch_add(1, Ordering::Relaxed);
    }
    entry.status = match &fault {
        Some(Fault::HangBeforeHeaders) => 0,
        Some(Fault::Status { status, .. } | Fault::Html { status } | Fault::Redirect { status, .. }) => *status,
        _ => reply.status.as_u16(),
    };
    guard.record(entry);
    send(reply, fault, connection, guard).await
}

fn kind(method: &Method, target: &Target, headers: &HeaderMap) -> RequestKind {
    match target {
        _ if method == Method::OPTIONS => RequestKind::Preflight,
        Target::Packument(_) if wants_abbreviated(headers) => RequestKind::AbbreviatedPackument,
        Target::Packument(_) => RequestKind::FullPackument,
        Target::Version(..) => RequestKind::Version,
        Target::Tarball(..) => RequestKind::Tarball,
        Target::Other(_) => RequestKind::Other,
    }
}

/// The path faults and logs see: decoded, one spelling for each thing.
fn decoded_path(target: &Target) -> String {
    match target {
        Target::Packument(name) => format!("/{name}"),
        Target::Version(name, version) => format!("/{name}/{version}"),
        Target::Tarball(name, file) => format!("/{}", crate::names::tarball_path(name, file)),
        Target::Other(path) => path.clone(),
    }
}

fn take_fault(state: &State, path: &str) -> Option<Fault> {
    state.faults().iter_mut().find_map(|rule| rule.take(path))
}

/// A redirect without a target goes to the address asked for.
fn aim_at_itself(fault: Fault, request: &Request<Body>) -> Fault {
    match fault {
        Fault::Redirect { to: None, status } => Fault::Redirect { to: Some(request.uri().to_string()), status },
        other => other,
    }
}

async fn answer(state: &State, target: &Target, method: &Method, headers: &HeaderMap, miss: &mut bool) -> Reply {
    let found = match target {
        Target::Other(path) => return service(path, method),
        _ if method != Method::GET && method != Method::HEAD => {
            return error_reply(StatusCode::METHOD_NOT_ALLOWED, "Method not allowed");
        }
        Target::Packument(name) => packument(state, name, headers).await,
        Target::Version(name, version) => match version_manifest(state, name, version, headers).await {
            Ok(None) => {
                *miss = true;
                let text = serde_json::Value::from(format!("version not found: {version}"));
                return Reply::json(StatusCode::NOT_FOUND, text.to_string());
            }
            Ok(Some(reply)) => Ok(reply),
            Err(absent) => Err(absent),
        },
        Target::Tarball(name, file) => tarball(state, name, file, headers).await,
    };
    match found {
        Ok(reply) => {
            if reply.status == StatusCode::NOT_MODIFIED {
                state.counters.not_modified.fetch_add(1, Ordering::Relaxed);
            }
            reply
        }
        Err(Absent::NotFound) => {
            *miss = true;
            error_reply(StatusCode::NOT_FOUND, "Not found")
        }
        Err(Absent::Failed(error)) => failed(&error),
    }
}

async fn packument(state: &State, name: &str, headers: &HeaderMap) -> Result<Reply, Absent> {
    let package = state.catalog.package(name).await?;
    let gzip = accepts_gzip(headers);
    let (form, kind) = match wants_abbreviated(headers) {
        true => (Form::Abbreviated, ABBREVIATED),
        false => (Form::Full, "application/json"),
    };
    let variant = package.variant(form, gzip).await;
    let mut reply = cacheable(variant, package.modified, headers, kind, DOCUMENT_AGE);
    reply.headers.insert(VARY, HeaderValue::from_static("accept, accept-encoding"));
    if gzip && reply.status == StatusCode::OK {
        reply.headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    Ok(reply)
}

/// A version's own document, tagged like a packument. That the public registry tags these as well is supposed, not seen.
async fn version_manifest(
    state: &State,
    name: &str,
    version: &str,
    headers: &HeaderMap,
) -> Result<Option<Reply>, Absent> {
    let package = state.catalog.package(name).await?;
    Ok(package.version(version).await.map(|body| {
        let variant = Encoded::new(body).plain().clone();
        let mut reply = cacheable(variant, None, headers, "application/json", DOCUMENT_AGE);
        reply.headers.insert(VARY, HeaderValue::from_static("accept, accept-encoding"));
        reply
    }))
}

async fn tarball(state: &State, name: &str, file: &str, headers: &HeaderMap) -> Result<Reply, Absent> {
    let tarball = state.catalog.tarball(name, file).await?;
    Ok(part(cacheable(tarball.plain().clone(), None, headers, "application/octet-stream", TARBALL_AGE), headers))
}

/// A condition on the date counts only where there is none on the tag (RFC 9110, section 13.1.3).
fn cacheable(
    variant: Variant,
    modified: Option<HttpDate>,
    headers: &HeaderMap,
    content_type: &'static str,
    age: HeaderValue,
) -> Reply {
    let fresh = match (headers.get(IF_NONE_MATCH), headers.get(IF_MODIFIED_SINCE), modified) {
        (Some(tags), _, _) => names_tag(tags, &variant.etag),
        (None, Some(since), Some(modified)) => date_of(since).is_some_and(|since| modified <= since),
        _ => false,
    };
    let mut reply = Reply::new(if fresh { StatusCode::NOT_MODIFIED } else { StatusCode::OK });
    reply.headers.insert(ETAG, variant.etag);
    let modified = modified.and_then(|date| HeaderValue::from_str(&date.to_string()).ok());
    reply.headers.extend(modified.map(|date| (LAST_MODIFIED, date)));
    reply.headers.insert(CACHE_CONTROL, age);
    if !fresh {
        reply.headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
        reply.body = variant.body;
    }
    reply
}

/// The one range of a body that is asked for, if there is one and the tag it is asked on condition of is the body's.
fn part(mut reply: Reply, headers: &HeaderMap) -> Reply {
    reply.headers.insert(ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    let is_same = headers.get(IF_RANGE).is_none_or(|tag| reply.headers.get(ETAG) == Some(tag));
    let range = headers.get(RANGE).and_then(|range| range_of(range.to_str().ok()?, reply.body.len()));
    if let Some(range) = range.filter(|_| is_same && reply.status == StatusCode::OK) {
        let told = format!("bytes {}-{}/{}", range.start, range.end - 1, reply.body.len());
        reply.headers.extend(HeaderValue::from_str(&told).ok().map(|told| (CONTENT_RANGE, told)));
        reply.status = StatusCode::PARTIAL_CONTENT;
        reply.body = reply.body.slice(range);
    }
    reply
}

/// `bytes=a-b` or `bytes=a-` within a body of `length` bytes; what is none of these, or lies outside, is passed over.
fn range_of(text: &str, length: usize) -> Option<std::ops::Range<usize>> {
    let (first, last) = text.strip_prefix("bytes=")?.split_once('-')?;
    let first = first.parse::<usize>().ok()?;
    let end = if last.is_empty() { length } else { last.parse::<usize>().ok()?.saturating_add(1).min(length) };
    (first < end).then_some(first..end)
}

fn date_of(header: &HeaderValue) -> Option<HttpDate> {
    header.to_str().ok()?.parse().ok()
}

/// The few services installers ask for besides packages.
fn service(path: &str, method: &Method) -> Reply {
    match (method.as_str(), path) {
        ("GET", "/-/ping" | "/") | ("POST", "/-/npm/v1/security/advisories/bulk") => Reply::json(StatusCode::OK, "{}"),
        _ => error_reply(StatusCode::NOT_FOUND, "Not found"),
    }
}

fn error_reply(status: StatusCode, message: &str) -> Reply {
    Reply::json(status, serde_json::json!({ "error": message }).to_string())
}

fn failed(error: &TestkitError) -> Reply {
    let status = if error.is_transient() { StatusCode::BAD_GATEWAY } else { StatusCode::INTERNAL_SERVER_ERROR };
    let text = serde_json::json!({"error": error.to_string(), "code": error.code()}).to_string();
    Reply::json(status, text)
}

fn unauthorized(state: &State) -> Reply {
    state.counters.unauthorized.fetch_add(1, Ordering::Relaxed);
    let mut reply = error_reply(StatusCode::UNAUTHORIZED, "Authentication required");
    reply.headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    reply
}

fn is_allowed(state: &State, headers: &HeaderMap) -> bool {
    let Some(token) = &state.token else { return true };
    let sent = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
    sent.and_then(|value| value.split_once(' '))
        .is_some_and(|(scheme, sent)| scheme.eq_ignore_ascii_case("bearer") && sent == token)
}

fn wants_abbreviated(headers: &HeaderMap) -> bool {
    headers.get_all(ACCEPT).iter().any(|value| value.to_str().is_ok_and(|text| text.contains(ABBREVIATED)))
}

fn accepts_gzip(headers: &HeaderMap) -> bool {
    let mut values = headers.get_all(ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    values.any(|list| {
        list.split(',').any(|one| {
            let (name, quality) = one.split_once(';').unwrap_or((one, ""));
            matches!(name.trim(), "gzip" | "*") && !matches!(quality.trim(), "q=0" | "q=0.0" | "q=0.00" | "q=0.000")
        })
    })
}
