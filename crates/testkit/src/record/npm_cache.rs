//! Reading npm's cache: an index of request addresses, and bodies named by their digests.
//!
//! The index (`index-v5`) has one line for each answer kept: a checksum, a tab, and JSON with the address and the
//! digest; of several lines for one address the last counts. Bodies (`content-v2/sha512`) are stored as decoded.
use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use serde::Deserialize;
use serde_json::Value;
use url::Url;

use crate::TestkitError;
use crate::encoded::hex;
use crate::names::Target;
use crate::recording::{Recording, files_below};

/// Keys of answers to requests, as against other things npm keeps.
const REQUEST: &str = "make-fetch-happen:request-cache:";

#[derive(Deserialize)]
struct Line {
    key: String,
    integrity: Option<String>,
}

/// Copies every full document and tarball of this registry into a recording.
pub(super) fn import(registry: &str, cache: &Path, recording: &Recording) -> Result<(), TestkitError> {
    let answers = answers(cache)?;
    // Path of each tarball as its document gives it, to our name of it.
    let mut tarballs: HashMap<String, (String, String)> = HashMap::new();
    let mut rest = Vec::new();
    for (address, body) in &answers {
        let Some(path) = path_below(registry, address) else { continue };
        let Target::Packument(name) = Target::parse(&path) else {
            rest.push((address, body));
            continue;
        };
        let bytes = fs::read(body).map_err(TestkitError::file("read", body))?;
        let mut document: Value = serde_json::from_slice(&bytes).map_err(TestkitError::document(&name))?;
        if !is_full(&document) {
            continue;
        }
        strip_request_traces(&mut document);
        for (file, address) in recording.store_packument(&name, document)?.1 {
            tarballs.extend(url_path(&address).map(|path| (path, (name.clone(), file))));
        }
    }
    for (address, body) in rest {
        let known = url_path(address).and_then(|path| tarballs.get(&path).cloned());
        let by_form = || match Target::parse(&path_below(registry, address)?) {
            Target::Tarball(name, file) => Some((name, file)),
            _ => None,
        };
        if let Some((name, file)) = known.or_else(by_form) {
            let bytes = fs::read(body).map_err(TestkitError::file("read", body))?;
            recording.store_tarball(&name, &file, &bytes)?;
        }
    }
    Ok(())
}

/// Address of each answer kept, sorted, and the file of its body.
fn answers(cache: &Path) -> Result<BTreeMap<String, PathBuf>, TestkitError> {
    let mut answers = BTreeMap::new();
    for bucket in files_below(&cache.join("index-v5"))? {
        let text = fs::read_to_string(&bucket).map_err(TestkitError::file("read", &bucket))?;
        for line in text.lines() {
            let Some((_, json)) = line.split_once('\t') else { continue };
            let Ok(line) = serde_json::from_str::<Line>(json) else { continue };
            let Some(address) = line.key.strip_prefix(REQUEST) else { continue };
            match line.integrity.as_deref().and_then(|integrity| content_path(cache, integrity)) {
                Some(body) => answers.insert(address.to_owned(), body),
                // A line without a digest takes the answer away.
                None => answers.remove(address),
            };
        }
    }
    Ok(answers)
}

fn content_path(cache: &Path, integrity: &str) -> Option<PathBuf> {
    let digest = integrity.split_whitespace().find_map(|one| one.strip_prefix("sha512-"))?;
    let digest = hex(&base64::engine::general_purpose::STANDARD.decode(digest).ok()?);
    Some(cache.join("content-v2").join("sha512").join(digest.get(..2)?).join(digest.get(2..4)?).join(digest.get(4..)?))
}

/// Full documents say when each version was published; abbreviated ones cannot be completed later.
fn is_full(document: &Value) -> bool {
    document.get("time").is_some_and(Value::is_object)
}

/// npm adds what it measured to documents it holds in memory; should it ever store them so, it must not be kept.
fn strip_request_traces(document: &mut Value) {
    if let Some(fields) = document.as_object_mut() {
        fields.retain(|name, _| name != "_contentLength" && name != "_cached");
    }
}

/// The path of an address below the registry, with a leading slash.
fn path_below(registry: &str, address: &str) -> Option<String> {
    let (registry, address) = (Url::parse(registry).ok()?, Url::parse(address).ok()?);
    let same = registry.host_str() == address.host_str()
        && registry.port_or_known_default() == address.port_or_known_default();
    let path = address.path().strip_prefix(registry.path().trim_end_matches('/'))?;
    same.then(|| path.to_owned())
}

fn url_path(address: &str) -> Option<String> {
    Url::parse(address).ok().map(|url| url.path().to_owned())
}

#[cfg(test)]
mod tests;
