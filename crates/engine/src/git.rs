//! Packages in git repositories (pacote's `git.js`): which commit is meant, and what npm would pack of it.
//!
//! A known host's archive of the commit is fetched where it serves one, else git brings it. What is there is built where the user
//! has its scripts run, but only when it is installed: what it is goes by its repository. It is packed as npm packs it. Where
//! there is no git, a host that answers over HTTPS is asked for its references the way git itself asks, and an archive says what
//! commit it is of.

mod contents;
mod references;

use crate::Fault;
use crate::found::Found;
use crate::host::{Builder, Checkout, Host, ProjectTree};
use crate::jobs::job_of_body;
use crate::pack::{archive, packed_files};
use bytes::Bytes;
use contents::Contents;
use gantry_archive::{Entry, Extractor, Limits};
use gantry_registry::{CacheMode, Refusal, RegistryError, fetch_tarball};
use gantry_resolver::SourceAnswer;
use gantry_spec::{GitSpec, PackageName, Spec, SpecKind, without_secrets};
use gantry_store::PackageKey;
use references::References;

/// The code of a package that cannot be built.
const BUILD_FAILED: &str = "GIT_BUILD_FAILED";

/// Looks into what a specifier names.
pub(crate) async fn look_into<H: Host>(host: &H, name: &str, spec: &str) -> Result<Found, Fault> {
    let git = read(name, spec)?;
    let repository = Repository { host, name, git: &git };
    repository.require_network()?;
    let revision = match git.committish.as_deref().filter(|text| is_commit(text)) {
        Some(commit) => Some(commit.to_owned()),
        None => repository.commit_of_reference().await?,
    };
    let Contents { commit, files } = match &revision {
        Some(commit) => repository.contents(commit, None).await?,
        // Such as `HEAD~3`: git knows what it is once everything is there.
        None => repository.contents(git.committish.as_deref().unwrap_or("HEAD"), None).await?,
    };
    let commit = commit.or(revision).ok_or_else(|| repository.unknown_revision())?;
    let resolved = resolved(&git, spec, &commit);
    let manifest = contents::manifest(name, &files, git.path.as_deref())?;
    let mut notes = Vec::new();
    if let Some(path) = &git.path {
        let message = format!("{name} asks for the folder {path}: as with npm, the whole repository is installed");
        notes.push(("GIT_PATH", message));
    }
    let job = if host.project().keys().is_built(&resolved) {
        None
    } else {
        let body = pack(name, files)?;
        Some(job_of_body(host, name, &manifest, (PackageKey::from_address(&resolved), body, None)))
    };
    let answer = SourceAnswer { manifest, resolved: Some(resolved.into()), integrity: None };
    Ok(Found { answer, job, notes })
}

/// The package at what a lock resolved, as an archive.
pub(crate) async fn tarball<H: Host>(host: &H, name: &str, resolved: &str) -> Result<Bytes, Fault> {
    let git = read(name, resolved)?;
    let repository = Repository { host, name, git: &git };
    repository.require_network()?;
    let commit = git.committish.as_deref().ok_or_else(|| repository.unknown_revision())?;
    let builder = if host.project().keys().is_built(resolved) {
        Some(host.builder().ok_or_else(|| repository.no_builder())?)
    } else {
        None
    };
    let Contents { files, .. } = repository.contents(commit, builder).await?;
    pack(name, files)
}

/// An archive of what npm would pack of a repository.
fn pack(name: &str, files: Vec<Entry<'static>>) -> Result<Bytes, Fault> {
    Ok(Bytes::from(archive(name, &packed_files(name, files)?, "GIT_FAILED")?))
}

fn read(name: &str, spec: &str) -> Result<GitSpec, Fault> {
    // What is looked into before its name is known goes by what the user wrote, which names no package.
    let package = if name.parse::<PackageName>().is_ok() { name } else { "" };
    match Spec::parse(package, spec) {
        Ok(Spec { kind: SpecKind::Git(git), .. }) => Ok(git),
        Ok(_) => {
            Err(Fault::new("SPEC_GIT_REFERENCE", format!("{name}: {spec} is no git repository")).with_package(name))
        }
        Err(error) => Err(Fault::new(error.code(), error.to_string()).with_package(name)),
    }
}

/// What the lock says of a commit.
fn resolved(git: &GitSpec, spec: &str, commit: &str) -> String {
    match &git.hosted {
        Some(hosted) => hosted.resolved(commit),
        None => format!("{}#{commit}", spec.split_once('#').map_or(spec, |(address, _)| address)),
    }
}

fn is_commit(text: &str) -> bool {
    (40..=64).contains(&text.len()) && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

struct Repository<'a, H> {
    host: &'a H,
    name: &'a str,
    git: &'a GitSpec,
}

impl<H: Host> Repository<'_, H> {
    /// Nothing is asked of anybody where the user does not want it. A repository on disk is nobody.
    fn require_network(&self) -> Result<(), Fault> {
        match self.host.registry().cache_mode() {
            CacheMode::Offline if !self.git.url.starts_with("file:") => {
                Err(RegistryError::NotCached { package: self.name.to_owned() }.into())
            }
            _ => Ok(()),
        }
    }

    /// The commit that a branch, a tag, a range of versions or nothing at all means; `None` where the repository has no
    /// reference of that name.
    async fn commit_of_reference(&self) -> Result<Option<String>, Fault> {
        let references = match self.references().await {
            Ok(references) => references,
            // An archive can be had of what has a name, and says what commit it is of.
            Err(_) if self.host.git().is_none() && self.git.hosted.is_some() && self.git.range.is_none() => {
                return Ok(None);
            }
            Err(fault) => return Err(fault),
        };
        match &self.git.range {
            Some(range) => references.in_range(range).map(Some).ok_or_else(|| self.unknown_revision()),
            None => Ok(references.named(self.git.committish.as_deref()).map(str::to_owned)),
        }
    }

    async fn references(&self) -> Result<References, Fault> {
        let mut first = None;
        for url in self.addresses() {
            let listed = match self.host.git() {
                Some(git) => git.list(&url).await,
                None => self.list_over_https(&url).await,
            };
            match listed {
                Ok(text) => return Ok(References::read(&text)),
                Err(fault) => first = first.or(Some(fault)),
            }
        }
        Err(self.failed(first))
    }

    /// Where the repository may be had from: a known host over HTTPS, then over SSH unless there is a password.
    fn addresses(&self) -> Vec<String> {
        match &self.git.hosted {
            Some(hosted) if hosted.auth.is_some() => vec![hosted.https_url(None)],
            Some(hosted) => vec![hosted.https_url(None), hosted.ssh_url(None)],
            None => vec![self.git.url.clone()],
        }
    }

    async fn list_over_https(&self, url: &str) -> Result<String, Fault> {
        if !url.starts_with("https:") && !url.starts_with("http:") {
            let message =
                format!("{}: {} can be had by git only, and git is not here", self.name, without_secrets(url));
            return Err(Fault::new("GIT_MISSING", message));
        }
        let address = format!("{url}/info/refs?service=git-upload-pack");
        let body = self.fetch(&address).await?;
        references::read_advertisement(&body).ok_or_else(|| {
            Fault::new("GIT_FAILED", format!("{}: {} does not answer as git does", self.name, without_secrets(url)))
        })
    }

    async fn fetch(&self, url: &str) -> Result<Bytes, Fault> {
        let registry = self.host.registry();
        let request = registry.tarball_request(self.name, "git", Some(url), None)?;
        let keep = async |body: Bytes| Ok::<Bytes, Refusal<Fault>>(body);
        Ok(fetch_tarball(registry.http(), registry.clock(), &request, &registry.slot(), keep).await?.contents)
    }

    /// The files of a commit, or what is built of them.
    async fn contents(&self, revision: &str, builder: Option<&dyn Builder>) -> Result<Contents, Fault> {
        let mut first = None;
        if let Some(hosted) = &self.git.hosted {
            match (self.fetch(&hosted.tarball_url(Some(revision))).await, builder) {
                (Ok(archive), None) => return self.unpack(&archive, revision),
                (Ok(archive), Some(builder)) => {
                    let Contents { commit, files } = self.unpack(&archive, revision)?;
                    let files = builder.build(self.name, revision, files).await?;
                    return Ok(Contents { commit, files });
                }
                (Err(fault), _) => first = Some(fault),
            }
        }
        let Some(git) = self.host.git() else {
            let missing = || Fault::new("GIT_MISSING", format!("{}: git is needed and not here", self.name));
            return Err(self.failed(Some(first.unwrap_or_else(missing))));
        };
        for url in self.addresses() {
            match git.check_out(&url, revision, builder.map(|_| self.name)).await {
                Ok(Checkout { commit, .. }) if is_commit(revision) && commit != revision => {
                    let message = format!("{}: commit {revision} was asked for and {commit} came", self.name);
                    return Err(self.failed(Some(Fault::new("GIT_FAILED", message))));
                }
                Ok(Checkout { commit, files }) => return Ok(Contents { commit: Some(commit), files }),
                // It was had, or there is no room for it: nobody else has another one.
                Err(fault) if fault.code == BUILD_FAILED || fault.is_of_this_machine() => {
                    return Err(fault.with_package(self.name));
                }
                Err(fault) => first = first.or(Some(fault)),
            }
        }
        Err(self.failed(first))
    }

    fn unpack(&self, archive: &[u8], revision: &str) -> Result<Contents, Fault> {
        let mut extractor = Extractor::new(Limits::default());
        let unpacked = extractor.extract_repository(self.name, archive).map_err(|error| Fault::from(&error))?;
        let commit = unpacked.commit;
        if let Some(commit) = commit.as_deref().filter(|commit| is_commit(revision) && *commit != revision) {
            let message = format!("{}: commit {revision} was asked for and {commit} came", self.name);
            return Err(self.failed(Some(Fault::new("GIT_FAILED", message))));
        }
        Ok(Contents { commit, files: unpacked.entries.into_iter().map(contents::owned).collect() })
    }

    fn no_builder(&self) -> Fault {
        let message = format!("{} cannot be built from its repository: scripts are not run here", self.name);
        Fault::new(BUILD_FAILED, message).with_package(self.name)
    }

    fn unknown_revision(&self) -> Fault {
        let wanted = match (&self.git.range, &self.git.committish) {
            (Some(range), _) => format!("tag in the range {range}"),
            (None, Some(text)) => format!("commit, branch or tag {text}"),
            (None, None) => "commit".to_owned(),
        };
        let message = format!("{}: {} has no {wanted}", self.name, without_secrets(&self.git.url));
        Fault::new("GIT_REVISION", message)
            .with_package(self.name)
            .with_hint("Look at the repository's branches and tags, and correct the part behind #.")
    }

    fn failed(&self, cause: Option<Fault>) -> Fault {
        let cause = cause.unwrap_or_else(|| Fault::new("GIT_FAILED", format!("{}: git failed", self.name)));
        if cause.is_of_this_machine() {
            return cause.with_package(self.name);
        }
        let hint = match self.host.git() {
            Some(_) => "Check that the repository is there and that git may read it.",
            None => {
                "Install git where that can be done. In a page only an archive over HTTPS can be had, from a host that allows \
                 the page's origin (CORS): name a full commit, or the address of a tarball."
            }
        };
        let known = ["GIT_MISSING", "GIT_FAILED", "GIT_REVISION"].contains(&&*cause.code) || cause.is_of_a_package();
        let code = if known { cause.code } else { "GIT_FAILED".into() };
        Fault::new(code, cause.message).with_package(self.name).with_hint(hint)
    }
}
