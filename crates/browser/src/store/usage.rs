//! How much a store has.

use gantry_store::Catalog;
use serde::Serialize;

/// How much is stored.
#[derive(Debug, Serialize)]
pub(crate) struct StoreUsage {
    packages: u64,
    bytes: u64,
    files: u64,
}

impl StoreUsage {
    pub fn of(catalog: &Catalog) -> Self {
        let packages = catalog.packages();
        let indexes = packages.iter().filter_map(|(_, package)| package.index().ok());
        Self {
            packages: catalog.package_count() as u64,
            bytes: catalog.package_bytes(),
            files: indexes.map(|index| index.files.len() as u64).sum(),
        }
    }
}
