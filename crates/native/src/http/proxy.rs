//! Which proxy an address is asked through, by npm's rules (`npm-registry-fetch` and `@npmcli/agent`).
//!
//! The setting `https-proxy`, else `proxy`, is for addresses of both schemes. Where neither is set, the environment counts:
//! `https_proxy` for `https:`, and for `http:` the first of `https_proxy`, `http_proxy` and `proxy`, in upper or lower case.
//! The setting `noproxy`, else the variable `no_proxy`, lists domains that are asked directly, with everything below them.
//!
//! A proxy that cannot be used concerns who is to be asked through it: variables may be meant for other programs, and name what
//! only those understand. So a proxy's address is taken apart when one of a registry comes that it is for.

use gantry_manifest::without_userinfo;
use reqwest::Url;

#[cfg(test)]
mod tests;

/// Proxies, and what is asked without them.
#[derive(Clone, Default)]
pub struct ProxySettings {
    for_http: Option<String>,
    for_https: Option<String>,
    /// The labels of each domain, the last first.
    exceptions: Vec<Vec<String>>,
}

/// A proxy that nobody can be asked through; its address is told without credentials.
#[derive(Debug, thiserror::Error)]
#[error("the proxy {proxy} {what}")]
pub(super) struct UnusableProxy {
    proxy: String,
    what: &'static str,
}

/// Shows hosts, never passwords.
impl std::fmt::Debug for ProxySettings {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let clean = |proxy: &Option<String>| proxy.as_ref().map(|proxy| without_userinfo(proxy).0);
        formatter
            .debug_struct("ProxySettings")
            .field("for_http", &clean(&self.for_http))
            .field("for_https", &clean(&self.for_https))
            .field("exceptions", &self.exceptions)
            .finish()
    }
}

impl ProxySettings {
    /// Which proxy the failure of a request to `url` may be about, to stand before what the system said; empty if none is asked.
    pub(super) fn named_for(&self, url: &str) -> String {
        let proxy = Url::parse(url).ok().and_then(|url| self.for_address(&url).ok().flatten());
        proxy.map(|proxy| format!("through the proxy {}: ", without_userinfo(proxy.as_str()).0)).unwrap_or_default()
    }

    /// `configured` is `https-proxy`, else `proxy`; `exceptions` is `noproxy`, comma-separated; empty texts are as none.
    pub fn new<'a>(
        configured: Option<&str>,
        exceptions: Option<&str>,
        environment: impl IntoIterator<Item = (&'a String, &'a String)>,
    ) -> Self {
        let (mut https_proxy, mut http_proxy, mut proxy, mut no_proxy) = (None, None, None, None);
        for (name, value) in environment {
            let place = match name.to_ascii_lowercase().as_str() {
                "https_proxy" => &mut https_proxy,
                "http_proxy" => &mut http_proxy,
                "proxy" => &mut proxy,
                "no_proxy" => &mut no_proxy,
                _ => continue,
            };
            *place = Some(value.as_str()).filter(|value| !value.is_empty());
        }
        let configured = configured.filter(|proxy| !proxy.is_empty());
        let for_https = configured.or(https_proxy);
        let for_http = for_https.or(http_proxy).or(proxy);
        let exceptions = exceptions.filter(|list| !list.is_empty()).or(no_proxy).unwrap_or_default();
        let labels = |domain: &str| {
            let labels = domain.trim().split('.').filter(|label| !label.is_empty()).rev();
            labels.map(str::to_owned).collect::<Vec<_>>()
        };
        Self {
            for_http: for_http.map(str::to_owned),
            for_https: for_https.map(str::to_owned),
            exceptions: exceptions.split(',').map(labels).filter(|labels| !labels.is_empty()).collect(),
        }
    }

    /// The proxy for an address; `None` where it is asked directly.
    pub(super) fn for_address(&self, address: &Url) -> Result<Option<Url>, UnusableProxy> {
        let proxy = if address.scheme() == "https" { &self.for_https } else { &self.for_http };
        match proxy {
            Some(proxy) if !self.is_excepted(address) => parse(proxy).map(Some),
            _ => Ok(None),
        }
    }

    /// Whether there is a way to ask an address.
    pub(super) fn check(&self, address: &str) -> Result<(), UnusableProxy> {
        if self.for_http.is_none() && self.for_https.is_none() {
            return Ok(());
        }
        // What is no address is refused by the client.
        Url::parse(address).map_or(Ok(()), |address| self.for_address(&address).map(drop))
    }

    fn is_excepted(&self, address: &Url) -> bool {
        let Some(host) = address.host_str() else { return true };
        let host: Vec<&str> = host.split('.').rev().collect();
        let is_below = |domain: &Vec<String>| {
            domain.len() <= host.len() && domain.iter().zip(&host).all(|(wanted, label)| wanted == label)
        };
        self.exceptions.iter().any(is_below)
    }
}

fn parse(text: &str) -> Result<Url, UnusableProxy> {
    let failed = |what| UnusableProxy { proxy: without_userinfo(text).0, what };
    let proxy = Url::parse(text).ok().filter(Url::has_host);
    let proxy = proxy.ok_or_else(|| failed("is not an address that begins with its scheme, such as http://"))?;
    match proxy.scheme() {
        "http" | "https" | "socks4" | "socks4a" | "socks5" | "socks5h" => Ok(proxy),
        _ => Err(failed("is neither an http nor a socks address")),
    }
}
