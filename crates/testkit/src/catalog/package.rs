//! One package in all the forms a registry gives it out, each made on first use.
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use httpdate::HttpDate;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::blocking;
use crate::encoded::{Encoded, Variant};
use crate::packument::{PLACEHOLDER, abbreviate};

/// Which document of a package.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Full,
    Abbreviated,
}

#[derive(Debug)]
pub(crate) struct LoadedPackage {
    full: Encoded,
    /// When it was changed last, if it tells.
    pub(crate) modified: Option<HttpDate>,
    abbreviated: OnceLock<Encoded>,
    versions: OnceLock<Versions>,
}

/// Byte ranges of the versions inside the full document, and the tags.
#[derive(Debug, Default)]
struct Versions {
    tags: HashMap<String, String>,
    manifests: HashMap<String, Bytes>,
}

#[derive(Deserialize)]
struct Dated {
    time: HashMap<String, Value>,
}

#[derive(Deserialize)]
struct Document<'a> {
    #[serde(rename = "dist-tags", default)]
    tags: HashMap<String, String>,
    #[serde(borrow, default)]
    versions: HashMap<String, &'a RawValue>,
}

impl LoadedPackage {
    /// Takes a stored text and puts the server's address in.
    pub(super) fn new(text: &str, base: &str) -> Self {
        let full = Encoded::new(Bytes::from(text.replace(PLACEHOLDER, base)));
        let modified = modified(&full.plain().body);
        Self { full, modified, abbreviated: OnceLock::new(), versions: OnceLock::new() }
    }

    /// A form, made off the serving tasks if it is not there yet.
    pub(crate) async fn variant(self: &Arc<Self>, form: Form, gzip: bool) -> Variant {
        if let Some(ready) = self.ready(form, gzip) {
            return ready;
        }
        let own = self.clone();
        blocking(move || {
            let encoded = own.encoded(form);
            if gzip { encoded.gzip().clone() } else { encoded.plain().clone() }
        })
        .await
    }

    fn ready(&self, form: Form, gzip: bool) -> Option<Variant> {
        let encoded = match form {
            Form::Full => &self.full,
            Form::Abbreviated => self.abbreviated.get()?,
        };
        if gzip { encoded.ready_gzip().cloned() } else { Some(encoded.plain().clone()) }
    }

    fn encoded(&self, form: Form) -> &Encoded {
        match form {
            Form::Full => &self.full,
            Form::Abbreviated => self.abbreviated.get_or_init(|| {
                let body = &self.full.plain().body;
                // A fixture may be no packument at all; then both forms are the same text.
                match serde_json::from_slice::<Value>(body) {
                    Ok(full) if full.is_object() => Encoded::new(Bytes::from(abbreviate(&full).to_string())),
                    _ => Encoded::new(body.clone()),
                }
            }),
        }
    }

    /// The full manifest of a version, named by number or tag.
    pub(crate) async fn version(self: &Arc<Self>, wanted: &str) -> Option<Bytes> {
        if self.versions.get().is_none() {
            let own = self.clone();
            blocking(move || own.versions.get_or_init(|| Versions::read(&own.full.plain().body)).manifests.len()).await;
        }
        let versions = self.versions.get()?;
        let version = versions.tags.get(wanted).map_or(wanted, String::as_str);
        versions.manifests.get(version).cloned()
    }
}

/// When the package was changed last, to the second, as HTTP tells it: what `time.modified` says or, without that, when its
/// newest version came.
fn modified(body: &[u8]) -> Option<HttpDate> {
    let Dated { time } = serde_json::from_slice(body).ok()?;
    let date = |text: &Value| {
        let text = text.as_str()?;
        // Some registries write the offset of UTC out.
        let utc = text.strip_suffix("+00:00").map_or_else(|| text.to_owned(), |date| format!("{date}Z"));
        humantime::parse_rfc3339(&utc).ok()
    };
    let modified = time.get("modified").and_then(date);
    Some(modified.or_else(|| time.values().filter_map(date).max())?.into())
}

impl Versions {
    fn read(body: &Bytes) -> Self {
        let Ok(document) = serde_json::from_slice::<Document<'_>>(body) else { return Self::default() };
        let manifests =
            document.versions.into_iter().map(|(version, raw)| (version, body.slice_ref(raw.get().as_bytes())));
        Self { tags: document.tags, manifests: manifests.collect() }
    }
}
