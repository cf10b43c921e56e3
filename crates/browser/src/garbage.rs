//! Lets the browser know of the garbage that requests leave behind.
//!
//! Each request leaves 14 KB of the browser's own objects in its worker, and more elsewhere: response, streams, signal, headers.
//! V8 begins to collect when what scripts hold has grown, and scripts of ours hold next to nothing, so nothing is collected
//! before an install ends: with 2,400 requests that was 90 MB of 205 in Chromium. What does count is the length of every
//! `ArrayBuffer`, used or not: Chromium collects once 64 MB have been added. A buffer that nobody writes to takes addresses
//! and no memory, and half a millisecond.

use std::cell::Cell;
use wasm_bindgen::prelude::*;

/// Requests between two collections. With 32 an install of 2,400 requests holds as much and takes a fortieth more processor
/// time; with 128 it holds some 10 MB more.
const REQUESTS: u32 = 64;
/// What makes Chromium collect.
const BYTES: u32 = 64 << 20;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_name = ArrayBuffer)]
    type Ballast;

    /// Fails where there are not so many addresses to spare.
    #[wasm_bindgen(constructor, catch, js_class = "ArrayBuffer")]
    fn new(length: u32) -> Result<Ballast, JsValue>;
}

thread_local! {
    static SINCE_THE_LAST: Cell<u32> = const { Cell::new(0) };
}

/// A request has ended.
pub(crate) fn note_request() {
    let since = SINCE_THE_LAST.get() + 1;
    SINCE_THE_LAST.set(since % REQUESTS);
    if since == REQUESTS {
        // Where it fails more garbage is held, and nothing else.
        let _ = Ballast::new(BYTES);
    }
}
