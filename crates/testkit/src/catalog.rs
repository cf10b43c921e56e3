//! Everything a server can give out: fixtures, recordings, and what it fetches while thawed.
//!
//! Looked at in this order: fixtures, recording, upstream. Each package and tarball is loaded once, by one task, and
//! then kept in memory; what was not found is looked for again on the next request.
mod package;

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use tokio::sync::OnceCell;

pub(crate) use package::{Form, LoadedPackage};

use crate::encoded::Encoded;
use crate::names::tarball_path;
use crate::upstream::Upstream;
use crate::{Recording, TestkitError, fixtures};

/// Why something is not given out.
#[derive(Debug)]
pub(crate) enum Absent {
    NotFound,
    Failed(TestkitError),
}

impl From<TestkitError> for Absent {
    fn from(error: TestkitError) -> Self {
        Absent::Failed(error)
    }
}

type Cells<T> = Mutex<HashMap<String, Arc<OnceCell<Arc<T>>>>>;

#[derive(Debug)]
pub(crate) struct Catalog {
    /// Address of the server as clients see it; ends with `/`.
    base: String,
    fixtures: fixtures::Registry,
    recording: Option<Recording>,
    upstream: Option<Upstream>,
    thawed: AtomicBool,
    packages: Cells<LoadedPackage>,
    tarballs: Cells<Encoded>,
    pub(crate) upstream_fetches: AtomicU64,
}

impl Catalog {
    pub(crate) fn new(
        base: String,
        fixtures: fixtures::Registry,
        recording: Option<Recording>,
        upstream: Option<Upstream>,
    ) -> Self {
        let thawed = AtomicBool::new(upstream.is_some());
        Self {
            base,
            fixtures,
            recording,
            upstream,
            thawed,
            packages: Mutex::default(),
            tarballs: Mutex::default(),
            upstream_fetches: AtomicU64::new(0),
        }
    }

    /// Lets misses go upstream, or not. Gives back whether that is possible at all.
    pub(crate) fn thaw(&self, thawed: bool) -> bool {
        self.thawed.store(thawed, Ordering::Relaxed);
        self.upstream.is_some()
    }

    pub(crate) fn is_thawed(&self) -> bool {
        self.upstream.is_some() && self.thawed.load(Ordering::Relaxed)
    }

    pub(crate) async fn package(&self, name: &str) -> Result<Arc<LoadedPackage>, Absent> {
        let cell = cell(&self.packages, name);
        cell.get_or_try_init(|| self.load_package(name)).await.cloned()
    }

    pub(crate) async fn tarball(&self, name: &str, file: &str) -> Result<Arc<Encoded>, Absent> {
        let cell = cell(&self.tarballs, &tarball_path(name, file));
        cell.get_or_try_init(|| async { Ok(Arc::new(Encoded::new(self.load_tarball(name, file).await?))) })
            .await
            .cloned()
    }

    async fn load_package(&self, name: &str) -> Result<Arc<LoadedPackage>, Absent> {
        let text = self.package_text(name).await?;
        let base = self.base.clone();
        Ok(Arc::new(blocking(move || LoadedPackage::new(&text, &base)).await))
    }

    async fn package_text(&self, name: &str) -> Result<String, Absent> {
        if let Some(text) = self.fixtures.stored_document(name) {
            return Ok(text);
        }
        if let Some(recording) = self.recording.clone() {
            let own = name.to_owned();
            if let Some(text) = blocking(move || recording.packument(&own)).await? {
                return Ok(text);
            }
        }
        let (upstream, recording) = self.source_of_misses()?;
        let document = upstream.packument(name).await?.ok_or(Absent::NotFound)?;
        let own = name.to_owned();
        let (text, tarballs) = blocking(move || recording.store_packument(&own, document)).await?;
        upstream.remember(name, tarballs);
        Ok(text)
    }

    async fn load_tarball(&self, name: &str, file: &str) -> Result<Bytes, Absent> {
        if let Some(bytes) = self.fixtures.stored_tarball(&tarball_path(name, file)) {
            return Ok(bytes.clone());
        }
        if let Some(recording) = self.recording.clone() {
            let (name, file) = (name.to_owned(), file.to_owned());
            if let Some(bytes) = blocking(move || recording.tarball(&name, &file)).await? {
                return Ok(bytes);
            }
        }
        let (upstream, recording) = self.source_of_misses()?;
        let bytes = upstream.tarball(name, file).await?.ok_or(Absent::NotFound)?;
        let (name, file, stored) = (name.to_owned(), file.to_owned(), bytes.clone());
        blocking(move || recording.store_tarball(&name, &file, &stored)).await?;
        Ok(bytes)
    }

    fn source_of_misses(&self) -> Result<(&Upstream, Recording), Absent> {
        match (&self.upstream, &self.recording) {
            (Some(upstream), Some(recording)) if self.is_thawed() => {
                self.upstream_fetches.fetch_add(1, Ordering::Relaxed);
                Ok((upstream, recording.clone()))
            }
            _ => Err(Absent::NotFound),
        }
    }
}

fn cell<T>(cells: &Cells<T>, key: &str) -> Arc<OnceCell<Arc<T>>> {
    let mut cells = cells.lock().unwrap_or_else(PoisonError::into_inner);
    match cells.get(key) {
        Some(cell) => cell.clone(),
        None => cells.entry(key.to_owned()).or_default().clone(),
    }
}

/// Runs work that reads files or burns CPU off the tasks that serve.
pub(crate) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    tokio::task::spawn_blocking(work).await.expect("the work does not panic and the runtime outlives its requests")
}
