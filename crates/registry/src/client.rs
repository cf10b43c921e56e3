//! One configured view of the registries a project uses.

use crate::capabilities::{Capabilities, Offer};
use crate::lane::Slot;
use crate::mirror::{CacheMode, MetadataMirror, scope_of};
use crate::replace::ReplaceHost;
use crate::retry::RetryPolicy;
use crate::silence::Silences;
use crate::stale_uses::StaleUses;
use crate::tarball::{RequestLog, TarballRequest};
use crate::{RegistryError, RegistryWarning};
use core::future::{Future, poll_fn};
use core::pin::pin;
use gantry_archive::Integrity;
use gantry_manifest::{Authorization, Config, without_userinfo};
use gantry_platform::{Clock, Http, Span, Work};
use std::cell::{Cell, RefCell, RefMut};
use url::Url;

/// As large as npm's own publishing limit allows and then some.
const MAX_TARBALL_BYTES: u64 = 2 << 30;
/// What writing to the mirror concerns: documents of many packages at once.
const MIRROR: &str = "metadata";

/// Where the registries are and how to treat them.
#[derive(Debug, Clone)]
pub struct RegistrySettings {
    /// Settings of all layers (`.npmrc` files, environment, options).
    pub config: Config,
    /// The registry for whatever has no scope registry; an absolute URL.
    pub default_registry: String,
    /// Which tarball addresses are asked of the configured registry instead of the host they name.
    pub replace_host: ReplaceHost,
    /// How patient to be.
    pub retry: RetryPolicy,
    /// How far kept documents are trusted.
    pub cache_mode: CacheMode,
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
    has_credentials: bool,
    mirror: Option<Box<dyn MetadataMirror>>,
    cache_mode: Cell<CacheMode>,
    /// Requests for documents since they were last taken.
    requests: Cell<u32>,
    stale_uses: RefCell<StaleUses>,
    silences: Silences,
    /// The addresses of registries that were asked about; `None` for what is no address.
    parsed: RefCell<Vec<(String, Option<Url>)>>,
    capabilities: Capabilities,
    /// How documents were had, with their packages; `None` while nobody wants to know.
    spans: RefCell<Option<Vec<(String, Span)>>>,
    /// What is held by whoever is at work just now.
    slot: RefCell<Slot>,
}

impl<H: Http, C: Clock> RegistryClient<H, C> {
    /// A client for `settings` that keeps nothing. User names and passwords in addresses of registries become credentials
    /// here, so that no request and no error has an address with them.
    pub fn new(http: H, clock: C, settings: RegistrySettings) -> Self {
        let mut settings = settings;
        settings.config.separate_credentials();
        settings.config.keep_credentials_of(&settings.default_registry);
        settings.default_registry = without_userinfo(&settings.default_registry).0;
        Self {
            http,
            clock,
            has_credentials: settings.config.has_credentials(),
            mirror: None,
            cache_mode: Cell::new(settings.cache_mode),
            settings,
            requests: Cell::default(),
            stale_uses: RefCell::default(),
            silences: Silences::default(),
            parsed: RefCell::default(),
            capabilities: Capabilities::default(),
            spans: RefCell::default(),
            slot: RefCell::default(),
        }
    }

    /// With documents kept in `mirror`.
    #[must_use]
    pub fn with_mirror(mut self, mirror: Box<dyn MetadataMirror>) -> Self {
        self.mirror = Some(mirror);
        self
    }

    /// Trusts kept documents differently from now on.
    pub fn set_cache_mode(&self, mode: CacheMode) {
        self.cache_mode.set(mode);
    }

    /// Requests made for documents since the last call, repetitions included.
    pub fn take_requests(&self) -> u32 {
        self.requests.take()
    }

    /// From now on notes how documents are had, or does so no more.
    pub fn note_spans(&self, wanted: bool) {
        *self.spans.borrow_mut() = wanted.then(Vec::new);
    }

    /// What was noted since the last call, each with the package concerned.
    pub fn take_spans(&self) -> Vec<(String, Span)> {
        let Some(spans) = &mut *self.spans.borrow_mut() else { return Vec::new() };
        let written = self.mirror.iter().flat_map(|mirror| mirror.take_spans());
        spans.extend(written.map(|span| (MIRROR.to_owned(), span)));
        std::mem::take(spans)
    }

    /// Whether a kept document has turned out to be damaged after it was given out. What was made of it has to be made
    /// again; the document is then asked for.
    pub fn take_damage(&self) -> bool {
        self.mirror.as_ref().is_some_and(|mirror| mirror.take_damage())
    }

    /// Waits until everything to keep is written, and gives what happened since the last call that the user should know.
    /// Afterwards registries that were silent are asked again.
    pub async fn settle(&self) -> Vec<RegistryWarning> {
        let written = match &self.mirror {
            Some(mirror) => mirror.settle().await,
            None => Ok(()),
        };
        let failed = written.err().map(|error| RegistryWarning {
            code: "MIRROR_FAILED",
            message: format!("metadata could not be kept for the next time: {error}"),
        });
        self.silences.forget();
        self.capabilities.forget_unanswered();
        self.stale_uses.borrow_mut().take_warning().into_iter().chain(failed).collect()
    }

    /// Does `work`, whose requests for documents hold `slot`: it is given up while one waits to be made again.
    pub async fn holding<F: Future>(&self, slot: Slot, work: F) -> F::Output {
        let mut work = pin!(work);
        poll_fn(|context| {
            let outer = self.slot.replace(slot.clone());
            let polled = work.as_mut().poll(context);
            *self.slot.borrow_mut() = outer;
            polled
        })
        .await
    }

    /// What is held by whoever asks.
    pub fn slot(&self) -> Slot {
        self.slot.borrow().clone()
    }

    /// The clock it was made with.
    pub fn clock(&self) -> &C {
        &self.clock
    }

    /// The HTTP client it was made with.
    pub fn http(&self) -> &H {
        &self.http
    }

    /// The request for a tarball that a lock or packument places at `resolved`; `version` is empty where it is not known.
    pub fn tarball_request(
        &self,
        name: &str,
        version: &str,
        resolved: Option<&str>,
        integrity: Option<Integrity>,
    ) -> Result<TarballRequest, RegistryError> {
        // Of what is named by its address no version is known yet.
        let package = if version.is_empty() { name.to_owned() } else { format!("{name}@{version}") };
        let (placed, own) = resolved.map(without_userinfo).unzip();
        let url = match &placed {
            Some(address) => self.fetch_url(name, address, &package)?,
            None => self.conventional_tarball_url(name, version),
        };
        let certificate = self.certificate(name, &package, &url)?;
        // What an address carries is for this address, not for the registry that may be asked in its place.
        let own = own.flatten().filter(|_| placed.as_ref() == Some(&url));
        let authorization = self.authorization(name, &url).or_else(|| own.map(header));
        Ok(TarballRequest {
            package,
            url,
            authorization,
            certificate,
            integrity,
            max_bytes: MAX_TARBALL_BYTES,
            retry: self.settings.retry,
            offline: self.cache_mode() == CacheMode::Offline,
            body: None,
            log: RequestLog::default(),
        })
    }

    /// What it was made with.
    pub fn settings(&self) -> &RegistrySettings {
        &self.settings
    }

    pub(crate) fn mirror(&self) -> Option<&dyn MetadataMirror> {
        self.mirror.as_deref()
    }

    /// How far kept documents are trusted, and whether anybody may be asked at all.
    pub fn cache_mode(&self) -> CacheMode {
        self.cache_mode.get()
    }

    /// Notes something that was done for a package, if anybody wants to know.
    pub fn note_span(&self, package: &str, span: Span) {
        if let Some(spans) = &mut *self.spans.borrow_mut() {
            spans.push((package.to_owned(), span));
        }
    }

    /// Does something that concerns `bytes` bytes, and notes how long it took.
    pub(crate) fn timed<T>(&self, work: Work, package: &str, bytes: u64, action: impl FnOnce() -> T) -> T {
        if self.spans.borrow().is_none() {
            return action();
        }
        let began = self.clock.monotonic_milliseconds();
        let result = action();
        let ended = self.clock.monotonic_milliseconds();
        self.note_span(package, Span::of(work, began, ended, bytes));
        result
    }

    /// Whether the registry of `name` is known to lack something.
    pub(crate) fn lacks(&self, name: &str, offer: Offer) -> Result<bool, RegistryError> {
        let scope = self.scope(&self.registry_for(name), name)?;
        Ok(self.capabilities.lacks(self.mirror(), &scope, offer, self.clock.unix_milliseconds()))
    }

    /// The registry of `name` has turned out to lack something.
    pub(crate) fn learn(&self, name: &str, offer: Offer) -> Result<(), RegistryError> {
        let scope = self.scope(&self.registry_for(name), name)?;
        self.capabilities.learn(self.mirror(), &scope, offer, self.clock.unix_milliseconds());
        Ok(())
    }

    /// Until the next [`settle`](Self::settle) nobody waits for documents of versions of this package's registry any more.
    pub(crate) fn do_without_versions(&self, name: &str) -> Result<(), RegistryError> {
        let scope = self.scope(&self.registry_for(name), name)?;
        self.capabilities.do_without_versions(&scope);
        Ok(())
    }

    pub(crate) fn count_request(&self) {
        self.requests.set(self.requests.get() + 1);
    }

    pub(crate) fn stale_uses(&self) -> RefMut<'_, StaleUses> {
        self.stale_uses.borrow_mut()
    }

    pub(crate) fn silences(&self) -> &Silences {
        &self.silences
    }

    /// What documents of `name` may be mixed with, given its registry.
    pub(crate) fn scope(&self, registry: &str, name: &str) -> Result<String, RegistryError> {
        if !self.has_credentials {
            return Ok(registry.to_owned());
        }
        let url = self.document_url(name, None)?;
        let authorization = self.authorization(name, &url);
        let certificate = self.certificate(name, name, &url)?;
        let certificate = certificate.map(|key| self.settings.config.name_of_certificate(&key));
        Ok(scope_of(registry, authorization.as_deref(), certificate.as_deref()))
    }

    /// Whether the registry of packages without a scope [answers at once](Http::is_near). Those of scopes may be elsewhere.
    pub fn is_near(&self) -> bool {
        self.http.is_near(&self.registry_for(""))
    }

    pub(crate) fn registry_for(&self, name: &str) -> String {
        self.settings.config.registry_for(name, &self.settings.default_registry)
    }

    pub(crate) fn document_url(&self, name: &str, version: Option<&str>) -> Result<String, RegistryError> {
        let base = self.registry_for(name);
        let path = name.replace('/', "%2f");
        let text = match version {
            None => format!("{base}{path}"),
            Some(version) => format!("{base}{path}/{}", version.replace('+', "%2b")),
        };
        // Whatever the path.
        if self.parsed(&base).is_some_and(|url| is_http(&url)) {
            Ok(text)
        } else {
            Err(RegistryError::Url { package: name.to_owned(), url: without_userinfo(&text).0 })
        }
    }

    /// Where a lock leaves `resolved` out (npm's `omit-lockfile-registry-resolved`).
    fn conventional_tarball_url(&self, name: &str, version: &str) -> String {
        let file = name.rsplit('/').next().unwrap_or(name);
        format!("{}{name}/-/{file}-{}.tgz", self.registry_for(name), version.split('+').next().unwrap_or(version))
    }

    /// The address to ask for what a lock or packument says is at `resolved`. In its place stands the registry of packages
    /// without a scope, whatever the package's own, as to npm.
    fn fetch_url(&self, name: &str, resolved: &str, package: &str) -> Result<String, RegistryError> {
        let replace = &self.settings.replace_host;
        let base = self.registry_for(if *replace == ReplaceHost::Proxied { name } else { "" });
        let registry = self.parsed(&base);
        if registry.as_ref().is_some_and(is_http) && replace.leaves(resolved, &base) {
            return Ok(resolved.to_owned());
        }
        let error = || RegistryError::Url { package: package.to_owned(), url: without_userinfo(resolved).0 };
        let parsed = Url::parse(resolved).ok().filter(is_http).ok_or_else(error)?;
        let moved = replace.moved(&parsed, &registry.ok_or_else(error)?);
        Ok(moved.map_or_else(|| resolved.to_owned(), String::from))
    }

    /// A registry's address. There are few, and each is asked about for every request: taking one apart is a large part of
    /// what a request costs here.
    fn parsed(&self, registry: &str) -> Option<Url> {
        let mut known = self.parsed.borrow_mut();
        if let Some((_, url)) = known.iter().find(|(text, _)| text == registry) {
            return url.clone();
        }
        let url = Url::parse(registry).ok();
        known.push((registry.to_owned(), url.clone()));
        url
    }

    /// The client certificate that belongs to an address of `name`'s registry. Where none can be chosen that is an error:
    /// without it the answer would be a puzzling one.
    pub(crate) fn certificate(&self, name: &str, package: &str, url: &str) -> Result<Option<String>, RegistryError> {
        if !self.has_credentials {
            return Ok(None);
        }
        let certificate = self.settings.config.certificate_within(url, &self.registry_for(name));
        if certificate.is_some() && !self.http.chooses_certificates() {
            return Err(RegistryError::Certificate { package: package.to_owned(), url: url.to_owned() });
        }
        Ok(certificate)
    }

    /// The credential that belongs to an address of `name`'s registry.
    pub(crate) fn authorization(&self, name: &str, url: &str) -> Option<String> {
        let registry = self.registry_for(name);
        self.settings.config.authorization_within(url, &registry).map(header)
    }
}

/// Whether an address can be asked.
fn is_http(url: &Url) -> bool {
    matches!(url.scheme(), "http" | "https")
}

/// The value of the `authorization` header.
fn header(authorization: Authorization) -> String {
    match authorization {
        Authorization::Bearer(token) => format!("Bearer {token}"),
        Authorization::Basic(credentials) => format!("Basic {credentials}"),
    }
}
