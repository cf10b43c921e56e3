//! The platform's conformance suites on this browser's implementations; only in the module that the tests build.

use crate::clock::BrowserClock;
use crate::fetch::BrowserHttp;
use crate::opfs::OpfsDirectory;
use crate::shared_files::SharedDirectory;
use gantry_conformance::{Exclusive, Report, clock_suite, directory_suite, http_suite, mirror_suite, pack_store_suite};
use wasm_bindgen::prelude::*;
use web_sys::FileSystemDirectoryHandle;

/// Runs the suite `name` and returns its report as text; fails if something in it does not hold. `base` is the address of
/// a server of the fixtures `basic`; files are in `memory`, where that is given, and else in OPFS.
#[wasm_bindgen(js_name = runConformance)]
pub async fn run_conformance(
    name: &str,
    base: &str,
    memory: Option<FileSystemDirectoryHandle>,
) -> Result<String, JsValue> {
    let folder = async |name| match memory {
        Some(memory) => Ok(OpfsDirectory::from(memory)),
        None => folder(name).await,
    };
    let report: Report = match name {
        "clock" => clock_suite(&BrowserClock).await,
        "http" => http_suite(&BrowserHttp, base).await,
        "files" => directory_suite(&folder("conformance-files").await?, Exclusive::Yes).await,
        "packs" => pack_store_suite(&folder("conformance-packs").await?).await,
        "shared files" => {
            let directory = SharedDirectory::new(folder("conformance-shared-files").await?);
            directory_suite(&directory, Exclusive::NotNeeded).await
        }
        "mirror" => {
            let directory = SharedDirectory::new(folder("conformance-mirror").await?);
            mirror_suite(&directory, &BrowserClock).await
        }
        other => return Err(JsValue::from_str(&format!("there is no suite called {other}"))),
    };
    if report.holds() { Ok(report.to_string()) } else { Err(JsValue::from_str(&report.to_string())) }
}

async fn folder(name: &str) -> Result<OpfsDirectory, JsValue> {
    OpfsDirectory::open_store(name).await.map_err(|error| JsValue::from_str(&error.to_string()))
}
