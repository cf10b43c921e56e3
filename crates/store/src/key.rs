//! The name of a package's content in the store.

use core::fmt;
use gantry_archive::Integrity;
use xxhash_rust::xxh3::xxh3_128;

/// Longest key; longer than any that is made, and short enough for a file name everywhere.
const MAXIMUM_LENGTH: usize = 200;

/// Names a package's content: safe as a file name, the same wherever the same content is asked for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PackageKey(String);

impl PackageKey {
    /// Content that hashes to `integrity`.
    pub fn from_integrity(integrity: &Integrity) -> Self {
        Self(integrity.storage_key())
    }

    /// What an address names, such as a commit. It says nothing about the content.
    pub fn from_address(address: &str) -> Self {
        Self(format!("url-{:032x}", xxh3_128(address.as_bytes())))
    }

    /// What the scripts of a repository have made of the commit that an address names.
    pub fn of_built(address: &str) -> Self {
        // No owner is called so: it is a path, or the name of a page's project.
        Self::from_address(&format!("{address}\n\nbuilt"))
    }

    /// Whatever an address served `owner`: for packages without any integrity. Nothing tells whether it would serve others the
    /// same, so they do not get it.
    pub fn of_owner(address: &str, owner: &str) -> Self {
        // Neither has a line in it.
        Self::from_address(&format!("{address}\n{owner}"))
    }

    /// A key as stored earlier; `None` if it cannot be one.
    pub fn parse(text: &str) -> Option<Self> {
        let fits = !text.is_empty() && text.len() <= MAXIMUM_LENGTH;
        let safe = text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
        (fits && safe).then(|| Self(text.to_owned()))
    }

    /// The key as text: lower-case letters, digits and dashes.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for PackageKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}
