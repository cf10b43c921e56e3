//! Packages that bring dependencies along in their own tarball, or say there which ones they are to have.
//!
//! What such a package contains is asked for once; everything found below its `node_modules` becomes nodes of the ideal
//! tree that are already in place: they have no address and no integrity of their own. What its `npm-shrinkwrap.json` lists
//! becomes nodes below it, too, which nothing moves from there.

use crate::build::Builder;
use crate::forest::Seed;
use crate::ids::{NodeId, PackageId};
use crate::package::{Package, Peers, Top};
use crate::resolver::{BundleRequest, PackumentProblem};
use gantry_manifest::{Lockfile, Manifest, Text};
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

/// Address and integrity.
type Origin = (Option<Text>, Option<Text>);

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

impl Builder {
    /// Puts the contents of a package below its node, displacing what is there: what its shrinkwrap lists, and then what it
    /// carries.
    pub(crate) fn unpack_bundle(&mut self, node: NodeId, contents: &BundleContents) {
        let mut listed: Vec<(&str, &Manifest, Origin)> = Vec::new();
        for entry in contents.shrinkwrap.iter().flat_map(|lock| &lock.packages) {
            if !entry.link && !entry.path.is_empty() {
                listed.push((&entry.path, &entry.manifest, (entry.resolved.clone(), entry.integrity.clone())));
            }
        }
        self.unpack(node, listed);
        let carried = contents.packages.iter().map(|(path, manifest)| (path.as_str(), manifest, (None, None)));
        self.unpack(node, carried.collect());
        // Where nothing else changes, flags are not calculated again.
        self.forest.calculate_flags_from(node);
    }

    pub(crate) fn unpack(&mut self, node: NodeId, mut packages: Vec<(&str, &Manifest, Origin)>) {
        // Parents before their children, whatever order they come in.
        packages.sort_by_cached_key(|(path, ..)| (path.matches("node_modules/").count(), path.to_owned()));
        let peers = if self.options.legacy_peer_deps { Peers::Ignore } else { Peers::Load };
        for (path, manifest, origin) in packages {
            let Some((parent, folder)) = self.bundle_parent(node, path) else { continue };
            let mut manifest = manifest.clone();
            manifest.name.get_or_insert_with(|| folder.as_str().into());
            let name = self.forest.names.intern(&folder);
            let tables = (&mut self.forest.names, &mut self.forest.specs);
            let package = Package::new(Arc::new(manifest), origin, (peers, Top::No), tables);
            let package = self.forest.add_package(package);
            let seed = Seed { name, package, overrides: None, failure: None, from_lock: false };
            self.forest.new_node(seed, Some(parent));
        }
    }

    /// The node that `node_modules/a/node_modules/b` goes below, and the folder's name.
    fn bundle_parent(&self, node: NodeId, path: &str) -> Option<(NodeId, String)> {
        let mut segments = path.strip_prefix("node_modules/")?.split("/node_modules/").peekable();
        let mut parent = node;
        loop {
            let segment = segments.next()?;
            if segments.peek().is_none() {
                let hidden = segment.rsplit('/').next().is_none_or(|last| last.is_empty() || last.starts_with('.'));
                return (!hidden).then(|| (parent, segment.to_owned()));
            }
            let name = self.forest.names.find(segment)?;
            parent = self.forest.node(parent).children.get(self.forest.names.folded(name))?;
        }
    }
}
