//! Which package of the store belongs to a picked version or a planned package, and how to bring it there.

use crate::EngineError;
use crate::host::{Host, IngestJob};
use gantry_archive::Integrity;
use gantry_layout::PlannedPackage;
use gantry_manifest::Manifest;
use gantry_store::PackageKey;

/// The job that brings one registry version into the store; `None` if its manifest says not where it is.
pub(crate) fn job_of<H: Host>(host: &H, name: &str, manifest: &Manifest) -> Result<Option<IngestJob>, EngineError> {
    let (Some(dist), Some(version)) = (&manifest.dist, &manifest.version) else { return Ok(None) };
    let integrity = match (&dist.integrity, &dist.shasum) {
        (Some(text), _) => Integrity::parse(text).ok(),
        (None, Some(shasum)) => Integrity::from_shasum(shasum).ok(),
        (None, None) => None,
    };
    // Without a digest the store's name for it is only known to the lock; such packages wait for the plan.
    let Some(integrity) = integrity else { return Ok(None) };
    let key = PackageKey::from_integrity(&integrity);
    let tarball = host.registry().tarball_request(name, version, Some(&dist.tarball), Some(integrity))?;
    Ok(Some(IngestJob {
        key,
        name: name.to_owned(),
        version: version.clone(),
        tarball,
        size_hint: dist.unpacked_size.unwrap_or(0),
    }))
}

/// The job that brings one planned package into the store.
pub(crate) fn job_of_planned<H: Host>(host: &H, package: &PlannedPackage) -> Result<IngestJob, EngineError> {
    let integrity = package.integrity.as_deref().and_then(|text| Integrity::parse(text).ok());
    let tarball =
        host.registry().tarball_request(&package.name, &package.version, package.resolved.as_deref(), integrity)?;
    Ok(IngestJob {
        key: package.key.clone(),
        name: package.name.clone(),
        version: package.version.clone(),
        tarball,
        size_hint: 0,
    })
}
