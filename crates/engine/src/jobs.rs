//! Which package of the store belongs to a picked version or a planned package, and how to bring it there.

use crate::EngineError;
use crate::host::{Host, IngestJob, JobSource};
use bytes::Bytes;
use gantry_archive::Integrity;
use gantry_layout::PlannedPackage;
use gantry_manifest::{LockEntry, Manifest};
use gantry_platform::Clock;
use gantry_registry::{Slot, TarballRequest};
use gantry_resolver::BundleRequest;
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
        name: name.into(),
        version: version.clone(),
        source: None,
        tarball,
        size_hint: dist.unpacked_size.unwrap_or(0),
        asked: host.registry().clock().monotonic_milliseconds(),
        slot: Slot::default(),
    }))
}

/// The same of a version that is to be looked into: of one that a lock knows, the lock says where it is.
pub(crate) fn job_of_opened<H: Host>(host: &H, bundle: &BundleRequest) -> Result<Option<IngestJob>, EngineError> {
    let BundleRequest { name, version, manifest, resolved: Some(resolved), integrity, .. } = bundle else {
        return job_of(host, &bundle.name, &bundle.manifest);
    };
    let integrity = integrity.as_deref().and_then(|text| Integrity::parse(text).ok());
    let Some(integrity) = integrity.filter(|_| manifest.dist.is_none() && JobSource::of(resolved).is_none()) else {
        return job_of(host, name, manifest);
    };
    let key = PackageKey::from_integrity(&integrity);
    let tarball = host.registry().tarball_request(name, version, Some(resolved), Some(integrity))?;
    Ok(Some(IngestJob {
        key,
        name: name.clone(),
        version: version.clone(),
        source: None,
        tarball,
        size_hint: 0,
        asked: host.registry().clock().monotonic_milliseconds(),
        slot: Slot::default(),
    }))
}

/// The job that brings one planned package into the store; `entry` is what the lock says of it.
pub(crate) fn job_of_planned<H: Host>(
    host: &H,
    package: &PlannedPackage,
    entry: Option<&LockEntry>,
) -> Result<IngestJob, EngineError> {
    let source = package.resolved.as_deref().and_then(JobSource::of);
    let integrity = package.integrity.as_deref().and_then(|text| Integrity::parse(text).ok());
    // What npm packed of a repository, and so what it hashes to, depends on its compressor: npm does not look at it either.
    let integrity = integrity.filter(|_| !matches!(source, Some(JobSource::Git(_))));
    let tarball = match source {
        // Its bytes are got when its turn comes.
        Some(_) => TarballRequest::of_body(&format!("{}@{}", package.name, package.version), Bytes::new(), integrity),
        None => {
            let resolved = package.resolved.as_deref();
            host.registry().tarball_request(&package.name, &package.version, resolved, integrity)?
        }
    };
    Ok(IngestJob {
        source,
        key: package.key.clone(),
        name: package.name.clone(),
        version: package.version.clone(),
        tarball,
        size_hint: entry.map_or(0, likely_size),
        asked: host.registry().clock().monotonic_milliseconds(),
        slot: Slot::default(),
    })
}

/// The job that brings a package into the store whose tarball is here: where the store keeps it, the tarball, and what it
/// hashes to where something says so.
pub(crate) fn job_of_body<H: Host>(
    host: &H,
    name: &str,
    manifest: &Manifest,
    (key, body, integrity): (PackageKey, Bytes, Option<Integrity>),
) -> IngestJob {
    let version = manifest.version.clone().unwrap_or_default();
    IngestJob {
        key,
        name: name.into(),
        size_hint: body.len() as u64,
        tarball: TarballRequest::of_body(&format!("{name}@{version}"), body, integrity),
        version,
        source: None,
        asked: host.registry().clock().monotonic_milliseconds(),
        slot: Slot::default(),
    }
}

/// What a lock lets one guess of a package's unpacked size, in bytes. Locks have no sizes; but what is built for one platform
/// is a program, and what has commands or is built at home is larger than most. Guessing right matters over a network that
/// gives a connection only so much: the largest tarball has to be among the first.
fn likely_size(entry: &LockEntry) -> u64 {
    let LockEntry { manifest, .. } = entry;
    if !manifest.os.is_empty() || !manifest.cpu.is_empty() {
        8 << 20
    } else if !manifest.bin.is_empty() || manifest.has_install_script {
        1 << 20
    } else {
        0
    }
}
