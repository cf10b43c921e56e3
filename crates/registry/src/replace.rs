//! Tarball addresses that stand for "the configured registry" (npm's `replace-registry-host`).
//!
//! A lock is made with one registry and used with another: addresses on npm's public one, or on what the setting names, are
//! asked of the registry that is configured now. npm does so twice, in arborist before it hands an address on and in pacote,
//! which knows hosts with ports as well; both are here.

use url::Url;

/// Which tarball addresses are asked of the configured registry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReplaceHost {
    /// Addresses are asked as they are.
    Never,
    /// Those of this host only (npm's default: that of its public registry).
    Host(String),
    /// Those of this host whose path begins with `path`, which goes; without a path they are as those of a host.
    Within {
        /// The host's name.
        host: String,
        /// Without a slash at its end; may be empty.
        path: String,
    },
    /// Every host; for a proxy in front of a registry that writes its own host into packuments.
    Always,
    /// Every host, but it is the registry of the package's own scope that is asked. No setting of npm's: it is for pages, whose
    /// registry is a proxy of their own, and which can be sure to reach nothing else.
    Proxied,
}

impl ReplaceHost {
    /// What npm's setting says; `npmjs`, its default, is the host of [`DEFAULT_REGISTRY`](crate::DEFAULT_REGISTRY).
    pub fn from_setting(setting: Option<&str>) -> Self {
        match setting {
            None | Some("npmjs" | "") => {
                crate::DEFAULT_REGISTRY.and_then(crate::host_of).map_or(Self::Never, Self::Host)
            }
            Some("always") => Self::Always,
            Some("never") => Self::Never,
            Some(text) => {
                let url = Url::parse(text).ok();
                let host = url.as_ref().and_then(Url::host_str).map(str::to_owned);
                match url.zip(host) {
                    Some((url, host)) => Self::Within { host, path: url.path().trim_end_matches('/').to_owned() },
                    None => Self::Host(text.to_owned()),
                }
            }
        }
    }

    /// Whether an address stays as it is because it is the registry's own, as nearly all are: `base`, which ends with a slash,
    /// is their beginning. Of others this does not say.
    pub(crate) fn leaves(&self, address: &str, base: &str) -> bool {
        let may_change = matches!(self, Self::Within { path, .. } if !path.is_empty());
        !may_change && address.starts_with(base) && !address.contains(['?', '#'])
    }

    /// Where `address` is asked for instead, if it stands for `registry`.
    pub(crate) fn moved(&self, address: &Url, registry: &Url) -> Option<Url> {
        let moved = self.in_arborist(address, registry);
        let here = moved.as_ref().unwrap_or(address);
        let is_meant = match self {
            Self::Never | Self::Within { .. } | Self::Proxied => false,
            Self::Host(host) => with_port(here) == *host,
            Self::Always => true,
        };
        // What follows the path is lost there.
        if is_meant { registry.join(here.path()).ok() } else { moved }
    }

    fn in_arborist(&self, address: &Url, registry: &Url) -> Option<Url> {
        let prefix = match self {
            Self::Never => return None,
            // What is on the proxy already has been asked of it.
            Self::Proxied if address.origin() == registry.origin() => return None,
            Self::Always | Self::Proxied => "",
            Self::Host(host) => (address.host_str()? == host).then_some("")?,
            Self::Within { host, path } => {
                (address.host_str()? == host && is_below(address.path(), path)).then_some(path)?
            }
        };
        let (path, own) = (address.path(), registry.path().trim_end_matches('/'));
        let path = match path.strip_prefix(prefix).filter(|_| !prefix.is_empty()) {
            Some(rest) => format!("{own}{rest}"),
            None if is_below(path, own) => path.to_owned(),
            None => format!("{own}{path}"),
        };
        let mut moved = registry.clone();
        moved.set_path(&path);
        moved.set_query(address.query());
        moved.set_fragment(address.fragment());
        Some(moved)
    }
}

/// Whether a path is at `folder` or below it.
fn is_below(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The host and, if it is not the scheme's own, the port.
fn with_port(address: &Url) -> String {
    let host = address.host_str().unwrap_or_default();
    address.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

#[cfg(test)]
mod tests;
