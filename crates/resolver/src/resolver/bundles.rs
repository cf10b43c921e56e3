//! Asking for what packages contain that bring dependencies along in their own tarball, or say there which ones they are to
//! have: each once.

use crate::ids::PackageId;
use crate::package::Package;
use crate::questions::{BundleRequest, PackumentProblem};
use gantry_manifest::{Lockfile, Manifest};
use rustc_hash::FxHashMap;
use std::sync::Arc;

type Contents = Result<Arc<BundleContents>, PackumentProblem>;

/// What a package brings along.
#[derive(Debug, Clone, Default)]
pub struct BundleContents {
    /// Every package below the package's own `node_modules`, as path relative to the package
    /// (`node_modules/a/node_modules/b`) and manifest.
    pub packages: Vec<(String, Manifest)>,
    /// Its `npm-shrinkwrap.json`, where it has one.
    pub shrinkwrap: Option<Lockfile>,
}

impl BundleContents {
    /// Without what lies right in its `node_modules` and has no name or no version, and all below: where npm makes the tree, it
    /// passes that over (`transplantFilter` in arborist's `reify.js`).
    pub(crate) fn with_identity(&self) -> Self {
        let is_top = |path: &str| !path.contains("/node_modules/");
        let is_nobody = |manifest: &Manifest| {
            [&manifest.name, &manifest.version].iter().any(|said| said.as_deref().is_none_or(str::is_empty))
        };
        let tops = self.packages.iter().filter(|(path, manifest)| is_top(path) && is_nobody(manifest));
        let nobodies: Vec<String> = tops.map(|(path, _)| format!("{path}/")).collect();
        let is_one = |path: &str| nobodies.iter().any(|nobody| format!("{path}/").starts_with(nobody));
        let packages = self.packages.iter().filter(|(path, _)| !is_one(path)).cloned().collect();
        Self { packages, shrinkwrap: self.shrinkwrap.clone() }
    }
}

/// Requests for contents and their answers.
#[derive(Debug, Default)]
pub(crate) struct Bundles {
    answers: FxHashMap<PackageId, Contents>,
    asked: Vec<PackageId>,
    /// Not yet handed out.
    pub(crate) requests: Vec<BundleRequest>,
}

impl Bundles {
    /// The contents of a package, if they are here; else they are asked for.
    pub(crate) fn contents(&mut self, id: PackageId, package: &Package) -> Option<&Contents> {
        if !self.answers.contains_key(&id) {
            if !self.asked.contains(&id) {
                let request = BundleRequest {
                    id: u32::try_from(self.asked.len()).unwrap_or(u32::MAX),
                    name: package.manifest.name.clone().unwrap_or_default(),
                    version: package.version_text.clone(),
                    manifest: package.manifest.clone(),
                    resolved: package.resolved.clone(),
                    integrity: package.integrity.clone(),
                };
                self.asked.push(id);
                self.requests.push(request);
            }
            return None;
        }
        self.answers.get(&id)
    }

    pub(crate) fn answer(&mut self, request: u32, contents: Result<BundleContents, PackumentProblem>) {
        if let Some(&package) = self.asked.get(request as usize) {
            self.answers.entry(package).or_insert_with(|| contents.map(Arc::new));
        }
    }
}
