//! One configured view of the registries a project uses.

use crate::RegistryError;
use crate::retry::{RetryPolicy, ask, retrying};
use crate::tarball::TarballRequest;
use gantry_archive::Integrity;
use gantry_manifest::{Authorization, Config, Manifest, Packument, without_userinfo};
use gantry_platform::{Clock, Http, HttpRequest};
use std::sync::Arc;
use url::Url;

/// Abbreviated packuments first; the whole value stays within what CORS lets pass without a preflight.
const ACCEPT_PACKUMENT: &str = "application/vnd.npm.install-v1+json; q=1.0, application/json; q=0.8, */*";
/// Documents as they were published; this value needs no preflight either.
const ACCEPT_FULL: &str = "application/json";
/// Larger than any packument on the public registry by a factor of ten; keeps a lying registry from filling memory.
const MAX_PACKUMENT_BYTES: u64 = 512 << 20;
/// As large as npm's own publishing limit allows and then some.
const MAX_TARBALL_BYTES: u64 = 2 << 30;

/// Where the registries are and how to treat them.
#[derive(Debug)]
pub struct RegistrySettings {
    /// Settings of all layers (`.npmrc` files, environment, options).
    pub config: Config,
    /// The registry for whatever has no scope registry; an absolute URL.
    pub default_registry: String,
    /// Which tarball addresses are asked of the configured registry instead of the host they name.
    pub replace_host: ReplaceHost,
    /// How patient to be.
    pub retry: RetryPolicy,
}

/// npm's `replace-registry-host`: the hosts in tarball addresses that stand for "the configured registry".
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReplaceHost {
    /// Addresses are asked as they are.
    Never,
    /// This host name only (npm's default: that of its public registry).
    Host(String),
    /// Every host; for a proxy in front of a registry that writes its own host into packuments.
    Always,
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
            Some(host) => Self::Host(crate::host_of(host).unwrap_or_else(|| host.to_owned())),
        }
    }
}

/// What a version's own document says that an abbreviated packument leaves out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VersionFacts {
    /// As [`Manifest::members_of_full_documents`] gives it.
    pub lock_members: Option<String>,
}

/// Asks registries over a platform's HTTP.
#[derive(Debug)]
pub struct RegistryClient<H, C> {
    http: H,
    clock: C,
    settings: RegistrySettings,
}

impl<H: Http, C: Clock> RegistryClient<H, C> {
    /// A client for `settings`. User names and passwords in addresses of registries become credentials here, so that no
    /// request and no error has an address with them.
    pub fn new(http: H, clock: C, settings: RegistrySettings) -> Self {
        let mut settings = settings;
        settings.config.separate_credentials();
        settings.config.keep_credentials_of(&settings.default_registry);
        settings.default_registry = without_userinfo(&settings.default_registry).0;
        Self { http, clock, settings }
    }

    /// The clock it was made with.
    pub fn clock(&self) -> &C {
        &self.clock
    }

    /// The HTTP client it was made with.
    pub fn http(&self) -> &H {
        &self.http
    }

    /// The abbreviated packument of `name`, the full one where the registry has no other.
    pub async fn packument(&self, name: &str) -> Result<Arc<Packument>, RegistryError> {
        match self.packument_in_form(name, ACCEPT_PACKUMENT).await {
            // There are registries that do not know the abbreviated form; npm asks them again, too.
            Err(RegistryError::NotFound { .. } | RegistryError::Status { status: 406, .. }) => {
                self.packument_in_form(name, ACCEPT_FULL).await
            }
            answer => answer,
        }
    }

    async fn packument_in_form(&self, name: &str, accept: &str) -> Result<Arc<Packument>, RegistryError> {
        let url = self.document_url(name, None)?;
        let response = self.document(name, name, &url, accept).await?;
        Packument::scan(response).map(Arc::new).map_err(|source| RegistryError::Packument {
            package: name.to_owned(),
            url,
            source,
        })
    }

    /// What only the version's own document says; where the registry does not give one that can be read, what the full
    /// packument says.
    pub async fn version_facts(&self, name: &str, version: &str) -> Result<VersionFacts, RegistryError> {
        let package = format!("{name}@{version}");
        let url = self.document_url(name, Some(version))?;
        let alone = match self.document(name, &package, &url, ACCEPT_FULL).await {
            Ok(body) => Manifest::parse_registry_version(&body).map(Arc::new),
            Err(error @ RegistryError::Unreachable { .. }) => return Err(error),
            Err(_) => None,
        };
        let manifest = match alone.filter(|manifest| manifest.version.as_deref() == Some(version)) {
            Some(manifest) => manifest,
            None => {
                let packument = self.packument_in_form(name, ACCEPT_FULL).await?;
                packument.manifest(version).ok_or(RegistryError::NotFound { package, url, status: 404 })?
            }
        };
        Ok(VersionFacts { lock_members: manifest.members_of_full_documents() })
    }

    /// The request for a tarball that a lock or packument places at `resolved`.
    pub fn tarball_request(
        &self,
        name: &str,
        version: &str,
        resolved: Option<&str>,
        integrity: Option<Integrity>,
    ) -> Result<TarballRequest, RegistryError> {
        let package = format!("{name}@{version}");
        let (placed, own) = resolved.map(without_userinfo).unzip();
        let url = match &placed {
            Some(address) => self.fetch_url(name, address, &package)?,
            None => self.conventional_tarball_url(name, version),
        };
        let url = self.refuse_certificate(name, &package, url)?;
        // What an address carries is for this address, not for the registry that may be asked in its place.
        let own = own.flatten().filter(|_| placed.as_ref() == Some(&url));
        let authorization = self.authorization(name, &url).or_else(|| own.map(header));
        Ok(TarballRequest {
            package,
            url,
            authorization,
            integrity,
            max_bytes: MAX_TARBALL_BYTES,
            retry: self.settings.retry,
        })
    }

    async fn document(
        &self,
        name: &str,
        package: &str,
        url: &str,
        accept: &str,
    ) -> Result<bytes::Bytes, RegistryError> {
        let authorization = self.authorization(name, url);
        let response = retrying(&self.settings.retry, &self.clock, |_| {
            let mut headers = vec![("accept".to_owned(), accept.to_owned())];
            headers.extend(authorization.clone().map(|value| ("authorization".to_owned(), value)));
            let request = HttpRequest {
                url: url.to_owned(),
                headers,
                timeout_milliseconds: self.settings.retry.timeout_milliseconds,
                max_body_bytes: MAX_PACKUMENT_BYTES,
            };
            ask(&self.http, request, package)
        })
        .await?;
        Ok(response.body)
    }

    fn registry_for(&self, name: &str) -> String {
        self.settings.config.registry_for(name, &self.settings.default_registry)
    }

    fn document_url(&self, name: &str, version: Option<&str>) -> Result<String, RegistryError> {
        let base = self.registry_for(name);
        let path = name.replace('/', "%2f");
        let text = match version {
            None => format!("{base}{path}"),
            Some(version) => format!("{base}{path}/{}", version.replace('+', "%2b")),
        };
        let usable = Url::parse(&text).is_ok_and(|url| matches!(url.scheme(), "http" | "https"));
        if usable {
            self.refuse_certificate(name, name, text)
        } else {
            Err(RegistryError::Url { package: name.to_owned(), url: without_userinfo(&text).0 })
        }
    }

    /// Where a lock leaves `resolved` out (npm's `omit-lockfile-registry-resolved`).
    fn conventional_tarball_url(&self, name: &str, version: &str) -> String {
        let file = name.rsplit('/').next().unwrap_or(name);
        format!("{}{name}/-/{file}-{}.tgz", self.registry_for(name), version.split('+').next().unwrap_or(version))
    }

    /// The address to ask for what a lock or packument says is at `resolved`; the path is kept, and the configured
    /// registry's own path put before it unless it is there already.
    fn fetch_url(&self, name: &str, resolved: &str, package: &str) -> Result<String, RegistryError> {
        let error = || RegistryError::Url { package: package.to_owned(), url: without_userinfo(resolved).0 };
        let parsed = Url::parse(resolved).map_err(|_| error())?;
        if !matches!(parsed.scheme(), "http" | "https") {
            return Err(error());
        }
        let replaced = match &self.settings.replace_host {
            ReplaceHost::Never => false,
            ReplaceHost::Host(host) => parsed.host_str() == Some(host),
            ReplaceHost::Always => true,
        };
        let base = Url::parse(&self.registry_for(name)).map_err(|_| error())?;
        if !replaced || base.origin() == parsed.origin() {
            return Ok(resolved.to_owned());
        }
        let prefix = base.path().trim_end_matches('/');
        let path = parsed.path();
        let prefixed = path.strip_prefix(prefix).is_some_and(|rest| rest.starts_with('/'));
        let origin = base.origin().ascii_serialization();
        Ok(if prefixed { format!("{origin}{path}") } else { format!("{origin}{prefix}{path}") })
    }

    /// An address, unless its credential is a client certificate: without it the answer would be a puzzling one.
    fn refuse_certificate(&self, name: &str, package: &str, url: String) -> Result<String, RegistryError> {
        if self.settings.config.wants_certificate(&url, &self.registry_for(name)) {
            return Err(RegistryError::Certificate { package: package.to_owned(), url });
        }
        Ok(url)
    }

    /// The credential that belongs to an address of `name`'s registry.
    fn authorization(&self, name: &str, url: &str) -> Option<String> {
        let registry = self.registry_for(name);
        self.settings.config.authorization_within(url, &registry).map(header)
    }
}

/// The value of the `authorization` header.
fn header(authorization: Authorization) -> String {
    match authorization {
        Authorization::Bearer(token) => format!("Bearer {token}"),
        Authorization::Basic(credentials) => format!("Basic {credentials}"),
    }
}
