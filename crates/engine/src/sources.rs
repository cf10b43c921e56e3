//! Packages that no registry has: what they are, for the resolver, and their tarballs, for the store.

use crate::Fault;
use crate::found::Found;
use crate::git;
use crate::host::{Host, ProjectTree};
use crate::jobs::job_of_body;
use crate::pack::{archive, value_of};
use crate::project::{file_in, is_installed, read_folder};
use bytes::Bytes;
use gantry_archive::{ArchiveError, Extractor, Integrity, Limits};
use gantry_layout::ScriptVerdict;
use gantry_manifest::Manifest;
use gantry_registry::{Refusal, fetch_tarball};
use gantry_resolver::{PackumentProblem, Source, SourceAnswer, SourceRequest};
use gantry_store::PackageKey;
use serde_json::Value;

/// Looks into a source.
pub(crate) async fn look_into<H: Host>(host: &H, request: &SourceRequest) -> Result<Found, Fault> {
    match &request.source {
        Source::Folder { path } => {
            // What an install makes has no say in what it makes.
            let manifest = if is_installed(path) { None } else { read_folder(host, path).await? };
            let answer = SourceAnswer { manifest: manifest.unwrap_or_default(), ..SourceAnswer::default() };
            Ok(Found { answer, job: None, notes: Vec::new() })
        }
        Source::Copy { path } => {
            let manifest = match read_folder(host, path).await? {
                Some(manifest) => Manifest {
                    has_install_script: manifest.has_install_script || builds(host, path).await?,
                    ..manifest
                },
                None => return Err(missing_folder(&request.name, path)),
            };
            // What is in it is looked at when it is put in place.
            let answer = SourceAnswer { manifest, resolved: Some(format!("file:{path}").into()), integrity: None };
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

/// The package that npm makes of a folder of the user, which a lock calls `resolved`, as an archive. What prepares it is run in it
/// where it may run scripts.
pub(crate) async fn pack_folder<H: Host>(host: &H, name: &str, resolved: &str) -> Result<Bytes, Fault> {
    let path = resolved.strip_prefix("file:").unwrap_or(resolved);
    if host.project().read(&file_in(path)).await?.is_none() {
        return Err(missing_folder(name, path));
    }
    let is_prepared = host.project().scripts().verdict_of_folder(resolved) == ScriptVerdict::Allowed;
    let files = host.project().packed(name, path, is_prepared).await.map_err(|fault| {
        let code = if fault.code == SCRIPT_FAILED { FOLDER_UNPACKED.into() } else { fault.code };
        Fault { code, ..fault }.with_package(name)
    })?;
    Ok(Bytes::from(archive(name, &files, FOLDER_UNPACKED)?))
}

fn missing_folder(name: &str, path: &str) -> Fault {
    let what = if path.is_empty() { "the project itself".to_owned() } else { format!("the folder {path}") };
    Fault::new("FOLDER_MISSING", format!("{what}, of which {name} is made, has no package.json that can be read"))
        .with_package(name)
        .with_hint("Put the folder in its place, or remove the dependency.")
}

/// Whether node-gyp builds what is in a folder whose manifest says nothing of how it is built.
async fn builds<H: Host>(host: &H, path: &str) -> Result<bool, Fault> {
    let bytes = host.project().read(&file_in(path)).await?.unwrap_or_default();
    let manifest = value_of(&bytes).unwrap_or_default();
    if manifest["gypfile"] == Value::Bool(false) {
        return Ok(false);
    }
    Ok(host.project().files(path).await?.iter().any(|name| name.ends_with(".gyp")))
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

/// The code of a script that fails.
const SCRIPT_FAILED: &str = "SCRIPT_FAILED";

/// The code of a folder of which no package can be made.
const FOLDER_UNPACKED: &str = "FOLDER_UNPACKED";

/// Codes of failures that the resolver passes on.
const KNOWN: [&str; 6] =
    ["FOLDER_MISSING", "GIT_FAILED", "GIT_MISSING", "GIT_REVISION", "RESOLVE_UNSUPPORTED", "TARBALL_MISSING"];

/// A failure as the resolver takes it.
pub(crate) fn problem_of(fault: &Fault) -> PackumentProblem {
    let known = KNOWN.into_iter().find(|code| fault.code == *code);
    PackumentProblem::Failed { code: known.unwrap_or("SOURCE_FAILED"), message: fault.message.clone() }
}
