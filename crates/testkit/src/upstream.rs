//! The registry behind a server that records.
//!
//! Documents are asked for in full. A tarball is fetched from the configured registry under the path its document
//! gives, whatever host stands there, as npm does for mirrors. Transient errors are tried four times in all, 0.2, 0.4
//! and 0.8 s apart. No credentials are sent: user info in the address is refused.
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use serde_json::Value;
use url::Url;

use crate::TestkitError;
use crate::names::tarball_path;

const TRIES: u32 = 4;
const FIRST_PAUSE: Duration = Duration::from_millis(200);

/// An upstream registry and what is known of its tarball addresses.
#[derive(Debug)]
pub(crate) struct Upstream {
    base: Url,
    client: reqwest::Client,
    /// Our tarball path to the path the document gave, kept only where they differ.
    moved: Mutex<HashMap<String, String>>,
}

impl Upstream {
    pub(crate) fn new(address: &str) -> Result<Self, TestkitError> {
        let base = parse_base(address)?;
        // Another part of the process may have chosen a provider first; any will do.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder()
            .connect_timeout(Duration::from_secs(15))
            .read_timeout(Duration::from_secs(60))
            .build()
            .map_err(|source| TestkitError::Upstream { url: base.to_string(), source })?;
        Ok(Self { base, client, moved: Mutex::default() })
    }

    /// The full document of a package; `None` if the registry has none.
    pub(crate) async fn packument(&self, name: &str) -> Result<Option<Value>, TestkitError> {
        let url = self.join(&name.replace('/', "%2f"));
        let Some(body) = self.get(&url, "application/json").await? else { return Ok(None) };
        let document = String::from(url.as_str());
        serde_json::from_slice(&body).map(Some).map_err(TestkitError::document(document))
    }

    /// Remembers where the tarballs of a document are.
    pub(crate) fn remember(&self, name: &str, tarballs: Vec<(String, String)>) {
        let mut moved = self.moved.lock().unwrap_or_else(PoisonError::into_inner);
        for (file, address) in tarballs {
            let own = tarball_path(name, &file);
            let given = self.upstream_path(&address);
            if given.as_deref() != Some(own.as_str()) {
                moved.extend(given.map(|given| (own, given)));
            }
        }
    }

    /// A tarball; `None` if the registry has none.
    pub(crate) async fn tarball(&self, name: &str, file: &str) -> Result<Option<Bytes>, TestkitError> {
        let own = tarball_path(name, file);
        let given = self.moved.lock().unwrap_or_else(PoisonError::into_inner).get(&own).cloned();
        self.get(&self.join(&given.unwrap_or(own)), "*/*").await
    }

    /// The path (and query) of a tarball address, relative to the base.
    fn upstream_path(&self, address: &str) -> Option<String> {
        let url = Url::parse(address).ok()?;
        let path = url.path();
        let own = path.strip_prefix(self.base.path()).unwrap_or(path.trim_start_matches('/'));
        Some(url.query().map_or_else(|| own.to_owned(), |query| format!("{own}?{query}")))
    }

    fn join(&self, path: &str) -> Url {
        // Concatenation, not `Url::join`: a relative path may hold a colon.
        Url::parse(&format!("{}{path}", self.base)).unwrap_or_else(|_| self.base.clone())
    }

    async fn get(&self, url: &Url, accept: &str) -> Result<Option<Bytes>, TestkitError> {
        let mut pause = FIRST_PAUSE;
        for _ in 1..TRIES {
            match self.get_once(url, accept).await {
                Err(error) if error.is_transient() => tokio::time::sleep(pause).await,
                other => return other,
            }
            pause *= 2;
        }
        self.get_once(url, accept).await
    }

    async fn get_once(&self, url: &Url, accept: &str) -> Result<Option<Bytes>, TestkitError> {
        let failed =
            |source: reqwest::Error| TestkitError::Upstream { url: url.to_string(), source: source.without_url() };
        let response = self.client.get(url.clone()).header("accept", accept).send().await.map_err(failed)?;
        match response.status().as_u16() {
            200 => response.bytes().await.map(Some).map_err(failed),
            404 => Ok(None),
            status => Err(TestkitError::UpstreamStatus { url: url.to_string(), status }),
        }
    }
}

/// The address of a registry, ending with `/`.
fn parse_base(address: &str) -> Result<Url, TestkitError> {
    let mut url = Url::parse(address).map_err(|_| TestkitError::Url { url: "(unreadable)".into() })?;
    let has_credentials = !url.username().is_empty() || url.password().is_some();
    let http = matches!(url.scheme(), "http" | "https") && url.has_host();
    if has_credentials || !http {
        // Both setters fail only on addresses that cannot have credentials in the first place.
        let _ = url.set_username("");
        let _ = url.set_password(None);
        return Err(TestkitError::Url { url: url.to_string() });
    }
    url.set_query(None);
    url.set_fragment(None);
    if !url.path().ends_with('/') {
        let path = format!("{}/", url.path());
        url.set_path(&path);
    }
    Ok(url)
}
