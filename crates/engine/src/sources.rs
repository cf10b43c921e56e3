//! Packages that no registry has: what they are, for the resolver, and their tarballs, for the store.

use crate::Fault;
use crate::found::Found;
use crate::git;
use crate::host::{Host, ProjectTree};
use crate::jobs::job_of_body;
use crate::project::{is_installed, read_folder};
use bytes::Bytes;
use gantry_archive::{ArchiveError, Extractor, Integrity, Limits};
use gantry_manifest::Manifest;
use gantry_registry::{Refusal, fetch_tarball};
use gantry_resolver::{PackumentProblem, Source, SourceAnswer, SourceRequest};
use gantry_store::PackageKey;

/// Looks into a source.
pub(crate) async fn look_into<H: Host>(host: &H, request: &SourceRequest) -> Result<Found, Fault> {
    match &request.source {
        Source::Folder { path } => {
            // What an install makes has no say in what it makes.
            let manifest = if is_installed(path) { None } else { read_folder(host, path).await? };
            let answer = SourceAnswer { manifest: manifest.unwrap_or_default(), ..SourceAnswer::default() };
            Ok(Found { answer, job: None, notes: Vec::new() })
        }
        Source::File { path } => {
            let body = read_tarball(host, &request.name, path).await?;
            tarball(host, request, format!("file:{path}"), &body).map_err(|refusal| match refusal {
                Refusal::Mismatch(error) => Fault::from(&error),
                Refusal::Other(fault) => fault,
            })
        }
        Source::Remote { url } => {
            let registry = host.registry();
            let wanted = registry.tarball_request(&request.name, "", Some(url), None)?;
            // Looked into as it comes: a damaged one is asked for once more.
            let take = async |body: Bytes| tarball(host, request, url.clone(), &body);
            Ok(fetch_tarball(registry.http(), registry.clock(), &wanted, &registry.slot(), take).await?.contents)
        }
        Source::Git { spec } => git::look_into(host, &request.name, spec).await,
        other => {
            let message = format!("{}@{other:?}: there is no way to it", request.name);
            Err(Fault::new("RESOLVE_UNSUPPORTED", message).with_package(&request.name))
        }
    }
}

/// The bytes of a tarball of the user.
pub(crate) async fn read_tarball<H: Host>(host: &H, name: &str, path: &str) -> Result<Bytes, Fault> {
    let body = host.project().read(path).await?;
    body.ok_or_else(|| {
        Fault::new("TARBALL_MISSING", format!("the tarball {path} of {name} is not there"))
            .with_package(name)
            .with_hint("Put the file in its place, or remove the dependency.")
    })
}

/// What a tarball is. One that is not the one that was known, or damaged where none was, is a mismatch.
fn tarball<H: Host>(
    host: &H,
    request: &SourceRequest,
    resolved: String,
    body: &Bytes,
) -> Result<Found, Refusal<Fault>> {
    let name = request.name.as_str();
    // As npm, what cannot be understood is none.
    let known = request.integrity.as_deref().and_then(|text| Integrity::parse(text).ok());
    if let Some(known) = &known {
        known.verify(name, body).map_err(Refusal::Mismatch)?;
    }
    let mut extractor = Extractor::new(Limits::default());
    let entries = extractor.extract_unverified(name, body).map_err(|error| match error {
        ArchiveError::Gzip { .. }
        | ArchiveError::Truncated { .. }
        | ArchiveError::Empty { .. }
        | ArchiveError::Format { .. }
            if known.is_none() =>
        {
            Refusal::Mismatch(error)
        }
        error => Refusal::Other(Fault::from(&error)),
    })?;
    let text = entries.iter().find(|entry| entry.path == "package.json").map(|entry| &*entry.data);
    // npm too takes a tarball without a package.json for a package without a name.
    let mut manifest = match text {
        Some(text) => Manifest::parse_package_json(text, &format!("package.json of {name}"))
            .map_err(|error| Refusal::Other(crate::EngineError::from(error).to_fault().with_package(name)))?,
        None => Manifest::default(),
    };
    manifest.read_commands(entries.iter().map(|entry| entry.path.as_str()));
    let integrity = known.unwrap_or_else(|| Integrity::sha512_of(body));
    let key = PackageKey::from_integrity(&integrity);
    let stated = Some(integrity.to_string().into());
    let job = job_of_body(host, name, &manifest, (key, body.clone(), Some(integrity)));
    let answer = SourceAnswer { manifest, resolved: Some(resolved.into()), integrity: stated };
    Ok(Found { answer, job: Some(job), notes: Vec::new() })
}

/// Codes of failures that the resolver passes on.
const KNOWN: [&str; 5] = ["GIT_FAILED", "GIT_MISSING", "GIT_REVISION", "RESOLVE_UNSUPPORTED", "TARBALL_MISSING"];

/// A failure as the resolver takes it.
pub(crate) fn problem_of(fault: &Fault) -> PackumentProblem {
    let known = KNOWN.into_iter().find(|code| fault.code == *code);
    PackumentProblem::Failed { code: known.unwrap_or("SOURCE_FAILED"), message: fault.message.clone() }
}
