//! Packuments and version documents, kept or fetched.

use crate::RegistryError;
use crate::capabilities::Offer;
use crate::client::{RegistryClient, VersionFacts};
use crate::freshness::{freshness_of, says_freshness, tells_change, validators_of};
use crate::mirror::CacheMode;
use crate::retry::{Retries, ask};
use crate::silence::Listening;
use crate::underway::Underway;
use bytes::Bytes;
use futures_util::future::LocalBoxFuture;
use gantry_manifest::{Manifest, ManifestError, Packument};
use gantry_platform::{Clock, Http, HttpError, HttpErrorKind, HttpRequest, HttpResponse, Work};
use gantry_store::mirror::{DocumentForm, Freshness, Kept, MirrorKey, MirrorWrite, Validators};
use std::cell::Cell;
use std::sync::Arc;

#[cfg(test)]
mod tests;

/// Abbreviated packuments first; the whole value stays within what CORS lets pass without a preflight.
const ACCEPT_PACKUMENT: &str = "application/vnd.npm.install-v1+json; q=1.0, application/json; q=0.8, */*";
/// What an abbreviated document is called that is one.
const TYPE_ABBREVIATED: &str = "application/vnd.npm.install-v1+json";
/// Documents as they were published; this value needs no preflight either.
const ACCEPT_FULL: &str = "application/json";
/// From this many bytes on scanning takes longer than handing it to another thread.
const LARGE_DOCUMENT: usize = 64 << 10;
/// Larger than any packument on the public registry by a factor of ten; keeps a lying registry from filling memory.
const MAX_PACKUMENT_BYTES: u64 = 512 << 20;

/// A document of a registry.
#[derive(Debug, Clone, Copy)]
struct Document<'a> {
    name: &'a str,
    form: DocumentForm,
    /// The one version that it is about; `None` of a packument.
    version: Option<&'a str>,
}

/// An answer to the question for one version.
#[derive(Debug, Clone)]
pub enum VersionAnswer {
    /// A packument with this version alone.
    Alone(Arc<Packument>),
    /// The whole packument, which may lack the version.
    Whole(Arc<Packument>),
}

/// A packument that was asked for.
struct Obtained {
    packument: Arc<Packument>,
    origin: Origin,
}

/// Where a document is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Origin {
    /// The mirror alone.
    Kept,
    /// The registry, which sent it or confirmed what was kept of it.
    Answered,
}

/// How long nothing of a document may come for which another one will do, in milliseconds.
const REPLACEABLE_TIMEOUT: u64 = 10_000;

/// What a request is for.
struct Asked<'a> {
    work: Work,
    /// The package's name, which decides on the registry.
    name: &'a str,
    /// What errors call it.
    package: &'a str,
    url: &'a str,
    accept: &'static str,
    /// Headers besides `accept` and `authorization`.
    headers: Vec<(String, String)>,
    /// Whether there is a copy that will do where nobody can be reached: then nobody waits for a [silent](crate::silence)
    /// registry.
    has_copy: bool,
    /// Whether another document will do, too: then it is not worth as much waiting.
    is_replaceable: bool,
}

impl<H: Http, C: Clock> RegistryClient<H, C> {
    /// The abbreviated packument of `name`, the full one where the registry has no other; kept or fetched.
    pub async fn packument(&self, name: &str) -> Result<Arc<Packument>, RegistryError> {
        // What is kept in the full form alone will do.
        let is_full = self.is_kept(name, DocumentForm::Full)? || self.lacks(name, Offer::Abbreviated)?;
        if is_full && !self.is_kept(name, DocumentForm::Abbreviated)? {
            return self.packument_in_form(name, DocumentForm::Full).await;
        }
        match self.packument_in_form(name, DocumentForm::Abbreviated).await {
            // There are registries that do not know the abbreviated form; npm asks them again, too.
            Err(RegistryError::Status { status: 406 | 415, .. }) => {
                let packument = self.packument_in_form(name, DocumentForm::Full).await?;
                self.learn(name, Offer::Abbreviated)?;
                Ok(packument)
            }
            // Which may be because of the form, but is about this package and no other.
            Err(RegistryError::NotFound { .. }) => self.packument_in_form(name, DocumentForm::Full).await,
            // Without `libc` the packages of all C libraries would be taken for this one's.
            Ok(packument) if packument.may_lack_libc() => self.packument_in_form(name, DocumentForm::Full).await,
            answer => answer,
        }
    }

    /// The full packument of `name`, which says when its versions were published; kept or fetched.
    pub async fn full_packument(&self, name: &str) -> Result<Arc<Packument>, RegistryError> {
        // There are registries that send full documents whatever they are asked for.
        if !self.is_kept(name, DocumentForm::Full)? && self.is_kept_in_full_as_abbreviated(name)? {
            let packument = self.packument_in_form(name, DocumentForm::Abbreviated).await?;
            if !packument.is_abbreviated() {
                return Ok(packument);
            }
        }
        self.packument_in_form(name, DocumentForm::Full).await
    }

    fn is_kept_in_full_as_abbreviated(&self, name: &str) -> Result<bool, RegistryError> {
        let Some(mirror) = self.mirror() else { return Ok(false) };
        let scope = self.scope(&self.registry_for(name), name)?;
        let kept = mirror.find(&MirrorKey::packument(&scope, DocumentForm::Abbreviated, name));
        Ok(kept.is_some_and(|kept| !kept.packument.is_abbreviated()))
    }

    fn is_kept(&self, name: &str, form: DocumentForm) -> Result<bool, RegistryError> {
        let Some(mirror) = self.mirror() else { return Ok(false) };
        let scope = self.scope(&self.registry_for(name), name)?;
        Ok(mirror.has(&MirrorKey::packument(&scope, form, name)))
    }

    /// Behind a box, so that its code is there once and not in everything that calls it.
    fn packument_in_form<'a>(
        &'a self,
        name: &'a str,
        form: DocumentForm,
    ) -> LocalBoxFuture<'a, Result<Arc<Packument>, RegistryError>> {
        Box::pin(async move { Ok(self.obtain(name, form).await?.packument) })
    }

    /// As [`packument_in_form`](Self::packument_in_form), with where it is from.
    fn obtain<'a>(&'a self, name: &'a str, form: DocumentForm) -> LocalBoxFuture<'a, Result<Obtained, RegistryError>> {
        Box::pin(self.keep_or_fetch(Document { name, form, version: None }))
    }

    /// One version of `name`, by its own document where the registry gives one: the packument may be a thousand times as
    /// large. A packument that is kept will do, though.
    pub async fn version(&self, name: &str, version: &str) -> Result<VersionAnswer, RegistryError> {
        let is_kept = || Ok(self.is_kept(name, DocumentForm::Abbreviated)? || self.is_kept(name, DocumentForm::Full)?);
        let is_offered = !self.lacks(name, Offer::Versions)? && !is_kept()?;
        let (mut is_proof, mut is_unanswered) = (false, false);
        if is_offered {
            let document = Document { name, form: DocumentForm::Full, version: Some(version) };
            let alone: LocalBoxFuture<'_, _> = Box::pin(self.keep_or_fetch(document));
            match alone.await {
                Ok(alone) => return Ok(VersionAnswer::Alone(alone.packument)),
                // Something between here and the registry may let packuments pass and nothing else.
                Err(RegistryError::Unreachable { source, .. }) if self.may_answer(name, &source) => {
                    is_unanswered = true
                }
                Err(error @ RegistryError::Unreachable { .. }) => return Err(error),
                Err(RegistryError::NotCached { .. }) => {}
                Err(error) => is_proof = tells_of_versions(&error),
            }
        }
        let packument = self.packument(name).await?;
        if is_proof && packument.has_version(version) {
            self.learn(name, Offer::Versions)?;
        }
        if is_unanswered {
            self.do_without_versions(name)?;
        }
        Ok(VersionAnswer::Whole(packument))
    }

    /// Whether the registry of `name` may have an answer to another question than the one that failed so.
    fn may_answer(&self, name: &str, failure: &HttpError) -> bool {
        failure.kind != HttpErrorKind::Connect || self.silences().has_answered(&self.registry_for(name))
    }

    async fn keep_or_fetch(&self, document: Document<'_>) -> Result<Obtained, RegistryError> {
        let Document { name, form, version } = document;
        let registry = self.registry_for(name);
        let scope = self.scope(&registry, name)?;
        let (key, package) = match version {
            Some(version) => (MirrorKey::version_document(&scope, name, version), format!("{name}@{version}")),
            None => (MirrorKey::packument(&scope, form, name), name.to_owned()),
        };
        let mode = self.cache_mode();
        let kept = self.mirror().and_then(|mirror| self.timed(Work::Kept, &package, 0, || mirror.find(&key)));
        let is_kept = |packument: &Arc<Packument>| Obtained { packument: Arc::clone(packument), origin: Origin::Kept };
        match &kept {
            Some(kept) if mode.is_content_with(&kept.freshness, self.clock().unix_milliseconds()) => {
                return Ok(is_kept(&kept.packument));
            }
            Some(kept) if !kept.freshness.must_revalidate && self.silences().reason(&registry).is_some() => {
                self.stale_uses().note(name, None);
                return Ok(is_kept(&kept.packument));
            }
            None if mode == CacheMode::Offline => return Err(RegistryError::NotCached { package }),
            _ => {}
        }
        let url = self.document_url(name, version)?;
        let mut asked = Asked {
            work: if version.is_some() { Work::Version } else { Work::Packument },
            name,
            package: &package,
            url: &url,
            accept: match form {
                DocumentForm::Abbreviated => ACCEPT_PACKUMENT,
                DocumentForm::Full => ACCEPT_FULL,
            },
            headers: conditions(kept.as_ref(), mode),
            has_copy: kept.as_ref().is_some_and(|kept| !kept.freshness.must_revalidate),
            is_replaceable: version.is_some(),
        };
        let mut taken = match self.ask_for(&asked).await {
            Ok(response) => self.take_packument(response, kept.as_ref(), &key, document, &url).await,
            Err(error) => Err(error),
        };
        if matches!(taken, Err(RegistryError::Packument { .. })) {
            // Like a damaged tarball: something on the way may hold a bad copy, and is asked to stand aside once.
            asked.headers = vec![("cache-control".to_owned(), "no-cache".to_owned())];
            taken = match self.ask_for(&asked).await {
                Ok(response) => self.take_packument(response, None, &key, document, &url).await,
                Err(error) => Err(error),
            };
        }
        match (taken, kept) {
            (Err(error @ RegistryError::Unreachable { .. }), Some(kept)) if !kept.freshness.must_revalidate => {
                self.stale_uses().note(name, Some(&error));
                Ok(is_kept(&kept.packument))
            }
            (taken, _) => taken.map(|packument| Obtained { packument, origin: Origin::Answered }),
        }
    }

    /// What is kept of a version whose tarball has this integrity. A version never changes, so it is good for ever.
    pub fn kept_facts(&self, name: &str, version: &str, integrity: Option<&str>) -> Option<VersionFacts> {
        let mirror = self.mirror()?;
        let lock_members = mirror.facts(&self.version_key(name, version).ok()?, integrity?)?;
        Some(VersionFacts { lock_members })
    }

    /// What only the version's own document says, kept or fetched; where the registry does not give one that can be read,
    /// what the full packument says.
    pub async fn version_facts(
        &self,
        name: &str,
        version: &str,
        integrity: Option<&str>,
    ) -> Result<VersionFacts, RegistryError> {
        if let Some(kept) = self.kept_facts(name, version, integrity) {
            return Ok(kept);
        }
        let package = format!("{name}@{version}");
        if self.cache_mode() == CacheMode::Offline {
            return Err(RegistryError::NotCached { package });
        }
        let url = self.document_url(name, Some(version))?;
        let mut may_be_kept = true;
        let (mut is_proof, mut is_unanswered) = (false, false);
        let mut alone = None;
        if !self.lacks(name, Offer::Versions)? {
            let (work, accept, headers) = (Work::Version, ACCEPT_FULL, Vec::new());
            let asked = Asked {
                work,
                name,
                package: &package,
                url: &url,
                accept,
                headers,
                has_copy: false,
                is_replaceable: true,
            };
            match self.ask_for(&asked).await {
                Ok(response) => {
                    may_be_kept = freshness_of(&response, 0.0).is_some();
                    alone = Manifest::parse_registry_version(&response.body).map(Arc::new);
                    alone = alone.filter(|manifest| manifest.version.as_deref() == Some(version));
                    is_proof = true;
                }
                Err(RegistryError::Unreachable { source, .. }) if self.may_answer(name, &source) => {
                    is_unanswered = true
                }
                Err(error @ RegistryError::Unreachable { .. }) => return Err(error),
                Err(error) => is_proof = tells_of_versions(&error),
            }
        }
        let manifest = match alone {
            Some(manifest) => manifest,
            None => {
                let Obtained { packument, origin } = self.obtain(name, DocumentForm::Full).await?;
                let found = packument.manifest(version).ok_or(RegistryError::NotFound { package, url, status: 404 })?;
                // What is kept may have a version that the registry has taken back since.
                if is_proof && origin == Origin::Answered {
                    self.learn(name, Offer::Versions)?;
                }
                if is_unanswered && origin == Origin::Answered {
                    self.do_without_versions(name)?;
                }
                found
            }
        };
        let facts = VersionFacts { lock_members: manifest.members_of_full_documents() };
        if let (Some(mirror), Some(integrity), true) = (self.mirror(), integrity, may_be_kept) {
            let (key, lock_members) = (self.version_key(name, version)?, facts.lock_members.clone());
            mirror.write(MirrorWrite::Facts { key, integrity: integrity.to_owned(), lock_members });
        }
        Ok(facts)
    }

    fn version_key(&self, name: &str, version: &str) -> Result<MirrorKey, RegistryError> {
        let scope = self.scope(&self.registry_for(name), name)?;
        Ok(MirrorKey::version(&scope, name, version))
    }

    /// Makes a packument of an answer, and keeps it.
    async fn take_packument(
        &self,
        mut response: HttpResponse,
        kept: Option<&Kept>,
        key: &MirrorKey,
        document: Document<'_>,
        url: &str,
    ) -> Result<Arc<Packument>, RegistryError> {
        let Document { name, version, .. } = document;
        if let Some(version) = version.filter(|_| response.status != 304) {
            response.body = as_packument(name, version, &response.body);
        }
        let freshness = freshness_of(&response, self.clock().unix_milliseconds());
        let Validators { etag, last_modified } = validators_of(&response);
        // A browser answers from its own cache with a 200 where a registry has said 304.
        let confirmed = kept.filter(|kept| response.status == 304 || kept.has_body(&response.body));
        if let Some(kept) = confirmed {
            let validators = Validators {
                etag: etag.or_else(|| kept.validators.etag.clone()),
                last_modified: last_modified.or_else(|| kept.validators.last_modified.clone()),
            };
            if let (Some(mirror), Some(mut freshness)) = (self.mirror(), freshness) {
                let key = key.clone();
                if !says_freshness(&response) {
                    freshness = Freshness { answered: freshness.answered, ..kept.freshness };
                }
                mirror.write(MirrorWrite::Refreshed { key, freshness, validators });
            }
            return Ok(Arc::clone(&kept.packument));
        }
        let mirror = self.mirror().zip(freshness);
        let is_lent = mirror.is_some_and(|(mirror, _)| mirror.lends());
        // Some registries have `time` in their abbreviated documents, too, so that only they themselves can tell.
        let is_abbreviated = response.header("content-type").is_some_and(|kind| kind.starts_with(TYPE_ABBREVIATED));
        let scanned = self.scan(name, response.body, is_abbreviated, is_lent).await;
        let packument = Arc::new(scanned.map_err(|source| RegistryError::Packument {
            package: name.to_owned(),
            url: url.to_owned(),
            source,
        })?);
        let is_whole = |version: &str| {
            packument.manifest(version).is_some_and(|manifest| {
                let has_tarball = manifest.dist.as_ref().is_some_and(|dist| !dist.tarball.is_empty());
                has_tarball && manifest.version.as_deref() == Some(version)
            })
        };
        if let Some(version) = version.filter(|version| !is_whole(version)) {
            let package = format!("{name}@{version}");
            return Err(RegistryError::NotFound { package, url: url.to_owned(), status: response.status });
        }
        // What is asked for in full at once need not be kept in this form as well.
        let is_passed_over = document.form == DocumentForm::Abbreviated && packument.may_lack_libc();
        if let Some((mirror, freshness)) = mirror.filter(|_| !is_passed_over) {
            let (key, packument) = (key.clone(), Arc::clone(&packument));
            let validators = Validators { etag, last_modified };
            mirror.write(MirrorWrite::Document { key, packument, freshness, validators });
        }
        Ok(packument)
    }

    /// Scans a body; one that its mirror `is_lent` from then on comes with its outline. Large ones hold up nobody who takes the
    /// next answers meanwhile.
    async fn scan(
        &self,
        name: &str,
        body: Bytes,
        is_abbreviated: bool,
        is_lent: bool,
    ) -> Result<Packument, ManifestError> {
        let length = body.len();
        let scan = move || {
            let packument = Packument::scan(body)?;
            let packument = if is_abbreviated { packument.called_abbreviated() } else { packument };
            Ok(if is_lent { packument.into_outlined() } else { packument })
        };
        if length < LARGE_DOCUMENT {
            return self.timed(Work::Scan, name, length as u64, scan);
        }
        let underway = Underway::new(self.clock(), Work::Scan, |span| self.note_span(name, span));
        let scanned = self.http().aside(scan).await;
        underway.done(|span| span.bytes = length as u64);
        scanned
    }

    fn ask_for<'a>(&'a self, asked: &'a Asked<'_>) -> LocalBoxFuture<'a, Result<HttpResponse, RegistryError>> {
        Box::pin(self.ask_with_patience(asked))
    }

    async fn ask_with_patience(&self, asked: &Asked<'_>) -> Result<HttpResponse, RegistryError> {
        let authorization = self.authorization(asked.name, asked.url);
        let certificate = self.certificate(asked.name, asked.package, asked.url)?;
        let policy = &self.settings().retry;
        let registry = &self.registry_for(asked.name);
        let silence = || self.silences().reason(registry).filter(|_| asked.has_copy);
        // What was lost on its way may come the next time; what hangs once, though, will hang again.
        let lost = Cell::new(0);
        let is_worth_it = |error: &RegistryError| match error {
            RegistryError::Unreachable { source, .. } if asked.is_replaceable => match source.kind {
                HttpErrorKind::Connect => true,
                HttpErrorKind::Timeout => false,
                _ => lost.replace(lost.get() + 1) == 0,
            },
            _ => true,
        };
        let repeatable =
            |error: &RegistryError| error.repeatable().filter(|_| silence().is_none() && is_worth_it(error));
        let longest = if asked.is_replaceable { REPLACEABLE_TIMEOUT } else { u64::MAX };
        let note = |span| self.note_span(asked.package, span);
        let registry_heard = asked.has_copy.then_some(&registry[..]);
        let clock = &Listening { clock: self.clock(), silences: self.silences(), registry: registry_heard };
        let retries = Retries { policy, clock, url: asked.url, slot: &self.slot() };
        let attempt = || async {
            // What was found out while this one waited counts for it, too.
            if let Some(source) = silence() {
                return Err(RegistryError::Unreachable { package: asked.package.to_owned(), source });
            }
            let mut headers = vec![("accept".to_owned(), asked.accept.to_owned())];
            headers.extend(authorization.clone().map(|value| ("authorization".to_owned(), value)));
            headers.extend(asked.headers.iter().cloned());
            let request = HttpRequest {
                url: asked.url.to_owned(),
                headers,
                timeout_milliseconds: policy.timeout_milliseconds.min(longest),
                max_body_bytes: MAX_PACKUMENT_BYTES,
                certificate: certificate.clone(),
            };
            self.count_request();
            let under_way = self.silences().begin(registry);
            let answer = ask(self.http(), self.clock(), request, asked.package, asked.work, note).await;
            under_way.end(&answer, asked.has_copy);
            answer
        };
        retries.run(repeatable, note, attempt).await
    }
}

/// A version's own document in the shape of a packument, `time` included: it leaves nothing out.
fn as_packument(name: &str, version: &str, body: &[u8]) -> Bytes {
    let text = |text: &str| serde_json::Value::from(text).to_string();
    let head = format!("{{\"name\":{},\"versions\":{{{}:", text(name), text(version));
    [head.as_bytes(), body, b"},\"time\":{}}"].concat().into()
}

/// Whether this answer tells, with a packument that has the version, that a registry has no documents of versions. Who may not
/// have one version may have another: there are registries that block those that are dangerous.
fn tells_of_versions(error: &RegistryError) -> bool {
    !error.is_transient() && !matches!(error, RegistryError::Unauthorized { .. })
}

/// Headers that ask for a document only if it is not the one at hand, and for no answer of a cache on the way. A browser
/// turns all of them into a cache mode: it hides `ETag` from pages where a registry does not expose it, and has its own.
fn conditions(kept: Option<&Kept>, mode: CacheMode) -> Vec<(String, String)> {
    let header = |name: &str, value: &str| vec![(name.to_owned(), value.to_owned())];
    let tells = |date: &str| kept.is_some_and(|kept| tells_change(date, &kept.freshness));
    match kept.map(|kept| &kept.validators) {
        Some(Validators { etag: Some(etag), .. }) => header("if-none-match", etag),
        Some(Validators { last_modified: Some(date), .. }) if tells(date) => header("if-modified-since", date),
        Some(_) => header("cache-control", "max-age=0"),
        None if mode == CacheMode::PreferOnline => header("cache-control", "max-age=0"),
        None => Vec::new(),
    }
}
