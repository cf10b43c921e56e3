//! The session behind functions that a page calls.

use std::cell::RefCell;

use bytes::Bytes;
use serde_json::json;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::{Bundle, Session};

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = performance)]
    fn now() -> f64;
}

thread_local! {
    static SESSION: RefCell<Session> = RefCell::new(Session::new(now));
}

/// Takes an input, a bundle.
#[wasm_bindgen]
pub fn open(bundle: Vec<u8>) -> String {
    match Bundle::parse(Bytes::from(bundle)) {
        Ok(bundle) => SESSION.with_borrow_mut(|session| session.open(bundle)),
        Err(error) => json!({ "error": error.to_string() }).to_string(),
    }
}

/// Obeys a command; both are JSON.
#[wasm_bindgen]
pub fn command(text: &str) -> String {
    SESSION.with_borrow_mut(|session| session.command(text))
}
