//! What the journal of a store says at the moment, whoever writes it.

use crate::error::{failed, file_fault};
use crate::opfs::OpfsDirectory;
use bytes::Bytes;
use gantry_engine::Fault;
use gantry_platform::Directory;
use gantry_store::{Catalog, is_journal};
use js_sys::Uint8Array;
use wasm_bindgen_futures::JsFuture;

/// How often the journal is read again when it grows under the reading.
const ATTEMPTS: usize = 20;

/// The folder of a store and what its journal says now; `None` where nothing is stored.
pub(crate) async fn find_catalog(store: &str) -> Result<Option<(OpfsDirectory, Catalog)>, Fault> {
    let found = OpfsDirectory::find_store(store).await.map_err(|error| file_fault(&error))?;
    let Some(directory) = found else { return Ok(None) };
    let catalog = Catalog::read_newest(read_journals(&directory).await?).map_err(|error| Fault::from(&error))?;
    Ok(catalog.map(|catalog| (directory, catalog)))
}

/// The journals with their names: one, but for what a crash may leave. The coordinator may be appending: a snapshot of before
/// cannot be read any more then, and new ones are taken. What is torn at an end is left out by who reads it.
async fn read_journals(directory: &OpfsDirectory) -> Result<Vec<(String, Bytes)>, Fault> {
    let mut last = None;
    for _ in 0..ATTEMPTS {
        match try_read_journals(directory).await {
            Ok(journals) => return Ok(journals),
            Err(fault) => last = Some(fault),
        }
    }
    Err(last.unwrap_or_else(|| Fault::new("STORE_IO", "the journal cannot be read")))
}

async fn try_read_journals(directory: &OpfsDirectory) -> Result<Vec<(String, Bytes)>, Fault> {
    let mut journals = Vec::new();
    for name in directory.list().await.map_err(|error| file_fault(&error))? {
        if !is_journal(&name) {
            continue;
        }
        let file = directory.snapshot(&name).await.map_err(|error| file_fault(&error))?;
        let buffer = JsFuture::from(file.array_buffer()).await.map_err(|error| failed(&error))?;
        journals.push((name, Bytes::from(Uint8Array::new(&buffer).to_vec())));
    }
    Ok(journals)
}
