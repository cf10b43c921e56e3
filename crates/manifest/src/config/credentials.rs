//! Which credential belongs to an address.
//!
//! Credentials are kept under keys such as `//registry.example/path/:_authToken`. The key of an address is looked for from
//! its whole path upwards, so the longest match counts and no other host's credential is ever found
//! (`npm-registry-fetch/lib/auth.js`).

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};
use base64::engine::{DecodePaddingMode, general_purpose};
use url::Url;

use super::{Authorization, Config};

/// What was found for an address.
enum Found {
    Header(Authorization),
    /// A client certificate belongs to the address: it has its credential, and it is no header.
    Certificate,
}

impl Config {
    /// What to send as `Authorization` to an address; `None` if no credential belongs to it.
    ///
    /// A tarball on the host of the configured registry, but outside of its path, gets that registry's credential. For a
    /// registry of a scope use [`Config::authorization_within`].
    pub fn authorization_for(&self, url: &str) -> Option<Authorization> {
        self.authorization_within(url, self.get("registry").unwrap_or_default())
    }

    /// Like [`Config::authorization_for`], with `registry` as the registry that the request belongs to.
    pub fn authorization_within(&self, url: &str, registry: &str) -> Option<Authorization> {
        let url = Url::parse(url).ok()?;
        let found = self.walk_up(&url).or_else(|| {
            let registry = Url::parse(registry).ok()?;
            if host_of(&registry)? == host_of(&url)? { self.walk_up(&registry) } else { None }
        });
        match found? {
            Found::Header(authorization) => Some(authorization),
            Found::Certificate => None,
        }
    }

    fn walk_up(&self, url: &Url) -> Option<Found> {
        let mut key = format!("//{}{}", host_of(url)?, url.path());
        // Both `//host/path/:_auth` and `//host/path:_auth` are keys: one step takes a name or a slash away.
        while key.len() > 2 {
            if let Some(found) = self.credential_at(&key) {
                return Some(found);
            }
            if !key.ends_with('/') {
                key.truncate(key.trim_end_matches(|character| character != '/').len());
            } else {
                key.pop();
            }
        }
        None
    }

    fn credential_at(&self, key: &str) -> Option<Found> {
        let setting = |name: &str| self.get(&format!("{key}:{name}")).filter(|value| !value.is_empty());
        if let Some(token) = setting("_authToken") {
            return Some(Found::Header(Authorization::Bearer(token.to_owned())));
        }
        if let Some(encoded) = setting("_auth") {
            return Some(Found::Header(Authorization::Basic(encoded.to_owned())));
        }
        if let (Some(username), Some(password)) = (setting("username"), setting("_password")) {
            let mut plain = format!("{username}:").into_bytes();
            plain.extend_from_slice(String::from_utf8_lossy(&decode_password(password)).as_bytes());
            let encoded = general_purpose::STANDARD.encode(plain);
            return Some(Found::Header(Authorization::Basic(encoded)));
        }
        (setting("certfile").is_some() && setting("keyfile").is_some()).then_some(Found::Certificate)
    }

    /// Credentials that belong to no address (`_authToken`, `_auth`, `username`, `_password` alone). npm 11 refuses to run
    /// with them in a file; they are never sent.
    pub fn credentials_without_address(&self) -> Vec<&'static str> {
        let names = ["_auth", "_authToken", "username", "_password"];
        names.into_iter().filter(|name| self.get(name).is_some_and(|value| !value.is_empty())).collect()
    }
}

/// Host and, if it is not the default one, port.
fn host_of(url: &Url) -> Option<String> {
    let host = url.host_str()?;
    Some(match url.port() {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    })
}

/// As lenient as node: both alphabets, other characters passed over, the end at the first `=`.
fn decode_password(encoded: &str) -> Vec<u8> {
    const LENIENT: GeneralPurpose = GeneralPurpose::new(
        &STANDARD,
        GeneralPurposeConfig::new()
            .with_decode_allow_trailing_bits(true)
            .with_decode_padding_mode(DecodePaddingMode::Indifferent),
    );
    let encoded = encoded.split('=').next().unwrap_or_default();
    let mut digits: Vec<u8> = encoded
        .bytes()
        .filter_map(|byte| match byte {
            b'-' => Some(b'+'),
            b'_' => Some(b'/'),
            b'+' | b'/' => Some(byte),
            _ => byte.is_ascii_alphanumeric().then_some(byte),
        })
        .collect();
    if digits.len() % 4 == 1 {
        digits.pop();
    }
    LENIENT.decode(&digits).unwrap_or_default()
}
