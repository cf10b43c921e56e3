//! Small bridges to JavaScript values and to the worker's global scope.

use crate::error::failed;
use futures_util::future::{Either, select};
use gantry_engine::Fault;
use js_sys::Promise;
use serde::de::{DeserializeOwned, Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::fmt;
use std::pin::pin;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::{AbortSignal, WorkerGlobalScope};

/// The global scope of this worker.
pub(crate) fn scope() -> WorkerGlobalScope {
    js_sys::global().unchecked_into()
}

/// A plain object, as `postMessage` and TypeScript like them. Much code for something that is done once: it stays out of what is
/// polled (`coordinator/install.rs` says why).
#[inline(never)]
pub(crate) fn to_object<T: Serialize>(value: &T) -> Result<JsValue, Fault> {
    let serializer = serde_wasm_bindgen::Serializer::json_compatible().serialize_bytes_as_arrays(false);
    value.serialize(&serializer).map_err(|error| Fault::new("INTERNAL", error.to_string()))
}

/// Reads an options object; what is wrong with it is the caller's fault and said so. Not inlined, as [`to_object`].
#[inline(never)]
pub(crate) fn from_object<T: DeserializeOwned>(value: JsValue, what: &str) -> Result<T, Fault> {
    serde_wasm_bindgen::from_value(value).map_err(|error| Fault::new("INVALID_OPTION", format!("{what}: {error}")))
}

/// Bytes that are a `Uint8Array` on the JavaScript side, and not an array of numbers.
#[derive(Debug)]
pub(crate) struct FileBytes(pub Vec<u8>);

impl<'de> Deserialize<'de> for FileBytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Bytes;
        impl Visitor<'_> for Bytes {
            type Value = Vec<u8>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("bytes")
            }

            fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Vec<u8>, E> {
                Ok(bytes.to_vec())
            }

            fn visit_byte_buf<E: Error>(self, bytes: Vec<u8>) -> Result<Vec<u8>, E> {
                Ok(bytes)
            }
        }
        deserializer.deserialize_byte_buf(Bytes).map(Self)
    }
}

/// Runs `work` until it is done or `signal` is aborted; in that case `work` is dropped, which cancels it.
pub(crate) async fn until_aborted<T>(
    signal: &AbortSignal,
    work: impl Future<Output = Result<T, Fault>>,
) -> Result<T, Fault> {
    let cancelled = || Fault::new("CANCELLED", "the install was cancelled");
    if signal.aborted() {
        return Err(cancelled());
    }
    let aborted = Promise::new(&mut |resolve, _reject| signal.set_onabort(Some(&resolve)));
    let outcome = match select(pin!(work), JsFuture::from(aborted)).await {
        Either::Left((result, _)) => result,
        Either::Right(_) => Err(cancelled()),
    };
    signal.set_onabort(None);
    outcome
}

/// Awaits a promise whose rejection is a fault.
pub(crate) async fn settle(promise: Promise) -> Result<JsValue, Fault> {
    JsFuture::from(promise).await.map_err(|value| failed(&value))
}
