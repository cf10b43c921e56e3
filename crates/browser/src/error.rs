//! Faults to JavaScript errors and back.

use gantry_engine::Fault;
use gantry_platform::FileError;
use gantry_store::StoreError;
use js_sys::{Error, Reflect};
use wasm_bindgen::prelude::*;

/// An `Error` with `code`, `hint` and `package` as own properties.
pub(crate) fn to_javascript(fault: &Fault) -> JsValue {
    let error = Error::new(&fault.message);
    let set = |name: &str, value: &str| {
        // Fails only for frozen objects, which a new error is not.
        let _ = Reflect::set(&error, &JsValue::from_str(name), &JsValue::from_str(value));
    };
    set("code", &fault.code);
    if let Some(hint) = &fault.hint {
        set("hint", hint);
    }
    if let Some(package) = &fault.package {
        set("package", package);
    }
    error.into()
}

/// A result as JavaScript has it.
pub(crate) fn thrown<T>(result: Result<T, Fault>) -> Result<T, JsValue> {
    result.map_err(|fault| to_javascript(&fault))
}

/// A fault out of whatever was thrown: ours comes back as it was, a browser's own exception gets a code by its name.
pub(crate) fn failed(value: &JsValue) -> Fault {
    let text = |name: &str| Reflect::get(value, &JsValue::from_str(name)).ok().and_then(|value| value.as_string());
    let message = text("message").unwrap_or_else(|| value.as_string().unwrap_or_else(|| "unknown failure".to_owned()));
    let fault = match (text("code"), text("name").as_deref()) {
        (Some(code), _) => Fault::new(code, message),
        (None, Some("QuotaExceededError")) => quota(message),
        (None, Some("AbortError")) => Fault::new("CANCELLED", message),
        (None, _) => Fault::new("BROWSER_FAILED", message),
    };
    Fault { hint: text("hint").or(fault.hint), package: text("package"), ..fault }
}

/// A file error as data, under the store's codes.
pub(crate) fn file_fault(error: &FileError) -> Fault {
    Fault::from(&StoreError::from(error.clone()))
}

pub(crate) fn quota(message: String) -> Fault {
    Fault::new("STORE_FULL", message)
        .with_hint("Free some of this site's storage, or allow it more; what is already installed is intact.")
}
