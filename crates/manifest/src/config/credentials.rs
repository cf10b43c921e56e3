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
use crate::NpmrcValue;

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
        match self.find_credential(url, registry)?.1 {
            Found::Header(authorization) => Some(authorization),
            Found::Certificate => None,
        }
    }

    /// The client certificate to show to an address, if it is one of `https:`: the key that its two files are
    /// [kept](Self::certificates) under, which are a credential or come with one; else that of no address, which is for
    /// the hosts of registries. npm shows that one to everybody who asks.
    pub fn certificate_within(&self, url: &str, registry: &str) -> Option<String> {
        if !url.starts_with("https:") {
            return None;
        }
        let found = self.find_credential(url, registry).map(|(key, _)| key).filter(|key| self.has_certificate(key));
        let of_registries = || {
            self.certificate_without_address()?;
            let host = |url: &str| Url::parse(url).ok().and_then(|url| host_of(&url));
            (host(url)? == host(registry)?).then(String::new)
        };
        found.or_else(of_registries)
    }

    /// The client certificates that there are, as (key, file of the certificate, file of its private key); keys begin with `//`.
    pub fn certificates(&self) -> Vec<(String, String, String)> {
        let mut found = Vec::new();
        for place in self.places() {
            if let (Some(certificate), Some(key)) =
                (self.setting_at(place, "certfile"), self.setting_at(place, "keyfile"))
                && !found.iter().any(|(known, _, _)| known == place)
            {
                found.push((place.to_owned(), certificate.to_owned(), key.to_owned()));
            }
        }
        found
    }

    /// What tells the client certificate under a key from others: the name of its file, or for that of no address itself.
    pub fn name_of_certificate(&self, key: &str) -> String {
        if key.is_empty() {
            return self.certificate_without_address().map(|(certificate, _)| certificate).unwrap_or_default();
        }
        self.setting_at(key, "certfile").unwrap_or_default().to_owned()
    }

    /// The client certificate of no address and its private key, both PEM (`cert` and `key`); its key is the empty one.
    pub fn certificate_without_address(&self) -> Option<(String, String)> {
        let text = |name: &str| Some(self.get_text(name)?.replace("\\n", "\n"));
        Some((text("cert")?, text("key")?))
    }

    /// The credential of an address, else of its registry if that is the same host, and the key that it is kept under.
    fn find_credential(&self, url: &str, registry: &str) -> Option<(String, Found)> {
        // Asked for every request, where there is hardly ever more than one place, and mostly none.
        let places = self.places();
        if places.is_empty() {
            return None;
        }
        let url = Url::parse(url).ok()?;
        self.walk_up(&url, &places).or_else(|| {
            let registry = Url::parse(registry).ok()?;
            if host_of(&registry)? == host_of(&url)? { self.walk_up(&registry, &places) } else { None }
        })
    }

    /// The places that have any setting of a credential.
    fn places(&self) -> Vec<&str> {
        const NAMES: [&str; 6] = ["_authToken", "_auth", "username", "_password", "certfile", "keyfile"];
        let settings = self.layers.iter().flatten().filter(|(key, _)| key.starts_with("//"));
        let places = settings.filter_map(|(key, _)| key.rsplit_once(':').filter(|(_, name)| NAMES.contains(name)));
        places.map(|(place, _)| place).collect()
    }

    /// Takes user names and passwords out of the addresses of registries (`registry`, `@scope:registry`) and keeps them as
    /// the credentials of those registries, unless they have some of their own: addresses are printed, credentials are not.
    pub fn separate_credentials(&mut self) {
        let is_registry = |key: &str| key == "registry" || (key.starts_with('@') && key.ends_with(":registry"));
        let mut addresses: Vec<(String, String)> = Vec::new();
        for (key, value) in self.layers.iter_mut().flatten().filter(|(key, _)| is_registry(key)) {
            let text = match value {
                NpmrcValue::Text(text) => text,
                NpmrcValue::List(values) => match values.first_mut() {
                    Some(text) => text,
                    None => continue,
                },
                NpmrcValue::Null => continue,
            };
            // Of several layers' addresses the first counts, and so do its credentials.
            if !text.trim().is_empty() && !addresses.iter().any(|(known, _)| known == key) {
                addresses.push((key.clone(), text.clone()));
            }
            *text = without_userinfo(text).0;
        }
        for (_, address) in addresses {
            self.keep_credentials_of(&address);
        }
    }

    /// Keeps the user name and password that a registry's address carries as its credentials, unless it has some of its own.
    pub fn keep_credentials_of(&mut self, address: &str) {
        let (clean, Some(Authorization::Basic(encoded))) = without_userinfo(address) else { return };
        let Some(url) = Url::parse(&clean).ok().filter(|_| self.authorization_within(&clean, &clean).is_none()) else {
            return;
        };
        let Some(host) = host_of(&url) else { return };
        let key = format!("//{host}{}/:_auth", url.path().trim_end_matches('/'));
        self.push_layer(vec![(key, NpmrcValue::Text(encoded))]);
    }

    fn walk_up(&self, url: &Url, places: &[&str]) -> Option<(String, Found)> {
        let mut key = format!("//{}{}", host_of(url)?, url.path());
        // Both `//host/path/:_auth` and `//host/path:_auth` are keys: one step takes a name or a slash away.
        while key.len() > 2 {
            if places.contains(&key.as_str())
                && let Some(found) = self.credential_at(&key)
            {
                return Some((key, found));
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
        let setting = |name: &str| self.setting_at(key, name);
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
        self.has_certificate(key).then_some(Found::Certificate)
    }

    fn has_certificate(&self, key: &str) -> bool {
        self.setting_at(key, "certfile").is_some() && self.setting_at(key, "keyfile").is_some()
    }

    fn setting_at(&self, key: &str, name: &str) -> Option<&str> {
        self.get(&format!("{key}:{name}")).filter(|value| !value.is_empty())
    }

    /// Whether there are credentials for any address, client certificates among them.
    pub fn has_credentials(&self) -> bool {
        !self.places().is_empty() || self.certificate_without_address().is_some()
    }

    /// Credentials that belong to no address (`_authToken`, `_auth`, `username`, `_password` alone, and older spellings), in
    /// any layer. npm 11 refuses to run with them in a file; they are never sent.
    pub fn credentials_without_address(&self) -> Vec<&'static str> {
        let is_set = |value: &NpmrcValue| match value {
            NpmrcValue::Text(text) => !text.is_empty(),
            NpmrcValue::List(_) => true,
            NpmrcValue::Null => false,
        };
        let has = |name: &str| self.layers.iter().flatten().any(|(key, value)| key == name && is_set(value));
        let names = ["_auth", "_authToken", "username", "_password", "_authtoken", "-authtoken"];
        names.into_iter().filter(|name| has(name)).collect()
    }
}

/// An address without `user:password@`, and what that part stands for.
///
/// Escapes stay as they are, and what has to be escaped is: that is what npm sends to registries (`minipass-fetch` takes both
/// from the parsed address), however little a server makes of `%40`. To proxies it sends what they stand for.
pub fn without_userinfo(address: &str) -> (String, Option<Authorization>) {
    if plainly_has_no_userinfo(address) {
        return (address.to_owned(), None);
    }
    let Some(mut url) = Url::parse(address.trim()).ok().filter(Url::has_host) else {
        // No address that could be asked, but what looks like a password stays out of messages.
        let start = address.find("//").map_or(0, |at| at + 2);
        let end = address[start..].find('/').map_or(address.len(), |at| start + at);
        let host = address[start..end].rfind('@').map_or(start, |at| start + at + 1);
        return (format!("{}{}", &address[..start], &address[host..]), None);
    };
    if url.username().is_empty() && url.password().is_none() {
        return (address.to_owned(), None);
    }
    let plain = format!("{}:{}", url.username(), url.password().unwrap_or_default());
    // Both fail only for addresses that cannot have credentials at all.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    (url.into(), Some(Authorization::Basic(general_purpose::STANDARD.encode(plain))))
}

/// Whether an address is one of nearly all, where what stands before the path tells that there is nobody's name: every
/// tarball's address is asked, and taking it apart costs more than all else about it.
fn plainly_has_no_userinfo(address: &str) -> bool {
    let rest = ["https://", "http://"].into_iter().find_map(|scheme| address.strip_prefix(scheme));
    rest.and_then(|rest| rest.split_once('/')).is_some_and(|(authority, _)| {
        let is_of_host = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b':');
        !authority.is_empty() && authority.bytes().all(is_of_host)
    })
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
