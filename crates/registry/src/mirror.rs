//! When a kept document will do, when it is asked for again, and what is done where nobody answers.
//!
//! The rules are npm's (`make-fetch-happen`): fresh answers are used as they are; stale ones are asked for on condition
//! that they have changed; where the network fails, a stale one is used unless the registry forbade that, and, unlike with
//! npm, the user is told.

use crate::freshness::is_fresh;
use futures_util::future::LocalBoxFuture;
use gantry_manifest::Config;
#[cfg(doc)]
use gantry_platform::Work;
use gantry_platform::{FileError, Span};
use gantry_store::mirror::{Freshness, Kept, MirrorKey, MirrorWrite};
use sha2::{Digest, Sha256};

/// How far kept documents are trusted: npm's `offline`, `prefer-offline` and `prefer-online`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CacheMode {
    /// As long as the registry said they are fresh.
    #[default]
    Default,
    /// However old; what is not kept is asked for.
    PreferOffline,
    /// Not without asking.
    PreferOnline,
    /// However old; nothing is ever asked for.
    Offline,
}

impl CacheMode {
    /// The mode that npm's three settings come to; the strictest of those that are on counts.
    pub fn of(offline: bool, prefer_offline: bool, prefer_online: bool) -> Self {
        match (offline, prefer_offline, prefer_online) {
            (true, ..) => Self::Offline,
            (_, true, _) => Self::PreferOffline,
            (.., true) => Self::PreferOnline,
            _ => Self::Default,
        }
    }

    /// What is set.
    pub fn of_config(config: &Config) -> Self {
        let is_or = |switch, number, turns_on: fn(f64) -> bool| config.get_bool_or_number(switch, number, turns_on);
        // Other names of two switches: the older of npm's settings.
        let prefer_offline = is_or("prefer-offline", "cache-min", |seconds| seconds >= 9999.0);
        let prefer_online = is_or("prefer-online", "cache-max", |seconds| seconds <= 0.0);
        Self::of(config.get_bool("offline") == Some(true), prefer_offline == Some(true), prefer_online == Some(true))
    }

    /// Whether a kept document is used without asking.
    pub(crate) fn is_content_with(self, freshness: &Freshness, now: f64) -> bool {
        match self {
            Self::Offline | Self::PreferOffline => true,
            Self::PreferOnline => false,
            Self::Default => is_fresh(freshness, now),
        }
    }
}

/// Keeps documents between runs. What it keeps is a copy, so it may lose anything at any time.
pub trait MetadataMirror: std::fmt::Debug {
    /// Whether there is a document of `key`, as far as can be told without reading it.
    fn has(&self, key: &MirrorKey) -> bool;
    /// The document of `key`, if it is kept and whole.
    fn find(&self, key: &MirrorKey) -> Option<Kept>;
    /// What is kept of a version whose tarball has this integrity: the members only its own document has, if any.
    fn facts(&self, key: &MirrorKey, integrity: &str) -> Option<Option<String>>;
    /// Whether bodies are read from the mirror while their documents are in use, once they are written. Documents given to
    /// [`write`](Self::write) are [outlined](gantry_manifest::Packument::into_outlined) then.
    fn lends(&self) -> bool {
        false
    }
    /// Takes something to keep. It is written in the background or later; [`find`](Self::find) need not know of it.
    fn write(&self, write: MirrorWrite);
    /// When something was [written](Work::Mirror) since the last call, on the clock of the registry's client; after
    /// [`settle`](Self::settle), all of it. None from a mirror that does not note it.
    fn take_spans(&self) -> Vec<Span> {
        Vec::new()
    }
    /// Whether a document given out has turned out to be damaged since the last call.
    fn take_damage(&self) -> bool;
    /// Waits until everything is written; the first failure since the last call.
    fn settle(&self) -> LocalBoxFuture<'_, Result<(), FileError>>;
}

/// What a document is kept under besides its name: the registry's address, and where it is asked with credentials a digest
/// of them, which is a header, the name of a client certificate, or both. Another user's token, or none, never finds what one token was given. The digest does not tell the token; it is
/// as private as the folder that it is in, like the packages themselves.
pub(crate) fn scope_of(registry: &str, authorization: Option<&str>, certificate: Option<&str>) -> String {
    if authorization.is_none() && certificate.is_none() {
        return registry.to_owned();
    }
    let mut digest =
        Sha256::new_with_prefix("gantry metadata mirror\n").chain_update(authorization.unwrap_or_default());
    if let Some(certificate) = certificate {
        digest.update("\n");
        digest.update(certificate);
    }
    let digest = digest.finalize();
    let digest: String = digest[..16].iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{registry} {digest}")
}
