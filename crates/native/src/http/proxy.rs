//! Which proxy an address is asked through, by npm's rules (`npm-registry-fetch` and `@npmcli/agent`).
//!
//! The setting `https-proxy`, else `proxy`, is for addresses of both schemes. Where neither is set, the environment counts:
//! `https_proxy` for `https:`, and for `http:` the first of `https_proxy`, `http_proxy` and `proxy`, in upper or lower case.
//! The setting `noproxy`, else the variable `no_proxy`, lists domains that are asked directly, with everything below them.

use crate::NativeError;
use gantry_manifest::without_userinfo;
use reqwest::Url;

#[cfg(test)]
mod tests;

/// Proxies, and what is asked without them.
#[derive(Clone, Default)]
pub struct ProxySettings {
    for_http: Option<Url>,
    for_https: Option<Url>,
    /// The labels of each domain, the last first.
    exceptions: Vec<Vec<String>>,
}

/// Shows hosts, never passwords.
impl std::fmt::Debug for ProxySettings {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let clean = |proxy: &Option<Url>| proxy.as_ref().map(|proxy| without_userinfo(proxy.as_str()).0);
        formatter
            .debug_struct("ProxySettings")
            .field("for_http", &clean(&self.for_http))
            .field("for_https", &clean(&self.for_https))
            .field("exceptions", &self.exceptions)
            .finish()
    }
}

impl ProxySettings {
    /// `configured` is `https-proxy`, else `proxy`; `exceptions` is `noproxy`, comma-separated; empty texts are as none.
    pub fn new<'a>(
        configured: Option<&str>,
        exceptions: Option<&str>,
        environment: impl IntoIterator<Item = (&'a String, &'a String)>,
    ) -> Result<Self, NativeError> {
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
        Ok(Self {
            for_http: for_http.map(parse).transpose()?,
            for_https: for_https.map(parse).transpose()?,
            exceptions: exceptions.split(',').map(labels).filter(|labels| !labels.is_empty()).collect(),
        })
    }

    /// The proxy for an address; `None` where it is asked directly.
    pub fn for_address(&self, address: &Url) -> Option<&Url> {
        let proxy = if address.scheme() == "https" { &self.for_https } else { &self.for_http }.as_ref()?;
        let host: Vec<&str> = address.host_str()?.split('.').rev().collect();
        let is_below = |domain: &Vec<String>| {
            domain.len() <= host.len() && domain.iter().zip(&host).all(|(wanted, label)| wanted == label)
        };
        (!self.exceptions.iter().any(is_below)).then_some(proxy)
    }
}

fn parse(text: &str) -> Result<Url, NativeError> {
    let failed = |what: &str| NativeError::Client { message: format!("the proxy {} {what}", without_userinfo(text).0) };
    let proxy = Url::parse(text).ok().filter(Url::has_host).ok_or_else(|| failed("is not an address"))?;
    match proxy.scheme() {
        "http" | "https" | "socks4" | "socks4a" | "socks5" | "socks5h" => Ok(proxy),
        _ => Err(failed("is neither an http nor a socks address")),
    }
}
