//! The registry client: which address to ask, with which credentials, how often to try again, and what an answer means.
//!
//! Sits between the engine and the platform's [`Http`](gantry_platform::Http), so that the browser's `fetch` and the
//! native client behave alike. Packuments are asked for in their abbreviated form, whose `Accept` header needs no CORS
//! preflight. A tarball is only handed on once its integrity has been verified, and a damaged one is fetched once more
//! before that becomes an error.
//!
//! Documents are kept between runs in a [`MetadataMirror`], where the platform brings one: what is fresh there costs no
//! request and no scan, what is not is asked for on condition that it has changed.
//!
//! Costs: one request at most per packument and per tarball; nothing is parsed here beyond the packument's span scan.

#![deny(missing_docs)]

mod capabilities;
mod client;
mod documents;
mod error;
mod freshness;
mod lane;
mod mirror;
mod replace;
mod retry;
mod silence;
mod stale_uses;
mod tarball;
#[cfg(test)]
mod tests;
mod underway;

pub use client::{RegistryClient, RegistrySettings, VersionFacts};
pub use documents::VersionAnswer;
pub use error::{CODES, RegistryError, RegistryWarning};
pub use lane::{Held, Lane, Slot};
pub use mirror::{CacheMode, MetadataMirror};
pub use replace::ReplaceHost;
pub use retry::{Repeatable, Retries, RetryPolicy};
pub use tarball::{FetchedTarball, Refusal, RequestLog, TarballRequest, fetch_tarball};

/// npm's own default registry, read at build time from npm's published definitions; `None` where those were not at hand.
pub const DEFAULT_REGISTRY: Option<&str> = option_env!("GANTRY_DEFAULT_REGISTRY");

/// What npm takes for its own public registry where a `yarn.lock` names it, Yarn's name for it first; read at build time
/// from npm's arborist. Empty texts where that was not at hand.
pub const PUBLIC_HOSTS: [&str; 2] = [
    match option_env!("GANTRY_YARN_HOST") {
        Some(host) => host,
        None => "",
    },
    match option_env!("GANTRY_NPM_HOST") {
        Some(host) => host,
        None => "",
    },
];

/// The host name in an address.
pub fn host_of(address: &str) -> Option<String> {
    url::Url::parse(address).ok()?.host_str().map(str::to_owned)
}
