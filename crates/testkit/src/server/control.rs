//! Control requests under `/-/gantry/`: counts, faults, and whether misses go upstream.
use axum::body::{Body, to_bytes};
use axum::http::{Method, Request, StatusCode};
use serde_json::json;

use super::State;
use super::cors::preflight;
use super::reply::Reply;
use crate::FaultRule;

/// Far more than any list of faults needs.
const BODY_LIMIT: usize = 1 << 20;

/// Answers one control request.
pub(super) async fn control(state: &State, action: &str, request: Request<Body>) -> Reply {
    let method = request.method().clone();
    let with_log =
        request.uri().query().is_some_and(|query| query.split('&').any(|part| part == "log" || part == "log=1"));
    match (method.as_str(), action) {
        ("GET", "stats") => stats(state, with_log),
        ("POST", "reset") => {
            state.reset();
            done()
        }
        ("POST", "freeze") => {
            state.catalog.thaw(false);
            done()
        }
        ("POST", "thaw") if state.catalog.thaw(true) => done(),
        ("POST", "thaw") => refused(StatusCode::CONFLICT, "this server was started without an upstream registry"),
        ("GET", "faults") => Reply::json(StatusCode::OK, json!(*state.faults()).to_string()),
        ("POST", "faults") => match read_rules(request).await {
            Ok(rules) => {
                state.faults().extend(rules);
                done()
            }
            Err(message) => refused(StatusCode::BAD_REQUEST, &message),
        },
        ("DELETE", "faults") => {
            state.faults().clear();
            done()
        }
        _ if method == Method::OPTIONS => preflight(request.headers()),
        _ => refused(StatusCode::NOT_FOUND, "no such control request"),
    }
}

fn stats(state: &State, with_log: bool) -> Reply {
    let mut body = json!(state.stats());
    body["thawed"] = json!(state.catalog.is_thawed());
    if with_log {
        body["log"] = json!(state.counters.log());
    }
    Reply::json(StatusCode::OK, body.to_string())
}

/// One rule or a list of rules.
async fn read_rules(request: Request<Body>) -> Result<Vec<FaultRule>, String> {
    let body = to_bytes(request.into_body(), BODY_LIMIT).await.map_err(|error| error.to_string())?;
    let read = match body.first() {
        Some(b'{') => serde_json::from_slice(&body).map(|rule| vec![rule]),
        _ => serde_json::from_slice(&body),
    };
    read.map_err(|error| error.to_string())
}

fn done() -> Reply {
    Reply::json(StatusCode::OK, "{\"ok\":true}")
}

fn refused(status: StatusCode, message: &str) -> Reply {
    Reply::json(status, json!({ "error": message }).to_string())
}
